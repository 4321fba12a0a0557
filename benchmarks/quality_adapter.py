"""Octavo's extracts behind the call of the quality yardstick: a function of OpenAI-style messages and a token budget.

    PYTHONPATH=benchmarks python .../quality_bench.py --only --compressor quality_adapter:compress

`compress` is the most economical setting; `compress_default` lets half of the budget go to recent turns;
`compress_stored` has the originals at hand when it is called again on its own output, as the engine has.
Tokens are counted as the yardstick counts them: a quarter of the characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from octavo.core.extract import extract, render
from octavo.core.messages import Node, place
from octavo.core.split import lead, split
from octavo.core.wire import read

Wire = dict[str, Any]
ECONOMICAL_SHARE = 0.05
"""Part of the budget for recent turns: just the last words, so that the conversation goes on where it was."""
DEFAULT_SHARE = 0.5
CHARACTERS_PER_TOKEN = 4
ENVELOPE, CALL_ENVELOPE = 4, 8
"""Tokens of a message and of a call beyond their texts."""


def measure(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def size(message: Wire) -> int:
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    spent = sum(CALL_ENVELOPE + measure(call["name"]) + measure(call["arguments"]) for call in calls)
    return ENVELOPE + measure(message.get("content") or "") + spent


def compress(messages: Sequence[Wire], budget: int, share: float = ECONOMICAL_SHARE) -> list[Wire]:
    sizes = [size(message) for message in messages]
    if sum(sizes) <= budget:
        return list(messages)
    nodes = place(read("openai", messages))
    start = lead([node.message for node in nodes])
    room = budget - sum(sizes[:start])
    cut = _cut(nodes, sizes, int(room * share))
    left = room - sum(sizes[cut:]) - ENVELOPE
    chosen = extract(nodes[start:cut], budget=left, measure=measure, retained=nodes[cut:])
    text = render(chosen) or "[Earlier conversation dropped.]"
    return [*messages[:start], {"role": "user", "content": text}, *messages[cut:]]


def compress_default(messages: Sequence[Wire], budget: int) -> list[Wire]:
    return compress(messages, budget, DEFAULT_SHARE)


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


compress_stored = Stored(compress)


def _cut(nodes: Sequence[Node], sizes: Sequence[int], keep: int) -> int:
    """Retain the newest turns that fit; of a turn that alone is too large, the newest part that parts no tool unit."""
    found = split([node.message for node in nodes], sizes, keep, room=keep)
    return len(nodes) if found is None or sum(sizes[found.cut :]) > keep else found.cut
