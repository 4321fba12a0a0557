"""Cache markers, taken off and put on."""

from __future__ import annotations

import pytest

from octavo.core.json_values import Json
from octavo.core.messages import Message, Reasoning, Text, user
from octavo.core.wire import read, write
from octavo.core.wire.cache_markers import (
    MARKER,
    count_markers,
    marker_of,
    newest_marker,
    with_marker,
    without_markers,
)

MARK: Json = {"type": "ephemeral", "ttl": "1h"}
BLOCKS: list[Json] = [
    {"type": "text", "text": "Hello", MARKER: MARK},
    {"type": "text", "text": "you", "citations": [], MARKER: MARK},
    {"type": "search_result", "title": "A page", MARKER: MARK},
    {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}, MARKER: MARK},
]
RESULT: Json = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "content": [{"type": "text", "text": "wet", MARKER: MARK}, {"type": "text", "text": "and cold"}],
}


def message(*blocks: Json) -> Message:
    (found,) = read("anthropic", [{"role": "user", "content": [*blocks]}])
    return found


def without(value: Json) -> Json:
    match value:
        case dict():
            return {key: without(inner) for key, inner in value.items() if key != MARKER}
        case list():
            return [without(inner) for inner in value]
        case _:
            return value


@pytest.mark.parametrize("blocks", [BLOCKS, [RESULT], [{**RESULT, MARKER: MARK}]])  # type: ignore[dict-item]
def test_markers_come_off_and_nothing_else_does(blocks: list[Json]) -> None:
    bare = without_markers(message(*blocks))
    assert bare == message(*(without(block) for block in blocks))
    assert without_markers(bare) is bare
    assert count_markers({"messages": [*write("anthropic", [bare]).messages]}) == 0


def test_a_part_tells_its_marker() -> None:
    assert [marker_of(part) for part in message(*BLOCKS).parts] == [MARK] * 4
    assert marker_of(Text(text="x")) is None
    assert marker_of(message(RESULT).parts[0]) is None
    assert newest_marker([message(*BLOCKS), user("Next?")]) == MARK
    assert newest_marker([user("Next?")]) is None
    quoting = message({"type": "text", "text": "x", "note": MARKER}).parts[0]
    assert marker_of(quoting) is None


def test_a_marker_goes_onto_the_last_block_that_can_carry_one() -> None:
    thinking = read(
        "anthropic",
        [
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
        ],
    )
    marked = with_marker([*thinking, Message(role="user", parts=(Text(text=""),))], MARK)
    assert marked[1:] == (*thinking[1:], Message(role="user", parts=(Text(text=""),)))
    assert write("anthropic", marked[:1]).messages == [
        {"role": "user", "content": [{"type": "text", "text": "One?", MARKER: MARK}]}
    ]
    assert with_marker([thinking[1]], MARK) == (thinking[1],)
    assert isinstance(thinking[1].parts[0], Reasoning)


@pytest.mark.parametrize("carries", [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 2)])
def test_wherever_the_last_full_block_stands_it_gets_the_marker(carries: tuple[int, int]) -> None:
    empty = (Text(text=""), Text(text=""), Text(text=""))
    said = [Message(role="user", parts=empty) for _ in range(3)]
    at, spot = carries
    parts = (*empty[:spot], Text(text="Here."), *empty[spot + 1 :])
    said[at] = Message(role="user", parts=parts)
    marked = with_marker(said, MARK)
    found = [(i, j) for i, one in enumerate(marked) for j, part in enumerate(one.parts) if marker_of(part)]
    assert found == [carries]
    assert [one.text for one in marked] == [one.text for one in said]


@pytest.mark.parametrize("block", [*(without(block) for block in BLOCKS), RESULT])
def test_what_is_marked_is_written_with_its_marker(block: Json) -> None:
    (marked,) = with_marker([message(block)], MARK)
    assert isinstance(block, dict)
    assert write("anthropic", [marked]).messages == [{"role": "user", "content": [{**block, MARKER: MARK}]}]


def test_markers_are_counted_wherever_they_stand() -> None:
    body: Json = {MARKER: MARK, "system": [{"type": "text", "text": MARKER, MARKER: MARK}], "n": [1, None]}
    assert count_markers(body) == 2
