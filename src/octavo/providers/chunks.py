"""A Chat Completions stream, put together again: text, thinking, refusal and tool calls from their pieces.

Servers differ in how they cut: arguments arrive whole or in shreds, indexes are left out, ids are empty, usage comes
with the last piece or after it. What is put together is one message in OpenAI's wire format.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from octavo.core.fields import JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Delta, Finish, Reply, Usage
from octavo.core.wire import read
from octavo.core.wire.openai import REASONING
from octavo.errors import BadInput
from octavo.providers.faults import ended_early, tokens, unreadable
from octavo.providers.seams import Seam, mended

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta, ChoiceDeltaToolCall
    from openai.types.completion_usage import CompletionUsage

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}


@dataclass(slots=True)
class Call:
    """A tool call that is still arriving."""

    id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class Answer:
    """An answer that is still arriving."""

    provider: str
    model: str
    texts: dict[str, str] = field(default_factory=dict)
    """By field of the message: `content`, `refusal`, or one in which thinking is sent."""
    seams: dict[str, Seam] = field(default_factory=dict)
    calls: list[tuple[int, Call]] = field(default_factory=list)
    finish: str = ""
    usage: Usage = Usage()
    heard: bool = False

    def take(self, chunk: ChatCompletionChunk) -> Iterator[Delta]:
        """Add a chunk; give what of it can be shown."""
        self.heard = True
        self.model = chunk.model if isinstance(chunk.model, str) and chunk.model else self.model
        if chunk.usage is not None:
            self.usage = usage_of(chunk.usage)
        for choice in chunk.choices or ():
            if choice.index not in (0, None):
                continue  # an alternative answer that nobody asked for
            if choice.delta is not None:
                yield from self._take(choice.delta)
            self.finish = choice.finish_reason or self.finish

    def _take(self, delta: ChoiceDelta) -> Iterator[Delta]:
        extra = delta.model_extra or {}
        pieces: list[tuple[str, object, Literal["text", "reasoning"]]] = [
            *((name, extra.get(name), "reasoning") for name in REASONING),
            ("content", delta.content, "text"),
            ("refusal", delta.refusal, "text"),
        ]
        thinking = False
        for name, piece, kind in pieces:
            # Some servers send the same thought under both names; the first one counts.
            if isinstance(piece, str) and piece and not (thinking and kind == "reasoning"):
                thinking = kind == "reasoning"
                whole = self.seams.setdefault(name, Seam()).join(piece)
                self.texts[name] = self.texts.get(name, "") + whole
                yield Delta(whole, kind)
        for call in delta.tool_calls or ():
            self._take_call(call)

    def _take_call(self, piece: ChoiceDeltaToolCall) -> None:
        name = (piece.function and piece.function.name) or ""
        arguments = (piece.function and piece.function.arguments) or ""
        index = piece.index if isinstance(piece.index, int) else len(self.calls) - (not name)
        call = next((call for at, call in reversed(self.calls) if at == index), None)
        if call is None or (name and piece.id and piece.id != call.id):
            # The second case: a server that numbers every call 0.
            call = Call(piece.id or f"call_{uuid.uuid4().hex}", name)
            self.calls.append((index, call))
        elif name and name != call.name:
            call.name += name
        call.arguments += arguments

    def reply(self) -> Reply:
        """Finish the answer; raise if it was not complete."""
        if not self.finish:
            raise ended_early(self.provider, heard=self.heard)
        return Reply(message=self._message(), finish=self._finish(), usage=self.usage, model=self.model)

    def _finish(self) -> Finish:
        if self.texts.get("refusal"):
            return "refusal"
        finish = FINISHES.get(self.finish, "stop")
        # Some servers say `stop` although they call a tool.
        return "tool_calls" if finish == "stop" and self.calls else finish

    def _message(self) -> Message:
        wire: JsonObject = {"role": "assistant", "content": None, **self.texts}
        if self.calls:
            wire["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": mended(call.arguments)},
                }
                for _, call in self.calls
            ]
        try:
            return read("openai", [wire])[0]
        except BadInput as error:
            raise unreadable(self.provider, str(error)) from None


def usage_of(said: CompletionUsage) -> Usage:
    """Read what was billed; what a server leaves out is 0."""
    prompt, completion = said.prompt_tokens_details, said.completion_tokens_details
    return Usage(
        input=tokens(said.prompt_tokens),
        output=tokens(said.completion_tokens),
        cached=tokens(prompt and prompt.cached_tokens),
        reasoning=tokens(completion and completion.reasoning_tokens),
    )
