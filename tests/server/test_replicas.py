"""Several processes on one database: any of them may die at any moment, and nobody loses anything."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from octavo.core.context import coverage_problems
from octavo.core.protocol import OPENAI, check
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.server.maintenance import run_maintenance
from octavo.store.ids import new_id
from octavo.store.jobs import ENDED
from octavo.store.values import Job
from tests.server.conftest import MODEL, MakeEngine
from tests.server.fake import Provider, Reply
from tests.server.kit import listening, read_events, until

pytestmark = pytest.mark.anyio

CONVERSATIONS = int(os.environ.get("OCTAVO_TEST_CONVERSATIONS", "16"))
TURNS = int(os.environ.get("OCTAVO_TEST_TURNS", "10"))
"""Enough for a dozen compressions at the moment of death; the variables make it 200 times 30."""
WINDOW = 4_096
ROOT = Path(__file__).parents[2]


@dataclass
class Replica:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    url: str


@asynccontextmanager
async def replica(db: str, upstream: str, summariser: str = "none") -> AsyncIterator[Replica]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.server.replica",
        db,
        "0",
        upstream,
        summariser,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr
    line = (await process.stderr.readline()).decode()
    assert line.startswith("Octavo at "), line + (await process.stderr.read()).decode()
    drain = asyncio.create_task(process.stderr.read())
    try:
        yield Replica(process, line.split()[2])
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        await drain


@dataclass
class Fleet:
    """Replicas as a client behind a proxy sees them: one that died is not asked again."""

    replicas: list[Replica]
    chance: random.Random
    client: httpx2.AsyncClient
    turns: int = TURNS
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Messages that a client was told are stored, and their words."""

    busy: int = 0
    """Requests that a server put off."""

    def url(self) -> str:
        return self.chance.choice([r.url for r in self.replicas if r.process.returncode is None])

    async def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        while True:
            try:
                response = await self.client.request(method, self.url() + path, **options)
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
                continue
            if response.status_code == 503 and "retry-after" in response.headers:
                # A server with more to do than it can says so, and when to come back.
                self.busy += 1
                await asyncio.sleep(float(response.headers["retry-after"]))
                continue
            assert response.status_code < 500, response.text
            return response

    def note(self, text: str) -> None:
        """Note what an event stream acknowledged, as far as it came."""
        whole = text[: text.rfind("\n\n") + 2] if "\n\n" in text else ""
        for event in read_events(whole):
            if event.name in ("stored", "answered"):
                self.acknowledged[event.data["message"]["id"]] = event.data["message"]["text"]


async def talk_by_turns(fleet: Fleet, number: int) -> str:
    """A person at the API: a turn that breaks off is looked for, and answered again if need be."""
    made = await fleet.ask("POST", "/api/v1/conversations", json={"title": f"Turns {number}"})
    place = f"/api/v1/conversations/{made.json()['id']}"
    for turn in range(fleet.turns):
        body: dict[str, Any] = {"content": question(number, turn)}
        while (await last_role(fleet, place)) != "assistant" or body:
            if not body and await last_role(fleet, place) == "assistant":
                break
            text = ""
            try:
                async with fleet.client.stream("POST", f"{fleet.url()}{place}/turns", json=body) as response:
                    async for piece in response.aiter_text():
                        text += piece
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
            fleet.note(text)
            if "event: stored" in text or (await has_question(fleet, place, number, turn)):
                body = {}
    return place.rpartition("/")[2]


async def last_role(fleet: Fleet, place: str) -> str:
    page = (await fleet.ask("GET", f"{place}/messages?limit=1")).json()["messages"]
    return page[-1]["role"] if page and page[-1]["status"] == "complete" else ""


async def has_question(fleet: Fleet, place: str, number: int, turn: int) -> bool:
    page = (await fleet.ask("GET", f"{place}/messages?limit=3")).json()["messages"]
    return any(m["text"] == question(number, turn) for m in page)


def question(number: int, turn: int) -> str:
    return (
        f"Conversation {number}, question {turn}: is K{number:02d}{turn:02d} right? "
        + "Some more words. " * 40
    )


