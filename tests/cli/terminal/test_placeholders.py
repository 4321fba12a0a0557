"""Long pastes (cases 86-92), and their placeholders under an editor that does not know them."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.terminal.placeholders import InputDraft, delete, insert, label, mend, outside, paste, spans

PASTE = "x" * 300


def draft(text: str, *numbers: int) -> InputDraft:
    return InputDraft(text, MappingProxyType({number: f"{number}{PASTE}" for number in numbers}))


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


LONG = "x" * 201


def pasted(*texts: str) -> InputDraft:
    draft = InputDraft()
    for text in texts:
        draft, _ = paste(draft, len(draft.text), text)
    return draft


def test_200_characters_stay_inline_and_201_become_a_placeholder() -> None:
    assert pasted("x" * 200).text == "x" * 200
    assert pasted(LONG).text == "[LongText#1]"
    assert pasted(LONG).expanded == LONG


def test_several_pastes_get_their_own_labels() -> None:
    draft = pasted(LONG, "y" * 300)
    assert draft.text == "[LongText#1][LongText#2]"
    assert draft.expanded == LONG + "y" * 300


@pytest.mark.parametrize(
    "text",
    ["$& $1 $$ " * 40, r"\1 \g<0> \n " * 40, "{0} {name} " * 40, "[LongText#2] " * 40, "[LongText#1] " * 40],
    ids=["dollar", "backslash", "braces", "another label", "its own label"],
)
def test_a_text_with_replacement_syntax_or_labels_comes_back_exactly(text: str) -> None:
    assert pasted(text, LONG).expanded == text + LONG


def test_the_same_label_twice_expands_twice_and_an_unknown_or_typed_one_stays() -> None:
    draft = pasted(LONG)
    twice, _ = insert(draft, len(draft.text), " [LongText#1] [LongText#7] [LongText#]")
    assert twice.expanded == f"{LONG} {LONG} [LongText#7] [LongText#]"


def test_a_label_typed_by_hand_is_never_given_to_a_paste() -> None:
    draft, at = insert(InputDraft(), 0, "see [LongText#1]: ")
    draft, _ = paste(draft, at, LONG)
    assert draft.text == "see [LongText#1]: [LongText#2]"
    assert draft.expanded == f"see [LongText#1]: {LONG}"


def test_deleting_a_stretch_that_cuts_placeholders_takes_them_whole() -> None:
    draft = pasted(LONG, "y" * 300)
    draft, _ = insert(draft, 12, " and ")
    assert delete(draft, 5, 20)[0] == InputDraft("")
    assert delete(draft, 20, 5)[0] == InputDraft("")
    kept, at = delete(draft, 12, 17)
    assert (kept.text, at, kept.expanded) == ("[LongText#1][LongText#2]", 12, LONG + "y" * 300)


def test_typing_inside_a_placeholder_goes_behind_it() -> None:
    assert insert(pasted(LONG), 4, "!")[0].text == "[LongText#1]!"


@given(st.lists(st.text(min_size=201, max_size=300), min_size=1, max_size=4), st.text(max_size=20))
def test_any_pasted_text_is_sent_exactly(texts: list[str], typed: str) -> None:
    """Case 92 (CRLF, zero-width and combining characters among them).

    Seen failing when `expanded` replaced labels one after another instead of in one pass.
    """
    draft, _ = insert(pasted(*texts), 0, typed.replace("[", "("))
    assert draft.expanded == typed.replace("[", "(") + "".join(texts)


def test_labels_look_as_they_are_written() -> None:
    assert label(12) == "[LongText#12]"
