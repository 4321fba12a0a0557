"""How a model's window is divided: overhead, reply, margin, and the marks on what is left for history.

Every number is a whole number of tokens, turned from ratios once, here. A `Budget` whose summary and retained
part alone would reach the soft mark again cannot be built: it would compress for ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from octavo.errors import BadBudget, BadInput

MARGIN = 0.05
"""Share of the window left free: no local count is the provider's own."""
REPLY_SHARE = 4
"""At most a quarter of the window is kept for the reply, whatever the model could write."""
REPLY_CAP = 32_000
"""Few people read a longer answer; a caller that wants one can ask for it."""
SNAPSHOT_SHARE = 0.2
"""A snapshot may take a fifth of what is available: with a fifth retained, 40 % is used after compressing."""
SNAPSHOT_CAP = 24_000
"""Models read a longer summary worse than a shorter one, and every turn pays for it."""
ASSUMED_WINDOW = 32_000
"""The window of an unknown model: small enough that nearly every model has it, large enough to be useful."""

Basis = Literal["exact", "calibrated", "estimated"]


OFF = 1.0
"""A threshold that nothing crosses: what people write to turn a mark off."""


def fraction(value: object, name: str) -> float:
    """Accept a ratio strictly between 0 and 1; raise `BadInput` for 0, 1, negatives, NaN and text."""
    ratio = _number(value, name)
    if not 0 < ratio < 1:
        raise BadInput(name, f"expected a number between 0 and 1 (both excluded), got {value!r}")
    return float(ratio)


def threshold(value: object, name: str) -> float:
    """Accept a ratio above 0 and up to `OFF`; raise `BadInput` for anything else."""
    ratio = _number(value, name)
    if not 0 < ratio <= OFF:
        raise BadInput(name, f"expected a number above 0 and up to 1, which turns it off, got {value!r}")
    return float(ratio)


