"""What providers bill moves the count, and never takes a conversation away from its owner."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.messages import Message, assistant, user
from octavo.core.policy import FailureStreak
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.answer_notes import read_answer_notes
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import (
    Answered,
    Compressed,
    CompressionEnded,
    ContextShrunk,
    Event,
    Rejected,
    Sending,
    Skipped,
)
from octavo.errors import WindowExceeded
from octavo.store.values import Entry
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MODEL, MakeEngine, billed

WINDOW = 3_000


class Upstream:
    """A provider that refuses what does not fit its window, and bills as it pleases."""

    def __init__(self, bill: Callable[[Request], int], window: int = WINDOW) -> None:
        self._bill, self._window = bill, window
        self.accepted: list[Request] = []
        self.refused: list[int] = []

    def __call__(self, request: Request) -> Reply | WindowExceeded:
        size = billed(request)
        if size + (request.max_output or 0) > self._window:
            self.refused.append(size)
            return WindowExceeded(
                f"{size} tokens are more than {self._window}", window=self._window, status=400
            )
        self.accepted.append(request)
        usage = Usage(input=self._bill(request), output=2)
        return Reply(message=assistant("Fine."), usage=usage, model=request.model)


def dearer(per_message: int) -> Callable[[Request], int]:
    """Bill some more tokens for each message than a local count has."""
    return lambda request: billed(request) + per_message * len(request.messages)


def chatter(count: int, text: str = "Short words") -> list[Message]:
    return [(user if n % 2 == 0 else assistant)(f"{text} {n}.") for n in range(count)]


async def take_in(chat: Chat, engine: Engine, said: Sequence[Message]) -> None:
    """Add a whole history, the way an import does."""
    await engine.store.messages.append_many(chat.id, [Entry(message=message) for message in said])


async def events(chat: Chat, text: str) -> list[Event]:
    return [event async for event in chat.turn(text)]


@pytest.mark.anyio
async def test_what_messages_cost_beyond_their_count_is_no_system_prompt(make: MakeEngine) -> None:
    """Twelve thousand short messages at two tokens more each: 24,000 tokens that go with the messages."""
    upstream = Upstream(dearer(2))
    engine = await make(window=WINDOW, provider=ScriptedProvider(upstream))
    chat = await engine.create()
    for number in range(5):
        await events(chat, f"Question {number}")
    await take_in(chat, engine, chatter(12_000))
    usage = await chat.usage()
    smallest = min(dearer(2)(request) for request in upstream.accepted)
    assert usage.budget.overhead.total <= smallest
    assert isinstance(await chat.compress(), Compressed)
    seen = await events(chat, "And now?")
    assert isinstance(seen[-1], Answered)
    assert not any(isinstance(event, ContextShrunk) for event in seen)
    assert upstream.refused == []


BILLS = st.one_of(
    st.integers(-10, 3 * WINDOW),
    st.integers(0, 50),
    st.just(1),
    st.integers(WINDOW - 400, WINDOW),
    st.integers(10**6, 10**12),
)


SHORT = "And now? "
A_LINE = 100
"""Tokens of a snapshot: less than that may not hold a line beside its frame."""
LIVES = st.fixed_dictionaries(
    {
        "bills": st.lists(BILLS, min_size=1, max_size=8),
        "words": st.integers(1, 400),
        "share": st.floats(0.5, 4.0),
        "texts": st.sampled_from([("", SHORT), ("", SHORT * 450), ("Rule. " * 600, SHORT)]),
    }
)


def test_whatever_is_billed_a_conversation_is_compressed_and_answered() -> None:
    """All that is asked is that the last turn fits.

    Seen failing with: no budget by the count alone where bills leave no room; no shrinking by it; bills that are
    believed after a request that they called small was refused.
    """
    upstreams: dict[str, Upstream] = {}
    provider = ScriptedProvider(lambda request: upstreams[request.model](request))
    with asyncio.Runner() as runner:
        engine = runner.run(Engine.open("sqlite://", provider=provider, summariser="none"))

        @settings(max_examples=60, deadline=None)
        @given(life=LIVES)
        def survives(life: dict[str, Any]) -> None:
            # What was billed for one model says nothing about another, so the database can serve all lives.
            model, told = f"{MODEL}-life{len(upstreams)}", itertools.cycle(life["bills"])
            upstreams[model] = Upstream(lambda _: next(told))
            runner.run(_survive(engine, model, life))

        try:
            survives()
        finally:
            runner.run(engine.close())


async def _survive(engine: Engine, model: str, life: dict[str, Any]) -> None:
    words, (system, question) = life["words"], life["texts"]
    await engine.models.learn_window(model, WINDOW)
    chat = await engine.create(model=model, system=system)
    count = max(2, int(life["share"] * WINDOW / (words + 6)) // 2 * 2)
    said = chatter(count, "word " * words)
    for number in range(6):
        await answered(chat, f"Question {number}")
    await take_in(chat, engine, said)
    await chat.usage()
    for _ in range(2):
        await answered(chat, question)
    await take_in(chat, engine, said)
    outcome = await chat.compress(keep=0)
    budget = (await chat.usage()).budget
    match outcome:
        case Compressed():
            pass
        case Skipped():
            # Bills may leave so little room that not one line fits into a snapshot: then none is stored.
            assert (outcome.reason, budget.snapshot < A_LINE) == ("too_small", True), outcome
        case Rejected():
            # By absurd bills the conversation may cost less than what it is compressed to: then it need not be.
            assert {problem.flaw for problem in outcome.problems} == {"not_smaller"}, outcome
            assert outcome.before <= budget.hard, outcome
        case _:
            raise AssertionError(outcome)
    await answered(chat, "And then?")


async def answered(chat: Chat, text: str) -> None:
    seen = await events(chat, text)
    assert isinstance(seen[-1], Answered), seen[-1]
    await chat.wait_until_idle()


POLICIES = ("octavo", "onyx", "wave", "requirements", "gemini")


@pytest.mark.anyio
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("count", "words"), [(4_000, 2), (300, 60), (12, 1_500)])
async def test_the_first_turn_after_a_large_import_sends_what_fits_and_says_so(
    make: MakeEngine, policy: str, count: int, words: int
) -> None:
    """What is retained is no more than can be sent, so nothing that could be compressed is left out."""
    upstream = Upstream(billed, window=8_192)
    engine = await make(window=8_192, provider=ScriptedProvider(upstream))
    chat = await engine.create(policy=policy)
    await take_in(chat, engine, chatter(count, "word " * words))
    seen = await events(chat, "And now?")
    assert isinstance(seen[-1], Answered)
    (sending,) = [event for event in seen if isinstance(event, Sending)]
    (sent,) = upstream.accepted
    assert upstream.refused == []
    assert sending.usage.reading.tokens == billed(sent)
    assert sending.usage.reading.cautious <= sending.usage.budget.hard
    assert sending.usage.percent <= 100
    assert not any(isinstance(event, ContextShrunk) for event in seen)
    ended = [event.outcome for event in seen if isinstance(event, CompressionEnded)]
    assert [type(outcome) for outcome in ended] == [Compressed]
    if words < 100 and policy != "wave":
        retained = dict(sending.usage.reading.breakdown)["retained"]
        assert 0.6 * sending.usage.budget.retained < retained


@pytest.mark.anyio
async def test_a_context_that_was_shortened_is_announced_as_it_is_sent(make: MakeEngine) -> None:
    """Compressing has failed too often, so no model is asked."""
    upstream = Upstream(billed)
    engine = await make(window=WINDOW, provider=ScriptedProvider(upstream))
    chat = await engine.create()
    await take_in(chat, engine, [*chatter(400), user("And now?")])
    engine.record(chat.id).trouble = FailureStreak(failures=3, model=MODEL, tokens=10**6, at=engine.clock())
    assert (await chat.usage()).percent > 100
    seen = [event async for event in chat.answer()]
    (shrunk,) = [event for event in seen if isinstance(event, ContextShrunk)]
    (sending,) = [event for event in seen if isinstance(event, Sending)]
    assert shrunk.after == sending.usage.reading.tokens == billed(upstream.accepted[0])
    assert sending.usage.percent <= 100 < 100 * sending.usage.budget.used(shrunk.before)
    assert upstream.refused == []
    told = await read_answer_notes(engine.store, [one.id for one in await chat.branch()])
    assert [notes.left_out for notes in told.values()] == [shrunk.notes]


@pytest.mark.anyio
@pytest.mark.parametrize("keep", [0.9, 50_000])
async def test_no_more_is_kept_verbatim_than_can_be_sent(make: MakeEngine, keep: float) -> None:
    """However much a person wants to keep."""
    engine = await make(window=8_192)
    chat = await engine.create()
    await take_in(chat, engine, chatter(400, "word " * 60))
    plan = await chat.plan(keep=keep)
    outcome = await chat.compress(keep=keep)
    assert isinstance(outcome, Compressed)
    assert outcome.after <= (await chat.usage()).budget.hard
    assert 0.6 * plan.budget.available < plan.retained_tokens
    assert plan.after_cap <= plan.budget.hard
