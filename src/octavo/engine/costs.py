"""What conversations cost in tokens and dollars: what was sent, cached, saved, and spent on summaries.

Amounts in dollars use the prices of today's model cards. Prices change; the billed tokens do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from octavo.core.price_rule import cache_prices, dollars
from octavo.core.reply import Usage
from octavo.engine.compression import cost
from octavo.store.values import BilledDay, CompressionBill, TitleBill

if TYPE_CHECKING:
    from octavo.core.snapshot import Snapshot
    from octavo.engine.engine import Engine

GroupBy = Literal["conversation", "model", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """What a conversation, a model or a day cost."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSoFar:
    """What one compression cost, and what it has saved since."""

    cost: float | None
    """Dollars of its summary, whatever came of it; None if no model was asked, or it has no price."""
    turns: int
    """Requests since."""
    saved: float | None
    """Dollars that these requests would have cost more without it; None if no price is known."""

    @property
    def in_words(self) -> str:
        """Say it to a person; empty if there is nothing to say in money."""
        if self.saved is None:
            return ""
        cost = f"cost {dollars(self.cost or 0.0)}"
        turns = f"{self.turns:,} turn{'' if self.turns == 1 else 's'}"
        return f"{cost}; saved {dollars(self.saved)} so far over {turns}" if self.turns else cost


async def saved_so_far(engine: Engine, conversation: str, snapshot: Snapshot) -> SavedSoFar | None:
    """Say what a compression cost and has saved; None if it has no receipt.

    A token that was not sent would have been cached, mostly: it saves what that costs, with the misses of the bills.
    """
    store = engine.store.costs
    bills = await store.compressions(id=conversation)
    own = next((bill for bill in bills if bill.id == snapshot.id), None)
    if own is None:
        return None
    after = replace(own, active=snapshot.state == "active")
    found = [bill for bill in await store.bills(id=conversation, after=[after]) if bill.shortened]
    saved = None
    for bill in found:
        card = engine.models.book.find(bill.model) if bill.model else None
        prices = cache_prices(card) if card else None
        if card is None or card.price is None:
            continue
        misses = await engine.states.misses(conversation, card)
        read = prices.effective_read(misses) if prices else 1.0
        saved = (saved or 0.0) + bill.saved * read * card.price.input / 1_000_000
    turns = sum(bill.shortened for bill in found)
    if not found and own.price is not None:
        saved = 0.0
    return SavedSoFar(cost=own.price, turns=turns, saved=saved)


async def costs(
    engine: Engine, *, conversation: str | None = None, owner: str | None = None, by: GroupBy = "day"
) -> tuple[CostLine, ...]:
    """Add up what was billed, by conversation, model or day."""
    store = engine.store.costs
    compressions = await store.compressions(id=conversation, owner=owner)
    bills = await store.bills(id=conversation, owner=owner, after=compressions)
    lines = [_of_bill(engine, bill) for bill in bills]
    written = [bill for bill in compressions if bill.requests]
    titles = await engine.store.titles.bills(id=conversation, owner=owner)
    return _grouped([*lines, *map(_of_writing, written), *map(_of_writing, titles)], by)


def _of_writing(bill: CompressionBill | TitleBill) -> CostLine:
    return CostLine(
        conversation=bill.conversation,
        model=bill.model,
        day=bill.day,
        summaries=bill.requests,
        summary_tokens=bill.input + bill.output,
        summary_dollars=bill.price,
    )


def _of_bill(engine: Engine, bill: BilledDay) -> CostLine:
    card = engine.models.book.find(bill.model) if bill.model else None
    # No bill says what was written to the cache. Where the cache was used at all, that is everything it did not have.
    write = card.cache_write if card and bill.cached else 1.0
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
        dollars=cost(usage, card.price, write) if card else None,
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