async def talk_through_gateway(fleet: Fleet, number: int) -> str:
    """A program at the gateway: it keeps its history and repeats what failed."""
    history: list[Any] = []
    conversation = ""
    for turn in range(fleet.turns):
        history.append({"role": "user", "content": question(number, turn)})
        answer = await fleet.ask("POST", "/v1/chat/completions", json={"model": MODEL, "messages": history})
        assert answer.status_code == 200, answer.text
        history.append({"role": "assistant", "content": answer.json()["choices"][0]["message"]["content"]})
        conversation = answer.headers["x-octavo-conversation"]
    fleet.acknowledged[f"history:{conversation}"] = json.dumps(history)
    return conversation


async def test_a_killed_process_loses_nothing_that_was_acknowledged(postgres_url: str) -> None:
    await survive(postgres_url, CONVERSATIONS, TURNS)


async def survive(postgres_url: str, count: int, turns: int) -> tuple[int, int]:
    """Talk to two processes, kill one in the middle, prove that nothing is lost; gives messages and snapshots."""
    provider = Provider(
        window=WINDOW,
        pause=0.002,
        say=lambda body: Reply(f"Answer {len(body['messages'])}. " + "Indeed. " * 30),
    )
    engine = await Engine.open(postgres_url, model=MODEL, summariser="none")
    await engine.models.learn_window(MODEL, WINDOW)
    async with (
        listening(provider.app) as upstream,
        replica(postgres_url, upstream) as one,
        replica(postgres_url, upstream) as other,
        httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=100)) as client,
    ):
        fleet = Fleet([one, other], random.Random(9), client, turns)
        ways = [talk_by_turns, talk_through_gateway]
        tasks = [asyncio.create_task(ways[n % 2](fleet, n)) for n in range(count)]

        async def half_way() -> bool:
            return len(provider.bodies) > count * turns * 0.4 or any(t.done() for t in tasks)

        await until(half_way, seconds=600)
        os.kill(one.process.pid, signal.SIGKILL)
        await one.process.wait()
        conversations = await asyncio.gather(*tasks)
    snapshots = await prove(engine, fleet, conversations)
    assert provider.refused == 0
    messages = sum([(await engine.store.conversations.get(id)).messages for id in conversations])
    await engine.close()
    return messages, snapshots


async def prove(engine: Engine, fleet: Fleet, conversations: list[str]) -> int:
    """Nothing acknowledged is lost, every context is valid, nothing was compressed twice."""
    store, snapshots = engine.store, 0
    assert await store.check() == ()
    for id, text in fleet.acknowledged.items():
        if id.startswith("history:"):
            conversation = await store.conversations.get(id.removeprefix("history:"))
            assert conversation.tip
            branch = await store.tree.branch(conversation.tip)
            said = [{"role": n.message.role, "content": n.message.text} for n in branch]
            assert said == json.loads(text)
        else:
            assert (await store.tree.node(id)).message.text == text
    for id in conversations:
        tip = (await store.conversations.get(id)).tip
        assert tip
        state = await Chat(engine, id)._state(tip)
        assert coverage_problems(await store.tree.branch(tip), state.context) == ()
        assert check(state.sent(state.context, OPENAI).messages, OPENAI) == ()
        made = await store.snapshots.of_conversation(id)
        assert len({snapshot.cutoff for snapshot in made}) == len(made), "a stretch was compressed twice"
        snapshots += len(made)
    assert snapshots > 0
    return snapshots


