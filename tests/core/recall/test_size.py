"""How much room recall gets: a small share of the window, and never more than is free."""

from __future__ import annotations

import pytest

from octavo.core.budget import Budget, Overhead
from octavo.core.recall.size import (
    FIRST,
    FIRST_SHARE,
    LEAST,
    MOST,
    PART,
    SPARE,
    TOGETHER,
    TOLD_PART,
    Recall,
    part_of,
    recall_setting,
    room,
    wanted,
)
from octavo.errors import BadInput


def budget(window: int, *, mark: int, settled: int = 20_000) -> Budget:
    """Give a window in which a compression leaves so many tokens at most."""
    return Budget(
        window=window,
        reply=0,
        margin=0,
        overhead=Overhead(),
        snapshot=settled,
        retained=0,
        prepare=None,
        soft=mark,
        hard=mark,
    )


@pytest.mark.parametrize(
    ("setting", "window", "free", "expected"),
    [
        ("auto", 8_000, 50_000, LEAST),
        ("auto", 50_000, 50_000, 1_000),
        ("auto", 1_000_000, 50_000, MOST),
        ("auto", 50_000, 300, 300),
        ("auto", 50_000, 0, 0),
        ("auto", 50_000, -10, 0),
        ("off", 50_000, 50_000, 0),
        (700, 50_000, 50_000, 700),
        (700, 50_000, 500, 500),
    ],
)
def test_recall_takes_a_share_of_the_window_from_free_room_only(
    setting: Recall, window: int, free: int, expected: int
) -> None:
    """Case 119."""
    used = 60_000 - free
    assert room(setting, budget(window, mark=60_000), used=used, said=50_000, recalled=0) == expected


def test_a_question_takes_a_small_part_of_what_a_compression_frees() -> None:
    """Where prices move the mark down, each question would bring a compression otherwise."""
    assert wanted("auto", budget(128_000, mark=30_000, settled=24_000)) == PART * 6_000 == 750
    assert wanted("auto", budget(128_000, mark=27_200, settled=24_000)) == PART * 3_200 == LEAST
    assert wanted("auto", budget(4_096, mark=2_400, settled=800)) == LEAST
    assert wanted(700, budget(4_096, mark=2_400, settled=800)) == 700
    assert wanted("off", budget(128_000, mark=30_000)) == 0


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        (900, 375),  # a fourth of the 1,500 that are free
        (800, 400),  # and the least at most
        (2_000, 200),  # an eighth of what a compression frees, at any time
        (2_250, 150),  # and never more than there is
        (2_400, 0),
    ],
)
def test_in_a_small_window_a_question_takes_what_is_free_just_now_or_its_part(
    used: int, expected: int
) -> None:
    small = budget(4_096, mark=2_400, settled=800)
    assert (PART * 1_600, SPARE) == (200, 1 / 4)
    assert room("auto", small, used=used, said=700, recalled=0) == expected
    assert room(700, small, used=used, said=700, recalled=0) == min(700, 2_400 - used)


@pytest.mark.parametrize(
    ("used", "said", "recalled", "expected"),
    [
        (900, 700, 0, 187),  # half of what a question would take
        (1_200, 700, 300, 75),  # a fourth of the 1,500 that passages leave free, but for what there is
        (1_275, 700, 375, 0),
        (1_300, 700, 400, 0),
        (2_000, 1_800, 400, 50),  # a fourth of what is said, when that is more
    ],
)
def test_what_asks_nothing_recalls_while_all_passages_together_take_little(
    used: int, said: int, recalled: int, expected: int
) -> None:
    """Most messages of a chat between people ask nothing, and passages stay with their messages."""
    small = budget(4_096, mark=2_400, settled=800)
    assert TOGETHER == 1 / 4
    assert room("auto", small, used=used, said=said, recalled=recalled, asks=False) == expected


@pytest.mark.parametrize(("setting", "expected"), [("auto", TOLD_PART * MOST), (700, 700), ("off", 0)])
def test_what_only_tells_something_is_given_less_room_unless_somebody_says_how_much(
    setting: Recall, expected: int
) -> None:
    large = budget(128_000, mark=100_000)
    assert room(setting, large, used=30_000, said=30_000, recalled=0, asks=False) == expected


@pytest.mark.parametrize(
    ("value", "setting"),
    [("off", "off"), ("auto", "auto"), (0, "off"), (700, 700), (True, "auto"), (False, "off")],
)
def test_the_setting_is_off_auto_or_a_number_of_tokens(value: object, setting: Recall) -> None:
    assert recall_setting(value) == setting


@pytest.mark.parametrize("value", ["on", -1, 1.5, None, "700"])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(BadInput, match=r"recall.*off.*auto"):
        recall_setting(value)


def test_of_a_small_budget_a_larger_share_is_for_passages() -> None:
    budgets = [0, 100, FIRST, 2 * FIRST, 5 * FIRST, 100 * FIRST]
    parts = [part_of(budget) for budget in budgets]
    assert parts == sorted(parts)
    shares = [part / budget for part, budget in zip(parts[2:], budgets[2:], strict=True)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == FIRST_SHARE
    assert parts[-1] == MOST
