"""A Gemini stream, put together again: parts of text and thought joined, calls and signatures kept as they came.

What is put together is one content in Gemini's wire format. A part that carries a signature is never joined with
another: it has to go back alone. A call without an id gets one, so that its result can name it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from octavo.core.fields import Json, JsonObject
from octavo.core.messages import Message, Opaque, Part, Text
from octavo.core.reply import Delta, Finish, Reply, Usage
from octavo.core.wire import read
from octavo.core.wire.notes import whole
from octavo.errors import BadInput, BadReply
from octavo.providers.faults import ended_early, unreadable
from octavo.providers.seams import Seam

if TYPE_CHECKING:
    from google.genai import types

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
_STANDARD = str.maketrans("-_", "+/")
"""The library writes base64 in the alphabet for addresses; data URLs want the other one, and Gemini takes both."""


@dataclass(slots=True)
class Answer:
    """An answer that is still arriving."""

    provider: str
    model: str
    parts: list[JsonObject] = field(default_factory=list)
    seam: Seam = field(default_factory=Seam)
    finish: str = ""
    blocked: bool = False
    heard: bool = False
    usage: Usage = Usage()

    def take(self, response: types.GenerateContentResponse) -> Iterator[Delta]:
        """Add a response; give what of it can be shown."""
        self.heard = True
        self.model = response.model_version or self.model
        if response.usage_metadata is not None:
            self.usage = usage_of(response.usage_metadata)
        if response.prompt_feedback is not None and response.prompt_feedback.block_reason is not None:
            self.blocked = True
        for candidate in response.candidates or ():
            if candidate.index not in (0, None):
                continue
            for part in (candidate.content and candidate.content.parts) or ():
                yield from self._take(_plain(part))
            if candidate.finish_reason is not None:
                self.finish = candidate.finish_reason.value

    def _take(self, part: JsonObject) -> Iterator[Delta]:
        if isinstance(text := part.get("text"), str):
            whole = self.seam.join(text)
            part = part | {"text": whole}
            yield Delta(whole, "reasoning" if part.get("thought") is True else "text")
        if self.parts and _joinable(self.parts[-1], part):
            self.parts[-1] = part | {"text": f"{self.parts[-1]['text']}{part['text']}"}
        else:
            self.parts.append(part)

    def reply(self) -> Reply:
        """Finish the answer; raise if it was not complete."""
        if self.finish in BROKEN:
            raise BadReply(f"{self.provider}: the model gave up: {self.finish}", retryable=True)
        if not (self.finish or self.blocked):
            raise ended_early(self.provider, heard=self.heard)
        message = self._message()
        finish = FINISHES.get(self.finish, "stop")
        if self.blocked:
            finish = "refusal"
        elif finish == "stop" and message.calls:
            finish = "tool_calls"
        return Reply(message=message, finish=finish, usage=self.usage, model=self.model)

    def _message(self) -> Message:
        kept: list[Json] = [_named(part) for part in self.parts if part != {"text": ""}]
        try:
            message = read("gemini", [{"role": "model", "parts": kept}])[0]
        except BadInput as error:
            raise unreadable(self.provider, str(error)) from None
        return replace(message, parts=tuple(map(_closing, message.parts, kept)))


def _plain(part: types.Part) -> JsonObject:
    wire: JsonObject = part.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(signature := wire.get(SIGNATURE), str):
        wire[SIGNATURE] = signature.translate(_STANDARD)
    blob = wire.get("inlineData")
    if isinstance(blob, dict) and isinstance(data := blob.get("data"), str):
        blob["data"] = data.translate(_STANDARD)
    return wire


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


def _named(part: JsonObject) -> JsonObject:
    call = part.get("functionCall")
    if not isinstance(call, dict) or call.get("id"):
        return part
    return part | {"functionCall": {"id": f"call_{uuid.uuid4().hex}", **call}}


def _closing(part: Part, wire: Json) -> Part:
    """Keep the signature that ends an answer, in an empty text, out of the text of the message."""
    if isinstance(part, Text) and not part.text and isinstance(wire, dict):
        return Opaque(kind=SIGNATURE, wire=whole("gemini", wire))
    return part


def usage_of(said: types.GenerateContentResponseUsageMetadata) -> Usage:
    """Read what was billed; thoughts are counted apart from the answer."""
    thoughts = said.thoughts_token_count or 0
    return Usage(
        input=(said.prompt_token_count or 0) + (said.tool_use_prompt_token_count or 0),
        output=(said.candidates_token_count or 0) + thoughts,
        cached=said.cached_content_token_count or 0,
        reasoning=thoughts,
    )
