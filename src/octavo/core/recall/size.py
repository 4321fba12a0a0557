"""How much room recalled passages may take.

Of a window, only what is free below the soft mark, so that they never compress; of a budget that they share with
extracts and the newest turns, the part that serves questions best.
"""

from __future__ import annotations

from typing import Literal

from octavo.errors import BadInput

SHARE = 0.02
"""Of the window, by itself: measured on long chats, more than two percent of the history added little."""
LEAST = 400
"""Tokens below which hardly a message and its answer fit."""
MOST = 2_000
"""Tokens that are enough for what belongs to one question."""
FIRST = 2_000
"""Tokens of a budget, of which passages get `FIRST_SHARE`; of all above they get `REST_SHARE`."""
FIRST_SHARE = 0.3
REST_SHARE = 0.1
"""What belongs to a question is about as much, whatever the budget is. Measured on long chats: of 2,000 tokens, three
tenths for passages put more answers into a context than two tenths do (88 instead of 85 of 100); of 6,000, a sixth puts
as many as three tenths do, and takes less from the extracts."""

Recall = Literal["off", "auto"] | int
"""The setting: none, by itself, or a number of tokens."""


def recall_setting(value: object, name: str = "recall") -> Recall:
    """Read the setting; raise `BadInput` for what is none."""
    match value:
        case "off" | "auto":
            return value
        case bool():
            return "auto" if value else "off"
        case int() if value >= 0:
            return value or "off"
    raise BadInput(name, f'expected "off", "auto" or a number of tokens, got {value!r}')


def part_of(budget: int) -> int:
    """Say how many tokens of a budget passages may take, where nobody says how many."""
    return min(MOST, int(FIRST_SHARE * min(budget, FIRST) + REST_SHARE * max(0, budget - FIRST)))


def room(setting: Recall, *, window: int, mark: int, used: int) -> int:
    """Say how many tokens passages may take, `used` being what is sent without them and `mark` the soft mark."""
    match setting:
        case "off":
            return 0
        case "auto":
            wish = min(MOST, max(LEAST, int(SHARE * window)))
        case int():
            wish = setting
    return max(0, min(wish, mark - used))
