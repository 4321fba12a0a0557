"""What is noted makes the wire object again, and yields to a value that has changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.json_values import MAX_DEPTH, JsonObject
from octavo.core.messages import Message, Opaque, Text, ToolResult, Wire
from octavo.core.wire import FORMATS, Format, read, read_tools, write
from octavo.core.wire.notes import difference, notes, patch, same
from octavo.errors import BadInput

ALIKE = st.sampled_from([0, 0.0, False, None, "", 1, 1.0, True, "1"])
NESTED = st.recursive(
    ALIKE,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
LIKE_OBJECTS = st.fixed_dictionaries({"a": ALIKE}, optional={"b": ALIKE, "c": NESTED, "d": NESTED})


@settings(deadline=None)
@given(LIKE_OBJECTS, LIKE_OBJECTS)
def test_the_difference_makes_one_object_from_the_other(bare: JsonObject, said: JsonObject) -> None:
    """Seen failing when `1` and `true` were taken for the same."""
    made = patch(bare, json.loads(json.dumps(difference(bare, said))))
    assert json.dumps(made, sort_keys=True) == json.dumps(said, sort_keys=True)
    assert difference(said, said) == {}


def test_differences_are_found_where_they_are() -> None:
    bare: JsonObject = {"type": "image_url", "image_url": {"url": "u"}, "old": 1, "role": "system"}
    said: JsonObject = {
        "type": "image_url",
        "image_url": {"url": "u", "detail": "high"},
        "role": "developer",
        "x": None,
    }
    assert difference(bare, said) == {
        "added": {"x": None},
        "removed": {"old": 1},
        "changed": {"role": ["system", "developer"]},
        "within": {"image_url": {"added": {"detail": "high"}}},
    }


@pytest.mark.parametrize(
    ("noted", "now"),
    [
        ({"added": {"name": ""}}, {"name": "ann"}),
        ({"changed": {"role": ["system", "developer"]}}, {"role": "user"}),
        ({"changed": {"role": ["system", "developer"]}}, {}),
        ({"removed": {"content": None}}, {"content": "words"}),
        ({"removed": {"content": None}}, {}),
        ({"within": {"file": {"added": {"a": 1}}}}, {"file": "gone"}),
        ({"within": {"file": {"added": {"a": 1}}}}, {}),
    ],
)
def test_a_note_yields_to_a_value_that_has_changed(noted: JsonObject, now: JsonObject) -> None:
    assert patch(now, noted) == now


@pytest.mark.parametrize(
    "noted",
    [{"added": 1}, {"changed": {"a": 1}}, {"changed": {"a": [1]}}, {"removed": []}, {"within": {"a": 1}}],
)
def test_notes_that_make_no_sense_change_nothing(noted: JsonObject) -> None:
    assert patch({"a": {}}, noted) == {"a": {}}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (None, False, False),
        ([1, {"a": 2}], [1, {"a": 2}], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"b": 1}, False),
        ([], {}, False),
    ],
)
def test_values_are_compared_as_json_does(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal


def test_notes_are_read_by_their_own_format_only() -> None:
    assert notes(Wire("openai", '{"a":1}'), "openai") == {"a": 1}
    assert notes(Wire("openai", "{bad"), "gemini") == {}
    assert notes(None, "openai") == {}


@pytest.mark.parametrize("fields", ["", "{bad", "[]", "[" * 100_000])
def test_notes_that_were_damaged_are_found_out(fields: str) -> None:
    with pytest.raises(BadInput, match=r"^wire: expected"):
        notes(Wire("openai", fields), "openai")


@pytest.mark.parametrize("format", FORMATS)
def test_marks_that_make_no_sense_are_ignored(format: Format) -> None:
    odd = Wire(format, '{"kind":1,"listed":[],"field":2,"says":3,"group":"x","shape":4,"whole":5,"apart":0}')
    parts = (Text(text="a", wire=odd), ToolResult(call_id="c", content=(), wire=odd))
    messages = [
        Message(role="user", parts=(Text(text="a", wire=odd),), wire=odd),
        Message(role="tool", parts=parts, wire=odd),
        Message(role="user", parts=(Opaque(kind="x", wire=Wire(format, "{}")),)),
    ]
    assert "'a'" in str(write(format, messages).messages)


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("format", FORMATS)
def test_deep_and_endless_input_is_refused(format: Format) -> None:
    """Case 72."""
    endless: dict[str, Any] = {"role": "user", "content": "x", "parts": []}
    endless["me"] = {"again": [endless]}
    for message in (endless, {"role": "user", "content": "x", "x": _nested(MAX_DEPTH + 1)}, _nested(100_000)):
        with pytest.raises(
            BadInput, match=r"^messages\[1\]: nested deeper than 100 levels, or holding itself$"
        ):
            read(format, [{"role": "user", "content": "x"}, message])
        with pytest.raises(BadInput, match=r"^tools\[0\]: nested deeper"):
            read_tools(format, [message])
    endless_list: list[Any] = []
    endless_list.append(endless_list)
    with pytest.raises(BadInput, match="nested deeper"):
        read(format, endless_list)


@pytest.mark.parametrize("format", FORMATS)
def test_input_as_deep_as_allowed_comes_back(format: Format) -> None:
    key = "parts" if format == "gemini" else "content"
    block: JsonObject = {"type": "x", "x": _nested(MAX_DEPTH - 3)}
    messages: list[JsonObject] = [{"role": "user", key: [block], "x": _nested(MAX_DEPTH)}]
    assert write(format, read(format, messages)).messages == messages


@pytest.mark.parametrize("format", ["anthropic", "gemini"])
def test_a_system_that_is_no_json_is_refused(format: Format) -> None:
    with pytest.raises(BadInput, match=r"^system\[0\]\.x: expected JSON, got set$"):
        read(format, [], [{"type": "text", "text": "", "x": set()}])  # type: ignore[dict-item]
