"""Recall over HTTP: told while the turn runs, kept with the question, counted, and set like every setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx2
import pytest

from octavo.engine.engine import Engine
from octavo.store.ids import new_id
from tests.server.kit import Told, conversation, read_events

pytestmark = pytest.mark.anyio

BERTH = "The Aurelia always lies at berth 47, because her draught is 9 metres."
QUESTION = "Where does the Aurelia lie, and what is her draught?"
FILLER = "We went on about the usual things of the week, at some length and without a result. " * 3
SAID = (BERTH, *(f"Item {n}. {FILLER}" for n in range(12)))


async def compressed(client: httpx2.AsyncClient, engine: Engine) -> str:
    """Make a conversation whose snapshot says nothing of the berth; give its address."""
    place = await conversation(client, auto=False)
    for said in SAID:
        for role, content in (("user", said), ("assistant", "I see.")):
            added = await client.post(f"{place}/messages", json={"role": role, "content": content})
            assert added.status_code == 201, added.text
    await client.post(f"{place}/compressions", json={"keep": 0.1})
    id = place.rpartition("/")[2]
    serving = await (await engine.chat(id)).snapshots.serving()
    assert serving is not None
    mute = replace(serving, id=new_id(), kind="edited", summary="They talked.", extracts=())
    await engine.store.snapshots.add(id, mute)
    return place


async def ask(client: httpx2.AsyncClient, place: str, question: str = QUESTION) -> list[Told]:
    told = read_events((await client.post(f"{place}/turns", json={"content": question})).text)
    assert told[-1].data == {"status": "done"}, told[-2:]
    return told


async def read_question(client: httpx2.AsyncClient, place: str) -> dict[str, Any]:
    messages = (await client.get(f"{place}/messages")).json()["messages"]
    found: dict[str, Any] = next(one for one in reversed(messages) if one["role"] == "user")
    return found


async def test_what_was_recalled_is_told_before_it_is_sent_and_kept_with_the_question(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await compressed(client, engine)
    told = await ask(client, place)
    names = [event.name for event in told]
    assert names.index("stored") < names.index("recalled") < names.index("sending")
    recalled = told[names.index("recalled")].data
    question = await read_question(client, place)
    assert recalled["message"] == question["id"]
    assert recalled["passages"] == question["recalled"]
    first = (await client.get(f"{place}/messages")).json()["messages"][0]
    passage = next(one for one in question["recalled"] if BERTH in one["text"])
    assert (passage["source"], passage["depth"]) == (first["id"], first["depth"])
    assert (passage["channel"], passage["whole"]) == ("user", True)
    assert passage["day"] == first["created"][:10]
    alone = (await client.get(f"{place}/messages/{question['id']}")).json()
    assert alone["recalled"] == question["recalled"]
    usage = (await client.get(f"{place}/usage")).json()
    assert usage["recalled"] == recalled["tokens"] > 0
    assert told[names.index("sending")].data["usage"]["recalled"] == recalled["tokens"]


async def test_other_messages_have_nothing_recalled_and_thanks_recall_nothing(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await compressed(client, engine)
    told = await ask(client, place, "Thanks a lot!")
    assert "recalled" not in [event.name for event in told]
    messages = (await client.get(f"{place}/messages")).json()["messages"]
    assert [one["recalled"] for one in messages] == [[]] * len(messages)
    assert (await client.get(f"{place}/usage")).json()["recalled"] == 0


async def test_a_context_that_is_made_names_what_was_recalled_for_the_question(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await compressed(client, engine)
    await client.post(f"{place}/messages", json={"role": "user", "content": QUESTION})
    looked = (await client.get(f"{place}/context")).json()
    assert looked["recalled"] == []
    made = (await client.post(f"{place}/context", json={})).json()
    assert any(BERTH in one["text"] for one in made["recalled"])
    sent = str(made["messages"][-1]["content"])
    assert sent.index(BERTH) < sent.index(QUESTION)
    again = (await client.get(f"{place}/context")).json()
    assert (again["recalled"], again["messages"]) == (made["recalled"], made["messages"])


async def test_recall_is_set_like_every_setting_and_off_recalls_and_sends_nothing(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await compressed(client, engine)
    settings = (await client.get(f"{place}/settings")).json()
    assert (settings["own"].get("recall"), settings["inherited"]["recall"]) == (None, "auto")
    await ask(client, place)
    off = (await client.patch(f"{place}/settings", json={"recall": "off"})).json()
    assert (off["own"]["recall"], off["inherited"]["recall"]) == ("off", "auto")
    assert (await client.get(f"{place}/usage")).json()["recalled"] == 0
    assert "recalled" not in [event.name for event in await ask(client, place)]
    some = (await client.patch(f"{place}/settings", json={"recall": 300})).json()
    assert some["effective"]["recall"] == 300
    unset = (await client.patch(f"{place}/settings", json={"recall": None})).json()
    assert (unset["own"].get("recall"), unset["inherited"]["recall"]) == (None, "auto")
    preset = (await client.patch(f"{place}/settings", json={"policy": "onyx"})).json()
    assert preset["inherited"]["recall"] == "off"


async def test_a_model_is_offered_a_search_of_what_is_covered_if_that_is_set(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await compressed(client, engine)
    before = (await client.get(f"{place}/context")).json()
    assert before["tools"] == []
    settings = (await client.patch(f"{place}/settings", json={"recall_tool": True})).json()
    assert (settings["effective"]["recall_tool"], settings["inherited"]["recall_tool"]) == (True, False)
    for context in (await client.get(f"{place}/context"), await client.post(f"{place}/context", json={})):
        assert "octavo_recall" in str(context.json()["tools"])
    assert "answered" in [event.name for event in await ask(client, place)]


@pytest.mark.parametrize("wrong", ["much", "", -1, 1.5, True, 10**12, [400]], ids=str)
async def test_a_wrong_amount_to_recall_is_refused_with_all_that_would_be_right(
    client: httpx2.AsyncClient, wrong: object
) -> None:
    place = await conversation(client)
    refused = await client.patch(f"{place}/settings", json={"recall": wrong})
    assert refused.status_code == 422
    message = refused.json()["error"]["message"]
    assert message == "body.recall: expected auto, off or a number of tokens, at most 100,000,000"
    assert (await client.get(f"{place}/settings")).json()["own"] == {}
