"""Meter, plan, context, compressions and snapshots over HTTP."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from octavo.core.reply import Request
from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.store.values import Job
from tests.server.conftest import MakeEngine
from tests.server.kit import client_of, conversation, read_events, talk

pytestmark = pytest.mark.anyio

FACTS = tuple(
    f"Service s{n} listens at port {8100 + n} and lives in src/service{n}.py. " * 3 for n in range(8)
)


SUMMARY = """## Context
The user describes services s0 to s7.
## Key Points
- Service s0 listens at port 8100 and service s7 at port 8107.
## Technical Details
src/service0.py
## Decisions and Outcomes
(none)
## Unresolved Questions
(none)"""


async def compressed(client: httpx2.AsyncClient, **order: object) -> tuple[str, dict[str, Any]]:
    """A conversation with a snapshot; gives its address and how the compression ended."""
    place = await conversation(client)
    await talk(client, place, *FACTS)
    told = read_events((await client.post(f"{place}/compressions", json=order)).text)
    assert [event.name for event in told] == ["compression_started", "compression_ended", "done"]
    return place, told[1].data


async def test_the_meter_adds_up_and_knows_an_empty_conversation(client: httpx2.AsyncClient) -> None:
    place = await conversation(client, system="Be brief.")
    empty = (await client.get(f"{place}/usage")).json()
    assert empty["reading"]["tokens"] > 0
    assert empty["level"] == "calm"
    await talk(client, place, *FACTS[:2])
    usage = (await client.get(f"{place}/usage")).json()
    reading, budget = usage["reading"], usage["budget"]
    assert sum(section["tokens"] for section in reading["breakdown"]) == reading["tokens"]
    assert {section["section"] for section in reading["breakdown"]} >= {"system", "retained"}
    assert budget["window"] == 4_096
    assert budget["limit"] == budget["window"] - budget["reply"] - budget["margin"]
    assert usage["next_at"] == budget["soft"]


async def test_the_meter_of_another_message_is_read_where_it_is_asked_for(client: httpx2.AsyncClient) -> None:
    place, other = await conversation(client), await conversation(client)
    await talk(client, place, *FACTS[:3])
    whole = (await client.get(f"{place}/usage")).json()["reading"]["tokens"]
    nodes = (await client.get(f"{place}/messages")).json()["messages"]
    earlier = (await client.get(f"{place}/usage", params={"tip": nodes[1]["id"]})).json()["reading"]["tokens"]
    assert 0 < earlier < whole
    context = (await client.get(f"{place}/context", params={"tip": nodes[1]["id"]})).json()
    assert context["usage"]["reading"]["tokens"] == earlier
    assert (await client.get(f"{other}/usage", params={"tip": nodes[1]["id"]})).status_code == 404
    assert (await client.get(f"{place}/usage", params={"tip": "nonsense"})).status_code == 422


async def test_a_plan_says_what_a_compression_then_does(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await talk(client, place, *FACTS)
    plan = (await client.get(f"{place}/plan", params={"keep": 0})).json()
    assert plan["covered"] == 16
    told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
    ended = next(event.data for event in told if event.name == "compression_ended")
    assert ended["outcome"] == "compressed"
    assert ended["messages"] == plan["covered"]
    assert ended["after"] <= plan["after_cap"]
    assert ended["before"] == plan["reading"]["tokens"]
    assert ended["saved"] == ended["before"] - ended["after"]


async def test_a_look_at_the_context_changes_nothing(client: httpx2.AsyncClient) -> None:
    place = await conversation(client, auto=False)
    for number in range(60):
        await client.post(f"{place}/messages", json={"content": f"Fact {number}: " + FACTS[0]})
    seen = (await client.get(f"{place}/context")).json()
    assert seen["fits"] is False
    assert len(seen["messages"]) == 60
    assert (await client.get(f"{place}/snapshots")).json()["snapshots"] == []
    ready = (await client.post(f"{place}/context", json={})).json()
    assert ready["fits"] is True
    assert len(ready["messages"]) < 60
    assert ready["usage"]["reading"]["tokens"] <= ready["usage"]["budget"]["hard"]
    assert (await client.get(f"{place}/context")).json()["messages"] == ready["messages"]


async def test_undo_sends_the_originals_again_and_redo_the_snapshot(client: httpx2.AsyncClient) -> None:
    place, ended = await compressed(client, keep=0)
    short = (await client.get(f"{place}/context")).json()
    assert short["snapshot"] == ended["snapshot"]["id"]
    undone = await client.post(f"{place}/undo")
    assert undone.json()["state"] == "undone"
    assert undone.json()["in_use"] is None
    assert len((await client.get(f"{place}/context")).json()["messages"]) == 16
    assert (await client.post(f"{place}/undo")).status_code == 409
    assert (await client.post(f"{place}/redo")).json()["state"] == "active"
    assert (await client.get(f"{place}/context")).json() == short
    assert (await client.post(f"{place}/redo")).status_code == 409
    by_id = f"{place}/snapshots/{ended['snapshot']['id']}"
    assert (await client.post(f"{by_id}/undo")).json()["state"] == "undone"
    chosen = (await client.post(f"{by_id}/use")).json()
    assert chosen["state"] == "active"
    assert chosen["in_use"]["id"] == chosen["id"]


async def test_a_summary_that_does_not_fit_is_refused_with_the_numbers(client: httpx2.AsyncClient) -> None:
    place, ended = await compressed(client, keep=0)
    by_id = f"{place}/snapshots/{ended['snapshot']['id']}"
    much = {"summary": "word " * 200_000}
    size = (await client.post(f"{by_id}/summary/size", json=much)).json()
    assert size["tokens"] > size["room"] > 0
    refused = await client.put(f"{by_id}/summary", json=much)
    assert refused.status_code == 422
    assert f"{size['room']:,} fit" in refused.json()["error"]["message"]


async def test_a_snapshot_is_changed_only_on_a_branch_that_holds_its_anchor(
    client: httpx2.AsyncClient,
) -> None:
    place, ended = await compressed(client, keep=0)
    by_id = f"{place}/snapshots/{ended['snapshot']['id']}"
    first = (await client.get(f"{place}/messages", params={"limit": 100})).json()["messages"][0]
    other = await client.post(f"{place}/messages", json={"content": "Elsewhere.", "parent": first["id"]})
    assert other.status_code == 201
    listed = (await client.get(f"{place}/snapshots")).json()
    assert (listed["snapshots"], listed["serving"]) == ([], None)
    assert listed["left_behind"]["id"] == ended["snapshot"]["id"]
    assert (await client.put(f"{by_id}/summary", json={"summary": "x"})).status_code == 409
    assert (await client.post(f"{by_id}/use")).status_code == 409
    assert (await client.post(f"{by_id}/regenerate", json={"stream": False})).status_code == 409


async def test_a_summary_is_edited_as_a_new_version_and_compared(client: httpx2.AsyncClient) -> None:
    place, ended = await compressed(client, keep=0)
    old = ended["snapshot"]["id"]
    new = await client.put(f"{place}/snapshots/{old}/summary", json={"summary": "All ports are above 8000."})
    assert new.status_code == 201
    assert (new.json()["version"], new.json()["kind"]) == (2, "edited")
    assert new.json()["tokens_after"] > ended["snapshot"]["tokens_after"]
    assert new.json()["receipt"] is False
    context = (await client.get(f"{place}/context")).json()
    assert "All ports are above 8000." in str(context["messages"])
    diff = (await client.get(f"{place}/snapshots/{old}/diff", params={"other": new.json()["id"]})).json()[
        "diff"
    ]
    assert "+All ports are above 8000." in diff
    listed = (await client.get(f"{place}/snapshots")).json()
    assert listed["serving"] == new.json()["id"]
    assert [s["version"] for s in listed["snapshots"]] == [1, 2]


async def test_a_snapshot_expands_to_its_originals_page_by_page(client: httpx2.AsyncClient) -> None:
    place, ended = await compressed(client, keep=0)
    at = f"{place}/snapshots/{ended['snapshot']['id']}/originals"
    newest = (await client.get(at, params={"limit": 10})).json()
    oldest = (await client.get(at, params={"limit": 10, "before": newest["before"]})).json()
    assert oldest["before"] is None
    texts = [m["text"] for m in oldest["messages"] + newest["messages"]]
    assert texts[::2] == list(FACTS)
    assert len(texts) == 16


async def test_under_the_requirements_a_person_compresses_everything(client: httpx2.AsyncClient) -> None:
    """FR-2.2.1; seen failing with: the newest 1,000 tokens left out."""
    place = await conversation(client)
    await client.patch(f"{place}/settings", json={"policy": "requirements"})
    await talk(client, place, *FACTS)
    plan = (await client.get(f"{place}/plan")).json()
    assert (plan["covered"], plan["retained"]) == (plan["messages"], 0)
    told = read_events((await client.post(f"{place}/compressions", json={})).text)
    (ended,) = [event.data for event in told if event.name == "compression_ended"]
    assert (ended["outcome"], ended["messages"]) == ("compressed", plan["messages"])


async def test_a_receipt_says_why_there_is_no_summary_and_names_nobody_for_it(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(lambda _: "I cannot help with that.", summariser="same")
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        await talk(client, place, *FACTS)
        told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
        (made,) = [event.data["snapshot"] for event in told if event.name == "compression_ended"]
        receipt = (await client.get(f"{place}/snapshots/{made['id']}/receipt")).json()
        assert (receipt["model"], receipt["price"]) == ("", None)
        assert receipt["no_summary"] == "the summary was refused by the model"


async def test_a_receipt_lists_what_was_kept_and_lost_and_a_lost_item_is_added_back(
    client: httpx2.AsyncClient,
) -> None:
    place = await conversation(client)
    long = " ".join(f"Host h{n} has the key K-{n * 7919 % 99991:05d}." for n in range(150))
    await talk(client, place, long, "What else?", "And now?")
    told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
    id = told[1].data["snapshot"]["id"]
    receipt = (await client.get(f"{place}/snapshots/{id}/receipt")).json()
    assert receipt["tokens_before"] > receipt["tokens_after"]
    lost = [fact for tally in receipt["facts"] for fact in tally["lost"]]
    assert lost
    for tally in receipt["facts"]:
        assert tally["lost_count"] >= len(tally["lost"])
    item = lost[0]["text"]
    assert item not in (await client.get(f"{place}/snapshots/{id}")).json()["text"]
    restored = await client.post(f"{place}/snapshots/{id}/restore", json={"item": item})
    assert restored.status_code == 201
    assert item in restored.json()["text"]
    assert (await client.get(f"{place}/snapshots")).json()["serving"] == restored.json()["id"]
    paper = (await client.get(f"{place}/snapshots/{restored.json()['id']}/receipt")).json()
    assert item not in [fact["text"] for tally in paper["facts"] for fact in tally["lost"]]
    assert item in [text for tally in paper["facts"] for text in tally["verbatim"]]
    assert sum(t["lost_count"] for t in paper["facts"]) < sum(t["lost_count"] for t in receipt["facts"])
    nothing = await client.post(f"{place}/snapshots/{id}/restore", json={"item": "never said"})
    assert nothing.status_code == 404


async def test_what_stands_is_listed_and_a_line_of_it_is_dropped(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await talk(client, place, "Never push to main. " + FACTS[0], "Call me Max. " + FACTS[1], *FACTS[2:])
    told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
    id = told[1].data["snapshot"]["id"]
    snapshot = (await client.get(f"{place}/snapshots/{id}")).json()
    standing = [line for line in snapshot["extracts"] if line["standing"]]
    assert [line["text"] for line in standing] == ["Never push to main.", "Call me Max."]
    paper = (await client.get(f"{place}/snapshots/{id}/receipt")).json()["standing"]
    assert [paper[f"{name}count"] for name in ("kept_", "", "lost_", "replaced_")] == [2, 2, 0, 0]
    assert [(line["text"], line["message"]) for line in reversed(paper["kept"])] == [
        (line["text"], line["message"]) for line in standing
    ]
    line = {"message": standing[0]["message"], "text": standing[0]["text"]}
    made = await client.post(f"{place}/snapshots/{id}/drop", json=line)
    assert made.status_code == 201
    assert (made.json()["version"], made.json()["kind"]) == (2, "edited")
    assert "Never push" not in made.json()["text"]
    assert (await client.get(f"{place}/snapshots")).json()["serving"] == made.json()["id"]
    assert (await client.post(f"{place}/snapshots/{made.json()['id']}/drop", json=line)).status_code == 404
    assert (await client.post(f"{place}/undo")).json()["in_use"]["id"] == id


async def test_a_summary_is_written_again_with_another_focus(make_engine: MakeEngine) -> None:
    asked: list[Request] = []

    def say(request: Request) -> str:
        asked.append(request)
        return SUMMARY if "summary" in request.messages[0].text else "Noted."

    app: FastAPI = create_app(await make_engine(say, summariser="same"))
    async with client_of(app) as client:
        place = await conversation(client)
        await talk(client, place, *FACTS)
        told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
        written = "".join(event.data["text"] for event in told if event.name == "summary_text")
        ended = next(event.data for event in told if event.name == "compression_ended")
        assert "service s7 at port 8107" in written
        assert ended["snapshot"]["model"]
        id = ended["snapshot"]["id"]
        again = await client.post(f"{place}/snapshots/{id}/regenerate", json={"focus": "file names"})
        new = next(e.data for e in read_events(again.text) if e.name == "compression_ended")["snapshot"]
        assert (new["kind"], new["version"], new["instructions"]) == ("regenerated", 2, "file names")
        assert any("file names" in m.text for m in asked[-1].messages)


async def test_compressing_nothing_says_so(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    assert (await client.post(f"{place}/compressions", json={})).status_code == 404
    await talk(client, place, "Only this?")
    told = read_events((await client.post(f"{place}/compressions", json={})).text)
    assert told[0].data["outcome"] == "skipped"
    assert told[0].data["reason"] == "nothing"


async def test_compressions_are_followed_like_turns(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await talk(client, place, *FACTS)
    task = (await client.post(f"{place}/compressions", json={"keep": 0, "stream": False})).json()
    told = read_events((await client.get(task["url"])).text)
    assert told[-1].data == {"status": "done"}
    assert (await client.get(f"{place}/compressions/{task['id']}")).json()["status"] == "done"
    assert [t["id"] for t in (await client.get(f"{place}/compressions")).json()["tasks"]] == [task["id"]]
    assert (await client.get(f"{place}/turns/{task['id']}")).status_code == 404
    assert (await client.delete(f"{place}/compressions/{task['id']}")).status_code == 204


async def test_compressions_are_listed_as_jobs_wherever_they_run_and_can_be_stopped(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place, ended = await compressed(client, keep=0)
    (job,) = (await client.get(f"{place}/jobs")).json()["jobs"]
    assert (job["status"], job["trigger"], job["attempt"]) == ("done", "manual", 1)
    assert job["snapshot"] == ended["snapshot"]["id"]
    chat = await engine.chat(place.rpartition("/")[2])
    tip = await chat._tip()
    assert tip
    held = await engine.store.jobs.claim(
        chat.id, anchor=tip, worker="elsewhere", seen=ended["snapshot"]["id"]
    )
    assert isinstance(held, Job)
    running = (await client.get(f"{place}/jobs", params={"limit": 1})).json()["jobs"][0]
    assert (running["id"], running["status"]) == (held.id, "running")
    assert (await client.delete(f"{place}/jobs/{held.id}")).status_code == 204
    assert await engine.store.jobs.renew(held) is False
    assert (await client.delete(f"{place}/jobs/{'0' * 32}")).status_code == 404
