"""Reading fields: what was asked for, or `BadInput` that names the place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from octavo.core.json_values import (
    MAX_BITS,
    MAX_DEPTH,
    check_json,
    compact,
    parse,
    take_count,
    take_inner,
    take_list,
    take_object,
    take_optional,
    take_text,
)
from octavo.errors import BadInput


def test_json_is_written_without_spaces_and_without_escapes() -> None:
    assert compact({"a": [1, "é"]}) == '{"a":[1,"é"]}'


@pytest.mark.parametrize(
    "value", [None, True, 1, -1.5, "x", "\ud800", [], {}, [{"a": [None]}], 2**MAX_BITS - 1]
)
def test_json_is_accepted(value: Any) -> None:
    check_json(value, "x")
    assert parse(compact(value)) == value


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": [1, b"x"]}, "x.a[1]: expected JSON, got bytes"),
        ((1, 2), "x: expected JSON, got tuple"),
        ({"a": {1: 2}}, "x.a: expected text as key, got int"),
        ([math.nan], "x[0]: expected a finite number, got nan"),
        ({"a": -math.inf}, "x.a: expected a finite number, got -inf"),
        ([2**MAX_BITS], "x[0]: a number of over 1024 bits"),
    ],
)
def test_what_is_no_json_is_named(value: Any, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_json(value, "x")
    assert str(caught.value) == problem


def test_nesting_has_an_end() -> None:
    value: Any = []
    for _ in range(MAX_DEPTH):
        value = [value]
    check_json(value, "x")
    with pytest.raises(BadInput, match=r"^x: nested deeper than 100 levels, or holding itself$"):
        check_json({"a": value}, "x")


@pytest.mark.parametrize("text", ["", "{", "NaN", "[" * 200 + "]" * 200, "[" * 100_000, "9" * 5_000])
def test_text_that_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse(text)


def test_fields_are_taken() -> None:
    data: Any = {"o": {"a": 1}, "t": "x", "l": [1], "n": 3, "null": None}
    assert take_object(data["o"], "x") == {"a": 1}
    assert take_inner(data, "o", "x") == {"a": 1}
    assert (take_text(data, "t", "x"), take_text(data, "u", "x", "default")) == ("x", "default")
    assert [take_optional(data, key, "x") for key in ("t", "null", "u")] == ["x", "", ""]
    assert take_list(data, "l", "x") == [1]
    assert (take_count(data, "n", "x"), take_count(data, "u", "x"), take_count({"n": 0}, "n", "x")) == (
        3,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("take", "problem"),
    [
        (take_inner, "x.a: expected an object, got bool"),
        (take_text, "x.a: expected text, got bool"),
        (take_optional, "x.a: expected text, got bool"),
        (take_list, "x.a: expected a list, got bool"),
        (take_count, "x.a: expected a whole number of 0 or more, got True"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(take: Any, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        take({"a": True}, "a", "x")
    assert str(caught.value) == problem
