"""Text in pieces, cut anywhere, is the text again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.wire.split_characters import TextPieces, whole_characters

TEXT = st.text(st.sampled_from("a é\n🙂𝕏👩‍🚀�") | st.characters(exclude_categories=["Cs"]), max_size=20)


def halves(text: str) -> str:
    """Spell a text as a program does that counts in UTF-16: astral characters as two halves."""
    units = text.encode("utf-16-le")
    return "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))


@given(TEXT, st.lists(st.integers(0, 40), max_size=6))
def test_pieces_cut_anywhere_join_to_the_text(text: str, cuts: list[int]) -> None:
    """Planted: a seam that held nothing back; this failed on an emoji cut in two."""
    spelled = halves(text)
    edges = [0, *sorted(min(cut, len(spelled)) for cut in cuts), len(spelled)]
    seam = TextPieces()
    shown = [seam.join(spelled[start:stop]) for start, stop in pairwise(edges)]
    assert "".join(shown) == text
    assert seam.held == ""
    assert all(piece.encode() or piece == "" for piece in shown)


@given(st.text(st.characters(categories=["Cs", "L"]), max_size=10))
def test_what_is_mended_can_always_be_encoded(text: str) -> None:
    """Planted: lone halves left as they are; this failed on a single one."""
    assert whole_characters(text).encode() or text == ""


def test_a_half_that_stays_alone_is_replaced() -> None:
    seam = TextPieces()
    assert seam.join("a\ud83d") == "a"
    assert seam.join("b") == "\ufffdb"
    assert whole_characters("\ude42") == "\ufffd"


@pytest.mark.parametrize("character", ["\U00010000", "\U0010ffff"])
def test_the_first_and_the_last_character_that_have_two_halves_are_joined(character: str) -> None:
    seam = TextPieces()
    first, second = list(halves(character))
    assert (seam.join(first), seam.join(second)) == ("", character)
    assert (seam.join("\ud7ff"), seam.join(second)) == ("\ud7ff", "\ufffd")
