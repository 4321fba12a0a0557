"""A Gemini stream, put together again: parts of text and thought joined, calls and signatures kept as they came.

What is put together is one content in Gemini's wire format. A part that carries a signature is never joined with
another: it has to go back alone. A call without an id may be given one, so that its result can name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message, Opaque, Part, Text
from octavo.core.reply import Delta, Finish, Usage
from octavo.core.wire.gemini import read_gemini
from octavo.core.wire.notes import whole
from octavo.core.wire.split_characters import TextPieces
from octavo.core.wire.stream import NameCall, nameless, number_at, object_at, objects_at, text_at
from octavo.core.wire.usage import read_usage

FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
}
BROKEN = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
"""The model said something that nobody can use; another try may go better."""
SIGNATURE = "thoughtSignature"


@dataclass(slots=True)
class GeminiStream:
    """The answer of a stream as far as it came."""

    model: str = ""
    name_call: NameCall = nameless
    usage: Usage = Usage()
    heard: bool = False
    reason: str = ""
    """The service's own word for why it stopped."""
    blocked: bool = False
    """Whether the request itself was refused."""
    parts: list[JsonObject] = field(default_factory=list)
    pieces: TextPieces = field(default_factory=TextPieces)

    def take(self, event: JsonObject) -> Iterator[Delta]:
        """Add a response; give what of it can be shown."""
        self.heard = True
        self.model = text_at(event, "modelVersion") or self.model
        if report := object_at(event, "usageMetadata"):
            self.usage = read_usage({"promptTokenCount": 0, **report})
        if text_at(object_at(event, "promptFeedback"), "blockReason"):
            self.blocked = True
        for candidate in objects_at(event, "candidates"):
            if number_at(candidate, "index") or 0:
                continue  # an alternative answer that nobody asked for
            for part in objects_at(object_at(candidate, "content"), "parts"):
                yield from self._take(part)
            self.reason = text_at(candidate, "finishReason") or self.reason

    def _take(self, part: JsonObject) -> Iterator[Delta]:
        if isinstance(text := part.get("text"), str):
            joined = self.pieces.join(text)
            part = part | {"text": joined}
            yield Delta(joined, "reasoning" if part.get("thought") is True else "text")
        if self.parts and _joinable(self.parts[-1], part):
            self.parts[-1] = part | {"text": f"{self.parts[-1]['text']}{part['text']}"}
        else:
            self.parts.append(part)

    @property
    def broken(self) -> bool:
        """Whether the model gave up."""
        return self.reason in BROKEN

    @property
    def finish(self) -> Finish | None:
        """Why it stopped; None as long as the service has not said so."""
        if self.blocked:
            return "refusal"
        if not self.reason:
            return None
        finish = FINISHES.get(self.reason, "stop")
        calls = any("functionCall" in part for part in self.parts)
        return "tool_calls" if finish == "stop" and calls else finish

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return self.finish is not None

    def messages(self) -> list[Message]:
        """Give what was said; raise `BadInput` if it cannot be read."""
        kept: list[Json] = [self._named(part) for part in self.parts if part != {"text": ""}]
        (message,) = read_gemini([{"role": "model", "parts": kept}])
        return [replace(message, parts=tuple(map(_closing, message.parts, kept)))]

    def _named(self, part: JsonObject) -> JsonObject:
        call = part.get("functionCall")
        if not isinstance(call, dict) or call.get("id") or not (id := self.name_call()):
            return part
        return part | {"functionCall": {"id": id, **call}}


def _joinable(one: JsonObject, other: JsonObject) -> bool:
    """Tell whether two parts are one run of text, or of thought."""
    plain = {"text", "thought"}
    return (
        "text" in one
        and "text" in other
        and one.keys() <= plain
        and other.keys() <= plain
        and one.get("thought") == other.get("thought")
    )


def _closing(part: Part, wire: Json) -> Part:
    """Keep the signature that ends an answer, in an empty text, out of the text of the message."""
    if isinstance(part, Text) and not part.text and isinstance(wire, dict):
        return Opaque(kind=SIGNATURE, wire=whole("gemini", wire))
    return part
