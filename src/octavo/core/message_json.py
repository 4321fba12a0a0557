"""Octavo's own JSON form of a message: what the store keeps and the export writes.

`load(dump(message)) == message` for every message; keys are short words, absent when they say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from octavo.core.json_values import Json, JsonObject, compact, take_count, take_list, take_object, take_text
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

__all__ = ["Json", "JsonObject", "compact", "dump", "load"]


def dump(message: Message) -> JsonObject:
    """Write a message as plain JSON values."""
    parts: list[Json] = [_dump_part(part) for part in message.parts]
    return _said(role=message.role, parts=parts, name=message.name, wire=_dump_wire(message.wire))


def load(value: Json, where: str = "message") -> Message:
    """Read a message back; raise `BadInput` naming the field that is wrong."""
    data = take_object(value, where)
    role = take_text(data, "role", where)
    if role not in ROLES:
        raise BadInput(f"{where}.role", f"unknown role {role!r}; one of {', '.join(ROLES)}")
    parts = tuple(
        _load_part(part, f"{where}.parts[{i}]") for i, part in enumerate(take_list(data, "parts", where))
    )
    return Message(
        role=role, parts=parts, name=take_text(data, "name", where, ""), wire=_load_wire(data, where)
    )


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
    data = take_object(value, where)
    wire = _load_wire(data, where)
    match take_text(data, "type", where):
        case "text":
            return Text(text=take_text(data, "text", where), wire=wire)
        case "reasoning":
            return Reasoning(text=take_text(data, "text", where), wire=wire)
        case "image":
            return Image(
                source=take_text(data, "source", where, ""),
                media_type=take_text(data, "media_type", where, ""),
                width=take_count(data, "width", where),
                height=take_count(data, "height", where),
                wire=wire,
            )
        case "attachment":
            return Attachment(
                name=take_text(data, "name", where, ""),
                media_type=take_text(data, "media_type", where, ""),
                size=take_count(data, "size", where),
                source=take_text(data, "source", where, ""),
                wire=wire,
            )
        case "tool_call":
            return ToolCall(
                id=take_text(data, "id", where, ""),
                name=take_text(data, "name", where, ""),
                input=take_text(data, "input", where, ""),
                wire=wire,
            )
        case "tool_result":
            return ToolResult(
                call_id=take_text(data, "call_id", where, ""),
                name=take_text(data, "name", where, ""),
                content=_load_content(data, where),
                error=data.get("error") is True,
                wire=wire,
            )
        case "opaque" if wire is not None:
            return Opaque(kind=take_text(data, "kind", where, ""), wire=wire)
        case other:
            raise BadInput(f"{where}.type", f"unknown part type {other!r}")


def _load_content(data: Mapping[str, Json], where: str) -> tuple[Text | Image | Attachment | Opaque, ...]:
    content: list[Text | Image | Attachment | Opaque] = []
    for i, value in enumerate(take_list(data, "content", where)):
        part = _load_part(value, f"{where}.content[{i}]")
        if not isinstance(part, Text | Image | Attachment | Opaque):
            raise BadInput(f"{where}.content[{i}].type", "a tool result holds text, images and attachments")
        content.append(part)
    return tuple(content)


def _load_wire(data: Mapping[str, Json], where: str) -> Wire | None:
    if data.get("wire") is None:
        return None
    wire = take_object(data["wire"], f"{where}.wire")
    return Wire(take_text(wire, "format", f"{where}.wire"), take_text(wire, "fields", f"{where}.wire"))
