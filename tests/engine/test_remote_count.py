"""Providers' own counts: what is hidden is known before the first bill, and nothing ever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request, Usage
from octavo.core.tools import Tool
from octavo.engine import remote_count
from octavo.engine.chat import Chat
from octavo.engine.outcome import Answered, AnswerText, Event, MessageStored, Sending
from octavo.errors import ProviderError, UsageError
from tests.engine.conftest import METER, MODEL, MakeEngine, billed

pytestmark = pytest.mark.anyio

TOOL = Tool(name="look_up", description="Looks a word up.", schema='{"type":"object","properties":{}}')
HIDDEN = 300
"""Tokens of a prompt for tools that the provider adds unseen."""
SYSTEM = "You are brief. " * 20


def price(request: Request) -> int:
    return billed(request) + METER.count_tools(request.tools) + HIDDEN


def opened() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class Odd:
    """A provider that adds a prompt of its own, and counts when it is asked."""

    counts: int | Exception | None = None
    """What it says, or raises; None: the truth."""
    offered: bool = True
    name: str = "odd"
    rules: Rules = OPENAI
    may_answer: asyncio.Event = field(default_factory=opened)
    may_count: asyncio.Event = field(default_factory=opened)
    streaming: asyncio.Event = field(default_factory=asyncio.Event)
    counted: list[Request] = field(default_factory=list)
    given_up: int = 0

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.streaming.set()
        await self.may_answer.wait()
        yield Delta("Fine.")
        usage = Usage(input=price(request), output=METER.count_text("Fine."))
        yield Reply(message=assistant("Fine."), usage=usage, model=request.model)

    async def count_request(self, request: Request) -> int | None:
        self.counted.append(request)
        try:
            await self.may_count.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if isinstance(self.counts, Exception):
            raise self.counts
        return (self.counts or price(request)) if self.offered else None

    async def close(self) -> None:
        """Nothing is held."""


async def said(chat: Chat, text: str = "Hello there.") -> list[Event]:
    return [event async for event in chat.turn(text, tools=[TOOL])]


async def test_what_is_hidden_is_known_before_the_first_bill(make: MakeEngine) -> None:
    odd = Odd(may_answer=asyncio.Event())
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    turn = asyncio.create_task(said(chat))
    await odd.streaming.wait()
    await engine.counts.settled()
    reading = (await chat.usage(tools=[TOOL])).reading
    assert (reading.tokens, reading.error_bound) == (price(odd.counted[0]), 0)
    assert not turn.done()
    odd.may_answer.set()
    last = (await turn)[-1]
    assert isinstance(last, Answered)
    assert last.reply.usage.input == reading.tokens


async def test_each_system_prompt_is_asked_for_once(make: MakeEngine) -> None:
    odd = Odd()
    engine = await make(provider=odd)
    for _ in range(2):
        chat = await engine.create(system=SYSTEM)
        await said(chat)
        await said(chat, "And again.")
    await engine.counts.settled()
    assert len(odd.counted) == 1
    await said(await engine.create(system="Another one."))
    await engine.counts.settled()
    assert [request.messages[0].text for request in odd.counted] == [SYSTEM, "Another one."]
    assert [request.tools for request in odd.counted] == [(TOOL,)] * 2


async def test_two_conversations_that_begin_alike_at_the_same_time_are_counted_once(make: MakeEngine) -> None:
    odd = Odd(may_answer=asyncio.Event(), may_count=asyncio.Event())
    engine = await make(provider=odd)
    turns = []
    for _ in range(2):
        odd.streaming.clear()
        turns.append(asyncio.create_task(said(await engine.create(system=SYSTEM))))
        await odd.streaming.wait()
    odd.may_count.set()
    await engine.counts.settled()
    assert len(odd.counted) == 1
    odd.may_answer.set()
    await asyncio.gather(*turns)


async def test_what_was_counted_before_a_restart_is_not_asked_again(make: MakeEngine) -> None:
    before, after = Odd(), Odd()
    engine = await make(provider=before)
    await said(await engine.create(system=SYSTEM))
    await engine.close()
    again = await make(provider=after)
    await said(await again.create(system=SYSTEM))
    assert (len(before.counted), len(after.counted)) == (1, 0)


FAILURES = {
    "has no such thing": (ProviderError("odd answered 404: no such thing", status=404), True),
    "is broken": (ProviderError("odd answered 500: broken", status=500, retryable=True), True),
    "is not ours": (TypeError("a provider of somebody's own"), True),
    "offers none": (None, False),
}


@pytest.mark.parametrize("why", FAILURES)
async def test_a_count_that_fails_changes_nothing(
    make: MakeEngine, caplog: pytest.LogCaptureFixture, why: str
) -> None:
    error, offered = FAILURES[why]
    odd = Odd(counts=error, offered=offered, may_answer=asyncio.Event())
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    before = (await engine.models.meter(MODEL)).calibration
    turn = asyncio.create_task(said(chat))
    await odd.streaming.wait()
    await engine.counts.settled()
    assert len(odd.counted) == 1
    assert (await engine.models.meter(MODEL)).calibration == before
    odd.may_answer.set()
    assert [type(event) for event in await turn] == [MessageStored, Sending, AnswerText, Answered]
    told = [record for record in caplog.records if "did not count" in record.message]
    assert len(told) == (1 if error else 0)


async def test_a_service_that_does_not_count_at_all_is_asked_once_and_one_that_stumbles_again(
    make: MakeEngine,
) -> None:
    for error, times in [
        (ProviderError("404", status=404), 1),
        (ProviderError("503", status=503, retryable=True), 2),
        (TypeError("a provider of somebody's own"), 1),
        (None, 1),
    ]:
        odd = Odd(counts=error, offered=error is not None)
        engine = await make(provider=odd)
        for prompt in (f"First {error}.", f"Second {error}."):
            await said(await engine.create(system=prompt))
            await engine.counts.settled()
        assert len(odd.counted) == times


async def test_no_turn_waits_for_a_count_and_closing_gives_it_up(make: MakeEngine) -> None:
    odd = Odd(may_count=asyncio.Event())
    engine = await make(provider=odd)
    for number in range(remote_count.AT_ONCE + 2):
        seen = await said(await engine.create(system=f"Prompt {number}."))
        assert isinstance(seen[-1], Answered)
    assert len(odd.counted) == remote_count.AT_ONCE
    assert odd.given_up == 0
    await engine.close()
    assert odd.given_up == remote_count.AT_ONCE


async def test_a_count_that_comes_after_the_bill_is_too_late(make: MakeEngine) -> None:
    odd = Odd(counts=600, may_count=asyncio.Event())
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    await said(chat)
    before = (await chat.usage(tools=[TOOL])).reading
    odd.may_count.set()
    await engine.counts.settled()
    assert len(odd.counted) == 1
    assert (await chat.usage(tools=[TOOL])).reading == before


async def test_a_count_that_takes_too_long_is_given_up(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(remote_count, "LIMIT", 0.0)
    odd = Odd(may_count=asyncio.Event())
    engine = await make(provider=odd)
    await said(await engine.create(system=SYSTEM))
    await engine.counts.settled()
    assert odd.given_up == 1
    assert "did not count within" in caplog.text


async def test_a_program_that_sends_the_context_itself_has_it_counted_too(make: MakeEngine) -> None:
    odd = Odd()
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    await chat.add("Hello there.")
    guessed = (await chat.context(tools=[TOOL])).usage.reading.tokens
    await engine.counts.settled()
    known = (await chat.context(tools=[TOOL])).usage.reading
    assert (known.tokens, known.error_bound) == (price(odd.counted[0]), 0)
    assert known.tokens - guessed > HIDDEN / 2


async def test_a_person_may_ask_for_the_count(make: MakeEngine) -> None:
    odd = Odd()
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    await chat.add("Hello there.")
    counted = await chat.count(tools=[TOOL])
    assert counted.tokens == price(odd.counted[0])
    assert counted.expected.tokens < counted.tokens
    assert (await chat.usage(tools=[TOOL])).reading.tokens == counted.tokens
    odd.counts = ProviderError("odd answered 500: broken", status=500, retryable=True)
    with pytest.raises(ProviderError, match="broken"):
        await chat.count()
    plain = await make()
    with pytest.raises(UsageError, match="scripted offers no count of its own"):
        await (await plain.chat(chat.id)).count()


async def test_of_few_system_prompts_it_is_remembered_that_they_were_asked_for(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_count, "REMEMBERED", 2)
    odd = Odd(counts=ProviderError("503", status=503, retryable=True))
    engine = await make(provider=odd)
    for prompt in ("First.", "Second.", "First.", "Third.", "First."):
        chat = await engine.create(system=prompt)
        await chat.add("Hello there.")
        engine.models.provider(MODEL)
        await chat.context()
        await engine.counts.settled()
    assert [request.messages[0].text for request in odd.counted] == ["First.", "Second.", "Third.", "First."]


async def test_a_provider_that_was_not_needed_yet_is_not_opened_to_count(make: MakeEngine) -> None:
    odd = Odd()
    engine = await make(provider=odd)
    chat = await engine.create(system=SYSTEM)
    await chat.add("Hello there.")
    state = await chat._state()
    engine.models.opened.clear()
    engine.counts.begin(state, state.context.messages)
    await engine.counts.settled()
    assert (odd.counted, engine.models.opened) == ([], {})


async def test_what_gives_up_counting_waits_for_all_of_it(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_count, "LIMIT", 3_600.0)
    odd = Odd(may_count=asyncio.Event())
    engine = await make(provider=odd)
    for number in range(2):
        await said(await engine.create(system=f"Prompt {number}."))
    async with asyncio.timeout(10):
        await engine.counts.close()
    assert odd.given_up == 2
    await engine.counts.settled()
