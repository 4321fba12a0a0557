"""Wave's sessions: messages made of blocks, and the `compress` block that stands for everything before it.

A block `{"type": "compress", "content": "the summary"}` may come in a message of any format, or by itself. Only what a
model needs to know is kept in both directions; the progress of a tool, for example, is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from octavo.core.json_values import Json, JsonObject, take_list, take_object, take_optional, take_text
from octavo.core.messages import (
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    pair_tools,
    user,
)
from octavo.core.transcript import describe
from octavo.core.wire.notes import WHOLE, notes, objects, whole
from octavo.errors import BadInput

FORMAT = "wave"
BLOCK = "compress"
PREFIX = "[Compressed Message Summary]"
"""What the document puts before a summary when it is sent."""
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_HOLDERS = ("blocks", "content", "parts")
"""Where formats have the pieces of a message."""


@dataclass(frozen=True, slots=True)
class CompressBlock:
    """A `compress` block: the summary of everything before it."""

    summary: str

    @property
    def message(self) -> Message:
        """The summary as a message, for where there is nothing that it could stand for."""
        return user(f"{PREFIX}\n{self.summary}")


def read_block(data: JsonObject, where: str) -> CompressBlock | None:
    """Read a message that is a `compress` block, or holds one; None for any other."""
    listed = next((value for name in _HOLDERS if isinstance(value := data.get(name), list)), [data])
    found = next((one for one in listed if isinstance(one, dict) and one.get("type") == BLOCK), None)
    return None if found is None else CompressBlock(take_text(found, "content", f"{where}.content"))


def write_block(summary: str) -> JsonObject:
    """Write a message with a `compress` block."""
    return {"role": "assistant", "blocks": [{"type": BLOCK, "content": summary}]}


def read_wave(messages: object) -> tuple[Message | CompressBlock, ...]:
    """Read a session; an assistant's message and the answers of its tools become messages of their own."""
    return tuple(found for where, data in objects(messages, "messages") for found in _read(data, where))


def write_wave(messages: Sequence[Message]) -> list[JsonObject]:
    """Write messages as a session; a tool's answer stands in the block of its call."""
    answers = pair_tools(messages).answers
    placed = set(answers.values())
    written: list[JsonObject] = []
    for index, message in enumerate(messages):
        blocks: list[Json] = []
        for at, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                spot = answers.get((index, at))
                answer = messages[spot[0]].parts[spot[1]] if spot else None
                blocks.append(_write_call(part, answer if isinstance(answer, ToolResult) else None))
            elif (index, at) not in placed:
                blocks.extend(_write_part(part))
        if blocks:
            role = "user" if message.role == "tool" else message.role
            written.append({"role": role, "blocks": blocks})
    return written


def _read(data: JsonObject, where: str) -> Iterator[Message | CompressBlock]:
    if (block := read_block(data, where)) is not None:
        yield block
        return
    said = take_text(data, "role", where)
    if said not in _ROLES:
        raise BadInput(f"{where}.role", f"unknown role {said!r}; one of {', '.join(_ROLES)}")
    parts: list[Part] = []
    answers: list[Part] = []
    for i, value in enumerate(take_list(data, "blocks", where)):
        spot = f"{where}.blocks[{i}]"
        block_data = take_object(value, spot)
        if block_data.get("type") == "tool" and said == "assistant":
            call, answer = _read_tool(block_data, spot)
            parts.append(call)
            answers += answer
        else:
            parts += _read_block(block_data, spot)
    if parts:
        yield Message(role=_ROLES[said], parts=tuple(parts))
    if answers:
        yield Message(role="tool", parts=tuple(answers))


def _read_block(block: JsonObject, where: str) -> Iterator[Part]:
    match take_text(block, "type", where):
        case "text":
            if text := take_text(block, "content", where):
                yield Text(text=text)
        case "reasoning":
            yield Reasoning(text=take_text(block, "content", where))
        case "image":
            for i, url in enumerate(take_list(block, "imageUrls", where)):
                if not isinstance(url, str):
                    raise BadInput(f"{where}.imageUrls[{i}]", f"expected text, got {type(url).__name__}")
                yield Image(source=url)
        case kind:
            yield Opaque(kind=kind, wire=whole(FORMAT, block))


def _read_tool(block: JsonObject, where: str) -> tuple[ToolCall, list[Part]]:
    id, name = take_text(block, "id", where), take_optional(block, "name", where) or "tool"
    call = ToolCall(id=id, name=name, input=take_optional(block, "parameters", where) or "{}")
    if block.get("result") is None and block.get("stage") != "end":
        return call, []
    pictures = take_list(block, "images", where) if block.get("images") is not None else []
    content: list[Text | Image] = [
        Text(text=take_optional(block, "result", where)),
        *(_read_picture(one, f"{where}.images[{i}]") for i, one in enumerate(pictures)),
    ]
    return call, [
        ToolResult(call_id=id, name=name, content=tuple(content), error=block.get("success") is False)
    ]


def _read_picture(value: Json, where: str) -> Image:
    data = take_object(value, where)
    source, kind = take_text(data, "data", where), take_optional(data, "mediaType", where) or "image/png"
    return Image(source=source if ":" in source else f"data:{kind};base64,{source}", media_type=kind)


def _write_part(part: Part) -> Iterable[JsonObject]:
    match part:
        case Text():
            return [{"type": "text", "content": part.text}] if part.text else []
        case Reasoning():
            return [{"type": "reasoning", "content": part.text}]
        case Image():
            return [{"type": "image", "imageUrls": [part.source]}]
        case Opaque() if isinstance(said := notes(part.wire, FORMAT).get(WHOLE), dict):
            return [said]
        case _:
            return [{"type": "text", "content": describe(part)}]


def _write_call(call: ToolCall, answer: ToolResult | None) -> JsonObject:
    block: JsonObject = {"type": "tool", "id": call.id, "name": call.name, "parameters": call.input}
    if answer is None:
        return {**block, "stage": "running"}
    others = [piece for piece in answer.content if not isinstance(piece, Image)]
    text = "\n".join(describe(piece) for piece in others)
    pictures: list[Json] = [
        {"data": piece.source, "mediaType": piece.media_type or "image/png"}
        for piece in answer.content
        if isinstance(piece, Image)
    ]
    shown: JsonObject = {"images": pictures} if pictures else {}
    return {**block, "result": text, "stage": "end", "success": not answer.error, **shown}
