"""What messages hold, in local measure: a value that adds up, so a new message costs one addition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenTally:
    """What messages hold in local measure; tallies add up."""

    tokens: int = 0
    messages: int = 0
    calls: int = 0
    guessed: int = 0
    """How many of the tokens were guessed rather than counted."""

    def __add__(self, other: TokenTally) -> TokenTally:
        return TokenTally(
            self.tokens + other.tokens,
            self.messages + other.messages,
            self.calls + other.calls,
            self.guessed + other.guessed,
        )

    def __sub__(self, other: TokenTally) -> TokenTally:
        return TokenTally(
            self.tokens - other.tokens,
            self.messages - other.messages,
            self.calls - other.calls,
            self.guessed - other.guessed,
        )


def total(tallies: Iterable[TokenTally]) -> TokenTally:
    """Add tallies up."""
    tokens = messages = calls = guessed = 0
    for tally in tallies:
        tokens += tally.tokens
        messages += tally.messages
        calls += tally.calls
        guessed += tally.guessed
    return TokenTally(tokens, messages, calls, guessed)
