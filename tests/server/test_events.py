"""A conversation's own stream: what happens in the background is announced, and every change, whoever makes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext

import httpx2
import pytest

from octavo.core.reply import Request
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.title import ASKED
from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.routes.turns import _watch
from octavo.store.values import Job
from tests.server.conftest import MODEL, WINDOW, MakeEngine
from tests.server.kit import client_of, conversation, listening, read_events, talk

pytestmark = pytest.mark.anyio

LONG = "The quick brown fox jumps over the lazy dog near port 8080. " * 12


class Watch:
    """A client that watches a conversation."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = asyncio.Event()

    @property
    def names(self) -> list[str]:
        return [event.name for event in read_events(self.text)]

    async def hears(self, name: str, times: int = 1) -> None:
        for _ in range(1_000):
            if self.names.count(name) >= times:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{name} was never told, only {self.names}")

    def changes(self, what: str) -> int:
        """Count how often it was told that something changed."""
        return sum(what in e.data["what"] for e in read_events(self.text) if e.name == "changed")

    async def hears_change(self, what: str, times: int = 1) -> None:
        for _ in range(1_000):
            if self.changes(what) >= times:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"no change of {what} was told, only {self.text[-2_000:]}")


@asynccontextmanager
async def watching(client: httpx2.AsyncClient, place: str) -> AsyncIterator[Watch]:
    watch = Watch()

    async def follow() -> None:
        async with client.stream("GET", f"{place}/events") as response:
            assert response.status_code == 200
            async for piece in response.aiter_text():
                watch.text += piece
        watch.ended.set()

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


async def test_who_wants_no_notifications_still_hears_what_keeps_a_page_true(engine: Engine) -> None:
    """Planted: compressions dropped where the setting says no; the page showed the old meter until its next turn."""
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client, notifications=False)
        async with watching(client, place) as watch:
            await talk(client, place, *([LONG] * 14))
            await watch.hears("compression_ended")
        assert "preparing" in watch.names


Step = Callable[[httpx2.AsyncClient, str], Awaitable[httpx2.Response]]


async def _compressed(client: httpx2.AsyncClient, place: str) -> tuple[str, list[str]]:
    """Give a conversation a snapshot; gives it, and the messages."""
    messages = [message["id"] for message in await talk(client, place, *([LONG] * 3))]
    await client.post(f"{place}/compressions", json={"keep": 0})
    return (await client.get(f"{place}/snapshots")).json()["serving"], messages


def _steps(snapshot: str, messages: list[str]) -> list[tuple[str, Step]]:
    """List what can be changed, and what is told then; the conversation is deleted last."""
    return [
        ("context", lambda c, p: c.post(f"{p}/snapshots/{snapshot}/undo")),
        ("context", lambda c, p: c.post(f"{p}/redo")),
        ("context", lambda c, p: c.put(f"{p}/snapshots/{snapshot}/summary", json={"summary": "Short."})),
        ("context", lambda c, p: c.post(f"{p}/pins", json={"message": messages[0]})),
        ("context", lambda c, p: c.delete(f"{p}/pins/{messages[0]}")),
        ("tip", lambda c, p: c.post(f"{p}/messages", json={"content": "Else.", "edits": messages[2]})),
        ("tip", lambda c, p: c.patch(p, json={"tip": messages[-1]})),
        ("context", lambda c, p: c.delete(f"{p}/messages/{messages[-1]}")),
        ("title", lambda c, p: c.patch(p, json={"title": "Renamed"})),
        ("archived", lambda c, p: c.patch(p, json={"archived": True})),
        ("settings", lambda c, p: c.patch(f"{p}/settings", json={"soft": 0.6})),
        ("settings", lambda c, _: c.patch("/api/v1/settings", json={"instructions": "Be exact."})),
        ("settings", lambda c, _: c.patch(f"/api/v1/settings/models/{MODEL}", json={"reply": 300})),
        ("deleted", lambda c, p: c.delete(p, params={"undo": 60})),
        ("deleted", lambda c, p: c.post(f"{p}/undelete")),
        ("deleted", lambda c, p: c.delete(p)),
    ]


