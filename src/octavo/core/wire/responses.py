"""OpenAI Responses items: the list called `input` or `output`, and the `instructions` that stand beside it.

What a model says in one step comes as several items: thoughts, messages, calls. They become one assistant message whose
parts are in the order of the items, so a conversation is the same value here and in Chat Completions. Each output of a
tool is a tool message. Bare shapes, for which nothing is noted: messages without a `type`; content as a string when it
is one text; an item of its own for each text of an assistant.

Thoughts and items that this version does not know are kept whole, and only this format writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from octavo.core.json_values import Json, JsonObject, compact, parse, take_object, take_optional, take_text
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
from octavo.core.wire.notes import WHOLE, difference, note, notes, objects, patch, read_words, whole
from octavo.errors import BadInput

FORMAT = "responses"
ROLES: Mapping[str, Role] = MappingProxyType(
    {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
)
COMPACTION = "compaction"
THOUGHTS = "thoughts"
"""The note of a message whose reasoning was taken out of its parts."""
UNNAMED = "file"
"""A file's content is refused without a name."""
ENCRYPTED_HEAD = 650
"""Bytes of an encrypted thought that are not the thought itself."""

UNSEEN = 300
"""Characters that a thought has at least: what the provider keeps of it is not shown here, but counted there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """How a kind of call is written, and the item that answers it."""

    output: str
    name: str = ""
    """The name of the tool, for calls that carry none."""
    text: str = ""
    """The field that holds the input, if that is a text."""
    id: str = "call_id"
    answers: tuple[str, ...] = ("call_id",)
    """Where an output may name its call; the first is where it is written."""


CALLS: Mapping[str, _Call] = MappingProxyType(
    {
        "function_call": _Call(output="function_call_output", text="arguments"),
        "custom_tool_call": _Call(output="custom_tool_call_output", text="input"),
        "shell_call": _Call(output="shell_call_output", name="shell"),
        "local_shell_call": _Call(
            output="local_shell_call_output", name="local_shell", answers=("call_id", "id")
        ),
        "apply_patch_call": _Call(output="apply_patch_call_output", name="apply_patch"),
        "computer_call": _Call(output="computer_call_output", name="computer"),
        "tool_search_call": _Call(output="tool_search_output", name="tool_search"),
        "program": _Call(output="program_output", name="program"),
        "mcp_approval_request": _Call(
            output="mcp_approval_response", name="mcp_approval", id="id", answers=("approval_request_id",)
        ),
    }
)
"""Calls that another item answers. What a provider both calls and answers in one item is an opaque part."""
OUTPUTS: Mapping[str, str] = MappingProxyType({call.output: kind for kind, call in CALLS.items()})
FUNCTION = "function_call"
PLAIN_OUTPUTS = frozenset({"function_call", "custom_tool_call"})
"""Calls whose outputs are texts or lists of content."""
TEXT_OUTPUTS = frozenset({"local_shell_call", "apply_patch_call"})
"""Calls whose outputs can only be texts."""

Piece: TypeAlias = Text | Image | Attachment | Opaque
"""What content consists of."""


@dataclass(slots=True)
class _Calls:
    """The calls seen so far."""

    ids: dict[str, str] = field(default_factory=dict)
    """By the id of the item: some outputs name that."""
    kinds: dict[str, str] = field(default_factory=dict)

    def kind(self, id: str) -> str:
        return self.kinds.get(id, FUNCTION)


def read_responses(items: object, system: Json = None) -> tuple[Message, ...]:
    """Read items, after a system message if there are instructions; raise `BadInput` naming the index and the field."""
    front = () if system is None else (_read_instructions(system),)
    return (*front, *(message for message, _ in read_steps(items)))


def read_steps(items: object) -> list[tuple[Message, int]]:
    """Read items, and tell of each message how many of them it was made from."""
    read: list[tuple[Message, int]] = []
    step: list[Part] = []
    taken = 0
    calls = _Calls()
    for where, data in objects(items, "messages"):
        found = _read_item(data, where, calls)
        if not isinstance(found, Message):
            step.extend(found)
            taken += 1
            continue
        if step:
            read.append((Message(role="assistant", parts=tuple(step)), taken))
            step, taken = [], 0
        read.append((found, 1))
    if step:
        read.append((Message(role="assistant", parts=tuple(step)), taken))
    return read


def write_responses(messages: Sequence[Message]) -> tuple[list[JsonObject], Json]:
    """Write items, and the instructions: the system messages at the front that did not stand in the list."""
    front = 0
    while front < len(messages) and messages[front].role == "system" and not _inline(messages[front]):
        front += 1
    written: list[JsonObject] = []
    waiting: list[Part] = []
    calls = _Calls()
    for message in messages[front:]:
        if message.role == "tool":
            # Nothing may stand between the results of parallel calls, so everything else they brought follows the last
            # one.
            waiting.extend(message.parts)
            written.extend(item for part in message.parts for item in _write_item(part, calls))
            continue
        written.extend(_write_rest(waiting))
        waiting = []
        written.extend(_write_message(message, calls))
    return [*written, *_write_rest(waiting)], _write_instructions(messages[:front])


def reasoning_characters(thought: Reasoning) -> int:
    """Estimate the length of a thought; of an encrypted one, by the length of its code."""
    said = notes(thought.wire, FORMAT).get(WHOLE)
    if not isinstance(said, dict):
        return len(thought.text)
    code = said.get("encrypted_content")
    hidden = len(code) * 3 // 4 - ENCRYPTED_HEAD if isinstance(code, str) else 0
    return max(len(thought.text), hidden, UNSEEN)


def settled(value: Json, *, nulls: bool = False) -> Json:
    """Leave out what client libraries add or reorder when they write an item again: nulls, and the order of keys.

    Inside a list, nulls stay: there they could not be put back.
    """
    match value:
        case dict():
            kept = (key for key in sorted(value) if nulls or value[key] is not None)
            return {key: settled(value[key], nulls=nulls) for key in kept}
        case list():
            return [settled(entry, nulls=True) for entry in value]
        case _:
            return value


def _inline(message: Message) -> bool:
    """Tell whether a system message stood in the list itself, or has what instructions cannot hold."""
    return notes(message.wire, FORMAT).get("kind") == "system" or any(
        isinstance(part, ToolCall | ToolResult)
        or (isinstance(part, Opaque) and _is_item(part) and any(True for _ in _whole(part)))
        for part in message.parts
    )


def _read_instructions(system: Json) -> Message:
    if not isinstance(system, str):
        raise BadInput("system", f"expected text, got {type(system).__name__}")
    return Message(role="system", parts=(Text(text=system),))


def _write_instructions(messages: Sequence[Message]) -> Json:
    if not messages:
        return None
    pieces = (
        piece for message in messages for part in message.parts for piece in _write_piece(part, "system")
    )
    return "\n\n".join(str(piece.get("text", "")) for piece in pieces)


def _read_item(data: JsonObject, where: str, calls: _Calls) -> Message | Sequence[Part]:
    kind = "message" if data.get("type") is None else take_text(data, "type", where)
    if kind == "message":
        return _read_message(data, where)
    if kind == "reasoning":
        return (_read_reasoning(data),)
    if kind in CALLS and isinstance(data.get(CALLS[kind].id), str):
        return (_read_call(data, kind, where, calls),)
    if kind in OUTPUTS and (result := _read_result(data, OUTPUTS[kind], where, calls)) is not None:
        return Message(role="tool", parts=(result,))
    return (Opaque(kind=kind, wire=whole(FORMAT, data)),)


def _read_message(data: JsonObject, where: str) -> Message | Sequence[Part]:
    if (words := read_words(data)) is not None:
        return words.parts if words.role == "assistant" else words
    said = take_text(data, "role", where)
    if said not in ROLES:
        raise BadInput(f"{where}.role", f"unknown role {said!r}; one of {', '.join(ROLES)}")
    role = ROLES[said]
    pieces = _read_content(data.get("content"), f"{where}.content", role)
    if role == "assistant":
        return _read_spoken(data, pieces)
    message = Message(role=role, parts=pieces)
    bare = _bare_message(message)
    if listed := _is_listed(data, "content", bare):
        bare = _bare_message(message, listed=True)
    kind = "system" if role == "system" else ""
    return replace(message, wire=note(FORMAT, bare, data, listed=listed, kind=kind))


def _read_spoken(data: JsonObject, pieces: tuple[Piece, ...]) -> Sequence[Part]:
    """Note on the first piece of an assistant's message what its item said besides, on the others that they follow."""
    if not pieces:
        return (Opaque(kind="message", wire=whole(FORMAT, data)),)
    frame = {key: value for key, value in data.items() if key != "content"}
    listed = isinstance(data.get("content"), list)
    first = _marked(pieces[0], item=difference({"role": "assistant"}, frame), listed=listed)
    return (first, *(_marked(piece, more=True) for piece in pieces[1:]))


