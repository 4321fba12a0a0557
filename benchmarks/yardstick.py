"""`octavo.compress` behind the call of the quality yardstick, on OpenAI-style dicts, in its unit.

python quality_bench.py --compressor benchmarks.yardstick:economical --compressor benchmarks.yardstick:default
python asked_bench.py --compressor benchmarks.yardstick:economical --compressor benchmarks.yardstick:asked_later
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import octavo
from octavo.core.wire import read, write
from octavo.errors import ContextOverflow
from octavo.evals.compressor import CompressionJob
from octavo.evals.compressors import YARDSTICK, meter_of
from octavo.evals.stored_compressor import StoredCompressor

Wire = dict[str, Any]
ECONOMICAL = 0.05
"""Share of the budget for the newest turns when every token counts."""


def economical(messages: list[Wire], budget: int) -> list[Wire]:
    return _compress(messages, budget, ECONOMICAL)


def default(messages: list[Wire], budget: int) -> list[Wire]:
    return _compress(messages, budget, 0.5)


class Stored:
    """A compressor that keeps all originals and always starts from them."""

    def __init__(self, compress: Callable[[list[Wire], int], list[Wire]]) -> None:
        self.compress = compress
        self.originals: list[Wire] = []
        self.sent: list[Wire] = []

    def __call__(self, messages: Sequence[Wire], budget: int) -> list[Wire]:
        known = len(self.sent)
        goes_on = known > 0 and list(messages[:known]) == self.sent
        self.originals = [*self.originals, *messages[known:]] if goes_on else list(messages)
        self.sent = self.compress(self.originals, budget)
        return list(self.sent)


stored = Stored(economical)
"""With `--progressive`: the originals are at hand at every round, as they are in the engine."""


def asked_later(messages: list[Wire], budget: int) -> list[Wire]:
    """Store all but the last message, compress, and only then ask: what would be sent then."""
    runner, compressor = _house()
    told = read("openai", messages)
    thread = f"{hash(told[:-1])} {budget}"
    made = runner.run(
        compressor.compress(CompressionJob(messages=told, budget=budget, thread=thread, asked=True))
    )
    return list(write("openai", made.messages).messages) if made.messages else messages


@cache
def _house() -> tuple[asyncio.Runner, StoredCompressor]:
    """Open the house that keeps conversations, for as long as the process runs."""
    return asyncio.Runner(), StoredCompressor(meter=meter_of(YARDSTICK), keep=ECONOMICAL)


def _compress(messages: list[Wire], budget: int, keep: float) -> list[Wire]:
    try:
        return list(octavo.compress(messages, budget=budget, keep=keep, meter="chars4").messages)
    except ContextOverflow:
        # A request that alone is larger than the budget and still waits for its answer is never shortened; with
        # `--progressive` the next round finds it answered, and may.
        return messages
