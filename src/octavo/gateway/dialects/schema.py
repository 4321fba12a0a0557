"""The part of the OpenAPI document that describes the gateway: the providers' formats, as far as Octavo reads them.

All other fields of a body are passed on, so every object here allows more fields than it names.
"""

from __future__ import annotations

from typing import Any

from octavo.core.policy import PRESETS

Schema = dict[str, Any]
Responses = dict[int | str, Schema]

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "pattern": "\\S"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_OBJECT: Schema = {"type": ["object", "null"]}
SWITCH: Schema = {"type": ["boolean", "null"]}
COUNT: Schema = {"type": ["integer", "null"], "minimum": 1, "maximum": 100_000_000}


def object_of(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "required": required, "properties": properties}


def request_of(schema: Schema) -> Schema:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


OPTIONS = object_of(
    [],
    conversation={"type": "string", "pattern": "^[0-9a-f]{32}$"},
    policy={"enum": [*PRESETS]},
    focus=TEXT,
    off={"type": "boolean"},
    recall={"type": "boolean"},
    usage={"type": "boolean"},
) | {
    "type": ["object", "null"],
    "additionalProperties": False,
    "description": "Options for Octavo. This field is not sent to the provider.",
}


def content_of(*kinds: str, empty: bool) -> Schema:
    """Describe content: a text, or a list of parts. Only text parts are described; other kinds are passed on."""
    known = object_of(["type", "text"], type={"const": "text"}, text=TEXT)
    other = object_of(["type"], type={"type": "string", "not": {"enum": ["text", *kinds]}})
    parts: Schema = {"type": "array", "items": {"oneOf": [known, other]}}
    return {"anyOf": [TEXT, parts, *([{"type": "null"}] if empty else [])]}


ERRORS: Responses = {
    "default": {
        "description": "An error in the provider's format: the provider's own, or ours with our numbers.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
TOLD = {
    "x-octavo-conversation": "The conversation that the request is stored in.",
    "x-octavo-compressed": "Whether a compressed context was sent in place of the request.",
    "x-octavo-tokens-before": "Tokens of the request as the client sent it.",
    "x-octavo-tokens-after": "Tokens of what was sent to the provider.",
    "x-octavo-recalled": "How many covered messages were recalled for the newest message; not there for none.",
    "x-octavo-provider-format": "The interface of the provider, if it is another than the client's.",
    "x-octavo-left-out": "Tools that were not offered to the model, because only their own provider can run them.",
    "x-octavo-model": "The model that answered for an alias.",
    "x-octavo-recalls": "How often the model called the tool `octavo_recall`; not there if it was not offered.",
}
RESPONSES: Responses = ERRORS | {
    200: {
        "description": "The provider's answer, unchanged.",
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
COMPACT_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Items that stand for the conversation.",
        "content": {
            "application/json": {
                "schema": object_of(["output"], output={"type": "array", "items": {"type": "object"}})
            }
        },
    }
}
RESPONSE_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "The provider's answer, unchanged.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
MODELS_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Models, in OpenAI's format; in Anthropic's for requests with the header `anthropic-version`.",
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
GEMINI_COUNT_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Tokens of the request.",
        "content": {
            "application/json": {"schema": object_of(["totalTokens"], totalTokens={"type": "integer"})}
        },
    }
}
GEMINI_MODELS_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "Models, in Gemini's format.",
        "content": {
            "application/json": {
                "schema": object_of(["models"], models={"type": "array", "items": {"type": "object"}})
            }
        },
    }
}
GEMINI_MODEL_RESPONSES: Responses = ERRORS | {
    200: {
        "description": "A model, in Gemini's format.",
        "content": {"application/json": {"schema": object_of(["name"], name=TEXT)}},
    }
}
