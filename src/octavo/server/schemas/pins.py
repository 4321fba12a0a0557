"""Schemas of pins."""

from __future__ import annotations

from pydantic import Field

from octavo.server.schemas.base import Id, Shape


class PinIn(Shape):
    message: Id
    selection: str = Field(
        default="", description="The part of the text to pin; empty for the whole message."
    )


class PinOut(Shape):
    message: str
    start: int = Field(
        description="Counted in Unicode code points. Start and end are 0 for the whole message."
    )
    stop: int
    text: str = Field(description="The pinned text; empty for the whole message.")


class PinList(Shape):
    pins: list[PinOut]
