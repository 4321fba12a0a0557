"""OpenAI's Responses: how its requests are taken apart, how its answers are read, and what its requests look like.

A client sends its whole history, or the new items and the id of the answer before (see `octavo.gateway.continued`). A
request whose past only the provider has is passed on: one of a `conversation`, one in the background, one without any
input.
"""

from __future__ import annotations

from typing import cast

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message, Opaque
from octavo.core.reply import Usage
from octavo.core.wire import read
from octavo.core.wire.notes import whole
from octavo.core.wire.responses import CALLS, COMPACTION, FORMAT, OUTPUTS
from octavo.core.wire.responses_stream import LAST, ResponsesStream
from octavo.core.wire.stream import objects_at, text_at
from octavo.core.wire.usage import read_usage
from octavo.errors import BadInput
from octavo.gateway.dialects.dialect import (
    Dialect,
    Parts,
    ProviderAnswer,
    read_items,
    read_object,
    read_stream,
    split_front,
)
from octavo.gateway.dialects.schema import (
    COUNT,
    MAYBE_OBJECT,
    MAYBE_TEXT,
    NAME,
    OPTIONS,
    SWITCH,
    TEXT,
    Schema,
    object_of,
    request_of,
)

OWN = "octavo:"
"""How the content of a compaction begins that Octavo made."""
TRIGGER = "compaction_trigger"
_SPOKEN = (None, "message")

_WORDS: Schema = {"enum": ["input_text", "output_text", "text"]}
_READ: Schema = {"enum": [*_WORDS["enum"], "refusal", "input_image", "input_file"]}
PART: Schema = {
    "oneOf": [
        object_of(["type", "text"], type=_WORDS, text=TEXT),
        object_of(["type"], type={"type": "string", "not": _READ}),
    ]
}
MESSAGE_ITEM = object_of(
    ["role", "content"],
    type={"enum": ["message", None]},
    role={"enum": ["user", "assistant", "system", "developer"]},
    content={"anyOf": [TEXT, {"type": "array", "items": PART}]},
)
OTHER_ITEM = object_of(
    ["type"], type={"type": "string", "not": {"enum": ["message", COMPACTION, *CALLS, *OUTPUTS]}}
)
"""Calls and outputs are read, too; only their provider describes all of them."""
INPUT: Schema = {
    "anyOf": [TEXT, {"type": "array", "minItems": 1, "items": {"anyOf": [MESSAGE_ITEM, OTHER_ITEM]}}]
}
FUNCTION = object_of(
    ["type", "name"], type={"const": "function"}, name=TEXT, description=MAYBE_TEXT, parameters=MAYBE_OBJECT
)
RESPONSES_TOOL: Schema = {
    "oneOf": [FUNCTION, object_of(["type"], type={"type": "string", "not": {"const": "function"}})]
}
_FIELDS: Schema = {
    "model": NAME,
    "input": INPUT,
    "instructions": MAYBE_TEXT,
    "tools": {"type": ["array", "null"], "items": RESPONSES_TOOL},
    "previous_response_id": MAYBE_TEXT,
    "octavo": OPTIONS,
}
RESPONSES_REQUEST = request_of(
    object_of(["model", "input"], **_FIELDS, stream=SWITCH, max_output_tokens=COUNT)
)
COUNT_REQUEST = request_of(object_of(["model", "input"], **_FIELDS))


def items_of(body: JsonObject) -> list[Json]:
    """Give the items of a request as a list; a text is one message of the user."""
    items = body.get("input")
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    return items if isinstance(items, list) else []


def kind_of(item: Json) -> str:
    return text_at(item, "type") if isinstance(item, dict) else ""


def is_own(item: Json) -> bool:
    """Tell whether an item is a compaction that Octavo made."""
    return (
        kind_of(item) == COMPACTION
        and isinstance(item, dict)
        and (text_at(item, "encrypted_content").startswith(OWN))
    )


def split(body: JsonObject, said: tuple[Message, ...]) -> Parts:
    """Part the system prompt from the conversation; a conversation that a provider compacted begins there."""
    items = body.get("input")
    for name in ("previous_response_id", "conversation", "background"):
        expected = {"background": bool, "conversation": str | dict}.get(name, str)
        if body.get(name) is not None and not isinstance(body[name], expected):
            raise BadInput(name, f"got {type(body[name]).__name__}")
    given = isinstance(items, str) or bool(items)
    tracked = given or bool(body.get("previous_response_id"))
    tracked = tracked and not body.get("conversation") and not body.get("background")
    if not tracked:
        if not given and not any(
            body.get(name) for name in ("previous_response_id", "conversation", "prompt")
        ):
            raise BadInput("input", "expected text or a list of at least one item")
        return Parts((), said, tracked=False)
    if body.get("previous_response_id"):
        # What is new is told apart from the instructions alone: a system message here stands in the middle.
        front = 1 if body.get("instructions") is not None else 0
        return Parts(said[:front], said[front:])
    return _from_compaction(body) or split_front(body, said)


def _from_compaction(body: JsonObject) -> Parts | None:
    """Begin the conversation at the newest compaction of a provider: it stands for what lies before it.

    It is the first message, and always sent. What lies before is left out, except the user's messages that an answer of
    `/responses/compact` begins with.
    """
    items = items_of(body)
    at = next((i for i in reversed(range(len(items))) if kind_of(items[i]) == COMPACTION), None)
    if at is None or is_own(items[at]):
        return None
    before = items[:at] if all(_is_said(item) for item in items[:at]) else []
    front = read_items([*before], body.get("instructions"))
    compaction = cast(JsonObject, items[at])
    first = Message(role="system", parts=(Opaque(kind=COMPACTION, wire=whole(FORMAT, compaction)),))
    return Parts(front, (first, *read_items(items[at + 1 :])))


def _is_said(item: Json) -> bool:
    return (
        isinstance(item, dict) and (item.get("type") in _SPOKEN) and item.get("role") in ("user", "developer")
    )


def settle(body: JsonObject) -> None:
    """Take out what speaks of the client's own list: its past at the provider, and what to do when it is long."""
    body.pop("previous_response_id", None)
    body.pop("context_management", None)
    # The provider would drop the oldest items, which now stand for everything before them.
    body["truncation"] = "disabled"


def read_answer(raw: bytes, *, streamed: bool) -> ProviderAnswer:
    """Read an answer in the format of Responses."""
    if streamed:
        stream = ResponsesStream()
        found = read_stream(stream, raw)
        found.id = stream.id
    else:
        found = _whole(read_object(raw))
    found.earlier, found.messages = found.messages[:-1], found.messages[-1:]
    return found


def _whole(body: JsonObject) -> ProviderAnswer:
    usage = body.get("usage")
    try:
        messages = [*read("responses", objects_at(body, "output"))]
    except BadInput:
        messages = []
    return ProviderAnswer(
        messages=messages,
        usage=read_usage(cast("dict[str, object]", usage)) if isinstance(usage, dict) else Usage(),
        model=text_at(body, "model"),
        complete=text_at(body, "status") in ("completed", "incomplete"),
        id=text_at(body, "id"),
    )


RESPONSES = Dialect(
    name="responses",
    limits=("max_output_tokens",),
    ends=tuple(
        start + kind.encode() for kind in LAST for start in (b"event: ", b"event:", b'data: {"type":"')
    ),
    no_tools="none",
    read_answer=read_answer,
    list_field="input",
    system_field="instructions",
    count_path="/input_tokens",
    ends_whole=True,
    split=split,
    settle=settle,
)