def _marked(piece: Piece, **marks: Json) -> Piece:
    noted = {**notes(piece.wire, FORMAT), **{key: mark for key, mark in marks.items() if mark}}
    wire = note(FORMAT, {}, {}, **noted)
    return piece if wire is None else replace(piece, wire=wire)


def _read_content(content: Json, where: str, place: Role) -> tuple[Piece, ...]:
    if isinstance(content, str):
        return (Text(text=content),)
    if not isinstance(content, list):
        raise BadInput(where, f"expected text or a list, got {type(content).__name__}")
    spots = ((value, f"{where}[{i}]") for i, value in enumerate(content))
    return tuple(_read_piece(take_object(value, spot), spot, place) for value, spot in spots)


def _read_piece(data: JsonObject, where: str, place: Role) -> Piece:
    said = take_text(data, "type", where)
    piece = _known_piece(said, data, where)
    if piece is None:
        return Opaque(kind=said, wire=whole(FORMAT, data, piece=True))
    kind = "" if said == _kind(piece, place) else said
    return replace(piece, wire=note(FORMAT, _bare_piece(piece, said), data, kind=kind))


def _known_piece(said: str, data: JsonObject, where: str) -> Text | Image | Attachment | None:
    match said:
        case "input_text" | "output_text" | "text":
            return Text(text=take_text(data, "text", where))
        case "refusal":
            return Text(text=take_text(data, said, where))
        case "input_image":
            url = take_optional(data, "image_url", where) or take_optional(data, "file_id", where)
            content = read_data(url)
            return Image(source=url, media_type=content.media_type if content else "") if url else None
        case "input_file":
            return _read_file(data, where)
        case _:
            return None


