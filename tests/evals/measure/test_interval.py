"""Intervals: steady from run to run, as wide as the data is scattered, and paired where items are the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.evals.measure.interval import Measurement, compare, interval, pooled


def values(numbers: list[float], groups: int = 1) -> list[Measurement]:
    return [Measurement(f"talk {n % groups}", str(n), number) for n, number in enumerate(numbers)]


def test_nothing_has_no_interval() -> None:
    assert interval([]) is None
    assert compare(values([1.0]), []) is None


def test_equal_values_leave_no_doubt() -> None:
    found = interval(values([0.25] * 30))
    assert found is not None
    assert (found.mean, found.low, found.high, found.count) == (0.25, 0.25, 0.25, 30)


def test_a_half_of_100_is_known_to_about_ten_points() -> None:
    found = interval(values([0.0, 1.0] * 50))
    assert found is not None
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.402, abs=0.03)
    assert found.high == pytest.approx(0.598, abs=0.03)


def test_it_is_the_same_in_every_run() -> None:
    assert interval(values([0.0, 0.3, 1.0] * 9)) == interval(values([0.0, 0.3, 1.0] * 9))


def test_values_of_one_conversation_count_as_alike() -> None:
    """100 values from 10 conversations that agree in themselves are worth 10 values, not 100."""
    alike = [Measurement(f"talk {n % 10}", str(n), float(n % 10 < 5)) for n in range(100)]
    few, many = interval(alike), interval(values([0.0, 1.0] * 50))
    assert few is not None
    assert many is not None
    assert few.high - few.low > 2 * (many.high - many.low)


def test_few_conversations_are_drawn_value_by_value() -> None:
    assert interval(values([0.0, 1.0] * 50, groups=2)) == interval(values([0.0, 1.0] * 50))


def test_every_set_counts_alike_however_large() -> None:
    assert pooled([values([1.0]), values([0.0] * 99)]).mean == 0.5


def test_a_comparison_goes_item_by_item() -> None:
    hard = [0.1, 0.9, 0.2, 0.8] * 10
    found = compare(values([number + 0.05 for number in hard]), values(hard))
    assert found is not None
    assert found.difference.mean == pytest.approx(0.05)
    assert found.sure
    assert (found.better, found.worse) == (40, 0)
    same = compare(values(hard), values(hard))
    assert same is not None
    assert not same.sure


def test_items_that_only_one_has_are_left_out() -> None:
    found = compare(values([1.0, 1.0, 1.0]), values([0.0]))
    assert found is not None
    assert found.difference.count == 1


@settings(max_examples=20)
@given(st.lists(st.floats(0.1, 1), min_size=12, max_size=30), st.sampled_from([1, 8]))
def test_an_interval_lies_within_the_values(numbers: list[float], groups: int) -> None:
    """Planted bug that this found: a draw was divided by the number of its conversations, not of its values."""
    found = interval(values(numbers, groups))
    assert found is not None
    assert min(numbers) - 1e-9 <= found.low <= found.high <= max(numbers) + 1e-9
