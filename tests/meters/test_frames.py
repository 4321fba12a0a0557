from __future__ import annotations

import json

import pytest

from octavo.core.json_values import Json
from octavo.core.tools import NO_INPUT, Tool
from octavo.meters.frames import FRAMES, count_arguments, count_definitions, properties
from octavo.meters.tokenizers import load

o200k = load("o200k").count


def words(text: str) -> int:
    return len(text.split())


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where to look."},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "days": {"type": "array", "items": {"type": "object", "properties": {"day": {"type": "integer"}}}},
    },
    "required": ["city"],
}
FORECAST = Tool(name="forecast", description="Say what the weather will be.", schema=json.dumps(SCHEMA))


def test_no_tools_cost_nothing_in_any_family() -> None:
    assert all(count_definitions((), frame, o200k) == 0 for frame in FRAMES.values())


def test_the_cookbook_rule_charges_lines_properties_and_choices() -> None:
    lines = (
        "forecast:Say what the weather will be",
        "city:string:Where to look",
        "unit:string:",
        "days:array:",
        "day:integer:",
    )
    frames = 12 + 7 + 3 * 4 + 3 * 2 - 3 + 3 * 2
    texts = sum(map(o200k, (*lines, "metric", "imperial")))
    assert count_definitions((FORECAST,), FRAMES["openai"], o200k) == frames + texts


def test_older_models_charge_three_more_for_each_tool() -> None:
    new, old = (count_definitions((FORECAST,) * 2, FRAMES[name], o200k) for name in ("openai", "openai-3.5"))
    assert old - new == 6


def test_anthropic_charges_its_instructions_once() -> None:
    frame = FRAMES["anthropic"]
    one, two = (count_definitions((FORECAST,) * n, frame, o200k) for n in (1, 2))
    assert one > 346
    assert two - one == one - 346


def test_google_counts_names_descriptions_choices_and_what_is_required() -> None:
    assert count_definitions((FORECAST,), FRAMES["gemini"], words) == 1 + 6 + 4 + 3 + 2 + 1


def test_every_property_is_found_wherever_it_hides() -> None:
    schema: Json = {
        "anyOf": [
            {"properties": {"a": {}}},
            {"properties": {"b": {"properties": {"c": {"enum": [1, None]}}}}},
        ],
        "$defs": {"x": {"properties": {"d": {"type": ["string", "null"]}}}},
    }
    found = {each.name: each for each in properties(schema)}
    assert set(found) == {"a", "b", "c", "d"}
    assert found["c"].choices == ("1", "")
    assert found["d"].type == "string,null"


@pytest.mark.parametrize("schema", ["", NO_INPUT, "{not json", "[]", "null", '{"properties": 7}', '"text"'])
def test_a_schema_of_any_shape_has_a_cost(schema: str) -> None:
    for frame in FRAMES.values():
        assert count_definitions((Tool(name="t", schema=schema),), frame, o200k) >= 0


def test_a_schema_that_is_not_json_counts_as_the_text_it_is() -> None:
    tool = Tool(name="t", schema="{not json at all")
    frame = FRAMES["openai"]
    plain = frame.definitions.any + frame.definitions.each + o200k("t") + o200k("{not json at all")
    assert count_definitions((tool,), frame, o200k) == plain


def test_inputs_are_read_as_text_as_values_or_as_strings() -> None:
    """Claude is shown values without the escapes of JSON, Gemini is charged for keys and strings alone."""
    text = json.dumps({"path": "a b", "text": 'say "x"\n', "count": 42})
    assert count_arguments(text, FRAMES["openai"], words) == words(text)
    assert count_arguments(text, FRAMES["anthropic"], words) == 3 * 12 + 3 + 2 + 2 + 1
    assert count_arguments(text, FRAMES["gemini"], words) == 3 + 2 + 2


@pytest.mark.parametrize("text", ["", "{", '{"a":' * 5_000 + "1" + "}" * 5_000, "[" * 100_000, "NaN"])
def test_inputs_that_cannot_be_read_count_as_text(text: str) -> None:
    """Case 72: nested deeper than anything, or cut off."""
    for frame in FRAMES.values():
        assert count_arguments(text, frame, len) == len(text)
