"""What a request costs beyond its texts: frames of messages, tool calls, and tool definitions, by family.

A family is a row of numbers, published by the providers or measured by others; what a provider
adds in secret is learned by calibration, for which these numbers are the starting point. Everything is a whole
number of tokens, so the parts of a request add up to its total exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from octavo.core.json_values import Json, compact, parse
from octavo.core.tools import Tool

Count = Callable[[str], int]
Arguments = Literal["text", "values", "strings"]
Format = Literal["openai", "anthropic", "gemini"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """What tool definitions cost beyond their words."""

    any: int = 0
    """Once, as soon as there is a tool."""
    each: int = 0
    described: int = 0
    """A description of the tool."""
    first: int = 0
    """The first property of an object."""
    further: int = 0
    note: int = 0
    """A description of a property."""
    choice: int = 0
    """A list of allowed values."""
    value: int = 0
    """Each of them."""
    joined: bool = False
    """Name, type and description are one line of text with colons, instead of texts of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What one family charges."""

    name: str
    request: int = 0
    """Every request: the start of the reply, and what the first message costs more than the others."""
    message: int = 0
    system: int | None = None
    """A system message; None: as any other."""
    speaker: int | None = None
    """The speaker's name, beyond its own tokens; None: names are not sent."""
    call: int = 0
    """A tool call together with its result, beyond their texts."""
    results_apart: bool = False
    """Every tool result is a message of its own."""
    thinks: bool = False
    """Thinking that is sent back is read, and charged, again."""
    arguments: Arguments = "text"
    """How a tool call's input is read: as JSON text; as keys and values without the escapes of JSON; or as keys and
    strings alone, with the tool's name repeated in the result."""
    argument: int = 0
    """Each key of a call's input, beyond its texts."""
    format: Format = "openai"
    """The wire format whose untranslatable parts this family understands."""
    definitions: Definitions = Definitions()


_COOKBOOK = Definitions(any=12, each=7, first=6, further=3, choice=-3, value=3, joined=True)
"""As OpenAI's cookbook counts them: 3 for an object's properties and 3 for each, hence 6 for the first."""
_OPENAI = Frame(
    name="openai",
    request=3,
    message=4,
    speaker=1,
    call=7,
    results_apart=True,
    definitions=_COOKBOOK,
)
_ANTHROPIC = Frame(
    name="anthropic",
    request=4,
    message=3,
    system=0,
    call=33,
    arguments="values",
    argument=12,
    thinks=True,
    format="anthropic",
    definitions=Definitions(any=346, each=53, first=13, further=12, note=5, choice=9),
)
_CHATML = Definitions(any=120, each=30, first=12, further=10, note=6, choice=6)
"""Open models are given their tools as JSON with some lines of instructions."""


def _family(*frames: Frame) -> MappingProxyType[str, Frame]:
    return MappingProxyType({frame.name: frame for frame in frames})


