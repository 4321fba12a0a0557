"""How much room recalled passages may take.

Of a window, only what is free below the soft mark, so that they never compress, and only a small part of that, so that
the next compression does not come much sooner for them: they stay with their question. Of a budget that they share with
extracts and the newest turns, the part that serves questions best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from octavo.errors import BadInput

if TYPE_CHECKING:
    from octavo.core.budget import Budget

SHARE = 0.02
"""Of the window, by itself: measured on long chats, more than two percent of the history added little."""
LEAST = 400
"""Tokens below which hardly a message and its answer fit."""
MOST = 2_000
"""Tokens that are enough for what belongs to one question."""
PART = 1 / 8
"""Of the room that a compression frees, at most: by themselves, passages fill it in eight questions or more. In windows
of less than 10,000 tokens, and where prices move the mark down, this is less than the others. Without it, each question
would bring a compression there."""
TOLD_PART = 1 / 2
"""Of that room for what has not the form of a question. Most of it tells something; the rest asks for work, and needs
what was said of it."""
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


def wanted(setting: Recall, budget: Budget, *, asks: bool = True) -> int:
    """Say how many tokens passages would take if there were room."""
    match setting:
        case "off":
            return 0
        case "auto":
            freed = budget.trigger - budget.settled
            most = min(MOST, max(LEAST, int(SHARE * budget.window)), int(PART * freed))
            return most if asks else int(TOLD_PART * most)
        case int():
            return setting


def room(setting: Recall, budget: Budget, *, used: int, asks: bool = True) -> int:
    """Say how many tokens passages may take, `used` being what is sent without them."""
    return max(0, min(wanted(setting, budget, asks=asks), budget.trigger - used))
