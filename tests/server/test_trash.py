"""Deleting with time to change one's mind: out of sight at once, gone when the time is over, back when asked."""

from __future__ import annotations

import httpx2
import pytest

from octavo.engine.engine import Engine
from octavo.errors import NotFound
from octavo.server.app import create_app
from octavo.server.trash import TRASH, Trash
from tests.server.kit import conversation, listening, talk, until

pytestmark = pytest.mark.anyio


async def titles(client: httpx2.AsyncClient, **wanted: object) -> list[str]:
    found = (await client.get("/api/v1/conversations", params={k: str(v) for k, v in wanted.items()})).json()
    return [one["id"] for one in found["conversations"]]


async def test_a_deleted_conversation_is_out_of_sight_and_comes_back_when_asked(
    client: httpx2.AsyncClient,
) -> None:
    place, kept = await conversation(client), await conversation(client)
    await talk(client, place, "The word is xylophone.")
    assert (await client.delete(place, params={"undo": 60})).status_code == 204
    for archived in ("false", "true"):
        assert place.rpartition("/")[2] not in await titles(client, archived=archived)
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"] == []
    assert "xylophone" not in (await client.get("/api/v1/export")).text
    waiting = {"deleted": True, "title": "TES"}
    assert await titles(client, **waiting) == [place.rpartition("/")[2]]
    assert (
        await titles(client, **waiting | {"offset": 1})
        == await titles(client, deleted=True, title="no")
        == []
    )
    back = await client.post(f"{place}/undelete")
    assert (back.status_code, back.json()["archived"]) == (200, False)
    assert set(await titles(client)) == {place.rpartition("/")[2], kept.rpartition("/")[2]}
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"] != []
    assert (await client.post(f"{place}/undelete")).status_code == 409


async def test_an_archived_conversation_comes_back_archived(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.patch(place, json={"archived": True})
    for _ in range(2):
        await client.delete(place, params={"undo": 60})
    assert (await client.post(f"{place}/undelete")).json()["archived"] is True


async def test_when_the_time_is_over_everything_is_gone(engine: Engine) -> None:
    now = [1_000.0]
    trash = Trash(engine.store, clock=lambda: now[0])
    chat = await engine.create("Old")
    await chat.add("Hello.")
    await trash.put(chat.id, 10)
    assert await trash.empty() == []
    now[0] = 1_011
    assert await trash.empty() == [chat.id]
    with pytest.raises(NotFound):
        await chat.info()
    assert await engine.store.notes(TRASH) == {}
    assert await trash.empty() == []


async def test_what_somebody_goes_on_with_is_not_deleted(engine: Engine) -> None:
    now = [1_000.0]
    trash = Trash(engine.store, clock=lambda: now[0])
    chat = await engine.create("Old")
    await chat.add("Hello.")
    await trash.put(chat.id, 10)
    await chat.add("I am still here.")
    now[0] = 1_011
    assert await trash.empty() == []
    assert (await chat.info()).archived is False
    assert await trash.ids() == frozenset()


async def test_what_another_replica_has_deleted_already_is_no_trouble(engine: Engine) -> None:
    trash = Trash(engine.store, clock=lambda: 0.0)
    chat = await engine.create("Old")
    await trash.put(chat.id, -1)
    await engine.store.delete_conversation(chat.id)
    assert await trash.empty() == [chat.id]
    await engine.store.set_note(TRASH + "0" * 32, "nonsense")
    assert await trash.empty() == ["0" * 32]


async def test_deleting_for_good_leaves_no_note_behind(client: httpx2.AsyncClient, engine: Engine) -> None:
    place = await conversation(client)
    await client.delete(place, params={"undo": 60})
    assert (await client.delete(place)).status_code == 204
    assert await engine.store.notes(TRASH) == {}
    assert (await client.post(f"{place}/undelete")).status_code == 404


async def test_a_running_server_deletes_what_is_due(engine: Engine) -> None:
    chat = await engine.create("Old")
    await Trash(engine.store, clock=lambda: 0.0).put(chat.id, 1)
    async with listening(create_app(engine)):

        async def gone() -> bool:
            return not await engine.store.conversations(archived=None)

        await until(gone)
