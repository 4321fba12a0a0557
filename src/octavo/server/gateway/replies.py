"""A provider's answer, read on the side while it passes by: what was said, how it ended, what was billed.

The bytes are collected as they pass and read once, at the end. An answer that cannot be read is none: the client has
it all the same. What is read is the message a client will send back in its next request.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from octavo.core.fields import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Usage
from octavo.core.wire import read
from octavo.core.wire.anthropic_stream import AnthropicStream
from octavo.core.wire.openai_stream import OpenAIStream
from octavo.core.wire.stream import StreamAssembler, object_at, objects_at, text_at
from octavo.core.wire.usage import read_usage
from octavo.errors import BadInput


@dataclass(slots=True, kw_only=True)
class Heard:
    """What a provider answered."""

    messages: list[Message] = field(default_factory=list)
    """One, or as many as were asked for."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    complete: bool = False
    """Whether the answer came to its end."""


def hear_openai(raw: bytes, *, streamed: bool) -> Heard:
    """Read an answer of Chat Completions."""
    return _streamed(OpenAIStream(), raw) if streamed else _whole_openai(_object(raw))


def hear_anthropic(raw: bytes, *, streamed: bool) -> Heard:
    """Read an answer of Messages."""
    return _streamed(AnthropicStream(), raw) if streamed else _whole_anthropic(_object(raw))


def _streamed(stream: StreamAssembler, raw: bytes) -> Heard:
    for event in events(raw):
        deque(stream.take(event), maxlen=0)
    try:
        messages = [message for message in stream.messages() if message.parts]
    except BadInput:
        messages = []
    # Not when the last event says so: the answer is stored while that one is held back.
    return Heard(messages=messages, usage=stream.usage, model=stream.model, complete=stream.complete)


def _whole_openai(body: JsonObject) -> Heard:
    choices = objects_at(body, "choices")
    said = [_openai(choice["message"]) for choice in choices if isinstance(choice.get("message"), dict)]
    usage = body.get("usage")
    return Heard(
        messages=[message for message in said if message is not None],
        usage=read_usage(cast("dict[str, object]", usage)) if isinstance(usage, dict) else Usage(),
        model=text_at(body, "model"),
        complete=bool(said),
    )


def _openai(wire: Json) -> Message | None:
    try:
        return read("openai", [wire])[0]
    except BadInput:
        return None


def _whole_anthropic(body: JsonObject) -> Heard:
    blocks = objects_at(body, "content")
    # Without the cache's counts the report would be taken for OpenAI's, which counts what is cached as input.
    report = {"cache_read_input_tokens": 0, **object_at(body, "usage")}
    try:
        messages = (
            [*read("anthropic", [{"role": "assistant", "content": cast(Json, blocks)}])] if blocks else []
        )
    except BadInput:
        messages = []
    return Heard(
        messages=messages,
        usage=read_usage({name: n for name, n in report.items() if n is not None}),
        model=text_at(body, "model"),
        complete=bool(body.get("stop_reason")),
    )


def events(raw: bytes) -> Iterator[JsonObject]:
    """Read the data of server-sent events; what is no JSON object, such as `[DONE]`, is passed over."""
    for block in raw.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
        if lines and (event := _object(b"\n".join(lines))):
            yield event


def _object(raw: bytes) -> JsonObject:
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return dict(value) if isinstance(value, dict) else {}
