"""Turns: told by events, resumed by event id, owned by the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request
from octavo.engine.engine import Engine
from octavo.errors import ProviderError
from octavo.providers.settings import WaitLimits
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings
from octavo.server.remote_cancel import STOP
from octavo.store.ids import new_id
from octavo.store.values import Entry
from tests.gateway.test_streams import openai_stream
from tests.providers.fake import Say, fake_service
from tests.server.conftest import MakeEngine
from tests.server.kit import accounts, client_of, conversation, listening, read_events, talk, until

pytestmark = pytest.mark.anyio


@dataclass
class SlowProvider:
    """Says one word each time it is let to."""

    rules: Rules = OPENAI
    name: str = "slow"
    steps: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    stopped: bool = False

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        said: list[str] = []
        try:
            while (word := await self.steps.get()) != "end":
                said.append(word)
                yield Delta(word)
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped = True
            raise
        yield Reply(message=assistant("".join(said)), model=request.model)

    async def close(self) -> None:
        """Nothing is held."""

    def let(self, *words: str) -> None:
        for word in words:
            self.steps.put_nowait(word)


async def finished(client: httpx2.AsyncClient, place: str, id: str) -> str:
    """Wait until a turn has ended; give how."""

    async def ended() -> bool:
        return str((await client.get(f"{place}/turns/{id}")).json()["status"]) != "running"

    await until(ended)
    return str((await client.get(f"{place}/turns/{id}")).json()["status"])


async def heard(client: httpx2.AsyncClient, place: str, id: str, events: int) -> None:
    """Wait until a turn has told that many events."""

    async def told() -> bool:
        count: int = (await client.get(f"{place}/turns/{id}")).json()["events"]
        return count >= events

    await until(told)


async def test_after_a_large_import_a_turn_announces_what_it_sends(client: httpx2.AsyncClient) -> None:
    said = [{"role": ("user", "assistant")[n % 2], "content": f"Yes, number {n}."} for n in range(5_000)]
    made = await client.post("/api/v1/import", content=json.dumps(said))
    place = f"/api/v1/conversations/{made.json()['conversations'][0]['id']}"
    before = (await client.get(f"{place}/usage")).json()
    told = read_events((await client.post(f"{place}/turns", json={"content": "Which port?"})).text)
    (sending,) = [event.data["usage"] for event in told if event.name == "sending"]
    assert before["percent"] > 1_000
    assert sending["percent"] <= 100
    assert sending["reading"]["tokens"] + sending["reading"]["error_bound"] <= sending["budget"]["hard"]
    assert told[-1].data["status"] == "done"


async def test_a_turn_tells_what_happens_and_ends_with_done(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    told = read_events((await client.post(f"{place}/turns", json={"content": "Which port?"})).text)
    assert [event.name for event in told if event.name != "text"] == ["stored", "sending", "answered", "done"]
    assert [event.id for event in told] == list(range(1, len(told) + 1))
    said = "".join(event.data["text"] for event in told if event.name == "text")
    answered = next(event.data for event in told if event.name == "answered")
    assert answered["message"]["text"] == said
    assert answered["reply"]["output_tokens"] > 0
    page = (await client.get(f"{place}/messages")).json()["messages"]
    assert [(m["role"], m["text"]) for m in page] == [("user", "Which port?"), ("assistant", said)]


async def test_a_turn_can_be_begun_without_following_it(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    begun = await client.post(f"{place}/turns", json={"content": "Hello?", "stream": False})
    assert begun.status_code == 202
    task = begun.json()
    assert await finished(client, place, task["id"]) == "done"
    told = read_events((await client.get(task["url"])).text)
    assert told[-1].name == "done"
    assert [t["id"] for t in (await client.get(f"{place}/turns")).json()["tasks"]] == [task["id"]]


async def test_the_answer_is_stored_under_the_id_of_the_turn(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    id = (await client.post(f"{place}/turns", json={"content": "Hello?", "stream": False})).json()["id"]
    await finished(client, place, id)
    message = (await client.get(f"{place}/messages/{id}")).json()
    assert message["role"] == "assistant"


async def test_a_lost_connection_is_resumed_by_event_id_and_nothing_is_missing_or_double(
    make_engine: MakeEngine,
) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        provider.let("one ", "two ")
        first = ""
        async with client.stream("POST", f"{place}/turns", json={"content": "Count."}) as response:
            async for piece in response.aiter_text():
                first += piece
                if "two " in first:
                    break
            id = response.headers["x-octavo-task"]
        provider.let("three ", "end")
        seen = read_events(first)
        again = await client.get(f"{place}/turns/{id}/events", headers={"Last-Event-ID": str(seen[-1].id)})
        whole = read_events((await client.get(f"{place}/turns/{id}/events?after=0")).text)
        assert seen + read_events(again.text) == whole
        assert "".join(e.data["text"] for e in whole if e.name == "text") == "one two three "


async def test_a_turn_goes_on_and_is_stored_when_its_client_goes_away(make_engine: MakeEngine) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        provider.let("one ")
        async with client.stream("POST", f"{place}/turns", json={"content": "Count."}) as response:
            id = response.headers["x-octavo-task"]
            async for piece in response.aiter_text():
                if "one " in piece:
                    break
        provider.let("two", "end")
        assert await finished(client, place, id) == "done"
        assert not provider.stopped
        assert (await client.get(f"{place}/messages/{id}")).json()["text"] == "one two"


async def test_several_can_follow_one_turn(make_engine: MakeEngine) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        task = (await client.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()
        followers = [asyncio.create_task(client.get(task["url"])) for _ in range(5)]
        await asyncio.sleep(0.05)
        provider.let("one ", "two", "end")
        texts = {(await follower).text for follower in followers}
        assert len(texts) == 1
        assert read_events(texts.pop())[-1].data == {"status": "done"}


async def test_a_cancelled_turn_keeps_what_was_said(make_engine: MakeEngine) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        task = (await client.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()
        provider.let("one ", "two ")
        await heard(client, place, task["id"], 4)
        assert (await client.delete(f"{place}/turns/{task['id']}")).status_code == 204
        assert await finished(client, place, task["id"]) == "cancelled"
        assert provider.stopped
        told = read_events((await client.get(task["url"])).text)
        assert [event.name for event in told[-2:]] == ["cancelled", "done"]
        kept = (await client.get(f"{place}/messages/{task['id']}")).json()
        assert (kept["text"], kept["status"]) == ("one two ", "aborted")


async def test_a_provider_that_fails_ends_the_turn_with_its_error(make_engine: MakeEngine) -> None:
    engine = await make_engine(lambda _: ProviderError("the service is down", retryable=True, status=500))
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        told = read_events((await client.post(f"{place}/turns", json={"content": "Hello?"})).text)
        assert told[-2].name == "failed"
        assert told[-2].data["message"] == "the service is down"
        assert told[-2].data["retryable"] is True
        assert told[-1].data == {"status": "failed"}


async def test_a_turn_that_cannot_fit_shows_the_sum(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    told = read_events((await client.post(f"{place}/turns", json={"content": "word " * 6_000})).text)
    assert told[-2].name == "failed"
    assert told[-2].data["type"] == "context_overflow"
    assert told[-2].data["numbers"]["needed"] > told[-2].data["numbers"]["limit"]


async def test_what_nobody_expected_ends_a_turn_without_a_stack_trace(make_engine: MakeEngine) -> None:
    engine = await make_engine(lambda _: RuntimeError("secret detail"))
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        text = (await client.post(f"{place}/turns", json={"content": "Hello?"})).text
        assert "secret detail" not in text
        assert "Traceback" not in text
        told = read_events(text)
        assert told[-2].data["type"] == "internal"
        assert told[-1].data == {"status": "failed"}


async def test_another_answer_is_a_sibling(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.post(f"{place}/turns", json={"content": "Hello?"})
    first = (await client.get(f"{place}/messages")).json()["messages"][-1]
    again = read_events((await client.post(f"{place}/turns", json={"regenerates": first["id"]})).text)
    second = next(event.data["message"] for event in again if event.name == "answered")
    assert second["parent"] == first["parent"]
    siblings = (await client.get(f"{place}/messages/{first['id']}/siblings")).json()["messages"]
    assert [m["id"] for m in siblings] == [first["id"], second["id"]]
    shown = (await client.get(f"{place}/messages")).json()["messages"][-1]
    assert (shown["id"], shown["sibling"], shown["siblings"]) == (second["id"], 2, 2)


async def test_an_edited_question_is_a_branch(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.post(f"{place}/turns", json={"content": "First?"})
    await client.post(f"{place}/turns", json={"content": "Second?"})
    second = (await client.get(f"{place}/messages")).json()["messages"][2]
    await client.post(f"{place}/turns", json={"content": "Another second?", "edits": second["id"]})
    shown = (await client.get(f"{place}/messages")).json()["messages"]
    assert [m["text"] for m in shown if m["role"] == "user"] == ["First?", "Another second?"]
    assert len((await client.get(f"{place}/branches")).json()["messages"]) == 2
    await client.patch(place, json={"tip": second["id"]})
    shown = (await client.get(f"{place}/messages")).json()["messages"]
    assert [m["text"] for m in shown if m["role"] == "user"] == ["First?", "Second?"]


async def test_tool_results_are_added_and_the_model_goes_on(make_engine: MakeEngine) -> None:
    seen: list[Request] = []

    def say(request: Request) -> str:
        seen.append(request)
        return "Done."

    engine = await make_engine(say)
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        await client.post(f"{place}/messages", json={"content": "What is the weather?"})
        call = {"type": "tool_call", "id": "c1", "name": "weather", "input": '{"city":"Oslo"}'}
        await client.post(f"{place}/messages", json={"content": [call], "role": "assistant"})
        result = {"type": "tool_result", "call_id": "c1", "content": [{"type": "text", "text": "Rain."}]}
        await client.post(f"{place}/messages", json={"content": [result], "role": "tool"})
        tool = {"name": "weather", "description": "Tells it.", "schema": {"type": "object"}}
        told = read_events((await client.post(f"{place}/turns", json={"tools": [tool]})).text)
        assert told[-1].data == {"status": "done"}
        assert [m.role for m in seen[0].messages] == ["user", "assistant", "tool"]
        assert [t.name for t in seen[0].tools] == ["weather"]


@pytest.mark.parametrize(
    "body",
    [
        {"regenerates": "0" * 32, "content": "x"},
        {},
        {"content": "x", "parent": "0" * 32},
        {"content": "x", "edits": "0" * 32},
    ],
    ids=["both", "empty conversation", "unknown parent", "unknown original"],
)
async def test_a_turn_that_makes_no_sense_is_refused_before_anything_is_stored(
    client: httpx2.AsyncClient, body: dict[str, object]
) -> None:
    place = await conversation(client)
    assert (await client.post(f"{place}/turns", json=body)).status_code in (404, 409)
    assert (await client.get(f"{place}/messages")).json()["messages"] == []


async def test_without_a_model_a_turn_is_refused_with_what_to_do(make_engine: MakeEngine) -> None:
    engine = await make_engine(model="", provider=None)
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        refused = await client.post(f"{place}/turns", json={"content": "Hello?"})
        assert refused.status_code == 409
        assert refused.json()["error"]["type"] == "unknown_model"


async def test_the_answer_of_another_replica_is_found_by_the_id_of_the_turn(
    postgres_url: str,
) -> None:
    provider = SlowProvider()
    here = await Engine.open(postgres_url, model="gpt-4o", provider=provider, summariser="none")
    there = await Engine.open(postgres_url, model="gpt-4o", provider=provider, summariser="none")
    try:
        async with client_of(create_app(here)) as one, client_of(create_app(there)) as other:
            place = await conversation(one)
            id = (await one.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()["id"]
            waiting = asyncio.create_task(other.get(f"{place}/turns/{id}/events?after=7"))
            await asyncio.sleep(0.05)
            provider.let("one", "end")
            told = read_events((await waiting).text)
            assert [event.name for event in told] == ["answered", "done"]
            assert told[0].data["message"]["text"] == "one"
            assert [event.id for event in told] == [8, 9]
    finally:
        await here.close()
        await there.close()


async def test_a_turn_nobody_knows_is_not_found(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    for path in (f"{place}/turns/{'0' * 32}", f"{place}/turns/{'0' * 32}/events"):
        assert (await client.get(path)).status_code == 404
    assert (await client.delete(f"{place}/turns/{'0' * 32}")).status_code == 404


async def test_a_turn_of_one_conversation_is_not_found_in_another(client: httpx2.AsyncClient) -> None:
    place, other = await conversation(client), await conversation(client)
    id = (await client.post(f"{place}/turns", json={"content": "Hello?", "stream": False})).json()["id"]
    await finished(client, place, id)
    assert (await client.get(f"{other}/turns/{id}/events")).status_code == 404


async def test_events_of_finished_turns_are_forgotten_after_a_while(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(limits=Limits(keep_seconds=0.01)))
    async with client_of(app) as client:
        place = await conversation(client)
        first = (await client.post(f"{place}/turns", json={"content": "One?", "stream": False})).json()["id"]
        await finished(client, place, first)
        await asyncio.sleep(0.05)
        await client.post(f"{place}/turns", json={"content": "Two?", "stream": False})
        assert (await client.get(f"{place}/turns/{first}")).status_code == 404
        told = read_events((await client.get(f"{place}/turns/{first}/events")).text)
        assert [event.name for event in told] == ["answered", "done"]


async def test_a_stopping_server_finishes_its_turns_and_takes_no_new_ones(make_engine: MakeEngine) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    app: FastAPI = create_app(engine)
    async with client_of(app) as client:
        place = await conversation(client)
        id = (await client.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()["id"]
        app.state.octavo.stop_accepting()
        assert (await client.post(f"{place}/turns", json={"content": "More?"})).status_code == 503
        assert (await client.get("/ready")).status_code == 503
        provider.let("one", "end")
        await app.state.octavo.close()
        assert (await engine.store.tree.node(id)).message.text == "one"


async def test_what_does_not_finish_in_time_is_stopped_and_kept_as_far_as_it_came(
    make_engine: MakeEngine,
) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    app = create_app(engine, ServerSettings(limits=Limits(grace_seconds=0.05)))
    async with client_of(app) as client:
        place = await conversation(client)
        id = (await client.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()["id"]
        provider.let("one ")
        await heard(client, place, id, 3)
        await app.state.octavo.close()
        node = await engine.store.tree.node(id)
        assert (node.message.text, node.status) == ("one ", "aborted")


async def test_a_turn_that_is_sent_again_under_its_id_goes_on_and_nothing_is_double(
    make_engine: MakeEngine,
) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    body = {"content": "Count.", "id": new_id()}
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        first = await client.post(f"{place}/turns", json={**body, "stream": False})
        again = await client.post(f"{place}/turns", json={**body, "stream": False})
        assert first.json()["id"] == again.json()["id"] == body["id"]
        provider.let("one", "end")
        whole = await client.post(f"{place}/turns", json=body)
        assert [e.name for e in read_events(whole.text)][-2:] == ["answered", "done"]
        shown = (await client.get(f"{place}/messages")).json()["messages"]
        assert [m["text"] for m in shown] == ["Count.", "one"]
        assert shown[1]["id"] == body["id"]
        other = await conversation(client)
        assert (await client.post(f"{other}/turns", json=body)).status_code == 409
    async with client_of(create_app(engine)) as elsewhere:
        later = await elsewhere.post(f"{place}/turns", json=body)
        assert [e.name for e in read_events(later.text)] == ["answered", "done"]
        done = await elsewhere.post(f"{place}/turns", json={**body, "stream": False})
        assert done.json()["status"] == "done"


async def test_whoever_reads_on_elsewhere_is_told_the_answer_from_its_beginning(engine: Engine) -> None:
    async with listening(create_app(engine)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        question = (await client.post(f"{place}/messages", json={"content": "Count."})).json()["id"]
        entry = Entry(message=assistant("one two"), id=new_id())
        begin = engine.store.answers.begin
        held = await begin(place.rpartition("/")[2], entry, parent=question, worker="another", lease=20)
        told = ""
        async with client.stream("GET", f"{place}/turns/{entry.id}/events?after=7") as response:
            async for piece in response.aiter_text():
                told += piece
                if "event: text\n" in told:
                    await engine.store.answers.finish(held, entry)
    events = read_events(told)
    assert [event.name for event in events] == ["text_restarted", "text", "answered", "done"]
    assert events[1].data["text"] == events[2].data["message"]["text"] == "one two"


async def test_a_turn_whose_process_died_is_begun_again_with_the_question_stored_once(
    make_engine: MakeEngine,
) -> None:
    provider = SlowProvider()
    engine = await make_engine(provider=provider)
    body = {"content": "Count.", "id": new_id()}
    app = create_app(engine)
    async with client_of(app) as client:
        place = await conversation(client)
        await client.post(f"{place}/turns", json={**body, "stream": False})
        await app.state.octavo.tasks.drop(place.rpartition("/")[2])
    provider.let("one", "end")
    async with client_of(create_app(engine)) as client:
        told = read_events((await client.post(f"{place}/turns", json=body)).text)
        assert told[-1].data == {"status": "done"}
        shown = (await client.get(f"{place}/messages")).json()["messages"]
        assert [m["text"] for m in shown] == ["Count.", "one"]


async def test_a_turn_of_another_replica_is_stopped_from_here(postgres_url: str) -> None:
    provider = SlowProvider()
    here = await Engine.open(postgres_url, model="gpt-4o", provider=provider, summariser="none")
    there = await Engine.open(postgres_url, model="gpt-4o", provider=provider, summariser="none")
    app = create_app(here)
    try:
        async with client_of(app) as one, client_of(create_app(there)) as other:
            place, elsewhere = await conversation(one), await conversation(one)
            id = (await one.post(f"{place}/turns", json={"content": "Count.", "stream": False})).json()["id"]
            provider.let("one ")
            await heard(one, place, id, 3)
            assert (await other.delete(f"{elsewhere}/turns/{id}")).status_code == 204
            await app.state.octavo.remote_cancel.poll()
            assert (await one.get(f"{place}/turns/{id}")).json()["status"] == "running"
            assert (await other.delete(f"{place}/turns/{id}")).status_code == 204
            await app.state.octavo.remote_cancel.poll()
            assert await finished(one, place, id) == "cancelled"
            assert (await other.get(f"{place}/messages/{id}")).json()["text"] == "one "
            assert (await other.delete(f"{place}/turns/{id}")).status_code == 404
            assert await here.store.notes.starting(STOP) == {}
            await here.store.notes.put(STOP + id, {"conversation": "x", "at": 0})
            await app.state.octavo.remote_cancel.remove_old()
            assert await here.store.notes.starting(STOP) == {}
    finally:
        await here.close()
        await there.close()


async def test_every_further_try_is_an_event(tmp_path: Path) -> None:
    """Through the provider's own library: the first two tries fail before anything was said."""
    down = Say(status=503, body={"error": {"message": "come back later"}})
    async with fake_service(down, down, Say(events=(openai_stream("Here I am.").decode(),))) as service:
        quick = WaitLimits(first_wait=0, longest_wait=0)
        settings = ServerSettings(
            db=str(tmp_path / "o.db"),
            model="gpt-4-0613",
            providers=replace(accounts(service.url), waits=quick),
        )
        app = create_app(settings)
        async with app.router.lifespan_context(app), client_of(app) as client:
            place = await conversation(client)
            told = read_events((await client.post(f"{place}/turns", json={"content": "Hi"})).text)
    again = [event.data for event in told if event.name == "retrying"]
    assert [(one["attempt"], one["attempts"]) for one in again] == [(2, 4), (3, 4)]
    assert "answered 503: come back later" in again[0]["reason"]
    assert told[-2].name == "answered"
    assert len(service.asked) == 3


async def test_an_answer_whose_question_was_deleted_is_not_made_again(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await talk(client, place, "The only question")
    question, answer = (await client.get(f"{place}/messages")).json()["messages"]
    assert (await client.delete(f"{place}/messages/{question['id']}")).status_code == 204
    refused = await client.post(f"{place}/turns", json={"regenerates": answer["id"]})
    assert refused.status_code == 409
    assert "was deleted; ask it again" in refused.json()["error"]["message"]
