"""A conversation as JSON: read in every shape, written in the same, and refused by name."""

from __future__ import annotations

import json

import pytest

from octavo.core.history_json import (
    decode_text,
    decode_value,
    dumped,
    is_message,
    read_history,
    rewrap,
)
from octavo.core.json_values import Json
from octavo.errors import BadInput, UsageError

MESSAGES: list[Json] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CONTENTS: list[Json] = [{"role": "user", "parts": [{"text": "hi"}]}]


@pytest.mark.parametrize(
    ("value", "shape", "format"),
    [
        (MESSAGES, "list", "openai"),
        ({"id": 1, "messages": MESSAGES, "tools": [{"name": "x"}]}, "object", "openai"),
        ({"system": "Be brief.", "messages": MESSAGES}, "object", "anthropic"),
        ({"contents": CONTENTS, "systemInstruction": {"parts": []}}, "object", "gemini"),
        (MESSAGES[0], "lines", "openai"),
    ],
)
def test_what_is_read_is_written_in_the_same_shape(value: Json, shape: str, format: str) -> None:
    history = read_history(value, "", indent=None)
    assert (history.shape, history.format) == (shape, format)
    assert history.tools == (value.get("tools", []) if isinstance(value, dict) else [])
    assert json.loads(rewrap(history, history.messages, history.system)) == value


def test_a_new_system_prompt_goes_where_the_format_has_it() -> None:
    for body, name in (
        ({"messages": MESSAGES}, "system"),
        ({"contents": CONTENTS}, "systemInstruction"),
        ({"contents": CONTENTS, "system_instruction": None}, "system_instruction"),
    ):
        history = read_history(dict(body), "", indent=None)
        assert json.loads(rewrap(history, history.messages, "New."))[name] == "New."
    with pytest.raises(UsageError, match="no place for"):
        rewrap(read_history(MESSAGES, "", indent=None), [], "New.")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"messages": 3}, "line 4: messages: expected an array of messages, got a number"),
        ({"messages": ["x"]}, r"line 4: messages\[0\]: expected a message, got text"),
        ({"a": 1}, "line 4: expected messages"),
        ("x", "line 4: expected messages"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(value: Json, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_history(value, "line 4", indent=None)
    with pytest.raises(BadInput, match=r"messages\[1\]: expected a message, got null"):
        read_history([MESSAGES[0], None], "", indent=None)


def test_tools_that_are_no_list_are_refused() -> None:
    for where, place in (("", "tools"), ("line 4", "line 4: tools")):
        history = read_history({"messages": MESSAGES, "tools": 3}, where, indent=None)
        with pytest.raises(BadInput, match=f"^{place}: expected a list"):
            _ = history.tools


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1", "line 2: not JSON: the text ends inside a value"),
        ("[1 2]", "line 2: not JSON: Expecting ',' delimiter"),
        ("NaN", "line 2: NaN is not JSON"),
        ("[" * 100_000, "line 2: nested too deeply"),
        ("9" * 5_000, "line 2: Exceeds the limit"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        decode_value(text, 2)


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    assert decode_text("ä".encode(), 1) == "ä"
    with pytest.raises(BadInput, match="line 3: not UTF-8 text"):
        decode_text(b"x\n\xff", 2)


def test_a_message_is_told_from_what_holds_messages() -> None:
    assert is_message({"role": "user"})
    assert not is_message({"role": "user", "messages": MESSAGES})
    assert dumped("\u2028\ud800") == '"\\u2028\\ud800"'
