"""Cases 86-92: long pastes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.longtext import Draft, adopt, backspace, delete, insert, label, paste, recall

LONG = "x" * 201


def pasted(*texts: str) -> Draft:
    draft = Draft()
    for text in texts:
        draft, _ = paste(draft, len(draft.text), text)
    return draft


def test_200_characters_stay_inline_and_201_are_folded() -> None:
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
    draft, at = insert(Draft(), 0, "see [LongText#1]: ")
    draft, _ = paste(draft, at, LONG)
    assert draft.text == "see [LongText#1]: [LongText#2]"
    assert draft.expanded == f"see [LongText#1]: {LONG}"


def test_recall_after_a_restart_then_a_paste_does_not_collide() -> None:
    """Case 89: the recalled entry brings label 1, a fresh paste must not take it."""
    draft = recall(pasted(LONG), Draft())
    draft, _ = paste(draft, len(draft.text), "new" * 100)
    assert draft.expanded == LONG + "new" * 100


def test_recall_beside_a_current_draft_renumbers_what_clashes() -> None:
    entry, current = pasted("old" * 100, "two" * 100), pasted("cur" * 100)
    back = recall(entry, current)
    assert back.text == "[LongText#3][LongText#2]"
    assert back.expanded == entry.expanded
    assert not set(back.pastes) & set(current.pastes)
    assert recall(Draft("[LongText#9] typed", entry.pastes), Draft()).text == "[LongText#9] typed"


@pytest.mark.parametrize("at", [3, 8, 14])
def test_backspace_anywhere_at_a_placeholder_deletes_it_as_a_unit(at: int) -> None:
    draft, _ = insert(pasted(LONG), 0, "a ")
    draft, _ = insert(draft, len(draft.text), " b")
    assert backspace(draft, at) == (Draft("a  b"), 2)
    assert backspace(draft, at)[0].pastes == {}


def test_backspace_elsewhere_deletes_one_character_and_at_the_start_nothing() -> None:
    draft, _ = insert(pasted(LONG), 12, "ab")
    assert backspace(draft, 14)[0].text == "[LongText#1]a"
    assert backspace(draft, 0) == (draft, 0)


def test_deleting_a_stretch_that_cuts_placeholders_takes_them_whole() -> None:
    draft = pasted(LONG, "y" * 300)
    draft, _ = insert(draft, 12, " and ")
    assert delete(draft, 5, 20)[0] == Draft("")
    assert delete(draft, 20, 5)[0] == Draft("")
    kept, at = delete(draft, 12, 17)
    assert (kept.text, at, kept.expanded) == ("[LongText#1][LongText#2]", 12, LONG + "y" * 300)


def test_typing_inside_a_placeholder_goes_behind_it() -> None:
    assert insert(pasted(LONG), 4, "!")[0].text == "[LongText#1]!"


@pytest.mark.parametrize("fragment", ["[LongText#1", "[LongText#", "LongText#1]", "#1]"])
def test_a_fragment_left_by_another_editor_brings_its_text_back(fragment: str) -> None:
    assert adopt(pasted(LONG), f"see {fragment} ok").expanded == f"see {LONG} ok"


def test_a_fragment_of_number_1_is_not_looked_for_in_number_12() -> None:
    draft = Draft("[LongText#1][LongText#12]", {1: LONG, 12: "y" * 300})
    assert adopt(draft, "[LongText#12]").expanded == "y" * 300


def test_a_placeholder_removed_on_purpose_is_forgotten() -> None:
    assert adopt(pasted(LONG), "never mind") == Draft("never mind")
    assert adopt(pasted(LONG), "[LongText#1] stays").expanded == LONG + " stays"


@given(st.lists(st.text(min_size=201, max_size=300), min_size=1, max_size=4), st.text(max_size=20))
def test_any_pasted_text_is_sent_exactly(texts: list[str], typed: str) -> None:
    """Case 92 (CRLF, zero-width and combining characters among them).

    Seen failing when `expanded` replaced labels one after another instead of in one pass.
    """
    draft, _ = insert(pasted(*texts), 0, typed.replace("[", "("))
    assert draft.expanded == typed.replace("[", "(") + "".join(texts)


def test_labels_look_as_they_are_written() -> None:
    assert label(12) == "[LongText#12]"
