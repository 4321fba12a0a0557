"""Messages as OpenAI's Responses take them: its counter takes nothing else.

Calls and results are items of their own there; the rest is what `core.wire` writes, under other names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from octavo.core.json_values import Json, JsonObject, parse
from octavo.core.messages import Attachment, Image, Message, Part, Text, ToolCall, ToolResult
from octavo.core.tools import Tool
from octavo.core.wire.media import is_link, main_type, read_data, words_for


def function_of(tool: Tool) -> JsonObject:
    """Write a tool."""
    schema = parse(tool.schema)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
        "strict": False,
    }


def items_of(messages: Sequence[Message]) -> Iterator[JsonObject]:
    """Write messages."""
    for message in messages:
        said: list[Json] = []
        apart: list[JsonObject] = []
        for part in message.parts:
            match part:
                case ToolCall():
                    call = {"call_id": part.id, "name": part.name, "arguments": part.input}
                    apart.append({"type": "function_call", **call})
                case ToolResult():
                    output = "\n".join(_words(piece) for piece in part.content)
                    apart.append({"type": "function_call_output", "call_id": part.call_id, "output": output})
                case Text() | Image() | Attachment():
                    said.append(_content(part, message.role))
        if said:
            role = "user" if message.role == "tool" else message.role
            yield {"type": "message", "role": role, "content": said}
        yield from apart


def _content(part: Text | Image | Attachment, role: str) -> JsonObject:
    if role == "assistant":
        return {"type": "output_text", "text": _words(part)}
    match part:
        case Image(source=source) if is_link(source) or read_data(source):
            return {"type": "input_image", "image_url": source, "detail": "auto"}
        case Attachment(source=source) if main_type(part.media_type) == "application/pdf" and read_data(
            source
        ):
            return {"type": "input_file", "filename": part.name or "file.pdf", "file_data": source}
        case _:
            return {"type": "input_text", "text": _words(part)}


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image() | Attachment():
            return words_for(part)
        case _:
            return ""
