"""Conversations and their messages over HTTP: made, listed, paged, branched, copied, deleted."""

from __future__ import annotations

import json
from base64 import b64encode

import httpx2
import pytest

from octavo.engine.engine import Engine
from tests.engine.pdfs import pdf
from tests.server.kit import conversation, talk

pytestmark = pytest.mark.anyio


async def test_conversations_are_listed_renamed_archived_and_deleted(client: httpx2.AsyncClient) -> None:
    places = [await conversation(client) for _ in range(3)]
    listed = (await client.get("/api/v1/conversations", params={"limit": 2})).json()
    assert listed["more"] is True
    assert len(listed["conversations"]) == 2
    renamed = await client.patch(places[0], json={"title": "Ports 🙂", "archived": True})
    assert (renamed.json()["title"], renamed.json()["archived"]) == ("Ports 🙂", True)
    assert len((await client.get("/api/v1/conversations")).json()["conversations"]) == 2
    old = (await client.get("/api/v1/conversations", params={"archived": True, "title": "port"})).json()
    assert [c["title"] for c in old["conversations"]] == ["Ports 🙂"]
    assert (await client.delete(places[0])).status_code == 204
    assert (await client.get(places[0])).status_code == 404


async def test_a_conversation_with_settings_that_contradict_each_other_is_not_made(
    client: httpx2.AsyncClient,
) -> None:
    refused = await client.post("/api/v1/conversations", json={"settings": {"soft": 0.9, "hard": 0.5}})
    assert refused.status_code == 409
    assert (await client.get("/api/v1/conversations")).json()["conversations"] == []


