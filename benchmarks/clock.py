"""Time, as it is measured here: processor time where the work is ours, so that a busy machine does not show."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def best_cpu(work: Callable[[], object], repeats: int = 5) -> float:
    """Give the least of several runs, in milliseconds of processor time."""
    return min(cpu(work) for _ in range(repeats))


def cpu(work: Callable[[], object]) -> float:
    """Give the milliseconds of processor time that something takes."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1_000


def p95(values: Sequence[float]) -> float:
    """Give what 95 of 100 values stay below."""
    return sorted(values)[int(len(values) * 0.95)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)
