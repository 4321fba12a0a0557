"""OpenAI's Chat Completions: how its answers are read, and what its requests look like."""

from __future__ import annotations

from typing import cast

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Usage
from octavo.core.wire import read
from octavo.core.wire.openai_stream import OpenAIStream
from octavo.core.wire.stream import objects_at, text_at
from octavo.core.wire.usage import read_usage
from octavo.errors import BadInput
from octavo.gateway.dialects.dialect import Dialect, ProviderAnswer, read_object, read_stream
from octavo.gateway.dialects.schema import (
    COUNT,
    MAYBE_OBJECT,
    MAYBE_TEXT,
    NAME,
    OPTIONS,
    SWITCH,
    TEXT,
    Schema,
    content_of,
    object_of,
    request_of,
)

OPENAI_MESSAGE = object_of(
    ["role"],
    role={"enum": ["system", "developer", "user", "assistant"]},
    content=content_of("refusal", "image_url", "input_audio", "file", empty=True),
)
FUNCTION = object_of(
    ["type", "function"],
    type={"const": "function"},
    function=object_of(["name"], name=TEXT, description=MAYBE_TEXT, parameters=MAYBE_OBJECT),
)
OPENAI_TOOL: Schema = {
    "oneOf": [FUNCTION, object_of(["type"], type={"type": "string", "not": {"const": "function"}})]
}
CHAT_REQUEST = request_of(
    object_of(
        ["model", "messages"],
        model=NAME,
        messages={"type": "array", "minItems": 1, "items": OPENAI_MESSAGE},
        tools={"type": ["array", "null"], "items": OPENAI_TOOL},
        stream=SWITCH,
        max_tokens=COUNT,
        max_completion_tokens=COUNT,
        octavo=OPTIONS,
    )
)


def read_answer(raw: bytes, *, streamed: bool) -> ProviderAnswer:
    """Read an answer in OpenAI's format."""
    return read_stream(OpenAIStream(), raw) if streamed else _whole_openai(read_object(raw))


def _whole_openai(body: JsonObject) -> ProviderAnswer:
    choices = objects_at(body, "choices")
    said = [_openai(choice["message"]) for choice in choices if isinstance(choice.get("message"), dict)]
    usage = body.get("usage")
    return ProviderAnswer(
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


OPENAI = Dialect(
    name="openai",
    limits=("max_completion_tokens", "max_tokens"),
    ends=(b"data: [DONE]", b"data:[DONE]"),
    no_tools="none",
    read_answer=read_answer,
)
