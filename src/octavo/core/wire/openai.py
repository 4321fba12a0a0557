"""OpenAI chat messages: the wire of `chat.completions` and of everything that imitates it.

Bare shapes, for which nothing is noted: content as a string when it is one text; `null` for an assistant who says
nothing; results as `tool` messages of text. `developer` is read as system, the legacy `function` role as tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from octavo.core.json_values import (
    Json,
    JsonObject,
    take_inner,
    take_list,
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
)
from octavo.core.wire.media import Data, as_picture, file_text, is_link, read_data, type_of, words_for
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
from octavo.core.wire.pairing import CallPairing
from octavo.errors import BadInput

FORMAT = "openai"
ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "system": "system",
        "developer": "system",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
        "function": "tool",
    }
)
REASONING = ("reasoning_content", "reasoning")
"""Fields in which imitators of the format send a model's thinking; OpenAI itself sends none."""
AUDIO = frozenset({"audio/wav", "audio/mp3"})
"""What the format accepts as audio."""
UNNAMED = "file"
"""A file's content is refused without a name."""

Piece: TypeAlias = Text | Image | Attachment | Opaque
"""What content consists of."""


def read_openai(messages: object, *, start: int = 0, calls: CallPairing | None = None) -> tuple[Message, ...]:
    """Read chat messages, one for one; raise `BadInput` naming the index and the field.

    The first `start` were read before, and with them the `calls`, which are added to.
    """
    calls = CallPairing() if calls is None else calls
    found = enumerate(objects(messages, "messages", start), start)
    return tuple([_read_message(data, where, at, calls) for at, (where, data) in found])


def write_openai(messages: Iterable[Message]) -> list[JsonObject]:
    """Write chat messages; every result becomes a `tool` message of its own."""
    written: list[JsonObject] = []
    waiting: list[Part] = []
    for message in messages:
        if _brings_results(message):
            # Nothing may stand between the results of parallel calls, so everything else they brought follows the last
            # one.
            waiting.extend(part for part in message.parts if not isinstance(part, ToolResult))
            waiting.extend(piece for result in message.results for piece in _outside(result))
        else:
            written.extend(_write_rest(waiting))
            waiting = []
            written.extend(_write_said(message))
        written.extend(_write_results(message))
    return [*written, *_write_rest(waiting)]


def _read_message(data: JsonObject, where: str, at: int, calls: CallPairing) -> Message:
    if (words := read_words(data)) is not None:
        return words
    said = take_text(data, "role", where)
    if said not in ROLES:
        raise BadInput(f"{where}.role", f"unknown role {said!r}; one of {', '.join(ROLES)}")
    role, name = ROLES[said], take_optional(data, "name", where)
    if role == "tool":
        result = _read_result(data, where, said, calls)
        wire = note(FORMAT, _bare_result(result, name), data)
        return Message(role=role, parts=(result,), name=name, wire=wire)
    parts = (
        *_read_reasoning(data),
        *_read_content(data, where, role),
        *_read_refusal(data, where),
        *_read_spoken(data),
        *_read_calls(data, where, at, calls),
    )
    message = Message(role=role, parts=parts, name=name)
    bare = _bare_said(message)
    if listed := is_listed(data, bare):
        bare = _bare_said(message, listed=True)
    return replace(message, wire=note(FORMAT, bare, data, listed=listed))


def _read_reasoning(data: JsonObject) -> Iterator[Reasoning]:
    for field in REASONING:
        value = data.get(field)
        if isinstance(value, str) and value:
            yield Reasoning(text=value, wire=note(FORMAT, {}, {}, field=field))
            return


def _read_refusal(data: JsonObject, where: str) -> Iterator[Text]:
    if data.get("refusal") is not None:
        yield Text(text=take_text(data, "refusal", where), wire=note(FORMAT, {}, {}, field="refusal"))


def _read_spoken(data: JsonObject) -> Iterator[Opaque]:
    """Keep the reference to a spoken answer as a part: without it such a message would seem to say nothing."""
    spoken = data.get("audio")
    if isinstance(spoken, dict):
        yield Opaque(kind="audio", wire=whole(FORMAT, spoken, field="audio"))


def _read_content(data: JsonObject, where: str, place: Role) -> tuple[Piece, ...]:
    match data.get("content"):
        case None:
            return ()
        case str(text):
            return (Text(text=text),)
        case list(values):
            spots = ((value, f"{where}.content[{i}]") for i, value in enumerate(values))
            return tuple(_read_piece(take_object(value, spot), spot, place) for value, spot in spots)
        case other:
            raise BadInput(f"{where}.content", f"expected text or a list, got {type(other).__name__}")


