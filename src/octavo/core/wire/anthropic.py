"""Anthropic messages: `messages` and the `system` that stands beside them.

Bare shapes, for which nothing is noted: content as a string when it is one text, else a list of blocks; system
messages at the front as `system`; a user message that holds a `tool_result` is a tool message, and the results of
parallel calls stand in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from octavo.core.json_values import (
    Json,
    JsonObject,
    check_json,
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
from octavo.core.wire.media import (
    PDF,
    Data,
    as_picture,
    file_text,
    is_link,
    read_data,
    text_data,
    type_by_ending,
    type_of,
    words_for,
)
from octavo.core.wire.notes import (
    WHOLE,
    is_listed,
    join_pieces,
    note,
    notes,
    objects,
    patch,
    read_words,
    whole,
)
from octavo.core.wire.pairing import APART, input_of, join_results, joinable
from octavo.errors import BadInput

FORMAT = "anthropic"
ROLES: tuple[Role, ...] = ("user", "assistant", "system")
PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What the format accepts as an image."""

Piece: TypeAlias = Text | Image | Attachment | Opaque
"""What the content of a result consists of."""
P = TypeVar("P", bound=Part)


def read_anthropic(messages: object, system: Json = None) -> tuple[Message, ...]:
    """Read messages, one for one, after a system message if there is a `system`."""
    read: list[Message] = [] if system is None else [_read_system(system)]
    previous: Message | None = None
    for where, data in objects(messages, "messages"):
        previous = _read_message(data, where, previous)
        read.append(previous)
    return tuple(read)


def write_anthropic(messages: Sequence[Message]) -> tuple[list[JsonObject], Json]:
    """Write messages, and what belongs into `system`: the system messages at the front."""
    front = 0
    while front < len(messages) and messages[front].role == "system" and not _inline(messages[front]):
        front += 1
    written = [_write_message(message) for message in join_results(messages[front:], FORMAT)]
    return written, _write_system(messages[:front])


def _inline(message: Message) -> bool:
    """Tell whether a system message stood in the list itself, as newer models allow."""
    return notes(message.wire, FORMAT).get("kind") == "system"


def _read_system(system: Json) -> Message:
    check_json(system, "system")
    if not isinstance(system, str | list):
        raise BadInput("system", f"expected text or a list, got {type(system).__name__}")
    message = Message(
        role="system", parts=_read_content(system, "system", partial(_read_block, place="system"))
    )
    listed = is_listed({"content": system}, _bare_message(message, "system"))
    return replace(message, wire=note(FORMAT, {}, {}, listed=listed))


def _write_system(messages: Sequence[Message]) -> Json:
    if not messages:
        return None
    blocks = [
        block for message in messages for part in message.parts for block in _write_part(part, "system")
    ]
    listed = len(messages) == 1 and notes(messages[0].wire, FORMAT).get("listed")
    return join_pieces(blocks, empty=[], listed=listed)


def _read_message(data: JsonObject, where: str, previous: Message | None) -> Message:
    if (words := read_words(data)) is not None:
        return words
    said = take_text(data, "role", where)
    role = next((role for role in ROLES if role == said), None)
    if role is None:
        raise BadInput(f"{where}.role", f"unknown role {said!r}; one of {', '.join(ROLES)}")
    parts = _read_content(data.get("content"), f"{where}.content", partial(_read_block, place=role))
    results = role == "user" and any(isinstance(part, ToolResult) for part in parts)
    message = Message(role="tool" if results else role, parts=parts)
    bare = _bare_message(message, role)
    if listed := is_listed(data, bare):
        bare = _bare_message(message, role, listed=True)
    marks: JsonObject = {
        "listed": listed,
        "kind": role if role == "system" else "",
        APART: joinable(previous, message),
    }
    return replace(message, wire=note(FORMAT, bare, data, **marks))


def _write_message(message: Message) -> JsonObject:
    noted = notes(message.wire, FORMAT)
    role = "assistant" if message.role == "assistant" else "user"
    role = "system" if message.role == "system" and noted.get("kind") == "system" else role
    return patch(_bare_message(message, role, listed=noted.get("listed")), noted)


