"""Placeholders under an editor that does not know them."""

from __future__ import annotations

from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.terminal.placeholders import mend, outside, spans
from octavo.core.longtext import Draft, label

PASTE = "x" * 300


def draft(text: str, *numbers: int) -> Draft:
    return Draft(text, MappingProxyType({number: f"{number}{PASTE}" for number in numbers}))


def test_deleting_one_character_of_a_placeholder_deletes_it() -> None:
    before = draft("see [LongText#1] now", 1)
    end = len("see [LongText#1]")
    assert mend(before, "see [LongText#1 now", end - 1) == (draft("see  now"), 4)


def test_the_cursor_tells_which_of_two_equal_characters_was_deleted() -> None:
    before = draft("[LongText#1]]", 1)
    assert mend(before, "[LongText#1]", 12)[0].text == "[LongText#1]"
    assert mend(before, "[LongText#1]", 11)[0].text == "]"


def test_typing_leaves_placeholders_alone() -> None:
    assert mend(draft("[LongText#1]", 1), "a[LongText#1]", 1) == (draft("a[LongText#1]", 1), 1)
    assert mend(draft("[LongText#1]", 1), "[LongText#1]b", 13) == (draft("[LongText#1]b", 1), 13)


def test_a_label_that_stands_for_nothing_is_text() -> None:
    assert mend(draft("[LongText#7]"), "[LongText#7", 11)[0].text == "[LongText#7"
    assert spans(draft("[LongText#7]")) == []


def test_the_cursor_jumps_over_a_placeholder_in_its_direction() -> None:
    made = draft("a[LongText#1]b", 1)
    assert outside(made, 12, 13) == 1
    assert outside(made, 2, 1) == 13
    assert [outside(made, at, 0) for at in (0, 1, 13, 14)] == [0, 1, 13, 14]


texts = st.lists(st.sampled_from(["a", "]", "[", "1", " ", label(1), label(2), label(12)]), max_size=12).map(
    "".join
)


@given(texts, st.integers(0, 200), st.integers(1, 20))
def test_a_deletion_takes_every_placeholder_it_touches(text: str, start: int, length: int) -> None:
    """Seen failing with: the cursor not looked at, so that the wrong `]` was taken for the deleted one."""
    before = draft(text, 1, 2, 12)
    start = start % (len(text) + 1)
    stop = min(len(text), start + length)
    after, cursor = mend(before, text[:start] + text[stop:], start)
    touched = [span for span in spans(before) if span[0] < stop and start < span[1] and start < stop]
    low, high = min([start, *(a for a, _ in touched)]), max([stop, *(b for _, b in touched)])
    assert after.text == text[:low] + text[high:]
    assert cursor == low


@given(texts, st.integers(0, 200), st.text(st.sampled_from("a][#1 LongText"), min_size=1, max_size=14))
def test_typing_breaks_no_placeholder(text: str, at: int, typed: str) -> None:
    """Seen failing with: the common beginning and the common end allowed to overlap."""
    before = draft(text, 1, 2, 12)
    places = [place for place in range(len(text) + 1) if outside(before, place, 0) == place]
    at = places[at % len(places)]
    after, _ = mend(before, text[:at] + typed + text[at:], at + len(typed))
    assert after.text == text[:at] + typed + text[at:]