def _read_piece(data: JsonObject, where: str, place: Role) -> Piece:
    said = take_text(data, "type", where)
    piece = _known_piece(said, data, where)
    if piece is None:
        return Opaque(kind=said, wire=whole(FORMAT, data))
    kind = "" if said == _kind(piece, place) else said
    return replace(piece, wire=note(FORMAT, _bare_piece(piece, said), data, kind=kind))


def _known_piece(said: str, data: JsonObject, where: str) -> Text | Image | Attachment | None:
    match said:
        case "text" | "refusal":
            return Text(text=take_text(data, said, where))
        case "image_url":
            url = take_text(take_inner(data, said, where), "url", f"{where}.{said}")
            content = read_data(url)
            return Image(source=url, media_type=content.media_type if content else "")
        case "input_audio":
            return _read_audio(take_inner(data, said, where), f"{where}.{said}")
        case "file":
            return _read_file(take_inner(data, said, where), f"{where}.{said}")
        case _:
            return None


def _read_audio(data: JsonObject, where: str) -> Attachment:
    content = Data(f"audio/{take_text(data, 'format', where)}", take_text(data, "data", where))
    return Attachment(name="", media_type=content.media_type, size=content.size, source=content.url)


def _read_file(data: JsonObject, where: str) -> Attachment:
    name, content = take_optional(data, "filename", where), take_optional(data, "file_data", where)
    file = read_data(content)
    if file is None and content and not content.startswith("data:"):
        file = Data("", content)
    if file is None:
        return Attachment(name=name, source=content or take_optional(data, "file_id", where))
    return Attachment(name=name, media_type=file.media_type, size=file.size, source=file.url)


def _read_calls(data: JsonObject, where: str, at: int, calls: CallPairing) -> Iterator[ToolCall | Opaque]:
    if data.get("tool_calls") is not None:
        for i, value in enumerate(take_list(data, "tool_calls", where)):
            spot = f"{where}.tool_calls[{i}]"
            yield _read_call(take_object(value, spot), spot, at, calls)
    if data.get("function_call") is not None:
        spot, function = f"{where}.function_call", take_inner(data, "function_call", where)
        name, input = take_text(function, "name", spot), take_text(function, "arguments", spot)
        call = ToolCall(id=calls.opened(at, name), name=name, input=input)
        yield replace(call, wire=note(FORMAT, _bare_function(call), function, field="function_call"))


def _read_call(data: JsonObject, where: str, at: int, calls: CallPairing) -> ToolCall | Opaque:
    said = take_text(data, "type", where, "function")
    if said not in ("function", "custom"):
        return Opaque(kind=said, wire=whole(FORMAT, data, field="tool_calls"))
    inner, spot = take_inner(data, said, where), f"{where}.{said}"
    id, name = take_text(data, "id", where), take_text(inner, "name", spot)
    calls.opened(at, name, id)
    call = ToolCall(
        id=id, name=name, input=take_text(inner, "arguments" if said == "function" else "input", spot)
    )
    kind = "" if said == "function" else said
    return replace(call, wire=note(FORMAT, _bare_call(call, said), data, kind=kind))


def _read_result(data: JsonObject, where: str, role: str, calls: CallPairing) -> ToolResult:
    legacy = role == "function"
    name = take_text(data, "name", where) if legacy else take_optional(data, "name", where)
    call_id = calls.answered(name) if legacy else take_text(data, "tool_call_id", where)
    result = ToolResult(call_id=call_id, content=_read_content(data, where, "tool"), name=name)
    listed = is_listed(data, _bare_result(result, name))
    return replace(result, wire=note(FORMAT, {}, {}, listed=listed, kind=role if legacy else ""))


def _brings_results(message: Message) -> bool:
    return message.role != "assistant" and any(isinstance(part, ToolResult) for part in message.parts)


def _outside(result: ToolResult) -> list[Image | Attachment]:
    """Find what a result brought that a `tool` message cannot hold and a user's can."""
    media = [piece for piece in result.content if isinstance(piece, Image | Attachment)]
    return [
        piece for piece in media if "kind" not in notes(piece.wire, FORMAT) and _kind(piece, "user") != "text"
    ]


def _write_said(message: Message) -> Iterator[JsonObject]:
    if not message.parts or any(not isinstance(part, ToolResult) for part in message.parts):
        noted = notes(message.wire, FORMAT)
        yield patch(_bare_said(message, listed=noted.get("listed")), noted)


