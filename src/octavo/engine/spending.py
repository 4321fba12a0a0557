"""Limits what a conversation spends on summaries, and says when a summariser is not worth asking.

A summary costs what it reads. Where every few requests are compressed, that may come to more than the requests
themselves; so all summaries of a conversation together take at most a set share of what its requests were billed for.
The first one is always allowed. A summariser whose answers failed the checks in compressions one after the other is
not asked again until it is asked differently: by another model, another prompt or other instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from octavo.core.message_json import Json
from octavo.core.price_rule import AGAIN

if TYPE_CHECKING:
    from octavo.engine.outcome import CompressionEnded

MOST_REQUESTS = 3
"""Requests that the summary of one compression may take: one that is good, and two more for one that is not."""
MOST_SHARE = 0.1
"""Share of the tokens of a conversation's requests that all of its summaries may take."""
SPENDING = "spending:"
"""What the keys of the notes about spending begin with."""
FAILURES_BORNE = 2
"""Compressions in a row whose summary failed the checks: one may be bad luck."""


@dataclass(slots=True, kw_only=True)
class Spending:
    """What the summaries of one conversation have cost so far."""

    billed: int = 0
    """Tokens by the receipts."""
    lost: int = 0
    """Tokens of summaries that no receipt tells of, because the compression was not stored."""
    failures: int = 0
    """Compressions in a row whose summary failed the checks."""
    asked: tuple[str, ...] = ()
    """Who failed, and what it was asked for."""

    @property
    def tokens(self) -> int:
        return self.billed + self.lost

    @classmethod
    def of_note(cls, note: Json, billed: int) -> Self:
        """Read what was noted of a conversation."""
        if not isinstance(note, dict):
            return cls(billed=billed)
        lost, failures, asked = note.get("lost"), note.get("failures"), note.get("asked")
        return cls(
            billed=billed,
            lost=lost if isinstance(lost, int) else 0,
            failures=failures if isinstance(failures, int) else 0,
            asked=tuple(map(str, asked)) if isinstance(asked, list) else (),
        )

    def note(self) -> Json:
        """Write down what the receipts do not tell, for other processes and for later."""
        return {"lost": self.lost, "failures": self.failures, "asked": list(self.asked)}

    def ended(self, ended: CompressionEnded, asked: tuple[str, ...], *, stored: bool) -> None:
        """Learn what a summary cost, and what came of it; of one that is `stored` the receipt tells the price."""
        spent = ended.spent.input + ended.spent.output
        if not stored:
            self.lost += spent
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
