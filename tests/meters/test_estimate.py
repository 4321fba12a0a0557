from __future__ import annotations

import random

import pytest
from hypothesis import given

from octavo.meters.estimate import characters, estimate
from octavo.meters.tokenizers import load
from tests.meters import texts
from tests.meters.strategies import any_text

KINDS = {
    "prose": lambda rng: " ".join([texts.LANGUAGES["English"]] * rng.randint(1, 3)),
    "code": lambda rng: texts.code(rng, texts.code_lines()),
    "data": texts.data,
    "encoded": texts.encoded,
    "emoji": texts.emoji,
    "languages": texts.sentences,
}
WITHIN = 0.35
"""Of o200k's own count, for each kind by itself."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_text_is_guessed_about_right_by_itself(kind: str) -> None:
    rng = random.Random(4)
    written = [KINDS[kind](rng) for _ in range(40)]
    counted = sum(map(load("o200k").count, written))
    assert abs(sum(map(estimate, written)) / counted - 1) < WITHIN


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_no_language_is_guessed_at_less_than_three_quarters(language: str) -> None:
    text = texts.LANGUAGES[language] * 4
    assert estimate(text) > 0.75 * load("o200k").count(text)


def test_four_characters_a_token_would_miss_what_the_estimate_finds() -> None:
    text = texts.encoded(random.Random(2)) + texts.LANGUAGES["Chinese"]
    counted = load("o200k").count(text)
    assert characters(text) < 0.6 * counted
    assert estimate(text) > 0.75 * counted


def test_long_white_space_and_long_nonsense_are_not_taken_for_one_word() -> None:
    assert estimate(" " * 1_000_000) > 10_000
    assert estimate("a" * 1_000_000) > 100_000


@given(any_text(200))
def test_any_text_has_an_estimate_and_only_none_has_none(text: str) -> None:
    """Planted bug: white space alone was estimated at 0."""
    assert (estimate(text) == 0) == (text == "")
    assert 0 <= estimate(text) <= 3 * len(text.encode("utf-8", "surrogatepass"))
