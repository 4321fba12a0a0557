"""Gemini contents: `contents` and the system instruction that stands beside them.

Bare shapes, for which nothing is noted: keys in camelCase; a role always; calls and results with ids; results as
`{"output": text}` or `{"error": text}`; the system instruction as an object with `parts`. A content that holds a
`functionResponse` is a tool message, and the results of parallel calls stand in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from octavo.core.json_values import (
    Json,
    JsonObject,
    check_json,
    compact,
    parse,
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
    Wire,
)
from octavo.core.wire.media import (
    UNKNOWN,
    Data,
    file_text,
    main_type,
    read_data,
    type_by_ending,
    type_of,
    words_for,
)
from octavo.core.wire.notes import WHOLE, note, notes, objects, patch, whole
from octavo.core.wire.pairing import APART, CallPairing, input_of, join_results, joinable
from octavo.errors import BadInput

FORMAT = "gemini"
ROLES: Mapping[str, Role] = MappingProxyType({"user": "user", "model": "assistant", "function": "user"})
SNAKE: Mapping[str, str] = MappingProxyType(
    {
        "functionCall": "function_call",
        "functionResponse": "function_response",
        "inlineData": "inline_data",
        "fileData": "file_data",
        "mimeType": "mime_type",
        "fileUri": "file_uri",
        "displayName": "display_name",
    }
)
"""The other spelling, which the Python library and older clients use."""
CAMEL: Mapping[str, str] = MappingProxyType({snake: camel for camel, snake in SNAKE.items()})
MEDIA = ("inlineData", "fileData")
KINDS = ("functionCall", "functionResponse", *MEDIA)
NO_NAMES: Mapping[str, str] = MappingProxyType({})
SAYS = ("output", "result", "error")
"""Keys under which a response says one text; any other response is read as the JSON it is."""
NAMELESS = "tool"
"""A result without a name is refused."""
LIKELY_PICTURE = "image/jpeg"
"""The type of a linked picture whose address does not tell."""


def read_gemini(messages: object, system: Json = None) -> tuple[Message, ...]:
    """Read contents, one for one, after a system message if there is a system instruction."""
    read: list[Message] = [] if system is None else [_read_system(system)]
    previous: Message | None = None
    calls = CallPairing()
    for at, (where, data) in enumerate(objects(messages, "messages")):
        previous = _read_content(data, where, previous, at, calls)
        read.append(previous)
    return tuple(read)


def write_gemini(messages: Sequence[Message]) -> tuple[list[JsonObject], Json]:
    """Write contents, and the system instruction: the system messages at the front."""
    front = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    names: dict[str, str] = {}
    written: list[JsonObject] = []
    for message in join_results(messages[front:], FORMAT):
        names.update((call.id, call.name) for call in message.calls)
        written.append(patch(_bare_content(message, names), notes(message.wire, FORMAT)))
    return written, _write_system(messages[:front])


def _read_system(system: Json) -> Message:
    check_json(system, "system")
    match system:
        case str(text):
            return Message(role="system", parts=(Text(text=text),), wire=note(FORMAT, {}, {}, shape="text"))
        case list(parts):
            read = _read_parts(parts, "system", "system", 0, CallPairing())
            return Message(role="system", parts=read, wire=note(FORMAT, {}, {}, shape="list"))
        case dict(content):
            parts = take_list(content, "parts", "system")
            message = Message(
                role="system", parts=_read_parts(parts, "system.parts", "system", 0, CallPairing())
            )
            return replace(message, wire=note(FORMAT, {"parts": _write_parts(message)}, content))
        case other:
            raise BadInput("system", f"expected text, a list or an object, got {type(other).__name__}")


def _write_system(messages: Sequence[Message]) -> Json:
    if not messages:
        return None
    parts: list[Json] = [part for message in messages for part in _write_parts(message)]
    noted = notes(messages[0].wire, FORMAT) if len(messages) == 1 else {}
    match noted.get("shape"), parts:
        case "text", [{"text": str(text), **rest}] if not rest:
            return text
        case "list", _:
            return parts
        case _:
            return patch({"parts": parts}, noted)


def _read_content(
    data: JsonObject, where: str, previous: Message | None, at: int, calls: CallPairing
) -> Message:
    said = take_optional(data, "role", where)
    if said and said not in ROLES:
        raise BadInput(f"{where}.role", f"unknown role {said!r}; one of {', '.join(ROLES)}")
    role = ROLES[said or "user"]
    # A model that was cut off before its first word leaves a content without parts.
    values = [] if data.get("parts") is None else take_list(data, "parts", where)
    parts = _read_parts(values, f"{where}.parts", role, at, calls)
    if role == "user" and any(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    message = Message(role=role, parts=parts)
    apart = joinable(previous, message)
    return replace(message, wire=note(FORMAT, _bare_content(message), data, **{APART: apart}))


def _bare_content(message: Message, names: Mapping[str, str] = NO_NAMES) -> JsonObject:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": _write_parts(message, names)}


def _read_parts(values: list[Json], where: str, place: Role, at: int, calls: CallPairing) -> tuple[Part, ...]:
    spots = ((value, f"{where}[{i}]") for i, value in enumerate(values))
    return tuple(_read_part(take_object(value, spot), spot, place, at, calls) for value, spot in spots)


def _read_part(data: JsonObject, where: str, place: Role, at: int, calls: CallPairing) -> Part:
    match _find(data, KINDS):
        case "functionCall" | "function_call" as key:
            return _read_call(data, key, where, at, calls)
        case "functionResponse" | "function_response" as key:
            return _read_result(data, key, where, calls)
        case None if data.get("text") is not None:
            return _read_text(data, where)
        case _:
            return _read_media(data, where, place)


def _find(data: JsonObject, names: Iterable[str]) -> str | None:
    """Find the first of some fields that says something, in either spelling."""
    keys = (key for name in names for key in (name, SNAKE[name]))
    return next((key for key in keys if data.get(key) is not None), None)


def _read_text(data: JsonObject, where: str) -> Text | Reasoning:
    text = take_text(data, "text", where)
    if data.get("thought") is not True:
        return Text(text=text, wire=note(FORMAT, {"text": text}, data))
    thought = Reasoning(text=text)
    # Thoughts go back to the format that wrote them only, so they have a wire even when there is nothing to note.
    return replace(thought, wire=note(FORMAT, _bare_thought(thought), data) or Wire(FORMAT, "{}"))


def _read_media(data: JsonObject, where: str, place: Role) -> Image | Attachment | Opaque:
    key = _find(data, MEDIA)
    if key is None:
        return Opaque(kind=next(iter(data), ""), wire=whole(FORMAT, data))
    inner, spot = take_inner(data, key, where), f"{where}.{key}"
    said = CAMEL.get(key, key)
    part = _read_blob(inner, spot) if said == "inlineData" else _read_link(inner, spot)
    bare = _bare_media(part, said, snake=key != said)
    return replace(
        part,
        wire=note(FORMAT, bare, data, kind="" if said == _kind(part, place) else said, snake=key != said),
    )


def _read_blob(data: JsonObject, where: str) -> Image | Attachment:
    media_type = take_text(data, _find(data, ["mimeType"]) or "mimeType", where)
    content = Data(media_type, take_text(data, "data", where))
    if main_type(media_type).startswith("image/"):
        return Image(source=content.url, media_type=media_type)
    return Attachment(name=_name(data, where), media_type=media_type, size=content.size, source=content.url)


def _read_link(data: JsonObject, where: str) -> Image | Attachment:
    media_type = take_optional(data, _find(data, ["mimeType"]) or "mimeType", where)
    source = take_text(data, _find(data, ["fileUri"]) or "fileUri", where)
    if main_type(media_type).startswith("image/"):
        return Image(source=source, media_type=media_type)
    return Attachment(name=_name(data, where), media_type=media_type, source=source)


def _name(data: JsonObject, where: str) -> str:
    return take_optional(data, _find(data, ["displayName"]) or "displayName", where)


def _read_call(data: JsonObject, key: str, where: str, at: int, calls: CallPairing) -> ToolCall:
    inner, spot = take_inner(data, key, where), f"{where}.{key}"
    id, name = take_optional(inner, "id", spot), take_text(inner, "name", spot)
    args = {} if inner.get("args") is None else take_inner(inner, "args", spot)
    call = ToolCall(id=calls.opened(at, name, id), name=name, input=compact(args))
    marks: JsonObject = {"anonymous": not id, "snake": key in CAMEL}
    return replace(call, wire=note(FORMAT, _bare_call(call, marks), data, **marks))


def _read_result(data: JsonObject, key: str, where: str, calls: CallPairing) -> ToolResult:
    inner, spot = take_inner(data, key, where), f"{where}.{key}"
    id, name, response = (
        take_optional(inner, "id", spot),
        take_text(inner, "name", spot),
        take_inner(inner, "response", spot),
    )
    if not name:
        raise BadInput(f"{spot}.name", "expected a name, got an empty text")
    text, says = _read_response(response)
    result = ToolResult(
        call_id=calls.answered(name, id),
        name=name,
        content=(Text(text=text), *_read_pieces(inner, spot)),
        error=bool(response.get("error")),
    )
    marks: JsonObject = {
        "anonymous": not id,
        "snake": key in CAMEL,
        "says": "" if says == _says(result) else says,
    }
    return replace(result, wire=note(FORMAT, _bare_result(result, marks, name), data, **marks))


def _read_pieces(data: JsonObject, where: str) -> Iterator[Image | Attachment | Opaque]:
    """Read the pictures and files that came with a result."""
    if data.get("parts") is not None:
        for i, value in enumerate(take_list(data, "parts", where)):
            spot = f"{where}.parts[{i}]"
            yield _read_media(take_object(value, spot), spot, "tool")


def _read_response(response: JsonObject) -> tuple[str, str]:
    """Give what a tool answered as text, and under which key it stood; as JSON, if it is more than one text."""
    if len(response) == 1:
        for key in SAYS:
            if isinstance(text := response.get(key), str):
                return text, key
    return compact(response), "json"


def _says(result: ToolResult) -> str:
    return "error" if result.error else "output"


def _write_parts(message: Message, names: Mapping[str, str] = NO_NAMES) -> list[Json]:
    return [written for part in message.parts for written in _write_part(part, message.role, names)]


def _write_part(part: Part, place: Role, names: Mapping[str, str]) -> Iterator[JsonObject]:
    """Write a part; nothing, if only another format understands it."""
    noted = notes(part.wire, FORMAT)
    match part:
        case Text():
            yield patch({"text": part.text}, noted)
        case Reasoning() if part.wire is not None and part.wire.format == FORMAT:
            yield patch(_bare_thought(part), noted)
        case Image() | Attachment():
            kind = noted.get("kind")
            bare = _bare_media(
                part, kind if isinstance(kind, str) else _kind(part, place), snake=noted.get("snake")
            )
            yield patch(bare, noted)
        case ToolCall():
            yield patch(_bare_call(part, noted), noted)
        case ToolResult():
            name = part.name or names.get(part.call_id) or NAMELESS
            yield patch(_bare_result(part, noted, name), noted)
        case Opaque() if isinstance(said := noted.get(WHOLE), dict):
            yield said


def _bare_thought(thought: Reasoning) -> JsonObject:
    return {"text": thought.text, "thought": True}


def _kind(part: Image | Attachment, place: Role) -> str:
    """Choose how a picture or file is sent; a system instruction is words only."""
    if place == "system":
        return "words"
    if isinstance(part, Attachment) and file_text(part) is not None:
        # Text of types such as `application/json` is refused as data and welcome as words.
        return "inlineData" if type_of(part).startswith("text/") else "words"
    if read_data(part.source) is not None:
        return "inlineData"
    return "fileData" if "://" in part.source else "words"


def _bare_media(part: Image | Attachment, kind: str, *, snake: Json) -> JsonObject:
    data = read_data(part.source)
    inner: JsonObject
    if kind == "inlineData" and data is not None:
        inner = {"mimeType": type_of(part) or UNKNOWN, "data": data.base64}
    elif kind == "fileData":
        guess = LIKELY_PICTURE if isinstance(part, Image) else ""
        media_type = part.media_type or type_by_ending(part.source) or guess
        inner = {"mimeType": media_type} if media_type else {}
        inner["fileUri"] = part.source
    else:
        return {"text": words_for(part)}
    return _spell(kind, inner, snake)


def _bare_call(call: ToolCall, marks: JsonObject) -> JsonObject:
    bare: JsonObject = {} if marks.get("anonymous") else {"id": call.id}
    return _spell("functionCall", {**bare, "name": call.name, "args": input_of(call)}, marks.get("snake"))


def _bare_result(result: ToolResult, marks: JsonObject, name: str) -> JsonObject:
    texts: list[str] = []
    media: list[Json] = []
    for piece in result.content:
        for written in _write_part(piece, "tool", NO_NAMES):
            match written:
                case {"text": str(text), **rest} if not rest:
                    texts.append(text)
                case _:
                    media.append(written)
    bare: JsonObject = {} if marks.get("anonymous") else {"id": result.call_id}
    bare |= {
        "name": name,
        "response": _bare_response("\n".join(texts), str(marks.get("says") or _says(result)), result),
    }
    if media:
        bare["parts"] = media
    return _spell("functionResponse", bare, marks.get("snake"))


def _bare_response(text: str, says: str, result: ToolResult) -> JsonObject:
    if says != "json":
        return {says: text}
    try:
        value = parse(text)
    except ValueError:
        value = None
    # A result that was shortened since is no JSON any more, and is sent as the text it is.
    return value if isinstance(value, dict) else {_says(result): text}


def _spell(key: str, inner: JsonObject, snake: Json) -> JsonObject:
    if not snake:
        return {key: inner}
    return {SNAKE[key]: {SNAKE.get(name, name): value for name, value in inner.items()}}
