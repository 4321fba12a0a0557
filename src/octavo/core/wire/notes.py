"""What a wire object said beyond the value it became, noted so that writing gives the same object back.

A format's writer renders a value alone: the *bare* object. What the wire object had besides is its difference from
the bare one, kept in `Wire` and applied when writing. A note yields to the value: where the value has changed since,
the value is what is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from octavo.core.json_values import Json, JsonObject, check_json, compact, take_object
from octavo.core.messages import Message, Text, Wire
from octavo.errors import BadInput

ADDED, CHANGED, REMOVED, WITHIN = "added", "changed", "removed", "within"
WHOLE = "whole"


def objects(values: object, name: str, start: int = 0) -> Iterator[tuple[str, JsonObject]]:
    """Go through a list of wire objects, each with its place; raise `BadInput` where one is not an object of JSON.

    The first `start` of them are passed over.
    """
    if not isinstance(values, list | tuple):
        raise BadInput(name, f"expected a list, got {type(values).__name__}")
    for i, value in enumerate(values[start:], start):
        where = f"{name}[{i}]"
        check_json(value, where)
        yield where, take_object(value, where)


def read_words(data: JsonObject) -> Message | None:
    """Read a message that is nothing but a role and a text, which most are; None for any other."""
    role, text = data.get("role"), data.get("content")
    if len(data) == 2 and isinstance(text, str):
        if role == "user":
            return Message(role="user", parts=(Text(text=text),))
        if role == "assistant":
            return Message(role="assistant", parts=(Text(text=text),))
    return None


def note(format: str, bare: JsonObject, said: JsonObject, **marks: Json) -> Wire | None:
    """Note what a wire object said beyond the bare one, and marks that its writer sets; None if there is nothing."""
    fields = {key: mark for key, mark in marks.items() if mark} | difference(bare, said)
    return Wire(format, compact(fields)) if fields else None


def whole(format: str, said: JsonObject, **marks: Json) -> Wire:
    """Note a wire object that became no value at all."""
    return Wire(format, compact({**marks, WHOLE: said}))


def notes(wire: Wire | None, format: str) -> JsonObject:
    """Read what a format noted; what another format noted is nothing."""
    if wire is None or wire.format != format:
        return {}
    try:
        return take_object(json.loads(wire.fields), "wire")
    except (ValueError, RecursionError) as error:
        raise BadInput("wire", f"expected a JSON object of {format} fields: {error}") from error


def difference(bare: JsonObject, said: JsonObject) -> JsonObject:
    """Tell how a wire object differs from the bare one; `patch` makes it from the bare one again."""
    both = {key: (bare[key], value) for key, value in said.items() if key in bare}
    found: dict[str, JsonObject] = {
        ADDED: {key: value for key, value in said.items() if key not in bare},
        REMOVED: {key: value for key, value in bare.items() if key not in said},
        CHANGED: {},
        WITHIN: {},
    }
    for key, (old, new) in both.items():
        if isinstance(old, dict) and isinstance(new, dict):
            if inner := difference(old, new):
                found[WITHIN][key] = inner
        elif not same(old, new):
            found[CHANGED][key] = [old, new]
    return {kind: entries for kind, entries in found.items() if entries}


def patch(bare: JsonObject, noted: JsonObject) -> JsonObject:
    """Apply a difference to a bare object, as far as it is still the one that the difference was taken from."""
    if not noted:
        return bare
    said = dict(bare)
    for key, value in _entries(noted, REMOVED):
        if key in said and same(said[key], value):
            del said[key]
    for key, value in _entries(noted, CHANGED):
        match value:
            case [old, new] if key in said and same(said[key], old):
                said[key] = new
    for key, value in _entries(noted, WITHIN):
        inner = said.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            said[key] = patch(inner, value)
    for key, value in _entries(noted, ADDED):
        said.setdefault(key, value)
    return said


def same(one: Json, other: Json) -> bool:
    """Compare as JSON does: `1`, `1.0` and `true` are three things."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and one == other


def join_pieces(pieces: Sequence[Json], *, empty: Json, listed: Json = False) -> Json:
    """Write content as the string it can be when it is one text, unless it is marked to have been a list."""
    match pieces:
        case []:
            return empty
        case [{"type": "text", "text": str(text), **rest}] if not rest and not listed:
            return text
        case _:
            return list(pieces)


def is_listed(said: JsonObject, bare: JsonObject) -> bool:
    """Tell whether content was a list although it can be a string."""
    content = said.get("content")
    return isinstance(content, list) and bool(content) and isinstance(bare.get("content"), str)


def _entries(noted: JsonObject, kind: str) -> list[tuple[str, Json]]:
    entries = noted.get(kind)
    return list(entries.items()) if isinstance(entries, dict) else []
