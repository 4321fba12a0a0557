"""A conversation's own stream: what happens in the background is announced, unless nobody wants to know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.engine import Engine
from octavo.server.app import create_app
from tests.server.conftest import MODEL, WINDOW, MakeEngine
from tests.server.kit import client_of, conversation, listening, read_events, talk

pytestmark = pytest.mark.anyio

LONG = "The quick brown fox jumps over the lazy dog near port 8080. " * 12


class Watch:
    """A client that watches a conversation."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def names(self) -> list[str]:
        return [event.name for event in read_events(self.text)]

    async def hears(self, name: str, times: int = 1) -> None:
        for _ in range(1_000):
            if self.names.count(name) >= times:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{name} was never told, only {self.names}")


@asynccontextmanager
async def watching(client: httpx2.AsyncClient, place: str) -> AsyncIterator[Watch]:
    watch = Watch()

    async def follow() -> None:
        async with client.stream("GET", f"{place}/events") as response:
            assert response.status_code == 200
            async for piece in response.aiter_text():
                watch.text += piece

    task = asyncio.create_task(follow())
    await watch.hears("state")
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_an_automatic_compression_is_announced_with_its_numbers(engine: Engine) -> None:
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        async with watching(client, place) as watch:
            await talk(client, place, *([LONG] * 14))
            await watch.hears("compression_ended")
        told = {event.name: event.data for event in read_events(watch.text)}
        assert {"preparing", "compression_started", "turn_started", "turn_ended"} <= set(told)
        ended = told["compression_ended"]
        assert ended["outcome"] == "compressed"
        assert ended["before"] > ended["after"]
        assert ended["messages"] > 0
        assert (await client.get(f"{place}/snapshots/{ended['snapshot']['id']}")).status_code == 200


async def test_notifications_can_be_switched_off(engine: Engine) -> None:
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client, notifications=False)
        async with watching(client, place) as watch:
            await talk(client, place, *([LONG] * 14))
            assert (await client.get(f"{place}/snapshots")).json()["snapshots"]
            await client.post(f"{place}/turns", json={"content": "The last one."})
        assert set(watch.names) == {"state", "turn_started", "turn_ended"}


async def test_what_another_replica_compresses_is_announced_here(make_engine: MakeEngine) -> None:
    here, there = await make_engine(), await make_engine()
    await there.models.learn_window(MODEL, WINDOW)
    async with (
        listening(create_app(here)) as one,
        listening(create_app(there)) as other,
        httpx2.AsyncClient(base_url=one, timeout=60) as watcher,
        httpx2.AsyncClient(base_url=other, timeout=60) as worker,
    ):
        place = await conversation(worker)
        await talk(worker, place, *([LONG] * 3))
        async with watching(watcher, place) as watch:
            await worker.post(f"{place}/compressions", json={"keep": 0})
            await watch.hears("compression_ended")
            assert watch.names.count("compression_ended") == 1
            ended = next(e.data for e in read_events(watch.text) if e.name == "compression_ended")
            assert ended["saved"] == ended["before"] - ended["after"] > 0
            edited = f"{place}/snapshots/{ended['snapshot']['id']}/summary"
            await worker.put(edited, json={"summary": "All in a sentence."})
            await watch.hears("compression_ended", 2)
            ends = [e.data for e in read_events(watch.text) if e.name == "compression_ended"]
            assert [end["urgency"] for end in ends] == ["manual", "manual"]


async def test_what_happened_before_somebody_watches_is_no_news(engine: Engine) -> None:
    app = create_app(engine)
    async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        await talk(client, place, *([LONG] * 3))
        await client.post(f"{place}/compressions", json={"keep": 0})
        async with watching(client, place) as watch:
            await app.state.hub.channels.look()
            serving = (await client.get(f"{place}/snapshots")).json()["serving"]
            (state,) = read_events(watch.text)
            assert state.data["snapshot"] == serving


async def test_a_stopping_server_lets_its_watchers_go(engine: Engine) -> None:
    app = create_app(engine)
    async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        async with client.stream("GET", f"{place}/events") as response:
            pieces = response.aiter_text()
            await anext(pieces)
            app.state.hub.stop_accepting()
            rest = [piece async for piece in pieces]
        assert rest == []


async def test_a_stopping_server_lets_a_compression_in_the_background_finish(make_engine: MakeEngine) -> None:
    hold, asked = asyncio.Event(), asyncio.Event()

    class Slow:
        """A summariser that waits to be let go."""

        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
            assert job.covered
            asked.set()
            await hold.wait()
            tell("The fox")
            return Narrative(text="The fox jumps near port 8080.", model="slow")

    engine = await make_engine(summariser=Slow())
    app = create_app(engine)
    async with client_of(app) as client:
        place = await conversation(client)
        for _ in range(20):
            await talk(client, place, LONG)
            if asked.is_set():
                break
        closing = asyncio.create_task(app.state.hub.close())
        await asyncio.sleep(0)
        hold.set()
        await closing
    assert [s.summary for s in await (await engine.chat(place.rpartition("/")[2])).snapshots()] != []
