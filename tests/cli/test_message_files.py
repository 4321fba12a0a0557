"""Message lists in every shape, and files that are none."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.cli import message_files
from octavo.cli.message_files import read_histories
from octavo.core.history_json import History, rewrap
from octavo.errors import BadInput

MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
LINES = "".join(json.dumps(message) + "\n" for message in MESSAGES)


def read(text: str | bytes) -> list[History]:
    return list(read_histories(io.BytesIO(text.encode() if isinstance(text, str) else text)))


def test_an_array_on_one_line_or_many() -> None:
    for indent in (None, 1):
        (found,) = read(json.dumps(MESSAGES, indent=indent))
        assert (found.messages, found.shape, found.where) == (MESSAGES, "list", "")


def test_messages_one_in_a_line_are_one_conversation() -> None:
    (found,) = read("\ufeff\n" + LINES + "\n")
    assert (found.messages, found.shape) == (MESSAGES, "lines")


def test_a_single_message_is_a_conversation() -> None:
    (found,) = read(json.dumps(MESSAGES[0]))
    assert found.messages == MESSAGES[:1]


def test_objects_and_arrays_one_in_a_line_are_conversations() -> None:
    found = read(json.dumps({"id": 1, "messages": MESSAGES}) + "\n" + json.dumps(MESSAGES[:1]) + "\n")
    assert [(each.where, len(each.messages), each.shape) for each in found] == [
        ("line 1", 2, "object"),
        ("line 2", 1, "list"),
    ]


def test_bodies_of_requests_tell_their_format_by_their_names() -> None:
    (anthropic,) = read(json.dumps({"model": "x", "system": "Be brief.", "messages": MESSAGES}))
    assert (anthropic.format, anthropic.system) == ("anthropic", "Be brief.")
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    (gemini,) = read(
        json.dumps({"systemInstruction": {"parts": [{"text": "x"}]}, "contents": contents}, indent=2)
    )
    assert (gemini.format, gemini.key, gemini.messages) == ("gemini", "contents", contents)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2),
)
message_lists = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.text()},
        optional={"name": st.text(max_size=3), "extra": json_values},
    ),
    min_size=1,
    max_size=4,
)


def written(messages: list[dict[str, Any]], shape: str) -> str:
    match shape:
        case "lines":
            return "".join(json.dumps(message) + "\n" for message in messages)
        case "list":
            return json.dumps(messages) + "\n"
        case "indented":
            return json.dumps(messages, indent=2) + "\n"
        case _:
            return json.dumps({"model": "m", "messages": messages, "stream": True}) + "\n"


@given(message_lists, st.sampled_from(["lines", "list", "indented", "object"]))
def test_what_is_read_is_written_again_in_its_shape(messages: list[dict[str, Any]], shape: str) -> None:
    """Seen failing with: an object written back without what it held besides its messages."""
    text = written(messages, shape)
    (history,) = read(text)
    again = rewrap(history, history.messages, history.system)
    if shape == "lines":
        assert [json.loads(line) for line in again.splitlines()] == messages
    else:
        assert json.loads(again) == json.loads(text)
    assert (again.count("\n") > 1) == (text.count("\n") > 1)


@given(st.lists(message_lists, min_size=2, max_size=4))
def test_every_line_is_a_conversation_of_its_own(conversations: list[list[dict[str, Any]]]) -> None:
    """Seen failing with: the second line forgotten after it was looked at."""
    text = "".join(json.dumps({"messages": each}) + "\n" for each in conversations)
    assert [history.messages for history in read(text)] == conversations


BAD = {
    b"": "the file is empty; give messages as JSON or JSON Lines",
    b"  \n\n": "the file is empty; give messages as JSON or JSON Lines",
    b"\x89PNG\r\n\x1a\n\x00": "line 1: not UTF-8 text (byte 0x89); is this a JSON file?",
    b"hello": "line 1: not JSON: Expecting value",
    b'[{"role": "user", "content": "hi"}': "line 1: not JSON: the text ends inside a value: it was cut off",
    b'[\n{"role": "user",\n"content": "h': "line 3: not JSON: the text ends inside a value: it was cut off",
    LINES.encode() + b'{"role": "us': "line 3: not JSON: the text ends inside a value: it was cut off",
    b"[1, 2]": "messages[0]: expected a message, got a number",
    b'"text"': "expected messages: an array of them, an object with `messages` or `contents`, or one in each line",
    b'{"messages": "none"}': "messages: expected an array of messages, got text",
    b'{"id": 1}\n{"id": 2}\n': "line 1: expected messages: an array of them, an object with `messages` or `contents`, "
    "or one in each line",
    LINES.encode() + b"[]\n": "line 3: expected a message like those before: an object with a role",
    b'[{"role": "user", "content": NaN}]': "line 1: NaN is not JSON",
    b"[" * 100_000: "line 1: nested too deeply",
    b"[" + b"9" * 5_000 + b"]": "line 1: Exceeds the limit",
    LINES.encode() + b"\xff\n": "line 3: not UTF-8 text (byte 0xff); is this a JSON file?",
}


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:24]))
def test_what_is_no_message_list_is_said_with_its_line(data: bytes) -> None:
    with pytest.raises(BadInput) as problem:
        read(data)
    assert str(problem.value).startswith(BAD[data])


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Seen failing with: bytes that are not UTF-8 left to the decoder's own error."""
    try:
        found = read(data)
    except BadInput:
        return
    assert all(isinstance(message, dict) for history in found for message in history.messages)


class Endless(io.RawIOBase):
    """A file that never ends, and counts what was taken from it."""

    def __init__(self, start: bytes, unit: bytes) -> None:
        self._next, self._unit, self.taken = start, unit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self._next) < len(buffer):
            self._next += self._unit * (1 + len(buffer) // len(self._unit))
        size = len(buffer)
        buffer[:], self._next = self._next[:size], self._next[size:]
        self.taken += size
        return size


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        (b"[", b'{"role": "user", "content": "hi"},'),
        (b"[\n", b'{"role": "user", "content": "hi"},\n'),
        (b"", b'{"role": "user", "content": "hi"}\n'),
        (b'"', b"text without an end "),
    ],
    ids=["one line", "an array", "lines", "text"],
)
def test_a_conversation_without_end_is_refused_after_so_many_bytes(
    start: bytes, unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_files, "LARGEST", 1 << 20)
    endless = Endless(start, unit)
    with pytest.raises(BadInput, match="a conversation of more than 1 MB; split it"):
        list(read_histories(io.BufferedReader(endless)))
    assert endless.taken < 3 << 20


def test_lone_surrogates_are_written_as_escapes() -> None:
    (found,) = read('[{"role": "user", "content": "\\ud83d"}]')
    assert rewrap(found, found.messages, None) == '[{"role": "user", "content": "\\ud83d"}]\n'
