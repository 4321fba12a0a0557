"""A stream of the Responses format: its last event holds the whole answer.

The answer is read from that event. Of a stream that broke off, the items that were done are kept, and the words of the
message that was being written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Delta, Finish, Usage
from octavo.core.wire.responses import CALLS, read_responses
from octavo.core.wire.split_characters import TextPieces
from octavo.core.wire.stream import number_at, object_at, objects_at, text_at
from octavo.core.wire.usage import read_usage

LAST = ("response.completed", "response.incomplete", "response.failed")
"""The types of the events that end a stream."""
THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


@dataclass(slots=True)
class ResponsesStream:
    """The answer of a stream as far as it came."""

    id: str = ""
    model: str = ""
    heard: bool = False
    response: JsonObject = field(default_factory=dict)
    """The answer of the last event; empty until then."""
    items: dict[int, JsonObject] = field(default_factory=dict)
    """Items that are done, by their places."""
    texts: dict[int, str] = field(default_factory=dict)
    """Words of messages that are being written."""
    pieces: dict[int, TextPieces] = field(default_factory=dict)

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """Add an event; give what of it can be shown."""
        self.heard = True
        kind, place = text_at(event, "type"), number_at(event, "output_index") or 0
        response = object_at(event, "response")
        self.id = text_at(response, "id") or self.id
        self.model = text_at(response, "model") or self.model
        match kind:
            case "response.output_item.done":
                self.items[place] = object_at(event, "item")
            case "response.output_text.delta" | "response.refusal.delta":
                whole = self.pieces.setdefault(place, TextPieces()).join(text_at(event, "delta"))
                self.texts[place] = self.texts.get(place, "") + whole
                yield Delta(whole)
            case _ if kind in THOUGHTS:
                yield Delta(text_at(event, "delta"), "reasoning")
            case _ if kind in LAST:
                self.response = response

    @property
    def usage(self) -> Usage:
        return read_usage({**object_at(self.response, "usage")})

    @property
    def finish(self) -> Finish | None:
        """Why it stopped; None as long as the service has not said so."""
        if not self.complete:
            return None
        if text_at(self.response, "status") == "incomplete":
            reason = text_at(object_at(self.response, "incomplete_details"), "reason")
            return "refusal" if reason == "content_filter" else "length"
        return "tool_calls" if any(item.get("type") in CALLS for item in self.output) else "stop"

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return text_at(self.response, "status") in ("completed", "incomplete")

    @property
    def output(self) -> list[JsonObject]:
        """The items of the answer: all of them, or those that came."""
        if found := objects_at(self.response, "output"):
            return found
        begun: dict[int, JsonObject] = {
            place: {"role": "assistant", "content": text} for place, text in self.texts.items() if text
        }
        return [item for _, item in sorted((begun | self.items).items()) if item]

    def messages(self) -> list[Message]:
        """Give what was said; raise `BadInput` if it cannot be read."""
        output: list[Json] = [*self.output]
        return [*read_responses(output)]