def _read_file(data: JsonObject, where: str) -> Attachment:
    name, content = take_optional(data, "filename", where), take_optional(data, "file_data", where)
    file = read_data(content)
    if file is None and content and not content.startswith("data:"):
        file = Data("", content)
    if file is not None:
        return Attachment(name=name, media_type=file.media_type, size=file.size, source=file.url)
    linked = take_optional(data, "file_url", where) or take_optional(data, "file_id", where)
    return Attachment(name=name, source=content or linked)


def _read_reasoning(data: JsonObject) -> Reasoning:
    entries = [
        entry
        for field_ in ("summary", "content")
        if isinstance(values := data.get(field_), list)
        for entry in values
    ]
    texts = [entry["text"] for entry in entries if isinstance(entry, dict) and "text" in entry]
    # Thoughts are bound to the provider that wrote them, so they are kept whole.
    return Reasoning(
        text="\n\n".join(text for text in texts if isinstance(text, str)), wire=whole(FORMAT, data)
    )


def _read_call(data: JsonObject, kind: str, where: str, calls: _Calls) -> ToolCall:
    shape = CALLS[kind]
    id = take_text(data, shape.id, where)
    if isinstance(item := data.get("id"), str):
        calls.ids[item] = id
    calls.kinds[id] = kind
    if shape.text:
        call = ToolCall(id=id, name=take_text(data, "name", where), input=take_text(data, shape.text, where))
    else:
        call = ToolCall(id=id, name=shape.name, input=compact(_payload(data, shape.id)))
    marked = "" if kind == FUNCTION else kind
    return replace(call, wire=note(FORMAT, _bare_call(call, kind), data, kind=marked))


def _payload(data: JsonObject, *ids: str) -> JsonObject:
    """Give what an item says beyond its type, its ids and its state."""
    said = {key: value for key, value in data.items() if key not in ("type", "id", "status", *ids)}
    return take_object(settled(said), "")


