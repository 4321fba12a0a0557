"""Octavo's own JSON form of a message: what the store keeps and the export writes.

`load(dump(message)) == message` for every message; keys are short words, absent when they say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from octavo.core.messages import (
    ROLES,
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
)
from octavo.errors import BadInput

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]


def compact(value: object) -> str:
    """Write JSON the way it is stored and counted: no spaces, no escapes for other scripts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def dump(message: Message) -> JsonObject:
    """Write a message as plain JSON values."""
    parts: list[Json] = [_dump_part(part) for part in message.parts]
    return _said(role=message.role, parts=parts, name=message.name, wire=_dump_wire(message.wire))


def load(value: Json, where: str = "message") -> Message:
    """Read a message back; raise `BadInput` naming the field that is wrong."""
    data = _object(value, where)
    role = _text(data, "role", where)
    if role not in ROLES:
        raise BadInput(f"{where}.role", f"unknown role {role!r}; one of {', '.join(ROLES)}")
    parts = tuple(
        _load_part(part, f"{where}.parts[{i}]") for i, part in enumerate(_list(data, "parts", where))
    )
    return Message(role=role, parts=parts, name=_text(data, "name", where, ""), wire=_load_wire(data, where))


def _said(**fields: Json) -> JsonObject:
    return {key: value for key, value in fields.items() if value not in (None, "", 0, False) or key == "text"}


def _dump_wire(wire: Wire | None) -> Json:
    return None if wire is None else {"format": wire.format, "fields": wire.fields}


def _dump_part(part: Part) -> JsonObject:
    wire = _dump_wire(part.wire)
    match part:
        case Text():
            return _said(type="text", text=part.text, wire=wire)
        case Reasoning():
            return _said(type="reasoning", text=part.text, wire=wire)
        case Image():
            return _said(
                type="image",
                source=part.source,
                media_type=part.media_type,
                width=part.width,
                height=part.height,
                wire=wire,
            )
        case Attachment():
            return _said(
                type="attachment",
                name=part.name,
                media_type=part.media_type,
                size=part.size,
                source=part.source,
                wire=wire,
            )
        case ToolCall():
            return _said(type="tool_call", id=part.id, name=part.name, input=part.input, wire=wire)
        case ToolResult():
            content: list[Json] = [_dump_part(piece) for piece in part.content]
            return _said(
                type="tool_result",
                call_id=part.call_id,
                name=part.name,
                content=content,
                error=part.error,
                wire=wire,
            )
        case Opaque():
            return _said(type="opaque", kind=part.kind, wire=wire)


def _load_part(value: Json, where: str) -> Part:
    data = _object(value, where)
    wire = _load_wire(data, where)
    match _text(data, "type", where):
        case "text":
            return Text(text=_text(data, "text", where), wire=wire)
        case "reasoning":
            return Reasoning(text=_text(data, "text", where), wire=wire)
        case "image":
            return Image(
                source=_text(data, "source", where, ""),
                media_type=_text(data, "media_type", where, ""),
                width=_count(data, "width", where),
                height=_count(data, "height", where),
                wire=wire,
            )
        case "attachment":
            return Attachment(
                name=_text(data, "name", where, ""),
                media_type=_text(data, "media_type", where, ""),
                size=_count(data, "size", where),
                source=_text(data, "source", where, ""),
                wire=wire,
            )
        case "tool_call":
            return ToolCall(
                id=_text(data, "id", where, ""),
                name=_text(data, "name", where, ""),
                input=_text(data, "input", where, ""),
                wire=wire,
            )
        case "tool_result":
            return ToolResult(
                call_id=_text(data, "call_id", where, ""),
                name=_text(data, "name", where, ""),
                content=_load_content(data, where),
                error=data.get("error") is True,
                wire=wire,
            )
        case "opaque" if wire is not None:
            return Opaque(kind=_text(data, "kind", where, ""), wire=wire)
        case other:
            raise BadInput(f"{where}.type", f"unknown part type {other!r}")


def _load_content(data: Mapping[str, Json], where: str) -> tuple[Text | Image | Attachment | Opaque, ...]:
    content: list[Text | Image | Attachment | Opaque] = []
    for i, value in enumerate(_list(data, "content", where)):
        part = _load_part(value, f"{where}.content[{i}]")
        if not isinstance(part, Text | Image | Attachment | Opaque):
            raise BadInput(f"{where}.content[{i}].type", "a tool result holds text, images and attachments")
        content.append(part)
    return tuple(content)


def _load_wire(data: Mapping[str, Json], where: str) -> Wire | None:
    if data.get("wire") is None:
        return None
    wire = _object(data["wire"], f"{where}.wire")
    return Wire(_text(wire, "format", f"{where}.wire"), _text(wire, "fields", f"{where}.wire"))


def _object(value: Json, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise BadInput(where, f"expected an object, got {type(value).__name__}")
    return value


def _text(data: Mapping[str, Json], key: str, where: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise BadInput(f"{where}.{key}", f"expected text, got {type(value).__name__}")
    return value


def _list(data: Mapping[str, Json], key: str, where: str) -> list[Json]:
    value = data.get(key)
    if not isinstance(value, list):
        raise BadInput(f"{where}.{key}", f"expected a list, got {type(value).__name__}")
    return value


def _count(data: Mapping[str, Json], key: str, where: str) -> int:
    value = data.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{where}.{key}", f"expected a whole number of 0 or more, got {value!r}")
    return value
