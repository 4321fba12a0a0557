"""`octavo.compress` behind the call of the quality yardstick, on OpenAI-style dicts, in its unit.

python quality_bench.py --compressor benchmarks.quality:economical --compressor benchmarks.quality:default
"""

from __future__ import annotations

from typing import Any

import octavo

ECONOMICAL = 0.05
"""Share of the budget for the newest turns when every token counts."""


def economical(messages: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    return _compress(messages, budget, ECONOMICAL)


def default(messages: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    return _compress(messages, budget, 0.5)


def _compress(messages: list[dict[str, Any]], budget: int, keep: float) -> list[dict[str, Any]]:
    return list(octavo.compress(messages, budget=budget, keep=keep, meter="chars4").messages)