def _read_result(data: JsonObject, kind: str, where: str, calls: _Calls) -> ToolResult | None:
    said = next((id for name in CALLS[kind].answers if isinstance(id := data.get(name), str)), None)
    if said is None:
        return None
    output = data.get("output")
    content: tuple[Piece, ...]
    match kind, output:
        case _, str(text):
            content = (Text(text=text),)
        case _ if kind in PLAIN_OUTPUTS:
            content = _read_content(output, f"{where}.output", "tool")
        case "computer_call", {"image_url": str(url)}:
            content = (Image(source=url),)
        case "shell_call", [{"stdout": str(text), "stderr": "", "outcome": {"exit_code": 0}}]:
            content = (Text(text=text),)
        case _:
            payload = _payload(data, *CALLS[kind].answers)
            content = (Text(text=compact(payload)),) if payload else ()
    result = ToolResult(call_id=calls.ids.get(said, said), content=content)
    bare = _bare_result(result, kind)
    if listed := _is_listed(data, "output", bare):
        bare = _bare_result(result, kind, listed=True)
    marked = "" if kind == calls.kind(result.call_id) else kind
    return replace(result, wire=note(FORMAT, bare, data, kind=marked, listed=listed))


def _is_listed(said: JsonObject, name: str, bare: JsonObject) -> bool:
    """Tell whether content was a list although it can be a string."""
    content = said.get(name)
    return isinstance(content, list) and bool(content) and isinstance(bare.get(name), str)


@dataclass(slots=True)
class _Spoken:
    """A message of the assistant that is being written."""

    noted: JsonObject
    pieces: list[JsonObject] = field(default_factory=list)

    def written(self) -> JsonObject:
        content = _join(self.pieces, listed=self.noted.get("listed"))
        item = self.noted.get("item")
        return patch({"role": "assistant", "content": content}, item if isinstance(item, dict) else {})


def _write_message(message: Message, calls: _Calls) -> Iterator[JsonObject]:
    if message.role == "assistant":
        yield from _write_step(message, calls)
        return
    items = [item for part in message.parts for item in _write_item(part, calls)]
    if not items or any(True for part in message.parts for _ in _write_piece(part, message.role)):
        noted = notes(message.wire, FORMAT)
        yield patch(_bare_message(message, listed=noted.get("listed")), noted)
    yield from items


def _write_item(part: Part, calls: _Calls, *, parted: bool = False) -> Iterator[JsonObject]:
    """Write a part that is an item of its own; `parted` from the thought before it, it keeps no id."""
    match part:
        case ToolCall():
            noted = notes(part.wire, FORMAT)
            kind = calls.kinds[part.id] = _noted_kind(noted)
            item = patch(_bare_call(part, kind), noted)
            yield _without_id(item) if parted and CALLS[kind].id != "id" else item
        case ToolResult():
            noted = notes(part.wire, FORMAT)
            kind = _noted_kind(noted, calls.kind(part.call_id))
            yield patch(_bare_result(part, kind, listed=noted.get("listed")), noted)
        case Reasoning() | Opaque() if _is_item(part):
            yield from (item for item in _whole(part) if not (parted and "id" in item))


def _is_item(part: Reasoning | Opaque) -> bool:
    """Tell whether a part is an item of its own, not content of a message."""
    return not notes(part.wire, FORMAT).get("piece")


def _whole(part: Reasoning | Opaque) -> Iterator[JsonObject]:
    if isinstance(said := notes(part.wire, FORMAT).get(WHOLE), dict):
        yield said


def _write_step(message: Message, calls: _Calls) -> Iterator[JsonObject]:
    """Write the items of one step of the assistant."""
    # An item that keeps its id without the thought before it is refused.
    parted = THOUGHTS in notes(message.wire, FORMAT) and not any(
        isinstance(part, Reasoning) for part in message.parts
    )
    spoken: _Spoken | None = None
    for part in message.parts:
        noted = notes(part.wire, FORMAT)
        content = list(_write_piece(part, "assistant"))
        if spoken is not None and not (content and noted.get("more")):
            yield _without_id(spoken.written()) if parted else spoken.written()
            spoken = None
        if content:
            spoken = spoken or _Spoken(noted)
            spoken.pieces += content
            continue
        yield from _write_item(part, calls, parted=parted)
    if spoken is not None:
        yield _without_id(spoken.written()) if parted else spoken.written()


def _noted_kind(noted: JsonObject, default: str = FUNCTION) -> str:
    """Give the kind of call that was noted; without one, a result follows its call."""
    kind = noted.get("kind")
    return kind if isinstance(kind, str) and kind in CALLS else default


def _without_id(item: JsonObject) -> JsonObject:
    return {key: value for key, value in item.items() if key != "id"}


def _write_rest(parts: Sequence[Part]) -> Iterator[JsonObject]:
    """Write what outputs could not hold as the user's."""
    if any(True for part in parts for _ in _write_piece(part, "user")):
        yield _bare_message(Message(role="user", parts=tuple(parts)))


