"""Cases 1-2, 9, 12, 74, 100, 104: dividing a window."""

from __future__ import annotations

import math

import pytest

from octavo.core.budget import (
    MIN_AVAILABLE,
    Base,
    Budget,
    Marks,
    ModelCard,
    Overhead,
    Reading,
    divide,
    fraction,
    tightest,
)
from octavo.core.policy import PRESETS, budget_for
from octavo.errors import BadBudget, BadInput

WINDOWS = (8_192, 16_384, 32_000, 128_000, 200_000, 1_000_000, 2_000_000)


def card(window: int = 100_000, max_output: int = 10_000) -> ModelCard:
    return ModelCard(name="m", window=window, max_output=max_output)


def test_available_is_the_window_less_reply_overhead_and_margin() -> None:
    budget = divide(card(), overhead=Overhead(system=1_000, tools=2_000, files=300, pins=700))
    assert budget.available == 100_000 - 10_000 - 4_000 - 5_000
    assert budget.limit == budget.available + 4_000
    assert (budget.prepare, budget.soft, budget.hard) == (4_000 + 52_650, 4_000 + 64_800, 4_000 + 76_950)


def test_the_terms_of_a_budget_add_up() -> None:
    terms = divide(card(), overhead=Overhead(system=1_000, tools=2_000)).terms
    parts = ("reply", "margin", "system", "tools", "files", "pins", "available")
    assert terms["window"] == sum(terms[name] for name in parts)


@pytest.mark.parametrize("policy", PRESETS.values(), ids=list(PRESETS))
@pytest.mark.parametrize("window", WINDOWS)
def test_every_usual_window_works_with_every_preset(window: int, policy: object) -> None:
    """Case 104; a model that claims to write as much as it reads must not eat its own window."""
    for max_output in (4_096, window):
        budget = budget_for(PRESETS[policy.name], card(window, max_output))  # type: ignore[attr-defined]
        assert min(budget.terms.values()) >= 0
        assert budget.settled < budget.trigger <= budget.hard <= budget.limit < window


@pytest.mark.parametrize("reserved", [90_000, 100_000, 200_000])
def test_overhead_that_fills_the_window_is_refused_with_the_sums(reserved: int) -> None:
    """Cases 2 and 100: no division, no negative budget, no loop; the breakdown says what takes the room."""
    with pytest.raises(BadBudget, match=r"Only 0 tokens are left.*Shorten the system prompt") as refused:
        divide(card(), overhead=Overhead(system=reserved - 1_000, tools=1_000))
    assert refused.value.terms["system"] == reserved - 1_000
    assert refused.value.terms["window"] == 100_000


def whole(available: int, **parts: int | None) -> Budget:
    """A budget without reserves, of which so much is left for the conversation."""
    given = {"snapshot": 0, "retained": 0, "prepare": None, "soft": None, "hard": available, **parts}
    return Budget(window=available, reply=0, margin=0, overhead=Overhead(), **given)  # type: ignore[arg-type]


def test_the_least_that_must_be_left_is_enough() -> None:
    """Seen failing with: one token more demanded."""
    assert whole(MIN_AVAILABLE).available == MIN_AVAILABLE
    with pytest.raises(BadBudget, match=f"Only {MIN_AVAILABLE - 1} tokens are left"):
        whole(MIN_AVAILABLE - 1)


def test_what_a_compression_leaves_must_lie_below_the_mark() -> None:
    assert whole(1_000, soft=500, snapshot=200, retained=299).settled == 499
    with pytest.raises(BadBudget, match="would leave 500 tokens, not under the mark of 500"):
        whole(1_000, soft=500, snapshot=200, retained=300)


def test_without_a_soft_mark_the_hard_one_starts_compressions() -> None:
    """What is retained is a share of the history at that mark, then; seen failing with: none at all."""
    reserves = Overhead(system=1_000)
    budget = divide(card(), marks=Marks(prepare=None, soft=None), overhead=reserves, retained=0.25)
    assert budget.soft is None
    assert budget.trigger == budget.hard == budget.terms["mark"]
    assert budget.retained == math.floor((budget.hard - reserves.total) * 0.25)
    both = divide(card(), overhead=reserves, retained=0.25)
    assert both.soft is not None
    assert both.trigger == both.soft
    assert both.retained == math.floor((both.soft - reserves.total) * 0.25)


