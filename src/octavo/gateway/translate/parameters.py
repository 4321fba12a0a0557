"""The parameters of a request besides its messages and tools, read from one interface and written for another.

A field that changes the answer and has no counterpart is refused by its name. A field that only steers the service
(where it runs, what it stores, how it caches) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeVar

from octavo.core.json_values import Json, JsonObject
from octavo.core.wire.stream import object_at, text_at
from octavo.errors import BadInput

ToolMode = Literal["auto", "none", "required"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a request asks for besides its messages and tools; None: nothing is said about it."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    tool_mode: ToolMode | None = None
    tool_name: str = ""
    """The one tool that must be called."""
    parallel: bool | None = None
    """Whether several tools may be called at once."""
    schema: JsonObject | None = None
    """The JSON Schema that the answer must follow."""
    json_only: bool = False
    effort: str = ""
    """How hard the model should think: low, medium or high."""
    stream: bool = False


_NEVER: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "openai",
        frozenset(
            {"n", "logprobs", "top_logprobs", "logit_bias", "audio", "prediction", "web_search_options"}
        ),
    ),
    ("anthropic", frozenset({"container", "mcp_servers", "compaction"})),
    ("responses", frozenset({"background", "prompt", "top_logprobs", "max_tool_calls"})),
    ("gemini", frozenset({"cachedContent"})),
)
UNTRANSLATED: Mapping[str, frozenset[str]] = MappingProxyType(dict(_NEVER))
"""Fields of each interface that change the answer and exist nowhere else."""
HARMLESS: tuple[Json, ...] = (None, False, 0, 1, "", [], {})
"""Values of such fields that ask for nothing special; `n` may be 1."""


def read_parameters(interface: str, body: JsonObject) -> Parameters:
    """Read the parameters of a request; raise `BadInput` naming a field that no other interface has."""
    for name in sorted(UNTRANSLATED[interface] & body.keys()):
        if body[name] not in HARMLESS:
            raise BadInput(
                name, "the model behind this name is reached in another format, which has no such field"
            )
    return _READERS[interface](body)


def _read_openai(body: JsonObject) -> Parameters:
    format = object_at(body, "response_format")
    mode, name = _openai_choice(body.get("tool_choice"), "function")
    return Parameters(
        max_tokens=_number(body, int, "max_completion_tokens", "max_tokens"),
        temperature=_number(body, float, "temperature"),
        top_p=_number(body, float, "top_p"),
        stop=_texts(body.get("stop")),
        tool_mode=mode,
        tool_name=name,
        parallel=_switch(body, "parallel_tool_calls"),
        schema=_schema(object_at(format, "json_schema")) if format.get("type") == "json_schema" else None,
        json_only=format.get("type") == "json_object",
        effort=text_at(body, "reasoning_effort"),
        stream=body.get("stream") is True,
    )


def _openai_choice(said: Json, inner: str) -> tuple[ToolMode | None, str]:
    match said:
        case "auto" | "none" | "required":
            return said, ""
        case {"type": "function", "name": str(name)}:
            return "required", name
        case {"function": {"name": str(name)}} if inner == "function":
            return "required", name
        case {"type": "custom", "custom": {"name": str(name)}} | {"type": "custom", "name": str(name)}:
            return "required", name
        case None:
            return None, ""
        case _:
            raise BadInput(
                "tool_choice", "the model behind this name is reached in another format, without this choice"
            )


def _read_anthropic(body: JsonObject) -> Parameters:
    choice, thinking = object_at(body, "tool_choice"), object_at(body, "thinking")
    modes: dict[str, ToolMode] = {"auto": "auto", "none": "none", "any": "required", "tool": "required"}
    output = object_at(body, "output_config")
    format = object_at(output, "format") or object_at(body, "output_format")
    return Parameters(
        max_tokens=_number(body, int, "max_tokens"),
        temperature=_number(body, float, "temperature"),
        top_p=_number(body, float, "top_p"),
        top_k=_number(body, int, "top_k"),
        stop=_texts(body.get("stop_sequences")),
        tool_mode=modes.get(text_at(choice, "type")),
        tool_name=text_at(choice, "name"),
        parallel=False if choice.get("disable_parallel_tool_use") is True else None,
        schema=_schema(format) if format else None,
        effort=text_at(output, "effort") or _effort(thinking),
        stream=body.get("stream") is True,
    )


def _effort(thinking: JsonObject) -> str:
    """Say a budget for thinking as an effort, as other interfaces ask for it."""
    budget = _number(thinking, int, "budget_tokens")
    if thinking.get("type") not in ("enabled", "adaptive") or budget is None:
        return ""
    return "low" if budget < 4_000 else "medium" if budget < 16_000 else "high"


def _read_responses(body: JsonObject) -> Parameters:
    format = object_at(object_at(body, "text"), "format")
    mode, name = _openai_choice(body.get("tool_choice"), "")
    return Parameters(
        max_tokens=_number(body, int, "max_output_tokens"),
        temperature=_number(body, float, "temperature"),
        top_p=_number(body, float, "top_p"),
        tool_mode=mode,
        tool_name=name,
        parallel=_switch(body, "parallel_tool_calls"),
        schema=_schema(format) if format.get("type") == "json_schema" else None,
        json_only=format.get("type") == "json_object",
        effort=text_at(object_at(body, "reasoning"), "effort"),
        stream=body.get("stream") is True,
    )


def _read_gemini(body: JsonObject) -> Parameters:
    config = object_at(body, "generationConfig") or object_at(body, "generation_config")
    if _number(config, int, "candidateCount", "candidate_count") not in (None, 1):
        raise BadInput("generationConfig.candidateCount", "the model behind this name gives one answer")
    tools = object_at(object_at(body, "toolConfig"), "functionCallingConfig")
    modes: dict[str, ToolMode] = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
    names = tools.get("allowedFunctionNames")
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    return Parameters(
        max_tokens=_number(config, int, "maxOutputTokens", "max_output_tokens"),
        temperature=_number(config, float, "temperature"),
        top_p=_number(config, float, "topP", "top_p"),
        top_k=_number(config, int, "topK", "top_k"),
        stop=_texts(config.get("stopSequences")),
        tool_mode=modes.get(text_at(tools, "mode")),
        tool_name=str(names[0]) if isinstance(names, list) and len(names) == 1 else "",
        schema=schema if isinstance(schema, dict) else None,
        json_only=text_at(config, "responseMimeType") == "application/json" and schema is None,
        stream=body.get("stream") is True,
    )


_READERS: Mapping[str, Callable[[JsonObject], Parameters]] = MappingProxyType(
    {
        "openai": _read_openai,
        "anthropic": _read_anthropic,
        "responses": _read_responses,
        "gemini": _read_gemini,
    }
)


def write_openai(parameters: Parameters, *, official: bool) -> JsonObject:
    """Write parameters for Chat Completions; `official`: at OpenAI itself, whose newer models know other names."""
    named = parameters.tool_name
    return _said(
        **{"max_completion_tokens" if official else "max_tokens": parameters.max_tokens},
        temperature=parameters.temperature,
        top_p=parameters.top_p,
        top_k=None if official else parameters.top_k,
        stop=[*parameters.stop] or None,
        tool_choice={"type": "function", "function": {"name": named}} if named else parameters.tool_mode,
        parallel_tool_calls=parameters.parallel,
        response_format=_openai_format(parameters),
        reasoning_effort=(parameters.effort or None) if official else None,
        stream=True if parameters.stream else None,
        stream_options={"include_usage": True} if parameters.stream else None,
    )


def _openai_format(parameters: Parameters) -> Json:
    if parameters.schema is not None:
        named: JsonObject = {"name": "answer", "schema": parameters.schema}
        return {"type": "json_schema", "json_schema": named}
    return {"type": "json_object"} if parameters.json_only else None


HOTTEST = 1.0
"""Anthropic's highest temperature; OpenAI's is 2."""


def write_anthropic(parameters: Parameters, *, most: int) -> JsonObject:
    """Write parameters for Anthropic's Messages, where every request needs a limit: `most` is that of those without."""
    if parameters.json_only:
        raise BadInput(
            "response_format", "Anthropic's models take a schema for JSON, or none: send `json_schema`"
        )
    heat, schema = parameters.temperature, parameters.schema
    return _said(
        max_tokens=parameters.max_tokens or most,
        temperature=None if heat is None else min(heat, HOTTEST),
        top_p=parameters.top_p,
        top_k=parameters.top_k,
        stop_sequences=[*parameters.stop] or None,
        tool_choice=_anthropic_choice(parameters),
        output_config=None if schema is None else {"format": {"type": "json_schema", "schema": schema}},
        stream=True if parameters.stream else None,
    )


def _anthropic_choice(parameters: Parameters) -> Json:
    choice: JsonObject = {}
    if parameters.tool_name:
        choice = {"type": "tool", "name": parameters.tool_name}
    elif parameters.tool_mode is not None:
        choice = {"type": {"auto": "auto", "none": "none", "required": "any"}[parameters.tool_mode]}
    if parameters.parallel is False and parameters.tool_mode != "none":
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    return choice or None


def _said(**fields: Json) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _schema(format: JsonObject) -> JsonObject | None:
    found = format.get("schema")
    return found if isinstance(found, dict) else None


def _number(body: JsonObject, kind: Callable[[float], T], *names: str) -> T | None:
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadInput(name, f"expected a number, got {value!r}"[:200])
        return kind(value)
    return None


def _switch(body: JsonObject, name: str) -> bool | None:
    value = body.get(name)
    return value if isinstance(value, bool) else None


def _texts(value: Json) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(text for text in listed if isinstance(text, str))