def _number(value: object, name: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(name, f"expected a number between 0 and 1, got {value!r}")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of a model."""

    name: str
    provider: str = ""
    window: int = ASSUMED_WINDOW
    max_output: int = 4_096
    tokenizer: str = "o200k"
    frame: str = ""
    """Which rule says what a message costs beyond its text."""
    image_rule: str = ""
    vision: bool = True
    price: Price | None = None
    summariser: str = ""
    """The model that writes summaries for this one by default."""
    soft: float | None = None
    """The soft mark this model prefers; None: the policy's."""
    retained: int | None = None
    """Tokens this model prefers to keep verbatim; None: the policy's."""
    cache_write: float = 1.0
    """The price of a token that is written to the provider's cache, in input tokens."""
    cache_seconds: int = 300
    """How long the provider's cache lives without being used."""
    price_step: int | None = None
    """Tokens above which a whole request is dearer."""
    assumed: bool = False
    """True when the card was made up for an unknown name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a meter says of a context."""

    tokens: int
    basis: Basis = "exact"
    error_bound: int = 0
    """How many tokens the truth may lie above `tokens`; triggers add it."""
    breakdown: tuple[tuple[str, int], ...] = ()
    """Tokens by section, in the order of the context; they add up to `tokens`."""

    @property
    def cautious(self) -> int:
        return self.tokens + self.error_bound

    @property
    def certainty(self) -> str:
        """How sure the count is, for people.

        Before the first bill the model's own tokenizer is exact for the words, and not for what the provider adds.
        """
        if not self.error_bound:
            return self.basis
        return f"{'counted' if self.basis == 'exact' else self.basis} ±{self.error_bound:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Tokens that every request carries besides the conversation."""

    system: int = 0
    tools: int = 0
    files: int = 0
    pins: int = 0

    @property
    def total(self) -> int:
        return self.system + self.tools + self.files + self.pins


MIN_AVAILABLE = 256
"""Below this neither a summary nor one short turn has room: the overhead has eaten the window."""

Base = Literal["history", "input", "window"]
"""What a mark is a share of: what is available to history; all that may be sent; the model's window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Where compression starts, as shares of `base`; strictly more than a mark crosses it. 1.0 is off, like None."""

    base: Base = "history"
    prepare: float | None = 0.65
    """Start in the background; None: never."""
    soft: float | None = 0.80
    """Compress between turns; None: never."""
    hard: float | None = 0.95
    """Compress or shrink before sending; None: only when the base is full. There is always a hard mark."""

    def __post_init__(self) -> None:
        given = [(name, getattr(self, name)) for name in ("prepare", "soft", "hard")]
        ratios = [(name, threshold(value, name)) for name, value in given if value is not None]
        for name, ratio in ratios:
            if ratio == OFF:
                object.__setattr__(self, name, None)
        for (lower, low), (upper, high) in pairwise((name, ratio) for name, ratio in ratios if ratio != OFF):
            if low > high:
                raise BadInput(
                    lower, f"{low} lies above {upper} {high}; marks rise from prepare to soft to hard"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A divided window. Marks are tokens of the whole context, so they compare with a `Reading` as it is."""

    window: int
    reply: int
    margin: int
    overhead: Overhead
    snapshot: int
    """Tokens a snapshot may take."""
    retained: int
    """Tokens the retained part is expected to take when the soft mark is crossed."""
    prepare: int | None
    soft: int | None
    hard: int
    priced: bool = False
    """Whether prices moved the soft mark below the place that the window gives it."""

    def __post_init__(self) -> None:
        if self.available < MIN_AVAILABLE:
            raise BadBudget(
                f"Only {max(0, self.available):,} tokens are left for the conversation; at least {MIN_AVAILABLE} are "
                "needed. Shorten the system prompt, tools or pins, reserve less for the reply, or use a larger window",
                self.terms,
            )
        if self.settled >= self.trigger:
            raise BadBudget(
                f"A compression would leave {self.settled:,} tokens, not under the mark of {self.trigger:,} that "
                "starts the next one. Retain fewer tokens, or shorten the system prompt, tools or pins",
                self.terms,
            )

    @property
    def limit(self) -> int:
        """The most that may be sent: what the window holds besides the reply and the margin."""
        return self.window - self.reply - self.margin

    @property
    def available(self) -> int:
        """What is left for the conversation itself."""
        return self.limit - self.overhead.total

    @property
    def trigger(self) -> int:
        """The mark that starts an automatic compression."""
        return self.hard if self.soft is None else self.soft

    @property
    def middle(self) -> int:
        """Half way between what a compression leaves and the mark that starts the next one."""
        return (self.settled + self.trigger) // 2

    @property
    def settled(self) -> int:
        """The most that a context holds right after a compression."""
        return self.overhead.total + self.snapshot + self.retained

    @property
    def terms(self) -> dict[str, int]:
        """Every term of the sums, for errors and for people."""
        overhead = self.overhead
        return {
            "window": self.window,
            "reply": self.reply,
            "margin": self.margin,
            "system": overhead.system,
            "tools": overhead.tools,
            "files": overhead.files,
            "pins": overhead.pins,
            "available": self.available,
            "snapshot": self.snapshot,
            "retained": self.retained,
            "mark": self.trigger,
        }

    def left(self, tokens: int, mark: int | None = None) -> int:
        """How many tokens remain until a mark (the limit by default); never negative."""
        return max(0, (self.limit if mark is None else mark) - tokens)

    def used(self, tokens: int) -> float:
        """The share of what is available to history that a context of `tokens` takes."""
        return max(0, tokens - self.overhead.total) / self.available


def divide(
    card: ModelCard,
    *,
    marks: Marks | None = None,
    overhead: Overhead | None = None,
    reply: int | None = None,
    margin: float = MARGIN,
    retained: int | float = 0.2,
) -> Budget:
    """Divide a model's window; `retained` is a token count, or a share of the history at the trigger."""
    marks, overhead = marks or Marks(), overhead or Overhead()
    window = card.window
    if reply is None:
        reply = min(card.max_output, window // REPLY_SHARE, REPLY_CAP)
    kept_free = math.ceil(window * margin)
    limit = window - reply - kept_free
    available = limit - overhead.total
    base, floor = {
        "history": (available, overhead.total),
        "input": (limit, 0),
        "window": (window, 0),
    }[marks.base]

    def mark(ratio: float | None) -> int | None:
        return None if ratio is None else min(limit, floor + math.floor(max(0, base) * ratio))

    soft, hard = mark(marks.soft), mark(marks.hard)
    if hard is None:
        hard = min(limit, floor + base)
    trigger = hard if soft is None else soft
    if isinstance(retained, float):
        retained = math.floor(max(0, trigger - overhead.total) * retained)
    return Budget(
        window=window,
        reply=reply,
        margin=kept_free,
        overhead=overhead,
        snapshot=min(SNAPSHOT_CAP, math.floor(max(0, available) * SNAPSHOT_SHARE)),
        retained=retained,
        prepare=mark(marks.prepare),
        soft=soft,
        hard=hard,
    )


def tightest(budgets: Iterable[Budget]) -> Budget:
    """Choose the budget that decides when several models answer one turn: the one that fills first."""
    return min(budgets, key=lambda budget: (budget.trigger, budget.hard, budget.limit))
