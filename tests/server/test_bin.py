"""Deleting with time to change one's mind: out of sight at once, gone when the time is over, back when asked."""

from __future__ import annotations

import httpx2
import pytest
import sqlalchemy as sa

from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.store.connection import Connection
from octavo.store.schema import conversation as table
from tests.server.kit import conversation, listening, talk, until

pytestmark = pytest.mark.anyio


async def ids(client: httpx2.AsyncClient, **wanted: object) -> list[str]:
    found = (await client.get("/api/v1/conversations", params={k: str(v) for k, v in wanted.items()})).json()
    return [one["id"] for one in found["conversations"]]


async def test_a_deleted_conversation_is_out_of_sight_and_comes_back_when_asked(
    client: httpx2.AsyncClient,
) -> None:
    place, kept = await conversation(client), await conversation(client)
    await talk(client, place, "The word is xylophone.")
    assert (await client.delete(place, params={"undo": 60})).status_code == 204
    for archived in ("false", "true"):
        assert place.rpartition("/")[2] not in await ids(client, archived=archived)
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"] == []
    assert "xylophone" not in (await client.get("/api/v1/export")).text
    waiting = {"deleted": True, "title": "TES"}
    assert await ids(client, **waiting) == [place.rpartition("/")[2]]
    assert await ids(client, **waiting | {"offset": 1}) == await ids(client, deleted=True, title="no") == []
    assert (await client.get(place)).json()["deleted"] is True
    back = await client.post(f"{place}/undelete")
    assert (back.status_code, back.json()["archived"], back.json()["deleted"]) == (200, False, False)
    assert set(await ids(client)) == {place.rpartition("/")[2], kept.rpartition("/")[2]}
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"] != []
    assert (await client.post(f"{place}/undelete")).status_code == 409


async def test_pages_of_hits_and_conversations_are_full(client: httpx2.AsyncClient) -> None:
    places = [await conversation(client) for _ in range(6)]
    for place in places:
        await client.post(f"{place}/messages", json={"content": "The word is xylophone."})
        await client.patch(place, json={"archived": True})
    for place in places[3:]:
        await client.delete(place, params={"undo": 60})
    wanted = [place.rpartition("/")[2] for place in places[2::-1]]
    hits = (await client.get("/api/v1/search", params={"q": "xylophone", "limit": 3})).json()["hits"]
    assert [hit["conversation"] for hit in hits] == wanted
    page = (
        await client.get("/api/v1/conversations", params={"archived": "true", "limit": 2, "offset": 0})
    ).json()
    assert ([one["id"] for one in page["conversations"]], page["more"]) == (wanted[:2], True)


async def test_an_archived_conversation_comes_back_archived(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.patch(place, json={"archived": True})
    for _ in range(2):
        await client.delete(place, params={"undo": 60})
    assert (await client.post(f"{place}/undelete")).json()["archived"] is True


async def test_the_undo_of_an_archiving_brings_nothing_deleted_back(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.patch(place, json={"archived": True})
    await client.delete(place, params={"undo": 60})
    undone = (await client.patch(place, json={"archived": False})).json()
    assert (undone["archived"], undone["deleted"]) == (False, True)
    assert await ids(client) == await ids(client, archived="true") == []
    assert (await client.post(f"{place}/undelete")).json()["archived"] is False
    assert await ids(client) == [place.rpartition("/")[2]]


async def test_what_somebody_goes_on_with_comes_back(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.delete(place, params={"undo": 60})
    await client.post(f"{place}/messages", json={"content": "I am still here."})
    assert await ids(client) == [place.rpartition("/")[2]]


async def test_deleting_for_good_ends_the_wait(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await client.delete(place, params={"undo": 60})
    assert (await client.delete(place)).status_code == 204
    assert (await client.post(f"{place}/undelete")).status_code == 404
    assert await ids(client, deleted=True) == []


async def test_a_running_server_deletes_what_is_due(engine: Engine) -> None:
    chat, kept = await engine.create("Old"), await engine.create("Kept")
    await engine.store.bin.delete(chat.id, undo=60)

    async def work(connection: Connection) -> None:
        await connection.execute(sa.update(table).where(table.c.id == chat.id).values(due=1))

    await engine.store._database.write(work)
    async with listening(create_app(engine)):

        async def gone() -> bool:
            left = await engine.store.conversations.list(archived=None, deleted=None)
            return [one.id for one in left] == [kept.id]

        await until(gone)