@pytest.mark.parametrize("base", ["history", "input", "window"])
def test_without_a_hard_mark_all_that_may_be_sent_is_one(base: Base) -> None:
    """Seen failing with: the whole window, of which the reply takes a part."""
    budget = divide(card(), marks=Marks(base=base, prepare=None, soft=0.5, hard=None))
    assert budget.hard == budget.limit < budget.window


def test_a_budget_that_would_compress_for_ever_is_refused_with_the_sums() -> None:
    with pytest.raises(BadBudget, match="would leave 77,000 tokens, not under the mark of 68,000") as refused:
        divide(card(), retained=60_000)
    assert refused.value.terms["retained"] == 60_000
    assert refused.value.terms["mark"] == 68_000


def test_an_explicit_reply_reserve_wins_over_the_cap() -> None:
    assert divide(card(max_output=90_000)).reply == 25_000
    assert divide(card(window=1_000_000, max_output=64_000)).reply == 32_000
    assert divide(card(window=1_000_000, max_output=64_000), reply=64_000).reply == 64_000


@pytest.mark.parametrize("ratio", [0, 1, -0.5, 1.5, math.nan, math.inf, "0.8", None, True])
def test_a_ratio_outside_0_and_1_is_rejected(ratio: object) -> None:
    with pytest.raises(BadInput, match="soft: expected a number between 0 and 1"):
        fraction(ratio, "soft")


@pytest.mark.parametrize("ratio", [0, 1.001, -1, math.nan, "high", True])
@pytest.mark.parametrize("name", ["prepare", "soft", "hard"])
def test_marks_reject_such_ratios(name: str, ratio: object) -> None:
    with pytest.raises(BadInput, match=name):
        Marks(**{name: ratio})  # type: ignore[arg-type]


def test_a_mark_of_one_is_off_and_rises_above_nothing() -> None:
    assert Marks(prepare=1.0, soft=1, hard=0.9) == Marks(prepare=None, soft=None, hard=0.9)
    assert divide(card(), marks=Marks(soft=1.0)).trigger == divide(card()).hard


def test_marks_must_rise() -> None:
    with pytest.raises(BadInput, match=r"soft: 0.97 lies above hard 0.95"):
        Marks(soft=0.97)


@pytest.mark.parametrize(("base", "soft", "hard"), [("input", 42_500, 76_500), ("window", 50_000, 85_000)])
def test_marks_of_the_input_and_the_window_leave_the_overhead_out(base: Base, soft: int, hard: int) -> None:
    marks = Marks(base=base, prepare=None, soft=0.5, hard=0.9)
    budget = divide(card(), marks=marks, overhead=Overhead(system=1_000))
    assert (budget.limit, budget.soft, budget.hard) == (85_000, soft, hard)


def test_remaining_tokens_are_never_negative() -> None:
    """Case 74."""
    budget = divide(card())
    assert budget.left(10**9) == 0
    assert budget.left(budget.limit - 7) == 7
    assert budget.left(budget.hard - 1, budget.hard) == 1
    assert budget.used(0) == 0.0
    assert budget.used(budget.available) == 1.0


def test_the_smallest_window_decides_when_several_models_answer() -> None:
    """Case 9."""
    budgets = [divide(card(window)) for window in (200_000, 32_000, 128_000)]
    assert tightest(budgets).window == 32_000


def test_a_reading_is_cautious_by_its_error_bound() -> None:
    assert Reading(tokens=1_000, basis="estimated", error_bound=150).cautious == 1_150


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (Reading(tokens=9), "exact"),
        (Reading(tokens=9_000, error_bound=1_286), "counted ±1,286"),
        (Reading(tokens=9, basis="calibrated", error_bound=2), "calibrated ±2"),
        (Reading(tokens=9, basis="estimated", error_bound=2), "estimated ±2"),
    ],
)
def test_what_has_a_bound_is_not_called_exact(reading: Reading, words: str) -> None:
    assert reading.certainty == words
