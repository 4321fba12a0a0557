"""Claude's data export (`conversations.json`): a list of messages for each conversation, newer ones with parents.

Tool results stand inside the assistant's message there; here they become messages of their own, as providers want
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from octavo.core.json_values import (
    Json,
    JsonObject,
    compact,
    take_list,
    take_object,
    take_optional,
    take_text,
)
from octavo.core.messages import (
    Attachment,
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
from octavo.store.transfer.items import ConversationEnd, ConversationStart, Item, MessageItem
from octavo.store.transfer.source import SourceValue
from octavo.store.values import Entry

_FORMAT = "claude"
_NO_PARENT = "00000000-0000-4000-8000-000000000000"


def read_claude(values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read conversations."""
    for value in values:
        data, where, tree = take_object(value.value, value.where), value.where, str(value.line)
        yield ConversationStart(
            line=value.line,
            tree=tree,
            title=take_optional(data, "name", where),
            created=take_optional(data, "created_at", where),
            updated=take_optional(data, "updated_at", where),
        )
        last: str | None = None
        ends: dict[str, str] = {}
        for i, one in enumerate(take_list(data, "chat_messages", where)):
            at = f"{where}.chat_messages[{i}]"
            message = take_object(one, at)
            key = take_text(message, "uuid", at)
            parent = _parent(message, ends, last, at)
            for said in _split(message, key, parent, value.line, tree, at):
                yield said
                ends[key] = last = said.key
        yield ConversationEnd(line=value.line, tree=tree)


def _parent(message: JsonObject, ends: dict[str, str], last: str | None, where: str) -> str | None:
    """Name the parent: said in newer files, the message before in older ones."""
    if "parent_message_uuid" not in message:
        return last
    named = take_optional(message, "parent_message_uuid", where)
    if named in ("", _NO_PARENT):
        return None
    return ends.get(named, named)


def _split(
    message: JsonObject, key: str, parent: str | None, line: int, tree: str, where: str
) -> Iterator[MessageItem]:
    """Make one message, or several where tool results stand in between."""
    sender = take_text(message, "sender", where)
    if sender not in ("human", "assistant"):
        raise BadInput(f"{where}.sender", f"unknown sender {sender!r}; human or assistant")
    role: Role = "user" if sender == "human" else "assistant"
    runs: list[tuple[Role, list[Part]]] = []
    for part in _parts(message, key, where):
        speaker: Role = "tool" if isinstance(part, ToolResult) else role
        if not runs or runs[-1][0] != speaker:
            runs.append((speaker, []))
        runs[-1][1].append(part)
    created = take_optional(message, "created_at", where)
    for i, (speaker, parts) in enumerate(runs or [(role, [])]):
        name = f"{key}#{i}" if i else key
        entry = Entry(message=Message(role=speaker, parts=tuple(parts)), created=created)
        yield MessageItem(line=line, tree=tree, key=name, parent=parent, entry=entry)
        parent = name


def _parts(message: JsonObject, key: str, where: str) -> Iterator[Part]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    calls: list[str] = []
    for i, block in enumerate(blocks):
        yield from _block(take_object(block, f"{where}.content[{i}]"), key, calls)
    if not blocks and (text := take_optional(message, "text", where)):
        yield Text(text=text)
    for name in ("attachments", "files"):
        listed = message.get(name)
        for file in listed if isinstance(listed, list) else []:
            yield _file(take_object(file, f"{where}.{name}"))


def _block(block: JsonObject, key: str, calls: list[str]) -> Iterator[Part]:
    """Read a block; calls and results without ids are paired in the order they stand in."""
    match block:
        case {"type": "text", "text": str(text)}:
            if text:
                yield Text(text=text)
        case {"type": "thinking", "thinking": str(text)}:
            yield Reasoning(text=text)
        case {"type": "tool_use", "name": str(name)}:
            id = str(block.get("id") or f"{key}:{len(calls)}")
            calls.append(id)
            yield ToolCall(id=id, name=name, input=compact(block.get("input") or {}))
        case {"type": "tool_result"}:
            id = str(block.get("tool_use_id") or (calls[-1] if calls else key))
            tool = block.get("name")
            yield ToolResult(
                call_id=id,
                name=tool if isinstance(tool, str) else "",
                content=_result(block.get("content")),
                error=block.get("is_error") is True,
            )
        case _:
            yield Opaque(kind=str(block.get("type", "unknown")), wire=Wire(_FORMAT, compact(block)))


def _result(content: Json) -> tuple[Text | Opaque, ...]:
    match content:
        case str():
            return (Text(text=content),)
        case list():
            return tuple(_result_piece(piece) for piece in content)
        case _:
            return ()


def _result_piece(piece: Json) -> Text | Opaque:
    match piece:
        case {"type": "text", "text": str(text)}:
            return Text(text=text)
        case _:
            return Opaque(kind="tool_result", wire=Wire(_FORMAT, compact({"piece": piece})))


def _file(file: JsonObject) -> Attachment:
    name, size = file.get("file_name"), file.get("file_size")
    kind, text = file.get("file_type"), file.get("extracted_content")
    source = (
        f"data:text/plain;charset=utf-8,{quote(text, errors='replace')}"
        if isinstance(text, str) and text
        else ""
    )
    return Attachment(
        name=name if isinstance(name, str) else "",
        media_type=kind if isinstance(kind, str) else "",
        size=max(0, size) if isinstance(size, int) else 0,
        source=source,
    )