@pytest.mark.parametrize("replicas", [1, 2])
async def test_every_change_is_told_whoever_makes_it(make_engine: MakeEngine, replicas: int) -> None:
    """Planted: settings left out of what is compared; a look without those that are gone; no look at all."""
    engines = [await make_engine() for _ in range(replicas)]
    app = create_app(engines[0])
    async with (
        listening(app) as here,
        listening(create_app(engines[-1])) if replicas == 2 else nullcontext(here) as there,
        httpx2.AsyncClient(base_url=here, timeout=60) as watcher,
        httpx2.AsyncClient(base_url=there, timeout=60) as worker,
    ):
        place = await conversation(worker)
        steps = _steps(*await _compressed(worker, place))
        async with watching(watcher, place) as watch:
            for number, (what, step) in enumerate(steps):
                seen = watch.changes(what)
                answer = await step(worker, place)
                assert answer.is_success, (number, answer.text)
                if replicas == 2:
                    # As its clock would: that takes two seconds each time.
                    app.state.octavo.feeds.nudge()
                await watch.hears_change(what, seen + 1)
            ends = [told.data["deleted"] for told in read_events(watch.text) if told.name == "changed"]
            assert ends[-3:] == [True, False, True]
            await watch.ended.wait()
        assert (await watcher.get(f"{place}/events")).status_code == 404


async def test_who_begins_to_watch_as_it_is_deleted_is_told_so(engine: Engine) -> None:
    """Planted: how it stands read without care; the stream broke off in its first event."""
    app_state = create_app(engine).state.octavo
    chat = await engine.create("Short-lived")
    stream = _watch(app_state, chat, 0)
    await engine.store.bin.delete(chat.id)
    (state,) = read_events((await anext(stream)).decode())
    assert (state.name, state.data["deleted"], state.data["tip"]) == ("state", True, None)
    await app_state.feeds.poll()
    (changed,) = read_events((await anext(stream)).decode())
    assert changed.data["what"] == ["deleted"]
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    await app_state.close()


async def test_nothing_is_told_where_nothing_changed(engine: Engine) -> None:
    app = create_app(engine)
    async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place, other = await conversation(client), await conversation(client)
        async with watching(client, place) as watch:
            await client.patch(other, json={"title": "Another"})
            for _ in range(3):
                await app.state.octavo.feeds.poll()
            await client.patch(place, json={"title": "Renamed"})
            await watch.hears("changed")
            assert watch.names == ["state", "changed"]


async def test_the_end_of_a_compression_that_nobody_told_is_told(engine: Engine) -> None:
    """Planted: ends told by outcomes alone; what was stopped, or whose worker died, was being prepared for ever."""
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        tip = (await talk(client, place, LONG))[-1]["id"]
        id = place.rpartition("/")[2]
        job = await engine.store.jobs.claim(id, anchor=tip, worker="dead", seen=None, lease=30)
        assert isinstance(job, Job)
        async with watching(client, place) as watch:
            assert read_events(watch.text)[0].data["jobs"] == [job.id]
            await engine.store.jobs.cancel(job.id)
            await watch.hears_change("jobs")
            assert read_events(watch.text)[-1].data["jobs"] == []


async def test_a_preparation_that_is_cancelled_is_told_to_be_over(make_engine: MakeEngine) -> None:
    asked = asyncio.Event()

    class Stuck:
        """A summariser that never ends by itself."""

        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    engine = await make_engine(summariser=Stuck())
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        async with watching(client, place) as watch:
            while not asked.is_set():
                await talk(client, place, LONG)
            await watch.hears("compression_started")
            preparing = engine.record(place.rpartition("/")[2]).task
            assert preparing
            preparing.cancel()
            await watch.hears("compression_ended")
        (ended,) = [event for event in read_events(watch.text) if event.name == "compression_ended"]
        assert ended.data["outcome"] == "cancelled"


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
            await app.state.octavo.feeds.poll()
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
            app.state.octavo.stop_accepting()
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
        closing = asyncio.create_task(app.state.octavo.close())
        await asyncio.sleep(0)
        hold.set()
        await closing
    assert [s.summary for s in await (await engine.chat(place.rpartition("/")[2])).snapshots.list()] != []


async def test_a_server_that_is_nudged_as_it_stops_stops(engine: Engine) -> None:
    """Python 3.11's `wait_for` forgets that it was cancelled if what it waits for comes in the same instant."""
    app_state = create_app(engine).state.octavo
    app_state.start()
    for _ in range(3):
        await asyncio.sleep(0)  # by now the loop that looks for news waits for some
    app_state.feeds.nudge()
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await app_state.close()


async def test_a_title_by_the_model_is_announced(make_engine: MakeEngine) -> None:
    def say(request: Request) -> str:
        return "A parrot" if request.messages[-1].text.endswith(ASKED) else "The parrot is called Kiki."

    engine = await make_engine(say)
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        asked = {"title": "What is the parrot called?", "provisional": True}
        made = (await client.post("/api/v1/conversations", json=asked)).json()
        place = f"/api/v1/conversations/{made['id']}"
        async with watching(client, place) as watch:
            await talk(client, place, "What is the parrot called?")
            await watch.hears_change("title")
        assert (await client.get(place)).json()["title"] == "A parrot"
