"""Schemas of API keys and their callers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from octavo.server.schemas.base import Name, Shape


class KeyIn(Shape):
    name: Name
    owner: Annotated[str, StringConstraints(max_length=200)] = Field(
        default="", description="The owner of the conversations. Keys of one owner share them."
    )
    scopes: list[Literal["read", "write", "admin"]] = Field(
        default=["read", "write"], min_length=1, max_length=3
    )


class KeyOut(Shape):
    id: str
    name: str
    owner: str
    prefix: str
    scopes: list[str]
    created: str
    used: str | None
    revoked: bool


class KeyMade(KeyOut):
    secret: str = Field(description="The key itself. It is never shown again.")


class KeyList(Shape):
    keys: list[KeyOut]


class CallerOut(Shape):
    owner: str
    scopes: list[str]
    key_required: bool
