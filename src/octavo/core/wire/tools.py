"""Tool definitions in the wire formats.

In its own format a definition comes back as it was. A tool that the provider itself defines and runs (search, code
execution) has no schema; other formats leave it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from octavo.core.json_values import (
    Json,
    JsonObject,
    compact,
    parse,
    take_inner,
    take_list,
    take_object,
    take_optional,
    take_text,
)
from octavo.core.tools import NO_INPUT, Tool
from octavo.core.wire.notes import WHOLE, note, notes, objects, patch, whole
from octavo.errors import BadInput

OPENAI, ANTHROPIC, GEMINI, RESPONSES = "openai", "anthropic", "gemini", "responses"
PARAMETERS = ("parameters", "parametersJsonSchema", "parameters_json_schema")
"""Where a Gemini declaration has its schema: a dialect of OpenAPI, or JSON Schema in two spellings."""
DECLARATIONS = ("functionDeclarations", "function_declarations")
_TYPES = frozenset({"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"})
"""How Gemini's dialect spells the types of JSON Schema."""


def read_openai_tools(tools: object) -> tuple[Tool, ...]:
    """Read definitions of the shape `{"type": "function", "function": {...}}`."""
    return tuple(_read_openai(data, where) for where, data in objects(tools, "tools"))


def write_openai_tools(tools: Iterable[Tool]) -> list[JsonObject]:
    """Write definitions of the shape `{"type": "function", "function": {...}}`."""
    return [written for tool in tools for written in _write(tool, OPENAI, _bare_openai)]


def read_anthropic_tools(tools: object) -> tuple[Tool, ...]:
    """Read definitions of the shape `{"name": ..., "description": ..., "input_schema": {...}}`."""
    return tuple(_read_anthropic(data, where) for where, data in objects(tools, "tools"))


def write_anthropic_tools(tools: Iterable[Tool]) -> list[JsonObject]:
    """Write definitions of the shape `{"name": ..., "description": ..., "input_schema": {...}}`."""
    return [written for tool in tools for written in _write(tool, ANTHROPIC, _bare_anthropic)]


def read_responses_tools(tools: object) -> tuple[Tool, ...]:
    """Read definitions of the shape `{"type": "function", "name": ..., "parameters": {...}}`."""
    return tuple(_read_responses(data, where) for where, data in objects(tools, "tools"))


def write_responses_tools(tools: Iterable[Tool]) -> list[JsonObject]:
    """Write definitions of the shape `{"type": "function", "name": ..., "parameters": {...}}`."""
    return [written for tool in tools for written in _write(tool, RESPONSES, _bare_responses)]


def read_gemini_tools(tools: object) -> tuple[Tool, ...]:
    """Read groups of `functionDeclarations`; whatever else a group holds is one more tool."""
    found = enumerate(objects(tools, "tools"))
    return tuple(tool for at, (where, group) in found for tool in _read_group(group, where, at))


def write_gemini_tools(tools: Iterable[Tool]) -> list[JsonObject]:
    """Write one group of `functionDeclarations`, or the groups that were read."""
    groups: dict[int, JsonObject] = {}
    for tool in tools:
        noted = notes(tool.wire, GEMINI)
        at, key = noted.get("group", 0), DECLARATIONS[1 if noted.get("snake") else 0]
        for written in _write(tool, GEMINI, _bare_gemini):
            group = groups.setdefault(at if isinstance(at, int) else 0, {})
            declared = group.get(key)
            if tool.schema:
                group[key] = [*declared, written] if isinstance(declared, list) else [written]
            else:
                group |= {name: value for name, value in written.items() if name not in group}
    return [groups[at] for at in sorted(groups)]


def _write(tool: Tool, format: str, render: Callable[[Tool], JsonObject]) -> Iterator[JsonObject]:
    noted = notes(tool.wire, format)
    if tool.schema:
        yield patch(render(tool), noted)
    elif isinstance(said := noted.get(WHOLE), dict):
        yield said


