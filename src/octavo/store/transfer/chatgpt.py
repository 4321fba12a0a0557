"""ChatGPT's data export (`conversations.json`): each conversation is a tree of nodes, some of them without a message.

A node that says nothing is left out, and its children move up. What this version does not know is kept unchanged, in an
opaque part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from octavo.core.json_values import (
    Json,
    JsonObject,
    compact,
    take_inner,
    take_object,
    take_optional,
    take_text,
)
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Wire,
)
from octavo.errors import BadInput
from octavo.store.transfer.items import ConversationEnd, ConversationStart, Item, MessageItem, TipItem
from octavo.store.transfer.source import SourceValue
from octavo.store.values import Entry

_FORMAT = "chatgpt"


def read_chatgpt(values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read conversations."""
    for value in values:
        data, where, tree = take_object(value.value, value.where), value.where, str(value.line)
        mapping = take_inner(data, "mapping", where)
        yield ConversationStart(
            line=value.line,
            tree=tree,
            title=take_optional(data, "title", where),
            created=_time(data.get("create_time")),
            updated=_time(data.get("update_time")),
        )
        reading = _Reading(mapping, value.line, where, tree)
        yield from reading.messages()
        shown = data.get("current_node")
        if isinstance(shown, str) and (tip := reading.kept.get(shown)):
            yield TipItem(line=value.line, tree=tree, key=tip)
        yield ConversationEnd(line=value.line, tree=tree)


def _time(seconds: Json) -> str:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return ""


class _Reading:
    """Goes through one conversation's nodes, parents first."""

    def __init__(self, mapping: JsonObject, line: int, where: str, tree: str) -> None:
        self._nodes = {key: take_object(node, f"{where}.mapping.{key}") for key, node in mapping.items()}
        self._line, self._where, self._tree = line, where, tree
        self.kept: dict[str, str | None] = {}
        """From a node to itself, or to the nearest one above it that has a message."""
        self._calls: dict[str, str] = {}
        """From a node to the tool call it makes or answers."""

    def messages(self) -> Iterator[Item]:
        children: dict[str | None, list[str]] = {}
        for key, node in self._nodes.items():
            parent = node.get("parent")
            known = parent if isinstance(parent, str) and parent in self._nodes else None
            children.setdefault(known, []).append(key)
        waiting = list(reversed(children.get(None, [])))
        while waiting:
            key = waiting.pop()
            yield from self._message(key)
            waiting += reversed(children.get(key, []))
        if len(self.kept) != len(self._nodes):
            raise BadInput(f"{self._where}.mapping", "nodes are each other's parents")

    def _message(self, key: str) -> Iterator[Item]:
        node = self._nodes[key]
        above = node.get("parent")
        parent = self.kept.get(above) if isinstance(above, str) else None
        entry = None
        if node.get("message") is not None:
            where = f"{self._where}.mapping.{key}.message"
            entry = self._entry(
                take_inner(node, "message", f"{self._where}.mapping.{key}"), key, parent, where
            )
        self.kept[key] = key if entry else parent
        if entry:
            yield MessageItem(line=self._line, tree=self._tree, key=key, parent=parent, entry=entry)

    def _entry(self, message: JsonObject, key: str, parent: str | None, where: str) -> Entry | None:
        author = take_inner(message, "author", where)
        role = _role(take_text(author, "role", f"{where}.author"))
        parts = _parts(take_inner(message, "content", where)) + _files(message)
        if not parts:
            return None
        recipient = take_optional(message, "recipient", where)
        if role == "assistant" and recipient not in ("", "all"):
            self._calls[key] = key
            parts = (ToolCall(id=key, name=recipient, input=_arguments(parts)),)
        elif role == "tool":
            call = self._calls.get(parent or "", key)
            self._calls[key] = call
            parts = (
                ToolResult(call_id=call, name=take_optional(author, "name", where), content=_result(parts)),
            )
        about = message.get("metadata")
        model = about.get("model_slug") if isinstance(about, dict) else ""
        return Entry(
            message=Message(role=role, parts=parts),
            model=model if isinstance(model, str) else "",
            created=_time(message.get("create_time")),
        )


def _role(name: str) -> Role:
    match name:
        case "user" | "assistant" | "system" | "tool":
            return name
        case _:
            return "system"


def _parts(content: JsonObject) -> tuple[Part, ...]:
    kind = content.get("content_type")
    if kind == "thoughts":
        thoughts = content.get("thoughts")
        found = [take_object(one, "thoughts") for one in thoughts] if isinstance(thoughts, list) else []
        return tuple(Reasoning(text=text) for one in found if (text := _string(one, "content", "summary")))
    if kind == "reasoning_recap":
        return (Reasoning(text=text),) if (text := _string(content, "content")) else ()
    pieces = content.get("parts")
    if isinstance(pieces, list):
        return tuple(part for piece in pieces if (part := _piece(piece)))
    if text := _string(content, "text", "result"):
        return (Text(text=text),)
    return () if set(content) <= {"content_type", "text", "result", "language"} else (_opaque(content),)


def _string(data: Mapping[str, Json], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := data.get(key), str) and value), "")


def _piece(piece: Json) -> Part | None:
    match piece:
        case str():
            return Text(text=piece) if piece else None
        case {"content_type": "image_asset_pointer", "asset_pointer": str(source), **more}:
            return Image(source=source, width=_size(more.get("width")), height=_size(more.get("height")))
        case {"content_type": "audio_transcription", "text": str(text)}:
            return Text(text=text)
        case dict():
            return _opaque(piece)
        case _:
            return None


def _size(value: object) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _opaque(value: JsonObject) -> Opaque:
    return Opaque(kind=str(value.get("content_type", "unknown")), wire=Wire(_FORMAT, compact(value)))


def _files(message: JsonObject) -> tuple[Part, ...]:
    about = message.get("metadata")
    listed = about.get("attachments") if isinstance(about, dict) else None
    files = [file for file in listed if isinstance(file, dict)] if isinstance(listed, list) else []
    return tuple(
        Attachment(
            name=_string(file, "name"),
            media_type=_string(file, "mime_type", "mimeType"),
            size=_size(file.get("size")),
            source=_string(file, "id"),
        )
        for file in files
    )


def _arguments(parts: tuple[Part, ...]) -> str:
    """What a tool was called with, as JSON: a program is wrapped, since it is none."""
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    try:
        whole = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        whole = False
    return text if whole else compact({"code": text})


def _result(parts: tuple[Part, ...]) -> tuple[Text | Image | Attachment | Opaque, ...]:
    return tuple(part for part in parts if isinstance(part, Text | Image | Attachment | Opaque))
