"""When to compress, how much to keep, and how to behave after failures: values, and one function that decides.

`decide` is pure. What happened before is passed in: failures as a `FailureStreak`, compressions in this user turn as a
`LastCompression`. The functions below compute their successors. There are four outcomes, and never a guess: keep,
prepare in the background, compress, or shrink without asking any model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from octavo.core.budget import (
    MARGIN,
    Budget,
    Marks,
    ModelCard,
    Overhead,
    Price,
    Reading,
    divide,
    fraction,
    threshold,
)
from octavo.core.price_rule import Habits, by_price, cache_prices
from octavo.core.recall.size import Recall, recall_setting
from octavo.errors import BadInput

PROGRESS = 0.10
"""A compression made progress if it took at least a tenth off the context."""
MIN_TOKENS = 2_000
"""Automatic compression never touches a shorter conversation (FR-5.4.1)."""

Urgency = Literal["manual", "soft", "hard"]
Why = Literal[
    "fits", "auto_off", "too_small", "undone", "no_progress", "backoff", "breaker", "asked", "mark", "cold"
]


@dataclass(frozen=True, slots=True)
class KeepTokens:
    """Retain the newest turns that fit a token count."""

    tokens: int

    def __post_init__(self) -> None:
        if self.tokens < 0:
            raise BadInput("retained", f"expected 0 tokens or more, got {self.tokens}")


@dataclass(frozen=True, slots=True)
class KeepShare:
    """Retain the newest turns that fit a share of the current history."""

    share: float
    unit: Literal["tokens", "characters"] = "tokens"

    def __post_init__(self) -> None:
        fraction(self.share, "retained")


@dataclass(frozen=True, slots=True)
class KeepNothing:
    """Cover everything that may be covered."""


Retain = KeepTokens | KeepShare | KeepNothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How a snapshot speaks in the context."""

    role: Literal["user", "system"] = "user"
    prefix: str = ""
    """A line before the summary; empty: the wrapper that marks it as data."""
    acknowledgement: str = ""
    """What the assistant is made to answer; empty: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How failures of automatic compression are borne."""

    limit: int | None = 3
    """Failures in a row that open the breaker; None: it never opens."""
    backoff: float = 30.0
    """Seconds to wait after the first failure, doubled by each further one; 0: none."""
    growth: float | None = 0.2
    """Growth of the context since the last failure that closes the breaker; None: growth does not."""


MAX_BACKOFF = 3_600.0
"""The longest wait: after any number of failures it is tried again within the hour."""
MOST_DOUBLINGS = 16
"""Times a wait is doubled: more would only make a number that no float can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything that distinguishes one way of compressing from another."""

    name: str
    marks: Marks = Marks()
    margin: float = MARGIN
    retain: Retain = KeepShare(0.2)
    retain_by_hand: Retain | None = None
    """What a compression that a person asks for retains, unless they say how much; None: the same."""
    boundary: Literal["turn", "message"] = "turn"
    """Where the retained part may begin: at a user's turn, or at any message outside a tool unit."""
    minimum: int = MIN_TOKENS
    voice: Voice = Voice()
    prompt: str = "default"
    shows_question: bool = False
    """Whether the summariser is shown the newest user message; the snapshot then does not outlive an edit of it."""
    accept: float | None = 1 - PROGRESS
    """A result is accepted up to this share of the size before; None: any size below it."""
    tolerance: Tolerance = Tolerance()
    auto: bool = True
    """Off: prepare and soft are ignored; hard always guards."""
    recall: Recall = "off"
    """How much of the covered messages comes back with a question that asks for it."""
    frees: float = 0.0
    """Share of what can be compressed that a compression frees at least, even if it has to cut inside a turn."""
    titles: bool = False
    """Whether the model writes a title after its first answer."""
    follows_prices: bool = False
    """Whether the soft mark moves down to where compressing costs least, if prices are known."""


OCTAVO = Policy(name="octavo", recall="auto", frees=0.5, titles=True, follows_prices=True)

ONYX = Policy(
    name="onyx",
    marks=Marks(base="history", prepare=None, soft=0.75, hard=0.95),
    retain=KeepShare(0.2),
    minimum=0,
    prompt="dense",
    shows_question=True,
    accept=None,
    tolerance=Tolerance(limit=None, backoff=0, growth=None),
)

WAVE = Policy(
    name="wave",
    marks=Marks(base="input", prepare=None, soft=None, hard=None),
    margin=0.0,
    retain=KeepNothing(),
    minimum=0,
    voice=Voice(role="system", prefix="[Compressed Message Summary]"),
    prompt="default",
    accept=None,
    tolerance=Tolerance(limit=3, backoff=0, growth=None),
)

