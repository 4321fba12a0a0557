"""Says when compressing pays: how far apart the marks should lie, by the prices of a provider's cache.

Providers charge a tenth or less for the front of a request that they have seen before. A compression changes that
front, so all that stays is written to the cache anew; in return every later request is shorter. Between two
compressions a context grows from the low mark L to the high mark H, and the cost of a request is least on average if

    H - L = sqrt(2 * g * K / r)

where g is what a request adds, K what one compression costs, and r what a cached token costs, misses included. Where
a share s of the history stays word for word, L rises with H, and the same sum is least at

    H - L = sqrt(2 * g * (K - s * (K of what always stays)) / (r * (1 + s)))

All prices are in those of an input token of the model that answers. What a summariser reads of new messages is no part
of K: each of them is read once, however rarely that is done. The window's own marks stay the upper bound: the rule may
only compress earlier.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from octavo.core.budget import Budget, ModelCard, Price

USUAL_GROWTH = 1_000
"""Tokens that a request adds, as long as too few have been seen: a question with its answer, or a tool's answer."""
ENOUGH = 3
"""Requests after which their mean says more than the usual."""
USUAL_SUMMARY = 1_500
"""Tokens that a summariser writes: what it may write is several times that, and hardly ever used up."""
NEVER_DEAR = 32_000
"""A context with fewer tokens is not compressed for its price: too little would be saved."""
LIKELY = 50
"""Turns that a conversation may well go on for."""
LEAST_CACHED = 1_024
"""Tokens below which hardly any provider caches the front of a request: a miss of so few tells nothing."""
AGAIN = 2_500
"""Tokens that a summariser reads at every compression: what it is told to do, and the previous summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePrices:
    """What tokens cost, in input tokens of the model that answers."""

    read: float
    """A token at the front that the cache has."""
    write: float = 1.0
    """A token that it does not have, and keeps."""
    summary_input: float = 0.0
    """A token that the summariser reads; 0: no model is asked."""
    summary_output: float = 0.0
    """A token that it writes."""
    live: bool = False
    """Whether the summariser is the model that answers, and reads the whole context again."""
    step: int | None = None
    """Tokens above which the whole request is dearer."""

    def effective_read(self, misses: float) -> float:
        """What a token at the front costs if that share of them is not found."""
        return self.read + misses * (self.write - self.read)


def cache_prices(card: ModelCard, writer: Price | None = None) -> CachePrices | None:
    """Read the prices from a card; None if it does not say what a cached token costs."""
    price = card.price
    if price is None or price.cached is None or price.input <= 0 or price.cached <= 0:
        return None
    return CachePrices(
        read=price.cached / price.input,
        write=card.cache_write,
        summary_input=writer.input / price.input if writer else 0.0,
        summary_output=writer.output / price.input if writer else 0.0,
        # The model that answers reads what it has in its cache.
        live=writer == replace(price, input=price.cached),
        step=card.price_step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """How much of a conversation's requests came from the provider's cache, by their bills.

    A request that is at least as long as the one before begins with it, so that much of it could have been cached. A
    shorter request was compressed, or belongs to another branch, and tells nothing.
    """

    requests: int = 0
    """Requests that began with the one before."""
    expected: int = 0
    found: int = 0
    model: str = ""
    last: int = 0
    """Tokens of the newest request."""

    def after(self, model: str, *, sent: int, cached: int) -> CacheUse:
        """Add the bill of a request."""
        began = self.last if model == self.model and self.last <= sent else 0
        seen = replace(self, model=model, last=sent)
        if began < LEAST_CACHED:
            return seen
        return replace(
            seen,
            requests=self.requests + 1,
            expected=self.expected + began,
            found=self.found + min(cached, began),
        )

    @property
    def misses(self) -> float:
        """Share of the expected tokens that was not found; none as long as too few requests were seen."""
        return 1 - self.found / self.expected if self.requests >= ENOUGH else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How a conversation grows, as far as it was seen."""

    requests: int = 0
    tokens: int = 0
    """What all of these requests added together, with their answers."""
    largest: int = 0
    """What one of them added at most."""
    open: int = 0
    """What the next request adds so far."""
    misses: float = 0.0
    """Share of the tokens that a cache should have had and did not."""
    uncovered: int = 0
    """How many of the requests no snapshot covers yet."""
    recalled: int = 0
    """Tokens of the passages that were recalled for these: they are sent again until they are covered, too."""

    @property
    def growth(self) -> float:
        """Tokens that a request adds."""
        said = self.tokens / self.requests if self.requests >= ENOUGH else USUAL_GROWTH
        return said + self.recalled / max(ENOUGH, self.uncovered)

    def after(self, tokens: int, *, answers: bool) -> Habits:
        """Add a message; an answer ends what a request added."""
        return _grown(self, ((tokens, answers),))

    def recalling(self, tokens: int) -> Habits:
        """Add passages that were recalled for the open request."""
        return replace(self, recalled=self.recalled + tokens)


