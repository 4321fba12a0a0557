"""How sure a mean is, and whether two compressors differ: bootstrap intervals, the same in every run.

Values that come from one conversation are drawn together as long as there are enough conversations, since they are
alike; with fewer, values are drawn one by one. Two compressors are compared on the same items, pair by pair, which
takes the difficulty of the items out of the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DRAWS = 1_000
"""Samples drawn: the ends of a 95 % interval are steady to about a tenth of its width."""
LOW, HIGH = 0.025, 0.975
FEWEST_GROUPS = 8
"""Conversations below which their number, not their difference, would decide the interval."""
_MULTIPLIER, _STEP, _WORD = 6364136223846793005, 1442695040888963407, 1 << 64
"""Knuth's generator for 64 bits: pure, and good enough to draw samples with."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured value: of which conversation, about which item in it."""

    group: str
    item: str
    number: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and the range in which 95 of 100 repetitions would find it."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much higher one compressor's values are than another's, on the same items."""

    difference: Interval
    better: int
    worse: int

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out "no difference"."""
        return self.difference.low > 0 or self.difference.high < 0


def interval(values: Sequence[Measurement]) -> Interval | None:
    """Give the mean of values and its interval; None for none."""
    return pooled([values]) if values else None


def pooled(sets: Sequence[Sequence[Measurement]]) -> Interval:
    """Give the mean of the means of several sets, and its interval; every set counts alike."""
    sums = [_sums(values) for values in sets]
    draws = [0.0] * DRAWS
    for number, groups in enumerate(sums):
        for draw, mean in enumerate(_means(groups, seed=number)):
            draws[draw] += mean / len(sums)
    draws.sort()
    mean = sum(_mean(groups) for groups in sums) / len(sums)
    count = sum(len(values) for values in sets)
    return Interval(mean, draws[int(LOW * DRAWS)], draws[int(HIGH * DRAWS) - 1], count)


def compare(ours: Sequence[Measurement], theirs: Sequence[Measurement]) -> Comparison | None:
    """Compare values of the same items; None if there are none in common."""
    other = {(value.group, value.item): value.number for value in theirs}
    pairs = [
        Measurement(value.group, value.item, value.number - other[value.group, value.item])
        for value in ours
        if (value.group, value.item) in other
    ]
    found = interval(pairs)
    if found is None:
        return None
    better = sum(pair.number > 0 for pair in pairs)
    return Comparison(found, better, sum(pair.number < 0 for pair in pairs))


_Groups = Sequence[tuple[float, int]]


def _sums(values: Sequence[Measurement]) -> _Groups:
    """Add values up by what is drawn together."""
    groups: dict[str, list[float]] = {}
    for value in values:
        groups.setdefault(value.group, []).append(value.number)
    if len(groups) < FEWEST_GROUPS:
        return [(value.number, 1) for value in values]
    return [(sum(numbers), len(numbers)) for numbers in groups.values()]


def _mean(groups: _Groups) -> float:
    return sum(total for total, _ in groups) / sum(count for _, count in groups)


def _means(groups: _Groups, *, seed: int) -> Iterator[float]:
    state = seed + 1
    for _ in range(DRAWS):
        drawn: list[tuple[float, int]] = []
        for _ in groups:
            state = (state * _MULTIPLIER + _STEP) % _WORD
            drawn.append(groups[(state >> 33) % len(groups)])
        yield _mean(drawn)
