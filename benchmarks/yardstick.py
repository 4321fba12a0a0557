"""`octavo.compress` behind the call of the quality yardstick, on OpenAI-style dicts, in its unit.

python quality_bench.py --compressor benchmarks.yardstick:economical --compressor benchmarks.yardstick:default
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import octavo
from octavo.core.messages import place
from octavo.core.recall.choose import choose
from octavo.core.recall.pieces import cut
from octavo.core.recall.question import ask
from octavo.core.recall.rank import ByWords, count
from octavo.core.recall.render import render
from octavo.core.wire.openai import read_openai
from octavo.errors import ContextOverflow

Wire = dict[str, Any]
ECONOMICAL = 0.05
"""Share of the budget for the newest turns when every token counts."""

RECALLED = 0.2
"""Share of the budget for passages."""
FRAME = 8
"""Tokens of one message more."""


def economical(messages: list[Wire], budget: int) -> list[Wire]:
    return _compress(messages, budget, ECONOMICAL)


def default(messages: list[Wire], budget: int) -> list[Wire]:
    return _compress(messages, budget, 0.5)


def recall_economical(messages: list[Wire], budget: int) -> list[Wire]:
    """A fifth of the budget for passages that belong to the newest user message, the rest for everything."""
    return _recalling(messages, budget, ECONOMICAL)


def recall_default(messages: list[Wire], budget: int) -> list[Wire]:
    return _recalling(messages, budget, 0.5)


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


def _compress(messages: list[Wire], budget: int, keep: float) -> list[Wire]:
    try:
        return list(octavo.compress(messages, budget=budget, keep=keep, meter="chars4").messages)
    except ContextOverflow:
        # A request that alone is larger than the budget and still waits for its answer is never shortened; with
        # `--progressive` the next round finds it answered, and may.
        return messages


def _recalling(messages: list[Wire], budget: int, keep: float) -> list[Wire]:
    if messages[-1]["role"] != "user":
        return _compress(messages, budget, keep)
    share = int(RECALLED * budget)
    compressed = _compress(messages, budget - share - FRAME, keep)
    question = str(messages[-1]["content"])
    sent = [str(one.get("content")) for one in compressed]
    block = _passages(messages[:-1], question, share, sent)
    return [*compressed[:-1], {"role": "user", "content": block}, compressed[-1]] if block else compressed


def _passages(messages: list[Wire], question: str, room: int, sent: list[str]) -> str:
    nodes = place(read_openai(messages))
    asked = ask(question, [node.message.text for node in nodes[-2:]])
    pieces = [piece for node in nodes for piece in cut(node.id, node.depth, node.message)]
    said = {line for text in sent for line in (text, *text.splitlines())}
    ranker = ByWords(count(asked, pieces))
    return render(choose(asked, pieces, ranker, room=room, count=chars4, said=said))


def chars4(text: str) -> int:
    return len(text) // 4 + 1
