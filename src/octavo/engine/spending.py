"""How much a conversation may spend on summaries, and when a summariser is not worth asking.

A summary costs what it reads. Where every few requests are compressed, that may come to more than the requests
themselves; so all summaries of a conversation together take at most a set share of what its requests were billed for.
The first one is always allowed. A summariser whose answers failed the checks in compressions one after the other is
not asked again until it is asked differently: by another model, another prompt or other instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.core.message_json import Json
from octavo.core.price_rule import AGAIN

if TYPE_CHECKING:
    from octavo.engine.outcome import CompressionEnded

MOST_REQUESTS = 3
"""Requests that the summary of one compression may take: one that is good, and two more for one that is not."""
MOST_SHARE = 0.1
"""Share of the tokens of a conversation's requests that all of its summaries may take."""
FAILURES_BORNE = 2
"""Compressions in a row whose summary failed the checks: one may be bad luck."""


@dataclass(slots=True, kw_only=True)
class Spending:
    """What the summaries of one conversation have cost so far."""

    tokens: int = 0
    failures: int = 0
    """Compressions in a row whose summary failed the checks."""
    asked: tuple[str, ...] = ()
    """Who failed, and what it was asked for."""

    def ended(self, ended: CompressionEnded, asked: tuple[str, ...]) -> None:
        """Learn what a compression spent, and what came of it."""
        spent = ended.spent.input + ended.spent.output
        self.tokens += spent
        if not spent:
            return
        again = self.failures if self.asked == asked else 0
        self.failures, self.asked = (again + 1 if ended.unwritten else 0), asked

    def refuses(self, asked: tuple[str, ...], *, covered: int, sent: int, share: float) -> str:
        """Say why no model is asked now; empty if one may be.

        `covered` are the tokens it would read, `sent` those of all requests of the conversation so far.
        """
        if self.failures >= FAILURES_BORNE and self.asked == asked:
            return (
                f"no model was asked: {asked[0]} failed the checks of the last {self.failures} summaries of this "
                "conversation; choose another summariser, prompt or instructions, or compress by hand"
            )
        expected = self.tokens + covered + AGAIN
        if self.tokens and sent and expected > share * sent:
            return (
                f"no model was asked: with this one, summaries would have taken {expected:,} tokens, more than "
                f"{share:.0%} of the {sent:,} of this conversation's requests"
            )
        return ""


def share_of(settings: Mapping[str, Json]) -> float:
    """Give the share of its own tokens that a conversation may spend on summaries."""
    share = settings.get("summary_share")
    return float(share) if isinstance(share, int | float) else MOST_SHARE


def requests_of(settings: Mapping[str, Json]) -> int:
    """Give the requests that one summary may take."""
    most = settings.get("summary_requests")
    return most if isinstance(most, int) else MOST_REQUESTS
