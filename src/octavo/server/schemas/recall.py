"""Schemas of what was recalled."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from octavo.server.schemas.base import Shape


class PassageOut(Shape):
    """A passage of a compressed message, recalled for a question, word for word."""

    source: str = Field(description="The id of the message it comes from.")
    depth: int
    text: str
    channel: Literal["user", "assistant", "system", "call", "result"]
    speaker: str
    day: str
    whole: bool = Field(description="Whether it is the whole text.")