async def test_a_compression_whose_worker_died_is_taken_over(make_engine: MakeEngine) -> None:
    engine = await make_engine()
    chat = await engine.create()
    for number in range(16):
        await chat.add(f"Fact {number}: the port is {8000 + number}. " + "More words. " * 40)
        await chat.add(f"Noted, {8000 + number}.", role="assistant")
    tip = await chat._tip()
    assert tip
    dead = await engine.store.jobs.claim(chat.id, anchor=tip, worker="dead", seen=None, lease=-1)
    assert isinstance(dead, Job)
    task = asyncio.create_task(run_maintenance(engine, every=0.01))

    async def taken_over() -> bool:
        return bool(await chat.snapshots.list())

    await until(taken_over)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    closed = await engine.store.jobs.get(dead.id)
    assert (closed.status, closed.error) == ("failed", ENDED)
    assert not isinstance(await engine.store.jobs.finish(dead, (await chat.snapshots.list())[0]), type(None))
    assert len(await chat.snapshots.list()) == 1


async def test_an_answer_that_was_being_written_when_its_server_was_killed_is_kept(tmp_path: Path) -> None:
    """What was on the screen is there again, interrupted; it can be made anew, or gone on with."""
    provider = Provider(pause=0.05, say=lambda body: Reply(f"{len(body['messages'])}: " + "word " * 600))
    db = str(tmp_path / "o.db")
    async with listening(provider.app) as upstream, httpx2.AsyncClient(timeout=60) as client:
        async with replica(db, upstream) as one:
            made = (await client.post(f"{one.url}/api/v1/conversations", json={})).json()
            place = f"/api/v1/conversations/{made['id']}"
            id, seen = new_id(), ""
            body = {"content": "Talk.", "id": id}
            async with client.stream("POST", f"{one.url}{place}/turns", json=body) as response:
                async for piece in response.aiter_text():
                    seen += piece
                    if seen.count("event: text") > 60:
                        break
            one.process.kill()
            await one.process.wait()
        provider.pause = 0.0
        async with replica(db, upstream) as two:
            assert (await client.get(f"{two.url}{place}/jobs")).json() == {"jobs": []}
            told = read_events((await client.get(f"{two.url}{place}/turns/{id}/events")).text)
            ending, done = told[-2:]
            question, answer = (await client.get(f"{two.url}{place}/messages")).json()["messages"]
            assert (answer["id"], answer["status"]) == (id, "aborted")
            assert answer["text"].startswith("1: word word")
            # Whoever follows the turn notices that its writer is gone, unless the caretaker did first.
            if ending.name == "failed":
                assert (ending.data["type"], ending.data["retryable"]) == ("interrupted", True)
                assert ending.data["partial"]["text"] == answer["text"]
            else:
                assert (ending.data["message"]["text"], done.data["status"]) == (answer["text"], "cancelled")
            url = f"{two.url}{place}/turns"
            more = read_events((await client.post(url, json={"parent": id})).text)[-2].data["message"]
            assert (more["parent"], more["text"][:3]) == (id, "3: ")
            again = read_events((await client.post(url, json={"regenerates": id})).text)[-2].data["message"]
            assert (again["parent"], again["text"][:3]) == (question["id"], "1: ")
    async with await Engine.open(db) as engine:
        assert await engine.store.check() == ()


