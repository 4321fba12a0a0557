"""An answer is kept while it is written: what was on the screen when everything stopped is there afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, AnswerFailed, Event
from octavo.engine.turn import GO_ON
from octavo.errors import ProviderError, StoreError
from octavo.store.ids import new_id
from octavo.store.values import Entry
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Told:
    """A provider that says what it is told to, when it is told to.

    `end` ends the answer, an error breaks it, and `quit` ends it without a word.
    """

    rules: Rules = OPENAI
    name: str = "told"
    steps: asyncio.Queue[str | Exception] = field(default_factory=asyncio.Queue)
    requests: list[Request] = field(default_factory=list)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        said = ""
        while (word := await self.steps.get()) != "end":
            if isinstance(word, Exception):
                raise word
            if word == "quit":
                return
            said += word
            yield Delta(word)
        yield Reply(message=assistant(said), model=request.model)

    async def close(self) -> None:
        """Nothing is held."""

    def say(self, *words: str | Exception) -> None:
        for word in words:
            self.steps.put_nowait(word)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.engine.answer_draft.KEPT_EVERY", 0.01)


async def events(stream: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in stream]


async def stored(engine: Engine, chat: Chat, text: str) -> str:
    """Wait until so much of an answer is stored; give its node."""
    async with asyncio.timeout(60):
        while True:
            for job in await engine.store.answers.being_written(chat.id):
                if (await engine.store.tree.node(job.anchor)).message.text == text:
                    return job.anchor
            await asyncio.sleep(0.01)
    raise AssertionError


@pytest.mark.usefixtures("often")
async def test_an_answer_is_stored_as_it_comes_and_the_tip_moves_when_it_is_whole(
    make: MakeEngine, told: Told
) -> None:
    engine = await make(provider=told)
    chat = await engine.create()
    id = new_id()
    question = await chat.add("Count.")
    turn = asyncio.create_task(events(chat.answer(id=id)))
    told.say("One, ")
    assert await stored(engine, chat, "One, ") == id
    told.say("two, ")
    await stored(engine, chat, "One, two, ")
    assert await chat._tip() == question.id
    assert [node.message.text for node in await chat.branch()] == ["Count."]
    # Others may go on from the question meanwhile.
    assert (await chat.usage()).reading.tokens > 0
    told.say("three.", "end")
    last = (await turn)[-1]
    assert isinstance(last, Answered)
    assert (last.node.id, last.node.status) == (id, "complete")
    assert [node.message.text for node in await chat.branch()] == ["Count.", "One, two, three."]
    assert await engine.store.answers.being_written() == ()
    assert await engine.store.check() == ()
    # What is known of the tip is what is stored.
    assert (await chat._state()).context == (await (await (await make()).chat(chat.id))._state()).context


async def test_an_answer_that_is_there_at_once_costs_no_write_more(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(lambda _: "Fine.")
    chat = await engine.create()
    await events(chat.turn("Hello"))
    writes: list[int] = []
    database: Any = engine.store._database
    write = database.write

    async def counted(work: Any) -> Any:
        writes[-1] += 1
        return await write(work)

    monkeypatch.setattr(database, "write", counted)
    for seconds in (1.0, 3_600.0):
        monkeypatch.setattr("octavo.engine.answer_draft.KEPT_EVERY", seconds)
        writes.append(0)
        await events(chat.turn("Again"))
    assert writes[0] == writes[1] == 2


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("how", ["failed", "cancelled", "ended"])
async def test_an_answer_that_stops_keeps_what_was_said_in_its_place(
    make: MakeEngine, told: Told, how: str
) -> None:
    engine = await make(provider=told)
    chat = await engine.create()
    turn = asyncio.create_task(events(chat.turn("Count.")))
    told.say("One, ")
    node = await stored(engine, chat, "One, ")
    if how != "cancelled":
        told.say("two", ProviderError("the line broke") if how == "failed" else "quit")
        failed = (await turn)[-1]
        assert isinstance(failed, AnswerFailed)
        assert failed.node is not None
        assert failed.node.id == node
    else:
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
    last = (await chat.branch())[-1]
    assert (last.id, last.status) == (node, "aborted")
    assert last.message.text == ("One, " if how == "cancelled" else "One, two")
    assert await engine.store.answers.being_written() == ()
    assert await engine.store.check() == ()


async def broken_off(engine: Engine) -> tuple[Chat, str]:
    """A conversation whose last answer was being written when everything stopped."""
    chat = await engine.create()
    question = await chat.add("Count.")
    left = await engine.store.answers.begin(
        chat.id, Entry(message=assistant("One, two, ")), parent=question.id, worker="dead", lease=-1.0
    )
    return chat, left.anchor


async def test_what_a_dead_process_left_is_there_interrupted(make: MakeEngine) -> None:
    engine = await make()
    chat, node = await broken_off(engine)
    assert await engine.resume_abandoned() == 1
    last = (await chat.branch())[-1]
    assert (last.id, last.status, last.message.text) == (node, "aborted", "One, two, ")
    assert await engine.resume_abandoned() == 0


async def test_it_can_be_tried_again_or_gone_on_with(make: MakeEngine) -> None:
    asked: list[Request] = []

    def say(request: Request) -> str:
        asked.append(request)
        return "three."

    engine = await make(say)
    chat, node = await broken_off(engine)
    await engine.resume_abandoned()
    seen = await events(chat.answer())
    assert isinstance(seen[-1], Answered)
    assert seen[-1].node.parent == node
    assert [message.text for message in asked[-1].messages] == ["Count.", "One, two, ", GO_ON]
    # What the model was told is nobody's message.
    assert [one.message.text for one in await chat.branch()] == ["Count.", "One, two, ", "three."]
    await events(chat.turn("And then?"))
    assert GO_ON not in [message.text for message in asked[-1].messages]
    await events(chat.regenerate(node))
    assert [message.text for message in asked[-1].messages] == ["Count."]
    assert [one.message.text for one in await chat.branch()] == ["Count.", "three."]
    assert await engine.store.check() == ()


@pytest.mark.usefixtures("often")
async def test_a_writer_that_was_given_up_stores_its_answer_beside_what_was_closed(
    make: MakeEngine, told: Told
) -> None:
    """It had stood still for longer than its lease; nothing it says afterwards changes what others have seen."""
    engine, other = await make(provider=told), await make()
    chat = await engine.create()
    turn = asyncio.create_task(events(chat.turn("Count.")))
    told.say("One, ")
    node = await stored(engine, chat, "One, ")
    (job,) = await engine.store.answers.being_written()
    while not await other.store.answers.close():
        # As if it had been silent: nobody can wait for that in a test.
        await other.store.jobs.renew(job, lease=-60.0)
    told.say("two.", "end")
    last = (await turn)[-1]
    assert isinstance(last, Answered)
    assert last.node.id != node
    assert (await engine.store.tree.node(node)).message.text == "One, "
    assert [one.message.text for one in await chat.branch()] == ["Count.", "One, two."]
    assert await engine.store.check() == ()


@pytest.mark.usefixtures("often")
async def test_a_database_that_is_away_for_a_moment_does_not_break_an_answer(
    make: MakeEngine, told: Told, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make(provider=told)
    chat = await engine.create()
    tried: list[int] = []

    async def away(*_: object, **__: object) -> object:
        tried.append(1)
        raise StoreError("the database is away")

    turn = asyncio.create_task(events(chat.turn("Count.")))
    with monkeypatch.context() as patched:
        patched.setattr(engine.store.answers, "begin", away)
        told.say("One, ")
        while not tried:  # noqa: ASYNC110 - a call of somebody else's
            await asyncio.sleep(0.01)
    told.say("two.", "end")
    assert isinstance((await turn)[-1], Answered)
    assert "is not stored yet: the database is away" in caplog.text
    assert [one.message.text for one in await chat.branch()] == ["Count.", "One, two."]
