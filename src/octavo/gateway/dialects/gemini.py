"""Gemini's interface: how its requests are taken apart, how its answers are read, and what its requests look like.

The model and the kind of the request stand in the address. A request that names a `cachedContent` has a beginning that
only the provider knows, so it is passed on.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.wire.gemini_stream import SIGNATURE, GeminiStream
from octavo.core.wire.stream import objects_at
from octavo.gateway.dialects.dialect import (
    Dialect,
    EventSplitter,
    Parts,
    ProviderAnswer,
    events,
    read_object,
    read_stream,
    split_front,
)
from octavo.gateway.dialects.schema import MAYBE_OBJECT, NAME, OPTIONS, TEXT, Schema, object_of, request_of
from octavo.http.responses import to_json

GENERATE, STREAM, COUNT = "generateContent", "streamGenerateContent", "countTokens"
LAST_EVENT = re.compile(rb'(?<!\\)"finishReason"\s*:')
"""What only the last event of a stream has; inside a text the quotes would be escaped."""
NO_CHECK = "skip_thought_signature_validator"
"""What Gemini accepts in place of a signature that is not there any more."""
CAMEL = {
    "system_instruction": "systemInstruction",
    "generation_config": "generationConfig",
    "tool_config": "toolConfig",
    "safety_settings": "safetySettings",
    "cached_content": "cachedContent",
}
"""The other spelling of fields, which some clients use."""


def _described(part: Schema, *, least: int) -> Schema:
    parts: Schema = {"type": "array", "items": part, "minItems": least}
    content = object_of(["parts"], role={"enum": ["user", "model"]}, parts=parts)
    spoken = object_of(["parts"], parts={"type": "array", "items": {"type": "object"}})
    return request_of(
        object_of(
            ["contents"],
            contents={"type": "array", "minItems": 1, "items": content},
            systemInstruction={"anyOf": [TEXT, spoken, {"type": "null"}]},
            generationConfig=MAYBE_OBJECT,
            octavo=OPTIONS,
        )
    )


GEMINI_REQUEST = _described(object_of(["text"], text=NAME), least=1)
"""Only texts are described; parts of other kinds are read as well."""
GEMINI_COUNT_REQUEST = _described({"type": "object"}, least=0)


def normalise(body: JsonObject) -> JsonObject:
    """Spell the fields of a request in one way."""
    return {CAMEL.get(name, name): value for name, value in body.items()}


def split(body: JsonObject, said: tuple[Message, ...]) -> Parts:
    """Part the system prompt from the conversation."""
    parts = split_front(body, said)
    return Parts(parts.system, parts.messages, tracked=not body.get("cachedContent"))


def settle(body: JsonObject) -> None:
    """Sign the calls of the current turn that lost their signature, where calls are signed at all.

    Gemini refuses a request whose newest turn has a call without one.
    """
    contents = objects_at(body, "contents")
    parts = [part for content in contents for part in objects_at(content, "parts")]
    if not any(SIGNATURE in part for part in parts):
        return
    start = max((i for i, content in enumerate(contents) if _opens_turn(content)), default=0)
    for content in contents[start:]:
        # Of parallel calls only the first is signed.
        call = next((part for part in objects_at(content, "parts") if "functionCall" in part), None)
        if call is not None:
            call.setdefault(SIGNATURE, NO_CHECK)


def _opens_turn(content: JsonObject) -> bool:
    parts = objects_at(content, "parts")
    return content.get("role") == "user" and not any("functionResponse" in part for part in parts)


def read_answer(raw: bytes, *, streamed: bool) -> ProviderAnswer:
    """Read an answer in Gemini's format."""
    return read_stream(GeminiStream(), raw if streamed else b"data: %s\n\n" % to_json(read_object(raw)))


def whole_count(raw: bytes) -> bytes:
    """Give the request that is to be counted: some clients send it inside a field of its own."""
    inner = read_object(raw).get("generateContentRequest")
    return to_json(inner) if isinstance(inner, dict) else raw


async def as_array(pieces: AsyncIterable[bytes | str | memoryview]) -> AsyncIterator[bytes]:
    """Write a stream of events as the array that clients get who do not ask for events."""
    splitter, opened = EventSplitter(), False
    async for piece in pieces:
        data = piece.encode() if isinstance(piece, str) else bytes(piece)
        for event in events(b"".join(splitter.feed(data))):
            yield (b",\r\n" if opened else b"[") + to_json(event)
            opened = True
    for event in events(splitter.left):
        yield (b",\r\n" if opened else b"[") + to_json(event)
        opened = True
    yield b"]" if opened else b"[]"


NONE: Json = {"functionCallingConfig": {"mode": "NONE"}}
GEMINI = Dialect(
    name="gemini",
    limits=("maxOutputTokens", "max_output_tokens"),
    limits_in="generationConfig",
    ends=(),
    last_event=LAST_EVENT,
    no_tools=NONE,
    tool_choice_field="toolConfig",
    read_answer=read_answer,
    list_field="contents",
    system_field="systemInstruction",
    count_path=f":{COUNT}",
    normalise=normalise,
    split=split,
    settle=settle,
)
