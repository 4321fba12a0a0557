"""What all schemas of the API share: their base, errors, and constrained types.

Requests are strict: an unknown field is refused, so that a misspelt one is noticed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, StringConstraints

from octavo.engine.settings import MAX_TOKENS
from octavo.store.labels import LONGEST

MAX_SIZE = 2**53 - 1
"""The largest whole number that every JSON parser reads exactly."""


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return value


Number = BeforeValidator(_no_switch)
"""Refuses `true` and `false` where a number is expected."""
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Title = Annotated[str, StringConstraints(max_length=500)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
Focus = Annotated[str, StringConstraints(max_length=10_000)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS), Number]
Some = Annotated[int, Field(ge=1, le=MAX_TOKENS), Number]
Size = Annotated[int, Field(ge=0, le=MAX_SIZE), Number]
Share = Annotated[float, Field(gt=0, lt=1), Number]
Mark = Annotated[float, Field(gt=0, le=1, description="A share; 1 turns the mark off."), Number]
Switch = Annotated[bool, Strict()]
"""True or false; `1` and `"yes"` are refused."""
Address = Annotated[
    str,
    StringConstraints(
        max_length=2_000, pattern=r"^https?://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$"
    ),
]
Role = Literal["user", "assistant", "system", "tool"]


class Shape(BaseModel):
    """The base of all schemas."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class ErrorDetail(Shape):
    """What happened and what to do."""

    type: str
    message: str
    numbers: dict[str, int]
    hint: str
    request_id: str


class ErrorOut(Shape):
    """Every error."""

    error: ErrorDetail
