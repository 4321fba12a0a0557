"""What conversations cost in tokens and dollars: what was sent, cached, saved, and spent on summaries.

Dollars are those of today's cards: prices change, bills of tokens do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from octavo.core.reply import Usage
from octavo.engine.compression import cost
from octavo.store.costs import BilledDay

if TYPE_CHECKING:
    from octavo.engine.engine import Engine

GroupBy = Literal["conversation", "model", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """What belongs together cost so much."""

    conversation: str = ""
    model: str = ""
    day: str = ""
    requests: int = 0
    sent: int = 0
    cached: int = 0
    """Of these, tokens that came from the provider's cache."""
    answered: int = 0
    """Tokens of answers."""
    saved: int = 0
    """Tokens that were not sent because of compressions."""
    summaries: int = 0
    """Requests for summaries, and for titles."""
    summary_tokens: int = 0
    """Tokens that these read and wrote."""
    dollars: float | None = None
    """Of requests and answers; None if no price is known."""
    summary_dollars: float | None = None

    def plus(self, other: CostLine) -> CostLine:
        return replace(
            self,
            requests=self.requests + other.requests,
            sent=self.sent + other.sent,
            cached=self.cached + other.cached,
            answered=self.answered + other.answered,
            saved=self.saved + other.saved,
            summaries=self.summaries + other.summaries,
            summary_tokens=self.summary_tokens + other.summary_tokens,
            dollars=_sum(self.dollars, other.dollars),
            summary_dollars=_sum(self.summary_dollars, other.summary_dollars),
        )


def _sum(first: float | None, second: float | None) -> float | None:
    return (first or 0.0) + (second or 0.0) if first is not None or second is not None else None


async def costs(
    engine: Engine, *, conversation: str | None = None, owner: str | None = None, by: GroupBy = "day"
) -> tuple[CostLine, ...]:
    """Add up what was billed, by conversation, model or day."""
    store = engine.store.costs
    compressions = await store.compressions(id=conversation, owner=owner)
    bills = await store.bills(id=conversation, owner=owner, after=compressions)
    lines = [_of_bill(engine, bill) for bill in bills]
    lines += [
        CostLine(
            conversation=each.conversation,
            model=each.model,
            day=each.day,
            summaries=each.requests,
            summary_tokens=each.input + each.output,
            summary_dollars=each.price,
        )
        for each in compressions
        if each.requests
    ]
    lines += [
        CostLine(
            conversation=each.conversation,
            model=each.model,
            day=each.day,
            summaries=each.requests,
            summary_tokens=each.input + each.output,
            summary_dollars=each.price,
        )
        for each in await engine.store.titles.bills(id=conversation, owner=owner)
    ]
    return _grouped(lines, by)


def _of_bill(engine: Engine, bill: BilledDay) -> CostLine:
    card = engine.models.book.find(bill.model) if bill.model else None
    usage = Usage(input=bill.input, output=bill.output, cached=bill.cached)
    return CostLine(
        conversation=bill.conversation,
        model=bill.model,
        day=bill.day,
        requests=bill.requests,
        sent=bill.input,
        cached=bill.cached,
        answered=bill.output,
        saved=bill.saved,
        dollars=cost(usage, card.price) if card else None,
    )


def _grouped(lines: Iterable[CostLine], by: GroupBy) -> tuple[CostLine, ...]:
    found: dict[str, CostLine] = {}
    for line in lines:
        name = str(getattr(line, by))
        found[name] = found.get(name, _empty(name, by)).plus(line)
    return tuple(found[name] for name in sorted(found))


def _empty(name: str, by: GroupBy) -> CostLine:
    match by:
        case "conversation":
            return CostLine(conversation=name)
        case "model":
            return CostLine(model=name)
        case "day":
            return CostLine(day=name)
