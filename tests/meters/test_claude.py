from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.meters.claude import (
    FAMILIES,
    LONG_WORD,
    REMEMBERED,
    ClaudeCounter,
    load_classes,
    load_table,
    mark_word,
    normalise,
)
from tests.meters.strategies import any_text

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / ".." / "shared" / "data" / "claude_counts.jsonl.gz"
GOLDEN = json.loads(Path(__file__).with_name("claude_golden.json").read_text("utf-8"))
COUNTERS = {name: ClaudeCounter(family) for name, family in FAMILIES.items()}
FRAMES = {"claude-3": 7, "claude-4.7": 11, "claude-4.8": 6, "claude-5": 6}


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded counts are not here")
@pytest.mark.parametrize(
    ("family", "model", "within"),
    [
        ("claude-3", "claude-opus-4-5", 0.0),
        ("claude-4.7", "claude-opus-4-7", 0.0),
        ("claude-5", "claude-opus-5", 0.03),
    ],
)
def test_recorded_answers_of_the_provider_are_reproduced(family: str, model: str, within: float) -> None:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    errors = [
        abs(COUNTERS[family].count(document["text"]) + FRAMES[family] - document["counts"][model])
        / document["counts"][model]
        for document in documents
    ]
    assert len(errors) == 82
    assert max(errors) <= within


@pytest.mark.parametrize(("place", "family"), [(1, "claude-3"), (2, "claude-4.7"), (3, "claude-4.8")])
def test_awkward_texts_count_as_in_the_reconstruction_the_tables_come_from(place: int, family: str) -> None:
    wrong = [row for row in GOLDEN if COUNTERS[family].count(row[0]) != row[place]]
    assert len(GOLDEN) == 600
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=150, deadline=None)
@given(text=any_text(40), again=st.text(max_size=20))
def test_any_text_has_a_count_that_memory_does_not_change(family: str, text: str, again: str) -> None:
    """Planted bug: an entry stored without its edges made the second count of `a!` differ from the first."""
    fresh, used = ClaudeCounter(FAMILIES[family]), COUNTERS[family]
    used.count(f"{again} {text} {again}")
    assert fresh.count(text) == used.count(text) >= 0


@settings(max_examples=300, deadline=None)
@given(
    unit=st.text(st.sampled_from("\ue000\ue001etaionsrh-=.1中é"), min_size=2, max_size=30),
    cut=st.integers(1, 29),
)
def test_a_unit_is_never_dearer_than_its_two_parts(unit: str, cut: int) -> None:
    """Planted bug: pieces that begin where the unit begins were skipped (`size >= end`)."""
    tile = COUNTERS["claude-3"]._tile
    assert tile(unit) <= tile(unit[:cut]) + (tile(unit[cut:]) if unit[cut:] else 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_long_runs_of_one_character_cost_what_their_exact_tiling_does(family: str) -> None:
    counter = COUNTERS[family]
    for character in " \t\n":
        for length in (1, 2, 15, 17, 33, 100, 129, 400, 1_000, 1_537):
            exact = ClaudeCounter(FAMILIES[family])._tile(character * length)
            assert counter._same(character, length) == exact


def test_a_hostile_word_is_cut_without_losing_more_than_a_token_a_block() -> None:
    counter = COUNTERS["claude-3"]
    word = "abcdefghij" * 2_000
    exact = counter._tile(mark_word(word, 4))
    assert abs(counter.count(word) - exact) <= len(word) // LONG_WORD + 1


def test_memory_is_bounded() -> None:
    counter = ClaudeCounter(FAMILIES["claude-4.8"])
    counter._inner.update({str(number): (1, 1, False) for number in range(REMEMBERED)})
    assert counter.count("one two three") > 0
    assert len(counter._inner) < REMEMBERED


def test_what_the_provider_removes_or_folds_costs_nothing_or_the_same() -> None:
    count = COUNTERS["claude-3"].count
    assert count("ab\x07c") == count("abc")
    assert count("ab\ue000c") == count("abc")
    assert count("a\u00a0b") == count("a b")
    assert count("don\u2019t") == count("don't")
    assert count("e\u0301t\u00e9") == count("\u00e9t\u00e9")
    assert normalise("\ud800x", fold_quotes=False) == "\ufffdx"


def test_the_newest_family_does_not_charge_for_white_space_at_the_end() -> None:
    text = "some words"
    assert COUNTERS["claude-5"].count(text + " \n\t  ") == COUNTERS["claude-5"].count(text)
    assert COUNTERS["claude-4.8"].count(text + " \n\t  ") > COUNTERS["claude-4.8"].count(text)


def test_the_tables_hold_what_the_counter_assumes() -> None:
    assert len(load_classes()) == 0x10000
    for family in ("claude-3", "claude-4.7"):
        table = load_table(family)
        assert len(table.pieces) > 14_000
        assert all(piece[-2:] in table.endings for piece in table.pieces if len(piece) > 1)
    folder = ROOT / "src" / "octavo" / "meters" / "data"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 200_000