async def test_messages_are_paged_upward(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    for number in range(25):
        await client.post(f"{place}/messages", json={"content": f"Message {number}"})
    seen: list[str] = []
    before: str | None = None
    pages = 0
    while pages == 0 or before:
        where = {"limit": 10} | ({"before": before} if before else {})
        page = (await client.get(f"{place}/messages", params=where)).json()
        seen = [m["text"] for m in page["messages"]] + seen
        before, pages = page["before"], pages + 1
    assert seen == [f"Message {number}" for number in range(25)]
    assert pages == 3


async def test_a_message_sent_twice_under_one_id_is_stored_once(client: httpx2.AsyncClient) -> None:
    place, id = await conversation(client), "0123456789abcdef0123456789abcdef"
    first = await client.post(f"{place}/messages", json={"content": "Once.", "id": id})
    again = await client.post(f"{place}/messages", json={"content": "Once.", "id": id})
    assert first.status_code == again.status_code == 201
    assert len((await client.get(f"{place}/messages")).json()["messages"]) == 1
    other = await client.post(f"{place}/messages", json={"content": "Something else.", "id": id})
    assert other.status_code == 409


async def test_every_kind_of_part_comes_back_as_it_was_sent(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    parts = [
        {"type": "text", "text": "Look: \u0000 \ud83d half"},
        {
            "type": "image",
            "source": "data:image/png;base64,aGk=",
            "media_type": "image/png",
            "width": 3,
            "height": 4,
        },
        {"type": "attachment", "name": "a.txt", "media_type": "text/plain", "size": 2, "source": ""},
    ]
    # The library refuses to send half an emoji; JSON can.
    body = json.dumps({"content": parts})
    sent = await client.post(f"{place}/messages", content=body, headers={"content-type": "application/json"})
    assert sent.status_code == 201
    read = (await client.get(f"{place}/messages/{sent.json()['id']}")).json()
    assert read["parts"] == parts
    files = (await client.get(f"{place}/files")).json()["files"]
    assert [(f["name"], f["size"]) for f in files] == [("a.txt", 2)]


async def test_the_tree_shows_all_branches(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    shown = await talk(client, place, "One?", "Two?")
    await client.post(f"{place}/messages", json={"content": "Two, but different?", "edits": shown[2]["id"]})
    tree = (await client.get(f"{place}/tree")).json()
    assert tree["complete"] is True
    assert [node["depth"] for node in tree["nodes"]] == [1, 2, 3, 3, 4]
    assert tree["nodes"][3]["preview"] == "Two, but different?"
    assert (await client.get(f"{place}/tree", params={"limit": 2})).json()["complete"] is False


async def test_a_branch_is_copied_into_a_conversation_of_its_own(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    shown = await talk(client, place, "One?", "Two?")
    copied = await client.post(f"{place}/copies", json={"message": shown[1]["id"], "title": "Copy"})
    assert copied.status_code == 201
    assert (copied.json()["title"], copied.json()["messages"]) == ("Copy", 2)
    whole = await client.post(f"{place}/copies", json={})
    assert whole.json()["messages"] == 4


async def test_a_deleted_message_is_gone_from_everywhere(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    shown = await talk(client, place, "The word is xylophone.")
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"]
    assert (await client.delete(f"{place}/messages/{shown[0]['id']}")).status_code == 204
    assert (await client.get("/api/v1/search", params={"q": "xylophone"})).json()["hits"] == []
    assert "xylophone" not in (await client.get(f"{place}/export")).text


async def test_search_finds_words_in_all_conversations_or_in_one(client: httpx2.AsyncClient) -> None:
    one, other = await conversation(client), await conversation(client)
    await client.post(f"{one}/messages", json={"content": "The zeppelin lands at noon."})
    await client.post(f"{other}/messages", json={"content": "Another zeppelin."})
    found = (await client.get("/api/v1/search", params={"q": "zeppelin"})).json()["hits"]
    assert len(found) == 2
    start, stop = found[1]["marks"][0]
    assert found[1]["snippet"][start:stop] == "zeppelin"
    id = one.rpartition("/")[2]
    within = (await client.get("/api/v1/search", params={"q": "zeppelin", "conversation": id})).json()["hits"]
    assert [hit["conversation"] for hit in within] == [id]
    page = {"q": "zeppelin", "before": found[0]["message"], "limit": 1}
    assert (await client.get("/api/v1/search", params=page)).json()["hits"] == found[1:]


async def test_pins_are_sent_word_for_word(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    shown = await talk(client, place, *(f"Rule {n}: never use port {n}." for n in range(6)))
    pinned = await client.post(
        f"{place}/pins", json={"message": shown[0]["id"], "selection": "never use port 0"}
    )
    assert pinned.status_code == 201
    (pin,) = pinned.json()["pins"]
    assert (pin["text"], pin["stop"] - pin["start"]) == ("never use port 0", 16)
    await client.post(f"{place}/pins", json={"message": shown[0]["id"]})
    at = f"{place}/pins/{shown[0]['id']}"
    assert (await client.delete(at, params={"stop": 0})).status_code == 204
    assert (await client.delete(at, params={"stop": 0})).status_code == 404
    assert (await client.get(f"{place}/pins")).json()["pins"] == [pin]
    await client.post(f"{place}/compressions", json={"keep": 0})
    context = (await client.get(f"{place}/context")).json()
    assert any("never use port 0" in str(m["content"]) for m in context["messages"])
    assert (await client.delete(f"{place}/pins/{shown[0]['id']}")).status_code == 204
    assert (await client.get(f"{place}/pins")).json() == {"pins": []}
    assert (await client.delete(f"{place}/pins/{shown[0]['id']}")).status_code == 404
    wrong = await client.post(f"{place}/pins", json={"message": shown[0]["id"], "selection": "not there"})
    assert wrong.status_code == 409


async def test_an_exported_conversation_is_imported_under_new_ids(
    client: httpx2.AsyncClient, engine: Engine
) -> None:
    place = await conversation(client)
    await talk(client, place, "One? " + "And so on. " * 100, "Two?")
    await client.post(f"{place}/compressions", json={"keep": 0})
    written = await client.get(f"{place}/export")
    assert written.headers["content-type"].startswith("application/x-ndjson")
    read = await client.post(
        "/api/v1/import", content=written.content, headers={"content-type": "application/octet-stream"}
    )
    assert read.status_code == 201
    (made,) = read.json()["conversations"]
    assert made["id"] not in place
    copy = f"/api/v1/conversations/{made['id']}"
    assert len((await client.get(f"{copy}/snapshots")).json()["snapshots"]) == 1
    for path in ("messages", "context"):
        shown, again = [(await client.get(f"{p}/{path}")).json()["messages"] for p in (place, copy)]
        assert [m.get("text", m.get("content")) for m in shown] == [
            m.get("text", m.get("content")) for m in again
        ]
    everything = (await client.get("/api/v1/export")).text
    assert everything.count('"type":"conversation"') == 2
    assert await engine.store.check() == ()


async def test_other_formats_are_imported_and_nonsense_is_refused_whole(client: httpx2.AsyncClient) -> None:
    chat = '[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]'
    made = await client.post("/api/v1/import", content=chat, params={"title": "Old chat"})
    assert made.status_code == 201
    (imported,) = made.json()["conversations"]
    assert (imported["title"], imported["messages"]) == ("Old chat", 2)
    refused = await client.post("/api/v1/import", content=chat + "\n{broken")
    assert refused.status_code == 422
    assert "line" in refused.json()["error"]["message"]
    assert len((await client.get("/api/v1/conversations")).json()["conversations"]) == 1


async def test_a_name_that_leads_elsewhere_is_only_a_name(client: httpx2.AsyncClient) -> None:
    chat = '[{"role":"user","content":"Hi"}]'
    made = await client.post("/api/v1/import", content=chat, params={"title": "../../etc/passwd"})
    assert made.json()["conversations"][0]["title"] == "../../etc/passwd"
    assert (await client.get("/../../etc/passwd")).status_code == 404
    assert (await client.get("/%2e%2e/%2e%2e/etc/passwd")).status_code == 404


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40_000)


async def test_a_large_picture_is_left_out_of_lists_and_read_by_itself(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    source = f"data:image/png;base64,{b64encode(PICTURE).decode()}"
    parts = [{"type": "text", "text": "Look."}, {"type": "image", "source": source}]
    added = await client.post(f"{place}/messages", json={"content": parts})
    at = f"{place}/messages/{added.json()['id']}"
    for shown in (added.json(), (await client.get(f"{place}/messages")).json()["messages"][0]):
        assert shown["parts"][1]["source"] == ""
    assert (await client.get(at)).json()["parts"][1]["source"] == source
    picture = await client.get(f"{at}/parts/1")
    assert (picture.content, picture.headers["content-type"]) == (PICTURE, "image/png")
    assert picture.headers["content-disposition"] == "inline"
    assert (await client.get(f"{at}/parts/0")).text == "Look."
    assert (await client.get(f"{at}/parts/2")).status_code == 404


async def test_what_could_hold_a_script_is_never_shown_as_it_is(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    for source in ("data:image/svg+xml,<svg onload='alert(1)'/>", "data:text/html;base64,PGI+", "data:,x"):
        body = {"content": [{"type": "image", "source": source}]}
        at = f"{place}/messages/{(await client.post(f'{place}/messages', json=body)).json()['id']}/parts/0"
        answer = await client.get(at)
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"] == "attachment"
        assert answer.headers["x-content-type-options"] == "nosniff"
    elsewhere = {"content": [{"type": "image", "source": "https://example.org/a.png"}]}
    id = (await client.post(f"{place}/messages", json=elsewhere)).json()["id"]
    assert (await client.get(f"{place}/messages/{id}/parts/0")).status_code == 404
    broken = {"content": [{"type": "image", "source": "data:image/png;base64,@"}]}
    id = (await client.post(f"{place}/messages", json=broken)).json()["id"]
    assert (await client.get(f"{place}/messages/{id}/parts/0")).status_code == 200


async def test_a_conversation_without_a_title_is_called_after_its_first_question(
    client: httpx2.AsyncClient,
) -> None:
    made = (await client.post("/api/v1/conversations", json={})).json()
    place = f"/api/v1/conversations/{made['id']}"
    await client.post(f"{place}/messages", json={"content": "What is\nthe capital  of " + "x" * 100})
    title = (await client.get(place)).json()["title"]
    assert title.startswith("What is the capital of xxx")
    assert len(title) == 60
    await client.patch(place, json={"title": "Mine"})
    await client.post(f"{place}/messages", json={"content": "More?"})
    assert (await client.get(place)).json()["title"] == "Mine"


async def test_versions_and_branches_come_in_pages(client: httpx2.AsyncClient) -> None:
    place, other = await conversation(client), await conversation(client)
    first = (await client.post(f"{place}/messages", json={"content": "One?"})).json()["id"]
    versions = [first]
    for i in range(6):
        body = {"content": f"Version {i}?", "edits": first}
        versions.append((await client.post(f"{place}/messages", json=body)).json()["id"])

    async def page(path: str, **query: object) -> tuple[list[str], bool]:
        found = (await client.get(f"{place}/{path}", params={k: str(v) for k, v in query.items()})).json()
        return [one["id"] for one in found["messages"]], found["more"]

    siblings = f"messages/{versions[3]}/siblings"
    for path in (siblings, "branches"):
        assert await page(path) == (versions, False)
        assert await page(path, limit=3) == (versions[:3], True)
        assert await page(path, limit=3, after=versions[2]) == (versions[3:6], True)
        assert await page(path, limit=3, after=versions[5]) == (versions[6:], False)
    assert await page(siblings, limit=1, before=versions[3]) == ([versions[2]], True)
    assert await page(siblings, limit=3, before=versions[3]) == (versions[:3], False)
    shown = (await client.get(f"{place}/{siblings}", params={"limit": 1, "after": versions[3]})).json()
    assert [(one["sibling"], one["siblings"]) for one in shown["messages"]] == [(5, 7)]
    foreign = (await client.post(f"{other}/messages", json={"content": "Elsewhere."})).json()["id"]
    for path, name in ((siblings, "after"), (siblings, "before"), ("branches", "after")):
        assert (await client.get(f"{place}/{path}", params={name: foreign})).status_code == 404


async def test_the_text_of_a_pdf_is_read_and_a_locked_one_says_so(client: httpx2.AsyncClient) -> None:
    where = "/api/v1/documents?name=report.pdf"
    found = await client.post(where, content=pdf("The port is 8123."))
    assert found.json() == {
        "name": "report.pdf",
        "text": "[page 1]\nThe port is 8123.",
        "pages": 1,
        "read": 1,
    }
    locked = await client.post(where, content=pdf("secret", password="x"))
    assert locked.status_code == 409
    assert locked.json()["error"]["message"].startswith("report.pdf is protected with a password")