def _read_openai(data: JsonObject, where: str) -> Tool:
    kind = take_text(data, "type", where)
    if kind != "function":
        return Tool(name=kind, schema="", wire=whole(OPENAI, data))
    function = take_inner(data, "function", where)
    tool = _tool(function, "parameters", f"{where}.function")
    return replace(tool, wire=note(OPENAI, _bare_openai(tool), data))


def _bare_openai(tool: Tool) -> JsonObject:
    return {"type": "function", "function": {**_bare_head(tool), "parameters": _json_schema(_schema(tool))}}


def _read_responses(data: JsonObject, where: str) -> Tool:
    kind = take_text(data, "type", where)
    if kind != "function":
        name = data.get("name")
        return Tool(name=name if isinstance(name, str) else kind, schema="", wire=whole(RESPONSES, data))
    tool = _tool(data, "parameters", where)
    return replace(tool, wire=note(RESPONSES, _bare_responses(tool), data))


def _bare_responses(tool: Tool) -> JsonObject:
    # Without the field, a schema has to obey the rules of strict mode, which few do.
    schema = _json_schema(_schema(tool))
    return {"type": "function", **_bare_head(tool), "parameters": schema, "strict": False}


def _read_anthropic(data: JsonObject, where: str) -> Tool:
    kind = take_optional(data, "type", where)
    if kind not in ("", "custom"):
        return Tool(name=take_optional(data, "name", where) or kind, schema="", wire=whole(ANTHROPIC, data))
    take_inner(data, "input_schema", where)
    tool = _tool(data, "input_schema", where)
    return replace(tool, wire=note(ANTHROPIC, _bare_anthropic(tool), data))


def _bare_anthropic(tool: Tool) -> JsonObject:
    return {**_bare_head(tool), "input_schema": _json_schema(_schema(tool))}


def _read_group(group: JsonObject, where: str, at: int) -> Iterator[Tool]:
    key = next((key for key in DECLARATIONS if group.get(key)), None)
    for i, value in enumerate(take_list(group, key, where) if key else []):
        spot = f"{where}.{key}[{i}]"
        yield _read_gemini(take_object(value, spot), spot, {"group": at, "snake": key == DECLARATIONS[1]})
    rest = {name: value for name, value in group.items() if name != key}
    if rest or key is None:
        yield Tool(name=next(iter(rest), ""), schema="", wire=whole(GEMINI, rest, group=at))


def _read_gemini(data: JsonObject, where: str, marks: JsonObject) -> Tool:
    field = next((field for field in PARAMETERS if data.get(field) is not None), PARAMETERS[1])
    tool = _tool(data, field, where)
    marks |= {"field": "" if field == PARAMETERS[1] else field}
    return replace(tool, wire=note(GEMINI, _bare_gemini(tool, field), data, **marks))


def _bare_gemini(tool: Tool, field: str = "") -> JsonObject:
    field = field or str(notes(tool.wire, GEMINI).get("field", PARAMETERS[1]))
    schema = _schema(tool)
    return {**_bare_head(tool), field: schema if field == PARAMETERS[0] else _json_schema(schema)}


def _tool(data: JsonObject, field: str, where: str) -> Tool:
    schema = NO_INPUT if data.get(field) is None else compact(take_inner(data, field, where))
    description = take_optional(data, "description", where)
    return Tool(name=take_text(data, "name", where), description=description, schema=schema)


def _bare_head(tool: Tool) -> JsonObject:
    bare: JsonObject = {"name": tool.name}
    return bare | {"description": tool.description} if tool.description else bare


def _schema(tool: Tool) -> JsonObject:
    try:
        schema = parse(tool.schema)
    except ValueError as error:
        raise BadInput(f"tools.{tool.name}.schema", f"expected JSON: {error}") from error
    return take_object(schema, f"tools.{tool.name}.schema")


def _json_schema(schema: Json) -> Json:
    """Spell the types of Gemini's dialect as JSON Schema does."""
    match schema:
        case dict():
            return {
                key: _json_type(value) if key == "type" else _json_schema(value)
                for key, value in schema.items()
            }
        case list():
            return [_json_schema(value) for value in schema]
        case _:
            return schema


def _json_type(value: Json) -> Json:
    return value.lower() if isinstance(value, str) and value in _TYPES else _json_schema(value)