def _write_piece(part: Part, place: Role) -> Iterator[JsonObject]:
    """Write a part as content; nothing, if it is none or only another format understands it."""
    noted = notes(part.wire, FORMAT)
    match part:
        case Text() | Image() | Attachment():
            kind = noted.get("kind")
            yield patch(_bare_piece(part, kind if isinstance(kind, str) else _kind(part, place)), noted)
        case Opaque() if noted.get("piece"):
            yield from _whole(part)


def _bare_message(message: Message, *, listed: Json = False) -> JsonObject:
    pieces = [piece for part in message.parts for piece in _write_piece(part, message.role)]
    return {"role": message.role, "content": _join(pieces, listed=listed)}


def _join(pieces: Iterable[JsonObject], *, listed: Json = False) -> Json:
    """Write content as the string it can be when it is one text, unless it is marked to have been a list."""
    match found := list(pieces):
        case []:
            return ""
        case [{"type": "input_text" | "output_text", "text": str(text), **rest}] if not rest and not listed:
            return text
        case _:
            return [*found]


def _bare_result(result: ToolResult, kind: str, *, listed: Json = False) -> JsonObject:
    shape = CALLS[kind]
    bare: JsonObject = {"type": shape.output, shape.answers[0]: result.call_id}
    if kind in PLAIN_OUTPUTS:
        pieces = [written for piece in result.content for written in _write_piece(piece, "tool")]
        return bare | {"output": _join(pieces, listed=listed)}
    match result.content:
        case ():
            return bare
        case (Image(source=url), *_) if kind == "computer_call":
            return bare | {"output": {"type": "computer_screenshot", "image_url": url}}
    text = "\n".join(
        piece.text if isinstance(piece, Text) else words_for(piece)
        for piece in result.content
        if not isinstance(piece, Opaque)
    )
    payload = None if kind in TEXT_OUTPUTS else _object(text)
    if payload is not None and (kind != "shell_call" or "output" in payload):
        return {**payload, **bare}
    if kind == "shell_call":
        ended: JsonObject = {"type": "exit", "exit_code": 0}
        return bare | {"output": [{"stdout": text, "stderr": "", "outcome": ended}]}
    return bare | {"output": text}


def _object(text: str) -> JsonObject | None:
    try:
        value = parse(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _bare_call(call: ToolCall, kind: str) -> JsonObject:
    shape = CALLS[kind]
    bare: JsonObject = {"type": kind, shape.id: call.id}
    if shape.text:
        return bare | {"name": call.name, shape.text: call.input}
    return {**(_object(call.input) or {}), **bare}


def _kind(part: Text | Image | Attachment, place: Role) -> str:
    """Choose the type of a content part; only users and tools can send more than text."""
    words = "output_text" if place == "assistant" else "input_text"
    match part:
        case _ if isinstance(part, Text) or place in ("assistant", "system"):
            return words
        case Image(source=source) if is_link(source) or read_data(source):
            return "input_image"
        case Attachment() if (picture := as_picture(part)) is not None:
            return _kind(picture, place)
        case Attachment(source=source) if file_text(part) is None and read_data(source):
            return words if type_of(part).startswith(("audio/", "video/")) else "input_file"
        case _:
            return words


def _bare_piece(part: Text | Image | Attachment, kind: str) -> JsonObject:
    match part, kind:
        case Text(text=text), "refusal":
            return {"type": "refusal", "refusal": text}
        case Text(text=text), _:
            return {"type": kind, "text": text}
        case ((Image(source=url) | Attachment(source=url)), "input_image"):
            field_ = "image_url" if is_link(url) or read_data(url) else "file_id"
            return {"type": "input_image", field_: url, "detail": "auto"}
        case Attachment(), "input_file":
            return {"type": "input_file", **_bare_file(part)}
        case ((Image() | Attachment()), _):
            return {"type": kind, "text": words_for(part)}


def _bare_file(file: Attachment) -> JsonObject:
    data = read_data(file.source)
    if data is not None:
        content = data.url if data.media_type else data.base64
        return {"filename": file.name or UNNAMED, "file_data": content}
    known: JsonObject = {
        "filename": file.name,
        "file_url" if is_link(file.source) else "file_id": file.source,
    }
    return {key: value for key, value in known.items() if value}
