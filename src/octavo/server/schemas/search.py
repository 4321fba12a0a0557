"""Schemas of search."""

from __future__ import annotations

from pydantic import Field

from octavo.server.schemas.base import Role, Shape


class HitOut(Shape):
    conversation: str
    title: str
    message: str
    depth: int
    role: Role
    snippet: str
    marks: list[tuple[int, int]] = Field(
        description="The positions of the words in the snippet, in Unicode code points."
    )


class HitList(Shape):
    hits: list[HitOut]
