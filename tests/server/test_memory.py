"""What a server keeps of what it has done: little, and no more after many turns than after a few."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx2
import pytest

from octavo.core.messages import assistant
from octavo.core.reply import Reply
from octavo.engine import engine as engine_module
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Event, Waiting
from octavo.engine.state_cache import TipStateCache
from octavo.server import tasks as tasks_module
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings
from octavo.server.tasks import Tasks
from octavo.testing import ScriptedProvider
from tests.server.conftest import MakeEngine
from tests.server.kit import client_of, conversation, talk

pytestmark = pytest.mark.anyio

FEW = 2
"""Conversations that are remembered in these tests, so that a few more show whether they are forgotten."""
TURNS, MORE = 6, 12
PYTHONS_OWN = {"ReferenceType", "builtin_function_or_method"}
"""A connection of `sqlite3` keeps references to its last 200 cursors, and abstract classes to the types they met."""


async def chat_for_a_while(
    client: httpx2.AsyncClient, engine: Engine, conversations: int, provider: ScriptedProvider | None = None
) -> Counter[str]:
    """Have conversations that are compressed in the end; count the objects that are there afterwards, by type."""
    for _ in range(conversations):
        place = await conversation(client)
        await talk(client, place, *(f"{n}: which port? " + "Some words more. " * 20 for n in range(TURNS)))
        assert (await client.post(f"{place}/compressions", json={"keep": 0})).status_code == 200
        # What was compressed is indexed behind it; what that holds meanwhile is not left of anything.
        await engine.wait_until_idle(place.rpartition("/")[2])
    if provider is not None:
        provider.requests.clear()
    gc.collect()
    return Counter(type(one).__qualname__ for one in gc.get_objects())


async def test_nothing_is_left_of_turns_that_are_over(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing with tasks that are never forgotten, and with a state for every conversation there ever was."""
    monkeypatch.setattr(engine_module, "REMEMBERED", FEW)
    # Bills would teach the meter, which remembers a few.
    provider = ScriptedProvider(lambda _: Reply(message=assistant("It is 8080.")))
    engine = await make_engine(provider=provider)
    engine.states = TipStateCache(engine.store, engine.models, FEW)
    app = create_app(engine, ServerSettings(limits=Limits(keep_seconds=0)))
    async with client_of(app) as client:
        counts = [await chat_for_a_while(client, engine, few, provider) for few in (4, MORE, MORE, MORE)]
    # What is at work while objects are counted comes and goes; what is left grows every time.
    grown = set.intersection(
        *(
            {name for name, count in (after - before).items() if count >= MORE}
            for before, after in pairwise(counts)
        )
    )
    assert grown <= PYTHONS_OWN, "something is left of every conversation"


async def test_what_is_kept_for_those_who_lost_their_connection_has_a_limit(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks_module, "KEPT_BYTES", 10_000)
    engine = await make_engine()
    app = create_app(engine, ServerSettings())
    async with client_of(app) as client:
        await chat_for_a_while(client, engine, 3)
        kept = app.state.octavo.tasks.kept
    assert 0 < len(kept) < 3 * TURNS
    assert sum(work.feed.size for work in kept[:-1]) <= 10_000


async def test_a_task_that_has_just_ended_is_not_forgotten() -> None:
    """Its last event is told a moment before it is over; another one that begins in between must not remove it."""
    tasks = Tasks(keep=60, clock=lambda: 1_000.0)

    async def nothing() -> AsyncIterator[Event]:
        yield Waiting()

    first = tasks.start("1" * 32, "turn", "c", nothing(), lambda *_: None)
    first.finish("done")
    tasks.start("2" * 32, "turn", "c", nothing(), lambda *_: None)
    assert tasks.find(first.id, "turn", "c") is first
    await asyncio.gather(*(work.task for work in tasks.kept if work.task))


async def test_a_conversation_that_is_being_compressed_is_remembered(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "REMEMBERED", FEW)
    engine = await make_engine()
    chat: Chat = await engine.create()
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    task = engine.record(chat.id).task = asyncio.create_task(wait())
    for number in range(5):
        engine.record(str(number))
    assert engine.is_compressing(chat.id)
    assert engine.record(chat.id).task is task
    gate.set()
    await task
    for number in range(5):
        engine.record(str(number))
    assert not engine.is_compressing(chat.id)
    assert engine.record(chat.id).task is None
