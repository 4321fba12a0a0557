"""An Anthropic stream, put together again: blocks of text, thinking and tool use from their deltas.

What is put together is one message in Anthropic's wire format, so signatures and blocks that this version does not
know go back as they came. A tool's input keeps the very text that the model wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from octavo.core.json_values import Json, JsonObject, parse
from octavo.core.messages import Message, Part, ToolCall
from octavo.core.reply import Delta, Finish, Usage
from octavo.core.wire.anthropic import read_anthropic
from octavo.core.wire.split_characters import TextPieces, whole_characters
from octavo.core.wire.stream import number_at, object_at, text_at
from octavo.core.wire.usage import read_usage

FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}
EMPTY: JsonObject = {"type": "text", "text": ""}


@dataclass(slots=True)
class _Block:
    """A content block that is still arriving."""

    wire: JsonObject
    input: str = ""
    """The text of a tool's input so far."""
    pieces: TextPieces = field(default_factory=TextPieces)

    def take(self, delta: JsonObject) -> Iterator[Delta]:
        match delta.get("type"):
            case "text_delta":
                yield Delta(self._add("text", text_at(delta, "text")))
            case "thinking_delta":
                yield Delta(self._add("thinking", text_at(delta, "thinking")), "reasoning")
            case "signature_delta":
                self.wire["signature"] = delta.get("signature")
            case "input_json_delta":
                self.input += text_at(delta, "partial_json")
            case "citations_delta":
                cited = self.wire.get("citations")
                found: Json = delta.get("citation")
                self.wire["citations"] = [*cited, found] if isinstance(cited, list) else [found]

    def _add(self, name: str, piece: str) -> str:
        whole: str = self.pieces.join(piece)
        self.wire[name] = text_at(self.wire, name) + whole
        return whole

    def written(self) -> JsonObject:
        if not self.input:
            return self.wire
        self.input = whole_characters(self.input)
        try:
            value = parse(self.input)
        except ValueError:
            value = {}  # cut off by the output limit; the text itself is kept
        return self.wire | {"input": value if isinstance(value, dict) else {}}


@dataclass(slots=True)
class AnthropicStream:
    """The answer of a stream as far as it came."""

    model: str = ""
    heard: bool = False
    stopped: bool = False
    """Whether the last event came."""
    blocks: dict[int, _Block] = field(default_factory=dict)
    stop_reason: str = ""
    report: JsonObject = field(default_factory=dict)

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """Add an event; give what of it can be shown."""
        self.heard = True
        index = number_at(event, "index") or 0
        match event.get("type"):
            case "message_start":
                message = object_at(event, "message")
                self.model = text_at(message, "model") or self.model
                self._bill(message)
            case "content_block_start":
                given = object_at(event, "content_block")
                block: JsonObject = {name: value for name, value in given.items() if value is not None}
                self.blocks[index] = _Block(block)
                if text := text_at(block, "text"):
                    yield Delta(text)
            case "content_block_delta" if index in self.blocks:
                yield from self.blocks[index].take(object_at(event, "delta"))
            case "message_delta":
                self.stop_reason = text_at(object_at(event, "delta"), "stop_reason") or self.stop_reason
                self._bill(event)
            case "message_stop":
                self.stopped = True

    def _bill(self, event: JsonObject) -> None:
        """Note what was billed; later counts are cumulative and replace earlier ones."""
        self.report |= {name: n for name, n in object_at(event, "usage").items() if n is not None}

    @property
    def usage(self) -> Usage:
        # Without the cache's counts the report would be taken for OpenAI's, which counts what is cached as input.
        return read_usage({"cache_read_input_tokens": 0, **self.report})

    @property
    def finish(self) -> Finish | None:
        """Why it stopped; None as long as the service has not said so."""
        return FINISHES.get(self.stop_reason, "stop") if self.stop_reason else None

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return self.finish is not None

    def messages(self) -> list[Message]:
        """Give what was said; raise `BadInput` if it cannot be read."""
        kept = [block for _, block in sorted(self.blocks.items()) if block.wire != EMPTY]
        content: Json = [block.written() for block in kept]
        match content:
            case [{"type": "text", "text": str(text), **rest}] if not rest:
                content = text
        (message,) = read_anthropic([{"role": "assistant", "content": content}])
        parts = tuple(_as_written(part, block) for part, block in zip(message.parts, kept, strict=True))
        return [replace(message, parts=parts)]


def _as_written(part: Part, block: _Block) -> Part:
    return replace(part, input=block.input) if isinstance(part, ToolCall) and block.input else part
