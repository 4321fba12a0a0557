"""The record of an attempt to compress: written once, however the attempt ended, in numbers and names.

It holds no word of a conversation, because it goes to logs and metrics.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal, assert_never

from octavo.core.policy import Urgency
from octavo.engine.outcome import Cancelled, Compressed, Failed, Outcome, Rejected, Skipped, Unwritten

log = logging.getLogger("octavo.compression")

Ending = Literal["compressed", "skipped", "rejected", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt and what came of it."""

    conversation: str
    """Empty for a plain list of messages."""
    trigger: Urgency | Literal["call"]
    """`call` is a plain list that somebody handed in."""
    ending: Ending
    why: str
    """Why it was skipped, which flaws it was rejected for, what failed; empty when nothing went wrong."""
    before: int
    after: int
    """Tokens of the whole context afterwards; of a result that was rejected, what it would have been."""
    seconds: float
    unwritten: Unwritten | None = None

    def record(self) -> None:
        """Write it to the log."""
        log.info(
            "conversation=%s trigger=%s outcome=%s why=%s before=%d after=%d seconds=%.3f",
            self.conversation or "-",
            self.trigger,
            self.ending,
            self.why or "-",
            self.before,
            self.after,
            self.seconds,
        )


def attempt_of(
    outcome: Outcome,
    *,
    conversation: str,
    trigger: Urgency,
    before: int,
    seconds: float,
    unwritten: Unwritten | None = None,
) -> Attempt:
    """Describe an attempt; one that stored nothing left the context as it was."""
    after, why = before, unwritten.kind if unwritten else ""
    ending: Ending
    match outcome:
        case Compressed():
            ending, after = "compressed", outcome.after
        case Skipped():
            ending, why = "skipped", outcome.reason
        case Rejected():
            ending, after = "rejected", outcome.after
            why = ",".join(dict.fromkeys(problem.flaw for problem in outcome.problems))
        case Failed():
            ending, why = "failed", why or "error"
        case Cancelled():
            ending = "cancelled"
        case other:
            assert_never(other)
    return Attempt(
        conversation=conversation,
        trigger=trigger,
        ending=ending,
        why=why,
        before=before,
        after=after,
        seconds=seconds,
        unwritten=unwritten,
    )
