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
"""Of the room that a compression frees, for one question. Passages stay with their questions: where prices move the
mark down, and in small windows, each question would bring a compression otherwise."""
SPARE = 1 / 4
"""Of what is free just now: a question may take that much, up to the least, though it be more than its part."""
TOGETHER = 1 / 4
"""A message that asks nothing recalls only while all passages that are sent take less of what is said beside them, or
of the room that they leave free, whichever is more: most messages of a chat between people are of this kind."""
TOLD_PART = 1 / 2
"""Of what a question may take, for such a message: some ask for work, and need what was said of it."""
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


def wanted(setting: Recall, budget: Budget) -> int:
    """Say how many tokens passages for a question would take if there were room."""
    match setting:
        case "off":
            return 0
        case "auto":
            return min(MOST, max(LEAST, int(min(SHARE * budget.window, PART * _freed(budget)))))
        case int():
            return setting


def room(setting: Recall, budget: Budget, *, used: int, said: int, recalled: int, asks: bool = True) -> int:
    """Say how many tokens passages may take.

    `used` is what is sent without them: `said` tokens are the conversation's own, and `recalled` the passages of
    earlier questions.
    """
    most, free = wanted(setting, budget), max(0, budget.trigger - used)
    if setting == "auto":
        most = min(most, int(max(PART * _freed(budget), SPARE * free)))
        if not asks:
            together = TOGETHER * max(said, free + recalled) - recalled
            most = max(0, int(min(TOLD_PART * most, together)))
    return min(most, free)


def _freed(budget: Budget) -> int:
    """Say how much room a compression makes at least."""
    return budget.trigger - budget.settled