def _write_results(message: Message) -> Iterator[JsonObject]:
    results = message.results
    for result in results:
        bare = _bare_result(result, message.name)
        alone = message.role == "tool" and len(results) == 1
        yield patch(bare, notes(message.wire, FORMAT)) if alone else bare


def _write_rest(parts: Sequence[Part]) -> Iterator[JsonObject]:
    """Write what `tool` messages could not hold as the user's."""
    if any(True for part in parts for _ in _write_part(part, "user")):
        yield _bare_said(Message(role="user", parts=tuple(parts)))


def _bare_said(message: Message, *, listed: Json = False) -> JsonObject:
    held: dict[str, list[Json]] = {}
    for part in message.parts:
        for field, written in _write_part(part, message.role):
            held.setdefault(field, []).append(written)
    empty = None if message.role == "assistant" else ""
    bare: JsonObject = {
        "role": "user" if message.role == "tool" else message.role,
        "content": join_pieces(held.pop("content", []), empty=empty, listed=listed),
    }
    if message.name:
        bare["name"] = message.name
    for field, values in held.items():
        texts = [value for value in values if isinstance(value, str)]
        bare[field] = values if field == "tool_calls" else "\n".join(texts) if texts else values[0]
    return bare


def _bare_result(result: ToolResult, name: str) -> JsonObject:
    noted = notes(result.wire, FORMAT)
    pieces = [written for piece in result.content for _, written in _write_part(piece, "tool")]
    content = join_pieces(pieces, empty="", listed=noted.get("listed"))
    if noted.get("kind") == "function":
        return {"role": "function", "name": result.name, "content": content}
    bare: JsonObject = {"role": "tool", "tool_call_id": result.call_id, "content": content}
    return bare | {"name": name} if name else bare


def _write_part(part: Part, place: Role) -> Iterator[tuple[str, Json]]:
    """Write a part with the field of the message that holds it; nothing, if only another format understands it."""
    noted = notes(part.wire, FORMAT)
    field = noted.get("field")
    match part:
        case Text() | Reasoning() if isinstance(field, str):
            yield field, part.text
        case Text() | Image() | Attachment():
            kind = noted.get("kind")
            bare = _bare_piece(part, kind if isinstance(kind, str) else _kind(part, place))
            yield "content", patch(bare, noted)
        case ToolCall() if field == "function_call":
            yield field, patch(_bare_function(part), noted)
        case ToolCall():
            yield "tool_calls", patch(_bare_call(part, str(noted.get("kind", "function"))), noted)
        case Opaque() if WHOLE in noted:
            yield str(noted.get("field", "content")), noted[WHOLE]


def _kind(part: Text | Image | Attachment, place: Role) -> str:
    """Choose the type of a content part; only users can send more than text."""
    match part:
        case _ if place != "user":
            return "text"
        case Image(source=source) if is_link(source) or read_data(source):
            return "image_url"
        case Attachment() if (picture := as_picture(part)) is not None:
            return _kind(picture, place)
        case Attachment(source=source) if file_text(part) is None and read_data(source):
            return _kind_of_data(type_of(part))
        case _:
            return "text"


def _kind_of_data(media_type: str) -> str:
    if media_type in AUDIO:
        return "input_audio"
    return "text" if media_type.startswith(("audio/", "video/")) else "file"


def _bare_piece(part: Text | Image | Attachment, kind: str) -> JsonObject:
    match part, kind:
        case Text(text=text), "refusal":
            return {"type": "refusal", "refusal": text}
        case Text(text=text), _:
            return {"type": "text", "text": text}
        case ((Image(source=url) | Attachment(source=url)), "image_url"):
            return {"type": "image_url", "image_url": {"url": url}}
        case Attachment(), "file":
            return {"type": "file", "file": _bare_file(part)}
        case Attachment(source=source), "input_audio" if (data := read_data(source)) is not None:
            format = type_of(part).removeprefix("audio/")
            return {"type": "input_audio", "input_audio": {"data": data.base64, "format": format}}
        case ((Image() | Attachment()), _):
            return {"type": "text", "text": words_for(part)}


def _bare_file(file: Attachment) -> JsonObject:
    data = read_data(file.source)
    if data is not None:
        content = data.url if data.media_type else data.base64
        return {"filename": file.name or UNNAMED, "file_data": content}
    known = {"filename": file.name, "file_id": file.source}
    return {key: value for key, value in known.items() if value}


def _bare_call(call: ToolCall, kind: str) -> JsonObject:
    if kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.input}}
    return {"id": call.id, "type": "function", "function": _bare_function(call)}


def _bare_function(call: ToolCall) -> JsonObject:
    return {"name": call.name, "arguments": call.input}
