"""`octavo.compress` behind the call of the quality yardstick, on OpenAI-style dicts, in its unit.

python quality_bench.py --compressor benchmarks.quality:economical --compressor benchmarks.quality:default
"""

from __future__ import annotations

from typing import Any

import octavo
from benchmarks.quality_adapter import Stored
from octavo.errors import ContextOverflow

ECONOMICAL = 0.05
"""Share of the budget for the newest turns when every token counts."""


def economical(messages: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    return _compress(messages, budget, ECONOMICAL)


def default(messages: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    return _compress(messages, budget, 0.5)


stored = Stored(economical)
"""With `--progressive`: the originals are at hand at every round, as they are in the engine."""


def _compress(messages: list[dict[str, Any]], budget: int, keep: float) -> list[dict[str, Any]]:
    try:
        return list(octavo.compress(messages, budget=budget, keep=keep, meter="chars4").messages)
    except ContextOverflow:
        # A request that alone is larger than the budget and still waits for its answer is never shortened; with
        # `--progressive` the next round finds it answered, and may.
        return messages
