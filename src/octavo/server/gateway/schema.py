"""What the description of the interface says about the gateway: the providers' own formats, as far as we read them.

Whatever else a body holds is passed on, so every object here allows more than it names.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Responses = dict[int | str, Json]

TEXT: Json = {"type": "string"}
NAME: Json = {"type": "string", "pattern": "\\S"}
MAYBE_TEXT: Json = {"type": ["string", "null"]}
MAYBE_OBJECT: Json = {"type": ["object", "null"]}
SWITCH: Json = {"type": ["boolean", "null"]}
COUNT: Json = {"type": ["integer", "null"], "minimum": 1, "maximum": 100_000_000}


def object_of(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "required": required, "properties": properties}


def request_of(schema: Json) -> Json:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


OPTIONS = object_of(
    [],
    conversation={"type": "string", "pattern": "^[0-9a-f]{32}$"},
    policy={"enum": ["octavo", "onyx", "wave", "requirements", "gemini"]},
    focus=TEXT,
    off={"type": "boolean"},
    recall={"type": "boolean"},
    usage={"type": "boolean"},
) | {
    "type": ["object", "null"],
    "additionalProperties": False,
    "description": "What is wanted of Octavo; never sent on.",
}


def content_of(*kinds: str, empty: bool) -> Json:
    """Describe content: words, or parts of a known kind (of which texts are shown here) or of any other."""
    known = object_of(["type", "text"], type={"const": "text"}, text=TEXT)
    other = object_of(["type"], type={"type": "string", "not": {"enum": ["text", *kinds]}})
    parts: Json = {"type": "array", "items": {"oneOf": [known, other]}}
    return {"anyOf": [TEXT, parts, *([{"type": "null"}] if empty else [])]}


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
OPENAI_TOOL: Json = {
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
_MESSAGES: Json = {
    "model": NAME,
    "messages": {"type": "array", "minItems": 1, "items": ANTHROPIC_MESSAGE},
    "system": MAYBE_TEXT,
    "tools": {"type": ["array", "null"], "items": ANTHROPIC_TOOL},
    "octavo": OPTIONS,
}
FIRST_MESSAGE = object_of(
    ["role", "content"], role={"const": "user"}, content=content_of(*ANTHROPIC_BLOCKS, empty=False)
)
"""Anthropic refuses a conversation that the model begins."""
MESSAGES_REQUEST = request_of(
    object_of(
        ["model", "messages"],
        **{**_MESSAGES, "messages": {**_MESSAGES["messages"], "prefixItems": [FIRST_MESSAGE]}},
        stream=SWITCH,
        max_tokens=COUNT,
    )
)
COUNT_REQUEST = request_of(object_of(["model", "messages"], **_MESSAGES))

ERRORS: Responses = {
    "default": {
        "description": "An error in the provider's own shape: the provider's, or ours with our numbers.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
TOLD = {
    "x-octavo-conversation": "The conversation it is stored in.",
    "x-octavo-compressed": "Whether something else was sent than what came.",
    "x-octavo-tokens-before": "Tokens of the request as it came.",
    "x-octavo-tokens-after": "Tokens of what was sent.",
}
RESPONSES: Responses = ERRORS | {
    200: {
        "description": "The provider's answer as it came.",
        "headers": {name: {"description": text, "schema": TEXT} for name, text in TOLD.items()},
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"itemSchema": object_of(["data"], data=TEXT, event=TEXT)},
        },
    }
}
COUNT_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Tokens of the request.",
        "content": {
            "application/json": {"schema": object_of(["input_tokens"], input_tokens={"type": "integer"})}
        },
    }
}
MODELS_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Models, in OpenAI's shape, or in Anthropic's for its library.",
        "content": {
            "application/json": {
                "schema": object_of(["data"], data={"type": "array", "items": {"type": "object"}})
            }
        },
    }
}
MODEL_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "A model.",
        "content": {"application/json": {"schema": object_of(["id"], id=TEXT)}},
    }
}
