"""A Chat Completions stream, put together again: text, thinking, refusal and tool calls from their pieces.

Servers differ in how they cut: arguments arrive whole or in shreds, indexes are left out, ids are empty, usage comes
with the last piece or after it. What is put together is messages in OpenAI's wire format, one for each choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from octavo.core.json_values import JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Delta, Finish, Usage
from octavo.core.wire.openai import REASONING, read_openai
from octavo.core.wire.split_characters import TextPieces, whole_characters
from octavo.core.wire.stream import NameCall, nameless, number_at, object_at, objects_at, text_at
from octavo.core.wire.usage import read_usage

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}


@dataclass(slots=True)
class _Call:
    """A tool call that is still arriving."""

    index: int
    id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class _Choice:
    """One answer that is still arriving."""

    name_call: NameCall
    texts: dict[str, str] = field(default_factory=dict)
    """By field of the message: `content`, `refusal`, or one in which thinking is sent."""
    pieces: dict[str, TextPieces] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    finish: str = ""

    def take(self, choice: JsonObject) -> Iterator[Delta]:
        delta = object_at(choice, "delta")
        names: list[tuple[str, Literal["text", "reasoning"]]] = [
            *((name, "reasoning") for name in REASONING),
            ("content", "text"),
            ("refusal", "text"),
        ]
        thinking = False
        for name, kind in names:
            piece = text_at(delta, name)
            # Some servers send the same thought under both names; the first one counts.
            if piece and not (thinking and kind == "reasoning"):
                thinking = kind == "reasoning"
                whole = self.pieces.setdefault(name, TextPieces()).join(piece)
                self.texts[name] = self.texts.get(name, "") + whole
                yield Delta(whole, kind)
        for call in objects_at(delta, "tool_calls"):
            self._take_call(call)
        self.finish = text_at(choice, "finish_reason") or self.finish

    def _take_call(self, piece: JsonObject) -> None:
        function, id = object_at(piece, "function"), text_at(piece, "id")
        name, arguments = text_at(function, "name"), text_at(function, "arguments")
        said = number_at(piece, "index")
        index = len(self.calls) - (not name) if said is None else said
        call = next((call for call in reversed(self.calls) if call.index == index), None)
        if call is None or (name and id and id != call.id):
            # The second case: a server that numbers every call 0.
            call = _Call(index, id or self.name_call(), name)
            self.calls.append(call)
        elif name and name != call.name:
            call.name += name
        call.arguments += arguments

    def outcome(self) -> Finish | None:
        if not self.finish:
            return None
        if self.texts.get("refusal"):
            return "refusal"
        finish = FINISHES.get(self.finish, "stop")
        # Some servers say `stop` although they call a tool.
        return "tool_calls" if finish == "stop" and self.calls else finish

    def message(self) -> Message:
        wire: JsonObject = {"role": "assistant", "content": None, **self.texts}
        if self.calls:
            wire["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": whole_characters(call.arguments)},
                }
                for call in self.calls
            ]
        return read_openai([wire])[0]


@dataclass(slots=True)
class OpenAIStream:
    """The answer, or the answers, of a stream as far as it came."""

    model: str = ""
    name_call: NameCall = nameless
    usage: Usage = Usage()
    heard: bool = False
    choices: dict[int, _Choice] = field(default_factory=dict)

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """Add a chunk; give what of the first choice can be shown."""
        self.heard = True
        self.model = text_at(event, "model") or self.model
        if isinstance(report := event.get("usage"), dict):
            self.usage = read_usage(report)
        for choice in objects_at(event, "choices"):
            index = number_at(choice, "index") or 0
            taken = self.choices.setdefault(index, _Choice(self.name_call)).take(choice)
            for delta in taken:
                if index == 0:
                    yield delta

    @property
    def finish(self) -> Finish | None:
        """Why the first choice stopped; None as long as the service has not said so."""
        return self.choices[0].outcome() if 0 in self.choices else None

    @property
    def complete(self) -> bool:
        """Whether every choice came to its end."""
        return bool(self.choices) and all(choice.finish for choice in self.choices.values())

    def messages(self) -> list[Message]:
        """Give what was said, a message for each choice; raise `BadInput` if one cannot be read."""
        return [choice.message() for _, choice in sorted(self.choices.items())]