async def test_a_compression_whose_server_was_killed_says_so(tmp_path: Path) -> None:
    """Whoever followed it learns how it ended from the next server, and nothing seems to run that does not."""
    held = Provider(pause=3_600, say=lambda _: Reply("A summary that never comes to an end. " * 20))
    path = tmp_path / "o.db"
    async with listening(held.app) as upstream:
        async with replica(str(path), upstream, MODEL) as one, httpx2.AsyncClient(timeout=30) as client:
            made = (await client.post(f"{one.url}/api/v1/conversations", json={})).json()
            place = f"/api/v1/conversations/{made['id']}"
            for number in range(12):
                body = {"content": f"Fact {number}: the port is {8000 + number}. " + "More words. " * 30}
                assert (await client.post(f"{one.url}{place}/messages", json=body)).status_code == 201
            begun = await client.post(f"{one.url}{place}/compressions", json={"keep": 0, "stream": False})
            task = f"{place}/compressions/{begun.json()['id']}"

            async def asked() -> bool:
                return bool(held.bodies)

            await until(asked, seconds=60)
            os.kill(one.process.pid, signal.SIGKILL)
            await one.process.wait()
        # The next server may take its time to start.
        await asyncio.to_thread(move_leases, path, 25)
        async with (
            replica(str(path), upstream, MODEL) as one,
            httpx2.AsyncClient(base_url=one.url, timeout=60) as client,
        ):
            assert (await client.get(task)).json()["status"] == "running", "its lease has not run out"
            (job,) = (await client.get(f"{place}/jobs")).json()["jobs"]
            assert (job["status"], job["id"]) == ("running", begun.json()["id"])
            following = asyncio.create_task(client.get(f"{task}/events"))
            async with client.stream("GET", f"{place}/events") as watched:
                told = watched.aiter_lines()
                assert [job["id"]] == (await next_data(told))["jobs"]
                await asyncio.to_thread(move_leases, path, -90)
                changed = await next_data(told)
                assert ("jobs" in changed["what"], changed["jobs"]) == (True, [])
            ended, done = read_events((await following).text)
            assert (ended.name, ended.data["outcome"], ended.data["error"]) == (
                "compression_ended",
                "failed",
                ENDED,
            )
            assert done.data == {"status": "failed"}
            assert (await client.get(task)).json()["status"] == "failed"
            (job,) = (await client.get(f"{place}/jobs")).json()["jobs"]
            assert (job["status"], job["error"]) == ("failed", ENDED)
            missing = (await client.get(f"{place}/compressions/{'0' * 32}/events")).json()["error"]
            assert "there is no compression" in missing["message"]
            assert "deleted" not in missing["hint"]


async def next_data(lines: AsyncIterator[str]) -> dict[str, Any]:
    """Read on to the next event that has something to say."""
    async for line in lines:
        if line.startswith("data: "):
            found: dict[str, Any] = json.loads(line.removeprefix("data: "))
            return found
    raise AssertionError("the stream ended")


def move_leases(path: Path, seconds: int) -> None:
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        later = "UPDATE job SET lease_until = lease_until + ? WHERE status = 'running'"
        database.execute(later, [seconds * 1_000])


async def test_a_server_that_is_told_to_stop_finishes_first(tmp_path: Path) -> None:
    provider = Provider(pause=0.02, say=lambda _: Reply("word " * 60))
    async with listening(provider.app) as upstream, replica(str(tmp_path / "o.db"), upstream) as one:
        async with httpx2.AsyncClient(base_url=one.url, timeout=30) as client:
            place = (
                f"/api/v1/conversations/{(await client.post('/api/v1/conversations', json={})).json()['id']}"
            )
            body = {"model": MODEL, "messages": [{"role": "user", "content": "Talk."}], "stream": True}

            async def through() -> str:
                return (await client.post("/v1/chat/completions", json=body)).text

            async def turn() -> str:
                return (await client.post(f"{place}/turns", json={"content": "Talk."})).text

            running = [asyncio.create_task(through()), asyncio.create_task(turn())]

            async def begun() -> bool:
                return len(provider.bodies) == 2

            await until(begun)
            one.process.send_signal(signal.SIGTERM)
            passed, told = await asyncio.gather(*running)
        assert passed.rstrip().endswith("data: [DONE]")
        assert read_events(told)[-1].data == {"status": "done"}
        assert await one.process.wait() == 0
    engine = await Engine.open(tmp_path / "o.db")
    assert [c.messages for c in await engine.store.conversations.list()] == [2, 2]
    await engine.close()


async def test_a_port_that_is_taken_and_an_address_without_a_key_are_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    async with listening(Provider().app) as taken:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import sys; from octavo.server.config import ServerSettings; from octavo.server.run import serve\n"
            "from octavo.errors import UsageError\n"
            "for options in ({'port': int(sys.argv[2])}, {'host': '0.0.0.0', 'port': 0}):\n"
            "    try: serve(ServerSettings(db=sys.argv[1], **options))\n"
            "    except UsageError as error: print(error)\n",
            str(tmp_path / "o.db"),
            taken.rpartition(":")[2],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, _ = await process.communicate()
    first, second = said.decode().splitlines()
    assert "cannot listen" in first
    assert "there is no key" in second