REQUIREMENTS = Policy(
    name="requirements",
    marks=Marks(base="input", prepare=None, soft=0.95, hard=None),
    retain=KeepTokens(1_000),
    retain_by_hand=KeepNothing(),
    boundary="message",
    minimum=2_000,
    voice=Voice(role="system"),
    prompt="default",
    accept=None,
    tolerance=Tolerance(limit=None, backoff=30.0, growth=None),
)

GEMINI = Policy(
    name="gemini",
    marks=Marks(base="window", prepare=None, soft=0.5, hard=0.95),
    retain=KeepShare(0.3, unit="characters"),
    minimum=0,
    voice=Voice(acknowledgement="Got it. Thanks for the additional context!"),
    prompt="state",
    accept=1.0,
    tolerance=Tolerance(limit=1, backoff=0, growth=None),
)

PRESETS: Mapping[str, Policy] = MappingProxyType(
    {policy.name: policy for policy in (OCTAVO, ONYX, WAVE, REQUIREMENTS, GEMINI)}
)


def preset(name: str) -> Policy:
    """Look a policy up by name."""
    if name not in PRESETS:
        raise BadInput("policy", f"unknown policy {name!r}; one of {', '.join(PRESETS)}")
    return PRESETS[name]


def adjust(policy: Policy, card: ModelCard, settings: Mapping[str, object]) -> Policy:
    """Apply what the model prefers, then what the user set: the user's word wins.

    A model's preferences hold for the default policy only; the other policies follow their documents on every model.
    Settings: `auto`, `prepare`, `soft`, `hard`, `retained` (tokens, or a share), `minimum`, `prompt`,
    `recall`, `titles`.
    """
    marks = policy.marks
    chosen: dict[str, object] = {}
    if policy.name == OCTAVO.name:
        chosen = {"soft": card.soft, "retained": card.retained}
    chosen |= settings
    for name in ("prepare", "soft", "hard"):
        if chosen.get(name) is not None:
            marks = _move(marks, name, threshold(chosen[name], name))
    if marks.soft is None and settings.get("prepare") is None:
        # Nothing is prepared for a mark that is off.
        marks = replace(marks, prepare=None)
    # A mark that a person set is where they want it.
    follows = policy.follows_prices and marks.soft is not None and settings.get("soft") is None
    policy = replace(policy, marks=marks, follows_prices=follows)
    if (retained := chosen.get("retained")) is not None:
        policy = replace(policy, retain=_retain(retained))
    auto = _switch(settings.get("auto", policy.auto), "auto")
    policy = replace(policy, auto=auto, titles=_switch(settings.get("titles", policy.titles), "titles"))
    if "minimum" in settings:
        policy = replace(policy, minimum=_whole(settings["minimum"], "minimum"))
    if "prompt" in settings:
        policy = replace(policy, prompt=str(settings["prompt"]))
    if "recall" in settings:
        policy = replace(policy, recall=recall_setting(settings["recall"]))
    return policy


def _move(marks: Marks, name: str, ratio: float) -> Marks:
    """Set one mark; an explicit soft mark below the default prepare mark takes prepare down with it."""
    match name:
        case "prepare":
            return replace(marks, prepare=ratio)
        case "soft":
            prepare = None if marks.prepare is None else min(marks.prepare, ratio)
            return replace(marks, prepare=prepare, soft=ratio)
        case _:
            return replace(marks, hard=ratio)


def _retain(value: object) -> Retain:
    if isinstance(value, float) and not value.is_integer():
        return KeepShare(fraction(value, "retained"))
    tokens = _whole(value, "retained")
    return KeepTokens(tokens) if tokens else KeepNothing()


