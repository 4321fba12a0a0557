"""Words have the same stem in both texts, and windows hold what stands together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octavo.evals.measure.words import WordIndex, content_words, stem, words


def test_forms_of_a_word_have_one_stem() -> None:
    assert {stem(word) for word in ("painting", "painted", "paints", "paint")} == {"paint"}
    assert {stem(word) for word in ("story", "stories")} == {"story"}
    assert {stem(word) for word in ("classes", "class")} == {"class"}
    assert {stem(word) for word in ("house", "houses")} == {"hous"}


def test_short_words_and_numbers_stay_as_they_are() -> None:
    assert [stem(word) for word in ("was", "is", "12345", "ring")] == ["was", "is", "12345", "ring"]


def test_number_words_are_digits() -> None:
    assert words("Twelve of the three, at 3.5") == ["12", "of", "the", "3", "at", "3.5"]


def test_function_words_of_any_language_say_nothing() -> None:
    assert content_words("It is the dog's house, and the dog is für immer") == ["dog", "hous", "dog", "immer"]


def test_scripts_without_spaces_become_pairs() -> None:
    assert words("会议室是 4821") == ["会议", "议室", "室是", "4821"]
    assert words("水") == ["水"]


def test_words_stand_together_only_within_the_window() -> None:
    index = WordIndex("red " + "and " * 30 + "blue " + "and " * 60 + "green")
    weights = {"red": 1.0, "blue": 1.0, "green": 3.0}
    assert index.together(weights, 50) == {"green"}
    assert index.together({"red": 1.0, "blue": 1.0}, 50) == {"red", "blue"}
    assert index.together({"red": 1.0, "blue": 1.0}, 30) == {"red"}


def test_an_anchor_must_stand_in_the_same_window() -> None:
    index = WordIndex("blue " + "and " * 60 + "blue sofa")
    assert index.together({"blue": 1.0}, 50, {"sofa"}) == {"blue"}
    assert index.together({"blue": 1.0}, 50, {"chair"}) == frozenset()
    assert WordIndex("blue " + "and " * 60 + "sofa").together({"blue": 1.0}, 50, {"sofa"}) == frozenset()


def test_nothing_stands_in_an_empty_text() -> None:
    assert WordIndex("").together({"blue": 1.0}) == frozenset()


ALPHABET = st.sampled_from(["red", "blue", "green", "sofa", "and"])


@given(st.lists(ALPHABET, max_size=60), st.integers(0, 20), st.booleans())
def test_the_best_window_is_the_one_that_looking_at_all_of_them_finds(
    said: list[str], width: int, anchored: bool
) -> None:
    """Planted bug that this found: a word that left the window twice took its weight away twice."""
    weights = {"red": 1.0, "blue": 2.0, "green": 4.0}
    anchors = {"sofa"} if anchored else set[str]()
    best = 0.0
    for start in range(len(said)):
        window = said[start : start + width + 1]
        if not anchors or "sofa" in window:
            best = max(best, sum(weights[word] for word in set(window) & set(weights)))
    found = WordIndex(" ".join(said)).together(weights, width, anchors)
    assert sum(weights[word] for word in found) == best
