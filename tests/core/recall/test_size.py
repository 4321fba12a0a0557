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
    assert room(setting, budget(window, mark=60_000), used=60_000 - free) == expected


def test_recall_takes_a_small_part_of_what_a_compression_frees() -> None:
    """Passages stay with their question: else each would bring the next compression."""
    small = budget(4_096, mark=2_400, settled=800)
    assert wanted("auto", small) == PART * 1_600 == 200
    assert wanted(700, small) == 700
    assert room("auto", small, used=2_250) == 150
    assert wanted("auto", budget(8_192, mark=4_200, settled=1_000)) == LEAST
    assert wanted("auto", budget(8_192, mark=4_192, settled=1_000)) == LEAST - 1


def test_what_only_tells_something_is_given_less_room_unless_somebody_says_how_much() -> None:
    large = budget(128_000, mark=100_000)
    assert wanted("auto", large, asks=False) == TOLD_PART * MOST
    assert room("auto", large, used=0, asks=False) == TOLD_PART * MOST
    assert wanted(700, large, asks=False) == 700
    assert wanted("off", large) == 0


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