def _whole(value: object, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadInput(name, f"expected a whole number of tokens, 0 or more, got {value!r}")
    return value


def _switch(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadInput(name, f"expected true or false, got {value!r}")
    return value


def budget_for(
    policy: Policy,
    card: ModelCard,
    *,
    overhead: Overhead | None = None,
    reply: int | None = None,
    habits: Habits | None = None,
    writer: Price | None = None,
) -> Budget:
    """Divide a model's window the way a policy wants it.

    `habits` are those of the conversation, and `writer` is what its summariser costs: by these and the prices on the
    card the soft mark may lie lower. Without habits it lies where the window wants it.
    """
    match policy.retain:
        case KeepTokens(tokens):
            retained: int | float = tokens
        case KeepShare(share):
            retained = share
        case KeepNothing():
            retained = 0
    budget = divide(
        card, marks=policy.marks, margin=policy.margin, overhead=overhead, reply=reply, retained=retained
    )
    prices = cache_prices(card, writer) if policy.follows_prices and habits is not None else None
    if prices is None or habits is None:
        return budget
    return by_price(budget, prices, habits, retained)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStreak:
    """The failures in a row of automatic compression on one conversation."""

    failures: int = 0
    model: str = ""
    tokens: int = 0
    """The size of the context when it last failed."""
    at: float = 0.0
    """When it last failed, on the caller's clock."""


CALM = FailureStreak()
"""No failures: the start, and the state after every success."""


def failed(
    trouble: FailureStreak, *, model: str, tokens: int, now: float, forced: bool = False
) -> FailureStreak:
    """Record a failure; one that a person forced changes nothing, and a cancelled run is not reported here."""
    if forced:
        return trouble
    failures = trouble.failures + 1 if trouble.model in ("", model) else 1
    return FailureStreak(failures=failures, model=model, tokens=tokens, at=now)


def blocked(
    tolerance: Tolerance, trouble: FailureStreak, *, model: str, tokens: int, now: float
) -> Why | None:
    """Tell why an automatic attempt must wait, or None if it may go ahead."""
    if trouble.failures == 0 or trouble.model != model:
        return None
    if tolerance.growth is not None and tokens > trouble.tokens * (1 + tolerance.growth):
        return None
    if tolerance.limit is not None and trouble.failures >= tolerance.limit:
        return "breaker"
    wait = min(MAX_BACKOFF, tolerance.backoff * 2 ** min(trouble.failures - 1, MOST_DOUBLINGS))
    return "backoff" if now < trouble.at + wait else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCompression:
    """What automatic compression did last, and in which user turn."""

    turn: str = ""
    progressed: bool = True


def compressed(turn: str, before: int, after: int) -> LastCompression:
    """Record an automatic compression of the turn that the user message `turn` opened."""
    return LastCompression(turn=turn, progressed=after <= before * (1 - PROGRESS))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionInputs:
    """What `decide` needs to know besides the count."""

    turn: str = ""
    model: str = ""
    now: float = 0.0
    trouble: FailureStreak = CALM
    pace: LastCompression = LastCompression()
    undone: bool = False
    """A person undid the last compression; that holds until the window demands another one."""
    growth: int | None = None
    """Tokens that the next request may add; None: unknown."""
    cold: bool = False
    """The provider's cache has forgotten the conversation: whatever is sent next is written anew."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Send as it is."""

    why: Why


@dataclass(frozen=True, slots=True)
class Prepare:
    """Send as it is, and start a compression in the background."""

    tokens: int
    mark: int


@dataclass(frozen=True, slots=True)
class Compress:
    """Compress before the next request (hard), between turns (soft), or because a person asked (manual)."""

    urgency: Urgency
    why: Why
    tokens: int
    mark: int
    small: bool = False
    """A person asked although the conversation is below the minimum: warn."""


@dataclass(frozen=True, slots=True)
class Shrink:
    """The context must get smaller now and no model may be asked."""

    why: Why
    tokens: int
    mark: int


Decision = Keep | Prepare | Compress | Shrink

HERE = DecisionInputs()


def decide(
    policy: Policy, budget: Budget, reading: Reading, situation: DecisionInputs = HERE, *, force: bool = False
) -> Decision:
    """Decide what happens before the next request."""
    tokens = reading.cautious
    small = reading.tokens - budget.overhead.total < policy.minimum
    if force:
        return Compress("manual", "asked", tokens, budget.trigger, small=small)
    hindrance = _hindrance(policy, tokens, situation)
    if tokens > budget.hard:
        if hindrance:
            return Shrink(hindrance, tokens, budget.hard)
        return Compress("hard", "mark", tokens, budget.hard)
    if not policy.auto:
        return Keep("auto_off")
    if situation.undone:
        return Keep("undone")
    if small:
        return Keep("too_small")
    if budget.soft is not None and tokens > budget.soft:
        return Keep(hindrance) if hindrance else Compress("soft", "mark", tokens, budget.soft)
    if (
        budget.prepare is not None
        and tokens > budget.prepare
        and _is_next_too_large(tokens, budget, situation)
    ):
        return Keep(hindrance) if hindrance else Prepare(tokens, budget.prepare)
    if situation.cold and policy.follows_prices and tokens > budget.middle and not hindrance:
        return Compress("soft", "cold", tokens, budget.middle)
    return Keep("fits")


def _is_next_too_large(tokens: int, budget: Budget, situation: DecisionInputs) -> bool:
    """Tell whether the next request may have to wait for a compression if none is begun now."""
    return situation.growth is None or tokens + situation.growth > budget.hard


def _hindrance(policy: Policy, tokens: int, situation: DecisionInputs) -> Why | None:
    pace = situation.pace
    if pace.turn and pace.turn == situation.turn and not pace.progressed:
        return "no_progress"
    return blocked(
        policy.tolerance, situation.trouble, model=situation.model, tokens=tokens, now=situation.now
    )


def retained_tokens(retain: Retain, history: int) -> int:
    """Turn a retention rule into a number for a history of that size (in the rule's own unit)."""
    match retain:
        case KeepTokens(tokens):
            return tokens
        case KeepShare(share):
            return math.floor(history * share)
        case KeepNothing():
            return 0