FRAMES = _family(
    _OPENAI,
    replace(_OPENAI, name="openai-3.5", definitions=replace(_COOKBOOK, each=10)),
    replace(
        _OPENAI,
        name="openai-5",
        request=5,
        message=5,
        call=13,
        definitions=Definitions(any=18, each=6, first=5, further=3, note=2, choice=7),
    ),
    replace(_OPENAI, name="harmony", request=2, call=10),
    _ANTHROPIC,
    replace(_ANTHROPIC, name="anthropic-4.5", definitions=replace(_ANTHROPIC.definitions, any=496)),
    replace(
        _ANTHROPIC, name="anthropic-4.7", request=8, definitions=replace(_ANTHROPIC.definitions, any=496)
    ),
    replace(
        _ANTHROPIC, name="anthropic-4.8", request=3, definitions=replace(_ANTHROPIC.definitions, any=496)
    ),
    Frame(name="gemini", arguments="strings", format="gemini"),
    Frame(name="chatml", request=3, message=5, call=18, results_apart=True, definitions=_CHATML),
    Frame(name="llama", request=5, message=5, call=10, results_apart=True, definitions=_CHATML),
    Frame(name="deepseek", request=2, message=2, call=16, results_apart=True, definitions=_CHATML),
    Frame(name="mistral", request=1, message=2, call=12, results_apart=True, definitions=_CHATML),
    # The unit of the project's yardstick: 4 a message, 8 a call, and nothing else.
    Frame(name="yardstick", message=4, call=8, results_apart=True),
    replace(_OPENAI, name=""),
)
"""By the name a model card gives; the nameless one is for models nothing is known about."""


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a schema, as far as it is counted."""

    name: str
    type: str
    description: str
    choices: tuple[str, ...]
    first: bool


def properties(schema: Json) -> Iterator[Property]:
    """List the properties of a schema, those of objects inside it included; `parse` has bounded its depth."""
    if isinstance(schema, list):
        for each in schema:
            yield from properties(each)
    if not isinstance(schema, dict):
        return
    named = schema.get("properties")
    for place, (name, inner) in enumerate(named.items() if isinstance(named, dict) else ()):
        yield _property(name, inner, first=place == 0)
        yield from properties(inner)
    for key in ("items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems"):
        yield from properties(schema.get(key))
    for key in ("$defs", "definitions"):
        inner = schema.get(key)
        yield from properties(list(inner.values()) if isinstance(inner, dict) else None)


def _property(name: str, inner: Json, *, first: bool) -> Property:
    data = inner if isinstance(inner, dict) else {}
    choices = data.get("enum")
    return Property(
        name=name,
        type=_said(data.get("type")),
        description=_said(data.get("description")),
        choices=tuple(map(_said, choices)) if isinstance(choices, list) else (),
        first=first,
    )


def _said(value: Json) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            return ",".join(map(_said, value))
        case _:
            return str(value)


def count_definitions(tools: tuple[Tool, ...], frame: Frame, count: Count) -> int:
    """Count tool definitions; a schema that is not JSON counts as the text it is."""
    if not tools:
        return 0
    return frame.definitions.any + sum(_definition(tool, frame, count) for tool in tools)


def _definition(tool: Tool, frame: Frame, count: Count) -> int:
    costs = frame.definitions
    try:
        schema = parse(tool.schema) if tool.schema else None
    except ValueError:
        return costs.each + count(tool.name) + count(tool.description) + count(tool.schema)
    words = _words(costs, count, tool.name, tool.description.removesuffix("."))
    required = schema.get("required") if frame.arguments == "strings" and isinstance(schema, dict) else None
    named = sum(count(_said(name)) for name in required) if isinstance(required, list) else 0
    described = costs.described if tool.description else 0
    return costs.each + described + words + named + sum(_cost(p, costs, count) for p in properties(schema))


def _words(costs: Definitions, count: Count, *texts: str) -> int:
    return count(":".join(texts)) if costs.joined else sum(count(text) for text in texts if text)


def _cost(found: Property, costs: Definitions, count: Count) -> int:
    total = costs.first if found.first else costs.further
    total += costs.note if found.description else 0
    if found.choices:
        total += costs.choice + sum(costs.value + count(choice) for choice in found.choices)
    if costs.joined:
        return total + count(f"{found.name}:{found.type}:{found.description.removesuffix('.')}")
    return total + count(found.name) + (count(found.description) if found.description else 0)


def count_arguments(text: str, frame: Frame, count: Count) -> int:
    """Count a tool call's input the way the family reads it; what is not JSON counts as the text it is."""
    if frame.arguments == "text":
        return count(text)
    try:
        value = parse(text)
    except ValueError:
        return count(text)
    keys = len(value) if isinstance(value, dict) else 0
    return frame.argument * keys + _values(value, count, strings_only=frame.arguments == "strings")


def _values(value: Json, count: Count, *, strings_only: bool) -> int:
    match value:
        case str():
            return count(value)
        case list():
            return sum(_values(each, count, strings_only=strings_only) for each in value)
        case dict():
            inner = sum(_values(each, count, strings_only=strings_only) for each in value.values())
            return inner + sum(map(count, value))
        case _:
            return 0 if strings_only else count(compact(value))
