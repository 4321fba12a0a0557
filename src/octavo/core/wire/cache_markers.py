"""Cache markers: the `cache_control` by which a client tells Anthropic how far the beginning of a request is stable.

A marker belongs to one request. Clients move it along with the newest message, and a request may have four at most, so
what is stored has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from octavo.core.json_values import Json, JsonObject, compact
from octavo.core.messages import Message, Opaque, Part, Reasoning, Text, ToolResult, Wire
from octavo.core.wire.notes import ADDED, WHOLE, notes

FORMAT = "anthropic"
"""The only format whose clients set such markers."""
MARKER = "cache_control"
MOST_MARKERS = 4
"""A provider refuses a request with more."""
_NOTED = f'"{MARKER}"'

P = TypeVar("P", bound=Part)


def marker_of(part: Part) -> Json:
    """Give the marker of a part; None if it has none."""
    if part.wire is None or _NOTED not in part.wire.fields:
        return None
    noted = notes(part.wire, part.wire.format)
    for said in (noted.get(ADDED), noted.get(WHOLE)):
        if isinstance(said, dict) and MARKER in said:
            return said[MARKER]
    return None


def newest_marker(messages: Sequence[Message]) -> Json:
    """Give the last marker on the blocks of messages; None if there is none."""
    found = (marker_of(part) for message in reversed(messages) for part in reversed(message.parts))
    return next((marker for marker in found if marker is not None), None)


def without_markers(message: Message) -> Message:
    """Take the cache markers off a message."""
    if not any(_is_marked(part) for part in message.parts):
        return message
    return replace(message, parts=tuple(map(_unmarked, message.parts)))


def _is_marked(part: Part) -> bool:
    if isinstance(part, ToolResult) and any(map(_is_marked, part.content)):
        return True
    return part.wire is not None and _NOTED in part.wire.fields


def _unmarked(part: P) -> P:
    if not _is_marked(part):
        return part
    if isinstance(part, ToolResult):
        content: Any = replace(part, content=tuple(map(_unmarked, part.content)))
        part = content
    if part.wire is None:
        return part
    noted = notes(part.wire, part.wire.format)
    fields: JsonObject = {}
    for kind, entries in noted.items():
        if kind in (ADDED, WHOLE) and isinstance(entries, dict):
            entries = {key: value for key, value in entries.items() if key != MARKER}
        if entries:
            fields[kind] = entries
    keeps = bool(fields) or isinstance(part, Opaque)
    return _with_wire(part, Wire(part.wire.format, compact(fields)) if keeps else None)


def with_marker(messages: Sequence[Message], marker: Json) -> tuple[Message, ...]:
    """Put a marker on the last block of messages that can carry one: thinking and empty texts cannot."""
    for i in range(len(messages) - 1, -1, -1):
        parts = messages[i].parts
        for j in range(len(parts) - 1, -1, -1):
            if _can_carry(parts[j]):
                changed = (*parts[:j], _marked(parts[j], marker), *parts[j + 1 :])
                return (*messages[:i], replace(messages[i], parts=changed), *messages[i + 1 :])
    return tuple(messages)


def _can_carry(part: Part) -> bool:
    return bool(part.text) if isinstance(part, Text) else not isinstance(part, Reasoning)


def _marked(part: P, marker: Json) -> P:
    noted = notes(part.wire, FORMAT)
    where = WHOLE if WHOLE in noted else ADDED
    before = noted.get(where)
    fields: JsonObject = {**noted, where: {**(before if isinstance(before, dict) else {}), MARKER: marker}}
    return _with_wire(part, Wire(FORMAT, compact(fields)))


def _with_wire(part: P, wire: Wire | None) -> P:
    changed: Any = replace(part, wire=wire)  # type: ignore[arg-type]  # callers keep what an opaque part must have
    return cast(P, changed)


def count_markers(body: Json) -> int:
    """Count the markers in the body of a request, wherever they stand."""
    match body:
        case dict():
            return (MARKER in body) + sum(map(count_markers, body.values()))
        case list():
            return sum(map(count_markers, body))
        case _:
            return 0