def _bare_message(message: Message, role: str, *, listed: Json = False) -> JsonObject:
    blocks = [block for part in message.parts for block in _write_part(part, message.role)]
    return {"role": role, "content": join_pieces(blocks, empty=[], listed=listed)}


def _read_content(content: Json, where: str, read: Callable[[JsonObject, str], P]) -> tuple[P | Text, ...]:
    if isinstance(content, str):
        return (Text(text=content),)
    if not isinstance(content, list):
        raise BadInput(where, f"expected text or a list, got {type(content).__name__}")
    spots = ((block, f"{where}[{i}]") for i, block in enumerate(content))
    return tuple(read(take_object(block, spot), spot) for block, spot in spots)


def _read_block(data: JsonObject, where: str, place: Role) -> Part:
    match take_text(data, "type", where):
        case "thinking" | "redacted_thinking" as said:
            return _read_thinking(data, said, where)
        case "tool_use":
            return _read_call(data, where)
        case "tool_result":
            return _read_result(data, where)
        case _:
            return _read_piece(data, where, place)


def _read_thinking(data: JsonObject, said: str, where: str) -> Reasoning:
    text = take_text(data, "thinking", where) if said == "thinking" else ""
    thinking = Reasoning(text=text)
    kind = "" if said == "thinking" else said
    wire = note(FORMAT, _bare_thinking(thinking, said), data, kind=kind)
    # Thinking goes back to the format that wrote it only, so it has a wire even when there is nothing to note.
    return replace(thinking, wire=wire or Wire(FORMAT, "{}"))


def _read_call(data: JsonObject, where: str) -> ToolCall:
    input = compact(take_inner(data, "input", where))
    call = ToolCall(id=take_text(data, "id", where), name=take_text(data, "name", where), input=input)
    return replace(call, wire=note(FORMAT, _bare_call(call), data))


def _read_result(data: JsonObject, where: str) -> ToolResult:
    said = data.get("content")
    content = () if said is None else _read_content(said, f"{where}.content", _read_piece)
    result = ToolResult(
        call_id=take_text(data, "tool_use_id", where), content=content, error=data.get("is_error") is True
    )
    bare = _bare_result(result)
    if listed := is_listed(data, bare):
        bare = _bare_result(result, listed=True)
    return replace(result, wire=note(FORMAT, bare, data, listed=listed))


def _read_piece(data: JsonObject, where: str, place: Role = "tool") -> Piece:
    said = take_text(data, "type", where)
    known: tuple[Text | Image | Attachment, str] | None = None
    match said:
        case "text":
            known = Text(text=take_text(data, "text", where)), "text"
        case "image":
            known = _read_image(take_inner(data, "source", where), f"{where}.source")
        case "document":
            known = _read_document(data, where)
    if known is None:
        return Opaque(kind=said, wire=whole(FORMAT, data))
    piece, source = known
    kind = "" if source == _kind(piece, place) else source
    return replace(piece, wire=note(FORMAT, _bare_piece(piece, source), data, kind=kind))


def _read_image(source: JsonObject, where: str) -> tuple[Image, str] | None:
    said = take_text(source, "type", where)
    match said:
        case "base64":
            data = Data(take_text(source, "media_type", where), take_text(source, "data", where))
            return Image(source=data.url, media_type=data.media_type), said
        case "url":
            return Image(source=take_text(source, "url", where)), said
        case "file":
            return Image(source=take_text(source, "file_id", where)), said
        case _:
            return None


