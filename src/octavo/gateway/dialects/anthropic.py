"""Anthropic's Messages: how its answers are read, and what its requests look like."""

from __future__ import annotations

from typing import cast

from octavo.core.json_values import Json, JsonObject
from octavo.core.wire import read
from octavo.core.wire.anthropic_stream import AnthropicStream
from octavo.core.wire.stream import object_at, objects_at, text_at
from octavo.core.wire.usage import read_usage
from octavo.errors import BadInput
from octavo.gateway.dialects.dialect import Dialect, ProviderAnswer, read_object, read_stream
from octavo.gateway.dialects.schema import (
    COUNT,
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

ANTHROPIC_BLOCKS = ("image", "document", "thinking", "tool_use", "tool_result")
ANTHROPIC_MESSAGE = object_of(
    ["role", "content"],
    role={"enum": ["user", "assistant", "system"]},
    content=content_of(*ANTHROPIC_BLOCKS, empty=False),
)
ANTHROPIC_TOOL = object_of(
    ["name", "input_schema"],
    name=TEXT,
    description=MAYBE_TEXT,
    input_schema={"type": "object"},
)
_MESSAGES: Schema = {
    "model": NAME,
    "messages": {"type": "array", "minItems": 1, "items": ANTHROPIC_MESSAGE},
    "system": MAYBE_TEXT,
    "tools": {"type": ["array", "null"], "items": ANTHROPIC_TOOL},
    "octavo": OPTIONS,
}
FIRST_MESSAGE = object_of(
    ["role", "content"], role={"const": "user"}, content=content_of(*ANTHROPIC_BLOCKS, empty=False)
)
"""Anthropic refuses a conversation that begins with an answer."""
MESSAGES_REQUEST = request_of(
    object_of(
        ["model", "messages"],
        **{**_MESSAGES, "messages": {**_MESSAGES["messages"], "prefixItems": [FIRST_MESSAGE]}},
        stream=SWITCH,
        max_tokens=COUNT,
    )
)
COUNT_REQUEST = request_of(object_of(["model", "messages"], **_MESSAGES))


def read_answer(raw: bytes, *, streamed: bool) -> ProviderAnswer:
    """Read an answer in Anthropic's format."""
    return read_stream(AnthropicStream(), raw) if streamed else _whole_anthropic(read_object(raw))


def _whole_anthropic(body: JsonObject) -> ProviderAnswer:
    blocks = objects_at(body, "content")
    # Without the cache's counts, the usage would be read as OpenAI's, whose input includes cached tokens.
    report = {"cache_read_input_tokens": 0, **object_at(body, "usage")}
    try:
        messages = (
            [*read("anthropic", [{"role": "assistant", "content": cast(Json, blocks)}])] if blocks else []
        )
    except BadInput:
        messages = []
    return ProviderAnswer(
        messages=messages,
        usage=read_usage({name: n for name, n in report.items() if n is not None}),
        model=text_at(body, "model"),
        complete=bool(body.get("stop_reason")),
    )


ANTHROPIC = Dialect(
    name="anthropic",
    limits=("max_tokens",),
    ends=(b"event: message_stop", b"event:message_stop"),
    no_tools={"type": "none"},
    read_answer=read_answer,
    system_field="system",
    count_path="/count_tokens",
)
