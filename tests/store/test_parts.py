"""How a message lies in its row: words once, long texts apart, and all of it put together again."""

from __future__ import annotations

import json

import pytest

from octavo.core.messages import Attachment, Message, Text, ToolCall, ToolResult, Wire, assistant, user
from octavo.errors import StoreError
from octavo.store import parts
from octavo.store.parts import LARGE, ROW, Packed, admit, chunks, pack, unpack


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are long from a few characters on, and so are chunks."""
    for name, size in (("LARGE", 12), ("CHUNK", 10), ("HEAD", 4)):
        monkeypatch.setattr(parts, name, size)


def texts(*said: str) -> Message:
    return Message(role="user", parts=tuple(Text(text=text) for text in said))


@pytest.mark.usefixtures("small")
def test_a_plain_message_has_no_structure_until_it_is_too_long_for_its_row() -> None:
    assert pack(user("x" * 12)) == Packed("x" * 12, None)
    apart = pack(user("x" * 13))
    assert (apart.text, apart.large) == ("", ("x" * 13,))
    assert json.loads(apart.parts or "")["parts"][0]["text"] == {"large": 0, "chars": 13, "head": "xxxx"}
    for said in (user("x" * 12), user("x" * 13), Message(role="user", name="Ann", parts=(Text(text="hi"),))):
        assert unpack(said.role, pack(said)) == said


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ((LARGE, LARGE, ROW - 2 * LARGE - 3), {0, 1, 2}),
        ((LARGE, LARGE, ROW - 2 * LARGE - 3, 0), {0, 1, 2}),
        ((LARGE, LARGE, ROW - 2 * LARGE - 2), {0, 1}),
        ((LARGE, LARGE, ROW - 2 * LARGE - 2, 7), {0, 1, 3}),
        ((LARGE + 1, LARGE, 7), {1, 2}),
    ],
)
def test_a_row_holds_so_many_words_and_what_is_too_much_is_kept_apart(
    sizes: tuple[int, ...], kept: set[int]
) -> None:
    said = [chr(ord("a") + number) * size for number, size in enumerate(sizes)]
    packed = pack(texts(*said))
    assert packed.text == "\n".join(text for number, text in enumerate(said) if number in kept)
    assert packed.large == tuple(text for number, text in enumerate(said) if number not in kept)
    assert unpack("user", packed) == texts(*said)


@pytest.mark.usefixtures("small")
def test_only_what_was_said_is_among_the_words() -> None:
    call = ToolCall(id="c", name="run", input='{"text": "xyz"}', wire=Wire("openai", '{"a":1}'))
    result = ToolResult(call_id="c", content=(Text(text="done"), Text(text="z" * 13)), error=True)
    said = Message(role="assistant", parts=(Text(text="Look."), call, result, Text(text="Ready.")))
    packed = pack(said)
    assert packed.text == "Look.\ndone\nReady."
    assert packed.large == ('{"text": "xyz"}', "z" * 13)
    assert unpack("assistant", packed) == said


@pytest.mark.usefixtures("small")
def test_a_preview_says_how_a_long_text_begins_and_how_much_there_is() -> None:
    file = Attachment(name="n", source="data:" + "x" * 20)
    call = ToolCall(id="c", name="run", input="{}", wire=Wire("openai", '{"a":"' + "x" * 20 + '"}'))
    said = Message(role="user", parts=(Text(text="0123456789abc"), Text(text="short"), file, call))
    shown = unpack("user", pack(said), previews=True)
    assert shown.parts[:2] == (Text(text="0123\n[… 9 more characters are stored]"), Text(text="short"))
    assert shown.attachments == (Attachment(name="n", source=""),)
    assert shown.calls[0].wire == Wire("openai", "{}")


@pytest.mark.usefixtures("small")
def test_a_long_text_that_is_not_as_it_was_stored_is_noticed() -> None:
    packed = pack(texts("x" * 13, "y" * 14))
    for large in ((), ("x" * 13,), ("x" * 13, "y" * 13), ("x" * 12, "y" * 14)):
        with pytest.raises(StoreError, match=r"is not there as it was stored"):
            unpack("user", Packed(packed.text, packed.parts, large))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", [""]),
        ("x" * 10, ["x" * 10]),
        ("x" * 11, ["x" * 10, "x"]),
        ("x" * 20, ["x" * 10, "x" * 10]),
        ("1234567 9 1234567", ["1234567 9 ", "1234567"]),
        ("12345678\n1234 5678", ["12345678\n", "1234 5678"]),
        ("123456 78\n12345678", ["123456 78\n", "12345678"]),
        ("12345678 \n" + "x" * 9, ["12345678 \n", "x" * 9]),
        ("12345 789012345", ["12345 7890", "12345"]),
        ("123456 89012345", ["123456 ", "89012345"]),
        (" " * 11 + "x", [" " * 10, " x"]),
        ("x" * 10 + "1234567 9 1234567", ["x" * 10, "1234567 9 ", "1234567"]),
        ("x" * 10 + "12345 789012345", ["x" * 10, "12345 7890", "12345"]),
    ],
)
def test_a_long_text_is_cut_after_white_space_in_the_second_half_of_a_chunk(
    text: str, pieces: list[str]
) -> None:
    assert chunks(text) == pieces


def test_a_message_without_halves_is_taken_as_it_is() -> None:
    for said in (user("plain"), user("naïve"), texts("a", "é"), assistant("\ud83d alone")):
        assert admit(said) is said
    joined = admit(texts("so", "\ud83d\ude00 \ud83d"))
    assert joined == texts("so", "\U0001f600 \ud83d")
    named = Message(role="user", name="\ud83d\ude00", parts=(Text(text="hi"),))
    assert admit(named).name == "\U0001f600"
