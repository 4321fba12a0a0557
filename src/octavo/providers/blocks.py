"""An Anthropic stream, put together again: blocks of text, thinking and tool use from their deltas.

What is put together is one message in Anthropic's wire format, so signatures and blocks that this version does not
know go back as they came. A tool's input keeps the very text that the model wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from octavo.core.fields import Json, JsonObject, parse
from octavo.core.messages import Message, Part, ToolCall
from octavo.core.reply import Delta, Finish, Reply, Usage
from octavo.core.wire import read
from octavo.errors import BadInput
from octavo.providers.faults import ended_early, tokens, unreadable
from octavo.providers.seams import Seam, mended

if TYPE_CHECKING:
    from anthropic.types import MessageDeltaUsage, RawContentBlockDelta, RawMessageStreamEvent
    from anthropic.types import Usage as SaidUsage

FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


@dataclass(slots=True)
class Block:
    """A content block that is still arriving."""

    wire: JsonObject
    input: str = ""
    """The text of a tool's input so far."""
    seam: Seam = field(default_factory=Seam)

    def add(self, name: str, piece: str) -> str:
        """Add a piece of text; give what of it can be shown."""
        whole = self.seam.join(piece)
        self.wire[name] = str(self.wire.get(name) or "") + whole
        return whole

    def written(self) -> JsonObject:
        if not self.input:
            return self.wire
        self.input = mended(self.input)
        try:
            value = parse(self.input)
        except ValueError:
            value = {}  # cut off by the output limit; the text itself is kept
        return self.wire | {"input": value if isinstance(value, dict) else {}}


@dataclass(slots=True)
class Answer:
    """An answer that is still arriving."""

    provider: str
    model: str
    blocks: dict[int, Block] = field(default_factory=dict)
    finish: str = ""
    done: bool = False
    heard: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, event: RawMessageStreamEvent) -> Iterator[Delta]:
        """Add an event; give what of it can be shown."""
        self.heard = True
        match event.type:
            case "message_start":
                model = event.message.model
                self.model = model if isinstance(model, str) and model else self.model
                self._count(event.message.usage)
            case "content_block_start":
                block = event.content_block.model_dump(mode="json", exclude_none=True)
                self.blocks[event.index] = Block(block)
                if text := block.get("text"):
                    yield Delta(text)
            case "content_block_delta":
                yield from self._take(self.blocks[event.index], event.delta)
            case "message_delta":
                self.finish = event.delta.stop_reason or self.finish
                self._count(event.usage)
            case "message_stop":
                self.done = True

    def _take(self, block: Block, delta: RawContentBlockDelta) -> Iterator[Delta]:
        match delta.type:
            case "text_delta":
                yield Delta(block.add("text", delta.text))
            case "thinking_delta":
                yield Delta(block.add("thinking", delta.thinking), "reasoning")
            case "signature_delta":
                block.wire["signature"] = delta.signature
            case "input_json_delta":
                block.input += delta.partial_json
            case "citations_delta":
                cited = block.wire.get("citations")
                found: Json = delta.citation.model_dump(mode="json", exclude_none=True)
                block.wire["citations"] = [*cited, found] if isinstance(cited, list) else [found]

    def _count(self, usage: SaidUsage | MessageDeltaUsage) -> None:
        """Note counts; later ones are cumulative and replace earlier ones."""
        details = usage.output_tokens_details
        said = {
            "input": usage.input_tokens,
            "written": usage.cache_creation_input_tokens,
            "cached": usage.cache_read_input_tokens,
            "output": usage.output_tokens,
            "reasoning": None if details is None else details.thinking_tokens,
        }
        self.counts |= {name: tokens(count) for name, count in said.items() if count is not None}

    def reply(self) -> Reply:
        """Finish the answer; raise if it was not complete."""
        if not (self.done and self.finish):
            raise ended_early(self.provider, heard=self.heard)
        finish = FINISHES.get(self.finish, "stop")
        return Reply(message=self._message(), finish=finish, usage=self._usage(), model=self.model)

    def _usage(self) -> Usage:
        count = self.counts.get
        return Usage(
            # Anthropic counts what came from the cache, or went into it, apart.
            input=count("input", 0) + count("written", 0) + count("cached", 0),
            output=count("output", 0),
            cached=count("cached", 0),
            reasoning=count("reasoning", 0),
        )

    def _message(self) -> Message:
        blocks = [self.blocks[index] for index in sorted(self.blocks)]
        kept = [block for block in blocks if block.wire != {"type": "text", "text": ""}]
        content: Json = [block.written() for block in kept]
        match content:
            case [{"type": "text", "text": str(text), **rest}] if not rest:
                content = text
        try:
            message = read("anthropic", [{"role": "assistant", "content": content}])[0]
        except BadInput as error:
            raise unreadable(self.provider, str(error)) from None
        parts = tuple(_as_written(part, block) for part, block in zip(message.parts, kept, strict=True))
        return replace(message, parts=parts)


def _as_written(part: Part, block: Block) -> Part:
    return replace(part, input=block.input) if isinstance(part, ToolCall) and block.input else part
