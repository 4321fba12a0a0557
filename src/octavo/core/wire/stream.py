"""A streamed answer, put together again: what every format's assembler offers, and how their events are read.

Events are what came over the wire, as plain JSON. Nothing in them is relied on: what is missing, or of another kind
than the service's description says, is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Delta, Finish, Usage

NameCall = Callable[[], str]
"""Gives an id to a tool call that came without one."""


def nameless() -> str:
    """Leave a call without an id, as it came."""
    return ""


class StreamAssembler(Protocol):
    """The answer, or the answers, of a stream as far as it came."""

    @property
    def model(self) -> str:
        """The model that answered."""

    @property
    def usage(self) -> Usage:
        """What was billed, as far as it was said."""

    @property
    def heard(self) -> bool:
        """Whether anything came that is of the format."""

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """Add an event; give what of it can be shown. Nothing is added until the iterator is exhausted."""

    @property
    def finish(self) -> Finish | None:
        """Why the first answer stopped; None as long as the service has not said so."""

    @property
    def complete(self) -> bool:
        """Whether every answer came to its end."""

    def messages(self) -> list[Message]:
        """Give what was said; raise `BadInput` if it cannot be read."""


def object_at(value: JsonObject, key: str) -> JsonObject:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def objects_at(value: JsonObject, key: str) -> list[JsonObject]:
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def text_at(value: JsonObject, key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def number_at(value: JsonObject, key: str) -> int | None:
    found: Json = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
