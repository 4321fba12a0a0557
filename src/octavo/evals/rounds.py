"""Compressing again and again: a conversation grows message by message, and is compressed whenever it is too large.

A compressor is given its own last result and what came since, as a program without a store would do; or, where the
originals are kept, the whole conversation so far. A tool's exchange is never interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from octavo.core.messages import Message
from octavo.evals.compressor import CompressionJob, CompressionResult, Compressor, attempt
from octavo.evals.measure.score import Ruler, written
from octavo.evals.measure.survival import survivals
from octavo.evals.measure.texts import text_of

ROUNDS = 9
"""With a budget of a tenth and nine rounds, the context is compressed each time it has doubled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One compression on the way."""

    at: int
    """How many messages of the conversation there were."""
    context: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a conversation went."""

    made: CompressionResult
    rounds: tuple[Round, ...]
    tokens: tuple[int, ...]
    """The size of the context after each message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """What became of the facts of the first round."""

    shares: tuple[float, ...]
    """Share of them still there after each round."""
    survived: float
    """Rounds that such a fact lasts, on average."""


async def play(
    ruler: Ruler,
    compressor: Compressor,
    budget: int,
    rounds: int,
    *,
    originals: bool = False,
    thread: str = "",
) -> Course:
    """Let a conversation grow, and compress it about so many times."""
    growing = Growing(ruler, compressor, budget, originals=originals or compressor.remembers, thread=thread)
    room = max(1, budget - ruler.system_tokens)
    trigger = budget * (1 + max(0, ruler.tokens - room) / (rounds * room))
    for message in ruler.case.messages:
        growing.hear(message)
        if growing.tokens > trigger and growing.waiting <= 0:
            await growing.compress()
        growing.sizes.append(growing.tokens)
    if growing.tokens > budget:
        await growing.compress()
        growing.sizes.append(growing.tokens)
    made = CompressionResult(messages=tuple(growing.context), wrong=growing.wrong, price=growing.price)
    return Course(made=made, rounds=tuple(growing.rounds), tokens=tuple(growing.sizes))


class Growing:
    """A conversation on its way."""

    def __init__(
        self, ruler: Ruler, compressor: Compressor, budget: int, *, originals: bool, thread: str
    ) -> None:
        self._ruler, self._compressor, self._budget, self._originals = ruler, compressor, budget, originals
        self._thread = thread
        self._heard: list[Message] = []
        self.context: list[Message] = []
        self.tokens = 0
        self.waiting = 0
        """Calls without an answer."""
        self.rounds: list[Round] = []
        self.sizes: list[int] = []
        self.wrong: tuple[str, ...] = ()
        """Why the last round failed; a failure that a later round made good is none."""
        self.price = 0.0

    def hear(self, message: Message) -> None:
        """Add a message."""
        self._heard.append(message)
        self.context.append(message)
        self.tokens += self._ruler.count(message)
        self.waiting += len(message.calls) - len(message.results)

    async def compress(self) -> None:
        """Compress what there is; a compressor that fails leaves it as it was."""
        given = self._heard if self._originals else self.context
        job = CompressionJob(
            messages=tuple(given), budget=self._budget, pins=self._ruler.case.pins, thread=self._thread
        )
        made = await attempt(self._compressor, job)
        self.price += made.price
        self.wrong = made.wrong
        if not made.wrong:
            self.context = list(made.messages)
            self.tokens = sum(map(self._ruler.count, self.context))
        self.rounds.append(Round(at=len(self._heard), context=tuple(self.context)))


def lasting(ruler: Ruler, rounds: Sequence[Round]) -> Lasting | None:
    """Follow the facts that the first round was given; None if there are none."""
    if not rounds:
        return None
    newest = (rounds[0].at - len(ruler.system) - 1) / max(1, len(ruler.body) - 1)
    facts = [dated for dated in ruler.facts if dated.age <= newest]
    alive = [True] * len(facts)
    shares: list[float] = []
    lasted = [0] * len(facts)
    for one in rounds if facts else ():
        found = survivals(facts, text_of(written(ruler, one.context)))
        alive = [was and now.kept for was, now in zip(alive, found, strict=True)]
        lasted = [count + still for count, still in zip(lasted, alive, strict=True)]
        shares.append(sum(alive) / len(alive))
    return Lasting(shares=tuple(shares), survived=sum(lasted) / len(lasted)) if facts else None
