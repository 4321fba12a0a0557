"""A compression has one limit of time, whatever takes it: nobody waits for a summariser that never answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request
from octavo.core.summary import Narrative
from octavo.engine.chat import Chat
from octavo.engine.compression import FOR_LINES, NOT_WAITED_FOR, WAITED_FOR
from octavo.engine.outcome import (
    Answered,
    Cancelled,
    Compressed,
    CompressionEnded,
    Event,
    Failed,
    Outcome,
    Waiting,
)
from octavo.summarise.model import ModelSummariser
from tests.engine.conftest import METER, MODEL, MakeEngine

pytestmark = pytest.mark.anyio

LONG = "The quick brown fox jumps over the lazy dog near port 8080. " * 12
MOMENT = FOR_LINES + 0.3
"""Seconds, of which a summariser gets a few tenths."""


@dataclass(slots=True)
class Mute:
    """A summariser that never answers."""

    asked: int = 0
    stopped: int = 0

    async def summarise(self, job: object, tell: object) -> Narrative:  # noqa: ARG002
        self.asked += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped += 1
        return Narrative()


@dataclass(slots=True)
class Babbling:
    """A provider whose every answer is useless and takes a while: it is asked again and again."""

    rules: Rules = OPENAI
    name: str = "babbling"
    requests: list[Request] = field(default_factory=list)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        yield Delta("I am")
        await asyncio.sleep(0.2)
        yield Reply(message=assistant("<scratchpad>I am thinking</scratchpad>"))

    async def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both limits be a moment."""
    for place in ("compression.WAITED_FOR", "compression.NOT_WAITED_FOR", "turn.WAITED_FOR"):
        monkeypatch.setattr(f"octavo.engine.{place}", MOMENT)


async def events(stream: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in stream]


async def filled(chat: Chat, turns: int) -> None:
    for n in range(turns):
        await chat.add(f"Question {n}. {LONG}")
        await chat.add(f"Answer {n}: port {8000 + n}. {LONG}", role="assistant")


def outcomes(seen: list[Event]) -> list[Outcome]:
    return [event.outcome for event in seen if isinstance(event, CompressionEnded)]


def test_the_limits_are_these() -> None:
    assert (WAITED_FOR, NOT_WAITED_FOR) == (20, 300)


@pytest.mark.usefixtures("soon")
async def test_a_turn_goes_on_with_exact_lines_and_says_so(make: MakeEngine) -> None:
    mute = Mute()
    engine = await make(summariser=mute)
    chat = await engine.create()
    await chat.set(auto=False)
    await filled(chat, 12)
    seen = await events(chat.turn("And now?"))
    (outcome,) = outcomes(seen)
    assert isinstance(outcome, Compressed)
    assert [problem.flaw for problem in outcome.problems if problem.flaw != "over_mark"] == ["timeout"]
    assert outcome.snapshot.summary == ""
    assert outcome.snapshot.extracts
    assert isinstance(seen[-1], Answered)
    await asyncio.sleep(0)
    assert (mute.asked, mute.stopped) == (1, 1)


@pytest.mark.usefixtures("soon")
async def test_the_limit_is_for_all_tries_together(make: MakeEngine) -> None:
    babbling = Babbling()
    summariser = ModelSummariser(
        provider=babbling, model=MODEL, window=2_500, max_output=200, measure=METER.count_text, parallel=1
    )
    engine = await make(summariser=summariser)
    chat = await engine.create()
    await chat.set(auto=False)
    await filled(chat, 12)
    (outcome,) = outcomes(await events(chat.turn("And now?")))
    assert isinstance(outcome, Compressed)
    assert "timeout" in [problem.flaw for problem in outcome.problems]
    # Each takes 0.2 of the 0.3 seconds; a busy machine gets to none, and with a limit for each there would be many.
    assert len(babbling.requests) <= 2


@pytest.mark.usefixtures("soon")
async def test_in_the_background_nothing_is_changed_and_the_reason_is_kept(make: MakeEngine) -> None:
    heard: list[Event] = []
    mute = Mute()
    engine = await make(summariser=mute, listen=lambda _, event: heard.append(event))
    chat = await engine.create()
    await filled(chat, 6)
    await events(chat.turn(LONG))
    await chat.wait_until_idle()
    (outcome,) = outcomes(heard)
    assert isinstance(outcome, Failed)
    assert "seconds a compression may take" in outcome.error
    assert outcome.retryable
    assert await chat.snapshots.list() == ()
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert (job.status, job.error) == ("failed", outcome.error)


@pytest.mark.usefixtures("soon")
async def test_a_compression_that_was_asked_for_ends_with_exact_lines(make: MakeEngine) -> None:
    engine = await make(summariser=Mute())
    chat = await engine.create()
    await filled(chat, 4)
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    assert [problem.flaw for problem in outcome.problems] == ["timeout"]
    assert outcome.snapshot.extracts


@pytest.mark.usefixtures("soon")
async def test_a_turn_does_not_wait_for_ever_for_what_goes_on_in_the_background(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits its own twenty seconds, not the five minutes of the background."""
    monkeypatch.setattr("octavo.engine.compression.NOT_WAITED_FOR", 3_600.0)
    heard: list[Event] = []
    mute = Mute()
    engine = await make(summariser=mute, listen=lambda _, event: heard.append(event))
    chat = await engine.create()
    await filled(chat, 6)
    await events(chat.turn(LONG))
    assert engine.is_compressing(chat.id)
    seen = await events(chat.turn(LONG * 4))
    assert Waiting() in seen
    assert outcomes(heard) == [Cancelled()]
    (outcome,) = outcomes(seen)
    assert isinstance(outcome, Compressed)
    assert "timeout" in [problem.flaw for problem in outcome.problems]
    assert isinstance(seen[-1], Answered)