UNKNOWN = Habits()


def habits_of(
    sizes: Iterable[tuple[int, bool]],
    *,
    messages: int = 0,
    tokens: int = 0,
    misses: float = 0.0,
    recalled: int = 0,
) -> Habits:
    """Read the habits from the messages of a conversation: tokens, and whether a message is an answer.

    `messages` were covered before, with so many `tokens`: every second of them was an answer. Passages of so many
    tokens were `recalled` for the others.
    """
    covered = Habits(requests=messages // 2, tokens=tokens, misses=misses, recalled=recalled)
    return _grown(covered, sizes)


def _grown(habits: Habits, sizes: Iterable[tuple[int, bool]]) -> Habits:
    """Add messages, a long history without a value for each."""
    requests, tokens, largest, added = habits.requests, habits.tokens, habits.largest, habits.open
    for size, answers in sizes:
        added += size
        if answers:
            requests, tokens, largest, added = requests + 1, tokens + added, max(largest, added), 0
    uncovered = habits.uncovered + requests - habits.requests
    return replace(habits, requests=requests, tokens=tokens, largest=largest, open=added, uncovered=uncovered)


def compression_cost(prices: CachePrices, *, fixed: float, low: float, covered: float) -> float:
    """What a compression costs: what stays is written anew, and a summariser reads and writes.

    `fixed` is what stands before the snapshot and stays in the cache; `low` is the whole context afterwards.
    """
    rewritten = (low - fixed) * (prices.write - prices.read)
    again = low if prices.live else AGAIN
    return rewritten + prices.summary_input * (again + covered) + prices.summary_output * USUAL_SUMMARY


def distance(prices: CachePrices, habits: Habits, *, fixed: float, stays: float, share: float = 0.0) -> float:
    """How far above the low mark the high mark lies best.

    After a compression `stays` tokens follow the `fixed` ones, and that `share` of all that followed them before.
    """
    read = prices.effective_read(habits.misses)
    always = compression_cost(prices, fixed=fixed, low=fixed, covered=0)
    cost = compression_cost(prices, fixed=fixed, low=fixed + stays, covered=0) - share * always
    return math.sqrt(2 * max(1.0, habits.growth) * cost / (read * (1 + share)))


def by_price(budget: Budget, prices: CachePrices, habits: Habits, retained: int | float) -> Budget:
    """Move the soft mark down to where compressing costs least; never up, and never to where it would thrash.

    `retained` is what stays word for word: tokens, or a share of the history at the mark.
    """
    if budget.soft is None:
        return budget
    fixed = budget.overhead.total
    share, tokens = (0.0, retained) if isinstance(retained, int) else (retained, 0)
    stays = budget.snapshot + tokens
    above = distance(prices, habits, fixed=fixed, stays=stays, share=share)
    high = fixed + (stays + above) / (1 - share)
    soft = min(budget.soft, max(NEVER_DEAR, math.ceil(high)), prices.step or budget.soft)
    kept = tokens or math.floor((soft - fixed) * share)
    if soft >= budget.soft or fixed + budget.snapshot + kept >= soft:
        return budget
    prepare = budget.prepare if budget.prepare is not None and budget.prepare < soft else None
    return replace(budget, soft=soft, prepare=prepare, retained=kept, priced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payback:
    """What one compression costs and saves, in dollars, and after how many requests it has paid."""

    cost: float
    saved: float
    """By each request."""

    @property
    def requests(self) -> int | None:
        """Requests after which it has paid; None: never."""
        return math.ceil(self.cost / self.saved) if self.saved > 0 else None

    def in_words(self, *, needed: bool) -> str:
        """Say it to a person; `needed`: the window demands it, whatever it costs."""
        once, each = dollars(self.cost), dollars(self.saved)
        if self.requests is None:
            return f"costs about {once} once, and saves nothing"
        said = f"costs about {once} once, saves {each} a turn, pays back after {self.requests:,} turns"
        if self.requests > LIKELY and not needed:
            return f"{said}: it will hardly pay, and the window does not demand it"
        return said


def dollars(amount: float) -> str:
    """Write a sum of money with two digits that say something."""
    if amount >= 1:
        return f"${amount:,.2f}"
    digits = 2 if amount == 0 else max(2, 1 - math.floor(math.log10(amount)))
    return f"${amount:.{digits}f}"


def payback(
    price: Price, prices: CachePrices, habits: Habits, *, fixed: int, before: int, after: int
) -> Payback:
    """Say what a compression from `before` to `after` tokens costs once, and saves with every request."""
    dollars = price.input / 1_000_000
    freed = max(0, before - after)
    cost = compression_cost(prices, fixed=fixed, low=max(fixed, after), covered=freed)
    return Payback(cost=cost * dollars, saved=prices.effective_read(habits.misses) * freed * dollars)
