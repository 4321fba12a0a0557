"""Four wire formats, read and written without loss: OpenAI's chat messages and Responses, Anthropic's and Gemini's.

`write(f, read(f, x)) == x` for every valid `x`: what the values cannot say is noted in their `wire`, and only the
format that noted it reads it. Written in another format, a conversation says the same as far as that format can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.tools import Tool
from octavo.core.wire.anthropic import read_anthropic, write_anthropic
from octavo.core.wire.gemini import read_gemini, write_gemini
from octavo.core.wire.openai import read_openai, write_openai
from octavo.core.wire.responses import CALLS, OUTPUTS, read_responses, write_responses
from octavo.core.wire.tools import (
    read_anthropic_tools,
    read_gemini_tools,
    read_openai_tools,
    read_responses_tools,
    write_anthropic_tools,
    write_gemini_tools,
    write_openai_tools,
    write_responses_tools,
)
from octavo.errors import BadInput

__all__ = [
    "FORMATS",
    "Format",
    "Payload",
    "Tool",
    "Wired",
    "detect",
    "read",
    "read_tools",
    "write",
    "write_tools",
]

Payload: TypeAlias = list[Any]
"""Messages or tools in a wire format: plain dicts, which fit the parameters of the provider's library, whichever it is.

Each library has types of its own for them, and none that another one's fit.
"""
Format = Literal["openai", "anthropic", "gemini", "responses"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic", "gemini", "responses")

_RESPONSES_ITEMS = frozenset({*CALLS, *OUTPUTS, "reasoning", "compaction", "item_reference"})
_RESPONSES_PIECES = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """A conversation as it goes over the wire."""

    messages: list[JsonObject]
    system: Json = None
    """What Anthropic calls `system`, Gemini the system instruction and Responses the instructions; None without one."""


def read(format: Format, messages: object, system: Json = None) -> tuple[Message, ...]:
    """Read messages, after a system message if there is a `system`.

    The lists are read one for one, except that the items of one step of a Responses list are one message.

    Raise `BadInput` naming the index and the field that is wrong.
    """
    match format:
        case "openai" if system is not None:
            raise BadInput("system", "OpenAI messages hold their system prompt in the list")
        case "openai":
            return read_openai(messages)
        case "anthropic":
            return read_anthropic(messages, system)
        case "gemini":
            return read_gemini(messages, system)
        case "responses":
            return read_responses(messages, system)
        case unknown:
            raise _unknown(unknown)


def write(format: Format, messages: Sequence[Message]) -> Wired:
    """Write messages in a format, whichever they were read from."""
    written: list[JsonObject]
    system: Json = None
    match format:
        case "openai":
            written = write_openai(messages)
        case "anthropic":
            written, system = write_anthropic(messages)
        case "gemini":
            written, system = write_gemini(messages)
        case "responses":
            written, system = write_responses(messages)
        case unknown:
            raise _unknown(unknown)
    return Wired(messages=written, system=system)


def read_tools(format: Format, tools: object) -> tuple[Tool, ...]:
    """Read tool definitions; raise `BadInput` naming the index and the field that is wrong."""
    match format:
        case "openai":
            return read_openai_tools(tools)
        case "anthropic":
            return read_anthropic_tools(tools)
        case "gemini":
            return read_gemini_tools(tools)
        case "responses":
            return read_responses_tools(tools)
        case unknown:
            raise _unknown(unknown)


def write_tools(format: Format, tools: Iterable[Tool]) -> list[JsonObject]:
    """Write tool definitions in a format, whichever they were read from."""
    match format:
        case "openai":
            return write_openai_tools(tools)
        case "anthropic":
            return write_anthropic_tools(tools)
        case "gemini":
            return write_gemini_tools(tools)
        case "responses":
            return write_responses_tools(tools)
        case unknown:
            raise _unknown(unknown)


def _unknown(format: object) -> BadInput:
    return BadInput("format", f"unknown format {format!r}; one of {', '.join(FORMATS)}")


def detect(messages: object) -> Format:
    """Guess the format of a list from the first message that only one format has; OpenAI when none is."""
    for message in messages if isinstance(messages, list | tuple) else ():
        if isinstance(message, dict):
            content = message.get("content")
            blocks = content if isinstance(content, list) else []
            if "parts" in message or message.get("role") == "model":
                return "gemini"
            if any(_is_anthropic(block) for block in blocks):
                return "anthropic"
            if _is_one_of(message, _RESPONSES_ITEMS) or any(
                _is_one_of(block, _RESPONSES_PIECES) for block in blocks
            ):
                return "responses"
    return "openai"


def _is_one_of(value: object, kinds: frozenset[str]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in kinds


def _is_anthropic(block: object) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(block, dict) and (
        (isinstance(kind, str) and kind in _ANTHROPIC_BLOCKS) or (kind == "image" and "source" in block)
    )