def _read_document(document: JsonObject, where: str) -> tuple[Attachment, str] | None:
    name, source = take_optional(document, "title", where), take_inner(document, "source", where)
    where = f"{where}.source"
    said = take_text(source, "type", where)
    match said:
        case "base64":
            return _file(
                name, Data(take_text(source, "media_type", where), take_text(source, "data", where))
            ), said
        case "text":
            return _file(name, text_data(take_text(source, "data", where))), said
        case "content" if isinstance(content := source.get("content"), str):
            return _file(name, text_data(content)), said
        case "url":
            return Attachment(name=name, media_type=PDF, source=take_text(source, "url", where)), said
        case "file":
            return Attachment(name=name, source=take_text(source, "file_id", where)), said
        case _:
            return None


def _file(name: str, data: Data) -> Attachment:
    return Attachment(name=name, media_type=data.media_type, size=data.size, source=data.url)


def _write_part(part: Part, place: Role) -> Iterator[JsonObject]:
    """Write a part as a block; nothing, if only another format understands it."""
    noted = notes(part.wire, FORMAT)
    kind = noted.get("kind")
    match part:
        case Text() | Image() | Attachment():
            bare = _bare_piece(part, kind if isinstance(kind, str) else _kind(part, place))
            yield patch(bare, noted)
        case Reasoning() if part.wire is not None and part.wire.format == FORMAT:
            yield patch(_bare_thinking(part, kind), noted)
        case ToolCall():
            yield patch(_bare_call(part), noted)
        case ToolResult():
            yield patch(_bare_result(part, listed=noted.get("listed")), noted)
        case Opaque() if isinstance(block := noted.get(WHOLE), dict):
            yield block


def _bare_thinking(thinking: Reasoning, kind: Json) -> JsonObject:
    if kind == "redacted_thinking":
        return {"type": kind}
    return {"type": "thinking", "thinking": thinking.text}


def _bare_call(call: ToolCall) -> JsonObject:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": input_of(call)}


def _bare_result(result: ToolResult, *, listed: Json = False) -> JsonObject:
    pieces: list[Json] = [block for piece in result.content for block in _write_part(piece, "tool")]
    bare: JsonObject = {"type": "tool_result", "tool_use_id": result.call_id}
    if pieces:
        bare["content"] = join_pieces(pieces, empty=None, listed=listed)
    if result.error:
        bare["is_error"] = True
    return bare


def _kind(part: Text | Image | Attachment, place: Role) -> str:
    """Choose how a piece is sent: as text, or by which source; assistants and systems can send words only."""
    data = None if isinstance(part, Text) else read_data(part.source)
    match part:
        case Text():
            return "text"
        case _ if place in ("assistant", "system"):
            return "words"
        case Image():
            if data is None:
                return "url" if is_link(part.source) else "words"
            return "base64" if type_of(part) in PICTURES else "words"
        case Attachment():
            return _kind_of_file(part, data)


def _kind_of_file(file: Attachment, data: Data | None) -> str:
    if as_picture(file) is not None:
        return "picture"
    if file_text(file) is not None:
        return "text"
    if PDF not in (type_of(file), type_by_ending(file.source)):
        return "words"
    if data is None:
        return "url" if is_link(file.source) else "words"
    return "base64"


def _bare_piece(part: Text | Image | Attachment, kind: str) -> JsonObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Attachment) and kind == "picture" and (picture := as_picture(part)) is not None:
        return _bare_piece(picture, _kind(picture, "user"))
    source = _bare_source(part, kind)
    if source is None:
        return {"type": "text", "text": words_for(part)}
    if isinstance(part, Image):
        return {"type": "image", "source": source}
    bare: JsonObject = {"type": "document", "source": source}
    return bare | {"title": part.name} if part.name else bare


def _bare_source(part: Image | Attachment, kind: str) -> JsonObject | None:
    data = read_data(part.source)
    match kind:
        case "base64" if data is not None:
            return {"type": "base64", "media_type": type_of(part), "data": data.base64}
        case "text" if data is not None and (text := data.text) is not None:
            return {"type": "text", "media_type": "text/plain", "data": text}
        case "content" if data is not None and (text := data.text) is not None:
            return {"type": "content", "content": text}
        case "url":
            return {"type": "url", "url": part.source}
        case "file":
            return {"type": "file", "file_id": part.source}
        case _:
            return None
