"""Tool definitions become the right values, come back as they were, and make sense elsewhere."""

from __future__ import annotations

import warnings

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.tools import NO_INPUT, Tool
from octavo.core.wire import FORMATS, Format, read_tools, write_tools
from octavo.errors import BadInput

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SCHEMA_TEXT = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
WEATHER = Tool(name="weather", description="Tells the weather.", schema=SCHEMA_TEXT)
HEAD: JsonObject = {"name": "weather", "description": "Tells the weather."}
PLAIN: dict[Format, list[JsonObject]] = {
    "openai": [{"type": "function", "function": {**HEAD, "parameters": SCHEMA}}],
    "anthropic": [{**HEAD, "input_schema": SCHEMA}],
    "gemini": [{"functionDeclarations": [{**HEAD, "parametersJsonSchema": SCHEMA}]}],
    "responses": [{"type": "function", **HEAD, "parameters": SCHEMA, "strict": False}],
}
DIALECT: JsonObject = {"type": "OBJECT", "properties": {"type": {"type": "STRING", "enum": ["STRING"]}}}
DRESSED: dict[Format, list[JsonObject]] = {
    "openai": [
        {"type": "function", "function": {"name": "f", "strict": True, "description": None}, "x": 1},
        {"type": "custom", "custom": {"name": "run"}},
    ],
    "anthropic": [
        {"type": "custom", "name": "f", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "x_toolset"},
    ],
    "gemini": [
        {"function_declarations": [{"name": "f"}, {"name": "g", "parameters": DIALECT}], "googleSearch": {}},
        {"functionDeclarations": [{"name": "h", "parameters_json_schema": SCHEMA, "response": {}}]},
        {"codeExecution": {}},
        {"functionDeclarations": []},
        {},
    ],
    "responses": [
        {"type": "function", "name": "f", "strict": True, "description": None, "x": 1},
        {"type": "custom", "name": "run", "format": {"type": "text"}},
        {"type": "web_search"},
    ],
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_plain_definition_needs_no_notes_and_is_the_same_in_every_format(format: Format) -> None:
    assert read_tools(format, PLAIN[format]) == (WEATHER,)
    assert write_tools(format, [WEATHER]) == PLAIN[format]


@pytest.mark.parametrize("format", FORMATS)
def test_definitions_come_back_as_they_were(format: Format) -> None:
    assert write_tools(format, read_tools(format, DRESSED[format])) == DRESSED[format]


def test_a_function_without_parameters_takes_nothing() -> None:
    (tool, _) = read_tools("openai", DRESSED["openai"])
    assert tool.schema == NO_INPUT
    assert write_tools("anthropic", [tool]) == [
        {"name": "f", "input_schema": {"type": "object", "properties": {}}}
    ]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_the_providers_own_tools_stay_with_it(format: Format, other: Format) -> None:
    own = [tool for tool in read_tools(format, DRESSED[format]) if not tool.schema]
    assert own
    assert bool(write_tools(other, own)) == (other == format)


def test_a_tool_of_responses_own_is_known_by_its_name_or_its_kind() -> None:
    named, unnamed = read_tools(
        "responses", [{"type": "custom", "name": "patch"}, {"type": "web_search", "name": 5}]
    )
    assert (named.name, unnamed.name) == ("patch", "web_search")


def test_the_dialect_of_gemini_becomes_json_schema_elsewhere() -> None:
    tools = read_tools("gemini", [{"functionDeclarations": [{"name": "g", "parameters": DIALECT}]}])
    plain: JsonObject = {"type": "object", "properties": {"type": {"type": "string", "enum": ["STRING"]}}}
    assert write_tools("anthropic", tools) == [{"name": "g", "input_schema": plain}]


def test_tools_of_several_formats_are_one_group_for_gemini() -> None:
    tools = [*read_tools("gemini", DRESSED["gemini"][3:4]), *read_tools("openai", PLAIN["openai"]), WEATHER]
    assert write_tools("gemini", tools) == [
        {"functionDeclarations": [{**HEAD, "parametersJsonSchema": SCHEMA}] * 2}
    ]


def test_a_schema_that_is_no_json_object_is_refused() -> None:
    for schema in ("{bad", "[]"):
        with pytest.raises(BadInput, match=r"^tools\.f\.schema: expected"):
            write_tools("openai", [Tool(name="f", schema=schema)])


BAD: list[tuple[Format, Json, str]] = [
    ("openai", {}, "tools: expected a list, got dict"),
    ("openai", [1], "tools[0]: expected an object, got int"),
    ("openai", [{}], "tools[0].type: expected text, got NoneType"),
    ("openai", [{"type": "function", "name": "f"}], "tools[0].function: expected an object, got NoneType"),
    ("openai", [{"type": "function", "function": {}}], "tools[0].function.name: expected text, got NoneType"),
    (
        "openai",
        [{"type": "function", "function": {"name": "f", "parameters": "{}"}}],
        "tools[0].function.parameters: expected an object, got str",
    ),
    ("anthropic", [{"name": "f"}], "tools[0].input_schema: expected an object, got NoneType"),
    (
        "anthropic",
        [{"name": "f", "input_schema": {}, "description": 1}],
        "tools[0].description: expected text, got int",
    ),
    ("anthropic", [{"type": 1}], "tools[0].type: expected text, got int"),
    (
        "gemini",
        [{"functionDeclarations": {"a": 1}}],
        "tools[0].functionDeclarations: expected a list, got dict",
    ),
    (
        "gemini",
        [{}, {"function_declarations": [{}]}],
        "tools[1].function_declarations[0].name: expected text, got NoneType",
    ),
    (
        "gemini",
        [{"functionDeclarations": ["f"]}],
        "tools[0].functionDeclarations[0]: expected an object, got str",
    ),
]


@pytest.mark.parametrize(("format", "tools", "problem"), BAD, ids=[problem for *_, problem in BAD])
def test_bad_definitions_are_named_by_index_and_field(format: Format, tools: Json, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_tools(format, tools)
    assert str(caught.value) == problem


@pytest.mark.parametrize("format", FORMATS)
def test_the_providers_libraries_accept_the_tools_of_the_others(format: Format) -> None:
    from anthropic.types import ToolParam
    from openai.types.chat import ChatCompletionFunctionToolParam
    from pydantic import TypeAdapter

    with warnings.catch_warnings():
        # The library uses typing constructs that newer Pythons warn of.
        warnings.simplefilter("ignore", DeprecationWarning)
        from google.genai.types import Tool as GeminiTool

    tools = [*read_tools(format, DRESSED[format]), WEATHER]
    if format != "openai":
        assert TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(
            write_tools("openai", tools)
        )
    if format != "anthropic":
        assert TypeAdapter(list[ToolParam]).validate_python(write_tools("anthropic", tools))
    if format != "gemini":
        assert TypeAdapter(list[GeminiTool]).validate_python(write_tools("gemini", tools))
