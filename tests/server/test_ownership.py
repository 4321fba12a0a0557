"""A conversation belongs to the owner of a key, and nobody else sees it: tried on every route there is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from octavo.engine.engine import Engine
from octavo.gateway.dialects.gemini import COUNT, GENERATE, STREAM
from octavo.gateway.passthrough import METHODS, WITHOUT_V1
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings
from tests.server.fake import Provider
from tests.server.kit import accounts, client_of, conversation, listening, talk

pytestmark = pytest.mark.anyio

SECRET = (
    "The combination of the safe is 31-41-59. "
    + "It was set by the locksmith and nobody else knows it. " * 20
)
NOBODY = "0" * 32

OWN = {
    ("get", "/api/v1/conversations"),
    ("post", "/api/v1/conversations"),
    ("get", "/api/v1/labels"),
    ("patch", "/api/v1/labels"),
    ("delete", "/api/v1/labels"),
    ("get", "/api/v1/search"),
    ("get", "/api/v1/costs"),
    ("get", "/api/v1/export"),
    ("post", "/api/v1/import"),
    ("post", "/api/v1/sample"),
    ("get", "/api/v1/me"),
    ("post", "/v1/chat/completions"),
    ("post", "/v1/responses"),
    ("post", "/v1/responses/input_tokens"),
    ("post", "/v1/responses/compact"),
    ("get", "/v1/responses/{id}"),
    ("delete", "/v1/responses/{id}"),
    ("get", "/v1/responses/{id}/input_items"),
    ("post", "/v1/responses/{id}/cancel"),
    ("post", "/v1/messages"),
    ("post", "/v1/messages/count_tokens"),
    *(
        ("post", f"/{version}/models/{{model}}:{method}")
        for version in ("v1", "v1beta")
        for method in (GENERATE, STREAM, COUNT)
    ),
}
"""Routes that show a caller its own; each has a test below."""
COMMON = {
    ("post", "/api/v1/documents"),
    ("get", "/api/v1/settings"),
    ("patch", "/api/v1/settings"),
    ("get", "/api/v1/settings/models/{model}"),
    ("patch", "/api/v1/settings/models/{model}"),
    ("get", "/api/v1/models"),
    ("get", "/api/v1/models/{model}"),
    ("put", "/api/v1/models/{model}"),
    ("delete", "/api/v1/models/{model}"),
    ("get", "/api/v1/upstreams"),
    ("put", "/api/v1/upstreams/{model}"),
    ("delete", "/api/v1/upstreams/{model}"),
    ("get", "/api/v1/keys"),
    ("post", "/api/v1/keys"),
    ("delete", "/api/v1/keys/{key}"),
    ("get", "/v1/models"),
    ("get", "/v1beta/models"),
    ("get", "/v1beta/models/{model}"),
    ("get", "/v1/models/{model}"),
    ("get", "/health"),
    ("get", "/ready"),
    ("get", "/metrics"),
}
"""Routes that show nobody's conversations."""
PAGE = {
    ("get", "/assets/{name}"),
    ("head", "/assets/{name}"),
    ("get", "/"),
    ("get", "/openapi.json"),
    ("head", "/openapi.json"),
}
"""What a browser loads before anybody is known."""
AGENTS = {("get", "/mcp")}
"""Where agents ask, by any method; whom they see is tried in tests/integrations/test_mcp.py."""
PASSED_ON = {
    *((method.lower(), f"/{version}/{{path}}") for method in METHODS for version in ("v1", "v1beta")),
    *((method, path) for method in ("get", "post") for path in WITHOUT_V1),
}
"""What goes to a provider as it is, and what says that its path is wrong: neither reads anything here."""
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/messages"): {"content": "Mine now."},
    ("post", "/turns"): {"content": "What is the combination?"},
    ("post", "/usage"): {"content": "What is the combination?"},
    ("post", "/pins"): {"message": "{message}"},
    ("put", "/snapshots/{snapshot}/summary"): {"summary": "Nothing."},
    ("post", "/snapshots/{snapshot}/summary/size"): {"summary": "Nothing."},
    ("post", "/snapshots/{snapshot}/restore"): {"item": "31-41-59"},
    ("post", "/snapshots/{snapshot}/drop"): {"message": "{message}", "text": "31-41-59"},
}
"""What routes need in a body; others take an empty one."""


@dataclass
class Scene:
    """Ann's conversation, and two callers."""

    app: FastAPI
    ann: httpx2.AsyncClient
    bob: httpx2.AsyncClient
    ids: dict[str, str]


@pytest.fixture
async def scene(engine: Engine) -> AsyncIterator[Scene]:
    async with listening(Provider().app) as upstream:
        told = ServerSettings(
            require_key=True,
            providers=accounts(upstream),
            limits=Limits(stream_seconds=0.05, ping_seconds=0.02),
        )
        app = create_app(engine, told)
        keys = [
            (await engine.store.keys.create(name, owner=name, scopes=["admin"]))[1] for name in ("ann", "bob")
        ]
        async with (
            client_of(app, authorization=f"Bearer {keys[0]}") as ann,
            client_of(app, authorization=f"Bearer {keys[1]}") as bob,
        ):
            place = await conversation(ann)
            shown = await talk(ann, place, SECRET, "And what else?", "And then?")
            turn = (await ann.get(f"{place}/turns")).json()["tasks"][0]["id"]
            work = (await ann.post(f"{place}/compressions", json={"keep": 0, "stream": False})).json()["id"]
            await ann.get(f"{place}/compressions/{work}/events")
            snapshot = (await ann.get(f"{place}/snapshots")).json()["serving"]
            assert snapshot, (await ann.get(f"{place}/compressions/{work}/events")).text
            (job,) = (await ann.get(f"{place}/jobs")).json()["jobs"]
            await ann.post(f"{place}/pins", json={"message": shown[0]["id"]})
            ids = {
                "conversation": place.rpartition("/")[2],
                "message": shown[0]["id"],
                "snapshot": snapshot,
                "turns": turn,
                "compressions": work,
                "job": job["id"],
            }
            yield Scene(app, ann, bob, ids)
        await app.state.octavo.close()


def routes_of(app: FastAPI) -> list[tuple[str, str]]:
    return [(method, path) for path, methods in app.openapi()["paths"].items() for method in methods]


def all_routes(router: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """List what the application answers to, described or not."""
    for route in router.routes:
        below = getattr(route, "original_router", None)
        if below is not None:
            yield from all_routes(below, prefix)
            continue
        path = prefix + route.path.replace(":path}", "}")
        yield from ((method.lower(), path) for method in sorted(getattr(route, "methods", None) or {"get"}))


def filled(path: str, ids: dict[str, str]) -> str:
    task = ids["turns"] if "/turns/" in path else ids["compressions"]
    return path.format(**ids, task=task, part=0, key=NOBODY, model="gpt-4o")


async def ask(client: httpx2.AsyncClient, method: str, path: str, ids: dict[str, str]) -> httpx2.Response:
    below = path.partition("{conversation}")[2]
    body = {
        k: v.format(**ids) if isinstance(v, str) else v for k, v in BODIES.get((method, below), {}).items()
    }
    query = {"other": ids["snapshot"]} if path.endswith("/diff") else {}
    query |= {"words": "combination"} if path.endswith("/recall") else {}
    given: dict[str, Any] = {} if method in ("get", "delete") else {"json": body}
    return await client.request(method.upper(), filled(path, ids), params=query, **given)


def test_every_route_is_of_one_kind(app: FastAPI) -> None:
    within = {route for route in all_routes(app) if "{conversation}" in route[1]}
    assert set(all_routes(app)) - PAGE - AGENTS - PASSED_ON == within | OWN | COMMON
    assert set(routes_of(app)) == within | OWN | COMMON
    assert len(within) > 40


async def test_to_others_a_conversation_does_not_exist_on_any_route(scene: Scene) -> None:
    """Not forbidden: not there. The answer is, word for word, the one for a conversation that never was."""
    for method, path in routes_of(scene.app):
        if "{conversation}" not in path:
            continue
        refused = await ask(scene.bob, method, path, scene.ids)
        never = await ask(scene.bob, method, path, {**scene.ids, "conversation": NOBODY})
        assert refused.status_code == never.status_code == 404, (method, path, refused.text)
        mine, nobodys = (response.json()["error"] for response in (refused, never))
        assert mine["message"] == nobodys["message"].replace(NOBODY, scene.ids["conversation"]), (
            method,
            path,
        )
    place = f"/api/v1/conversations/{scene.ids['conversation']}"
    assert (await scene.ann.get(place)).json()["messages"] == 6
    assert (await scene.ann.get(f"{place}/pins")).json()["pins"] != []


async def test_the_owner_gets_an_answer_on_every_one_of_them(scene: Scene) -> None:
    """Otherwise the test above would prove nothing."""
    last = [route for route in routes_of(scene.app) if "{conversation}" in route[1]]
    last.sort(key=lambda route: (route[0] == "delete", route[1].count("/")), reverse=False)
    for method, path in [*last]:
        if method == "delete" and path.endswith(("/messages/{message}", "/{conversation}")):
            continue
        answer = await ask(scene.ann, method, path, scene.ids)
        # The item to restore is not lost, the line to drop is not there, and what was undone once cannot be undone
        # again: told to the owner only.
        assert (
            answer.status_code < 300 or answer.status_code == 409 or path.endswith(("/restore", "/drop"))
        ), (
            method,
            path,
            answer.text,
        )


async def test_ids_of_others_do_not_work_inside_ones_own_conversation(scene: Scene) -> None:
    place = await conversation(scene.bob)
    own = {**scene.ids, "conversation": place.rpartition("/")[2]}
    for method, path in routes_of(scene.app):
        if not any(name in path for name in ("{message}", "{snapshot}", "{task}", "{job}")):
            continue
        refused = await ask(scene.bob, method, path, own)
        assert refused.status_code == 404, (method, path, refused.text)
        assert "31-41-59" not in refused.text
    for path, body in (
        ("turns", {"content": "Hi", "parent": scene.ids["message"]}),
        ("turns", {"regenerates": scene.ids["message"]}),
        ("messages", {"content": "Hi", "edits": scene.ids["message"]}),
        ("compressions", {"up_to": scene.ids["message"]}),
        ("copies", {"message": scene.ids["message"]}),
        ("pins", {"message": scene.ids["message"]}),
        ("context", {"tip": scene.ids["message"]}),
        ("count", {"tip": scene.ids["message"]}),
    ):
        assert (await scene.bob.post(f"{place}/{path}", json=body)).status_code == 404, path
    for path in ("messages?tip=", "messages?before=", "context?tip=", "plan?up_to="):
        assert (await scene.bob.get(f"{place}/{path}{scene.ids['message']}")).status_code == 404, path
    assert (await scene.bob.patch(place, json={"tip": scene.ids["message"]})).status_code == 404


async def test_labels_are_ones_own(scene: Scene) -> None:
    place = f"/api/v1/conversations/{scene.ids['conversation']}"
    assert (await scene.ann.patch(place, json={"labels": ["safe", "safe"]})).json()["labels"] == ["safe"]
    assert (await scene.bob.get("/api/v1/labels")).json() == {"labels": []}
    assert (await scene.bob.get("/api/v1/conversations?label=safe")).json()["conversations"] == []
    for change in (scene.bob.delete("/api/v1/labels?label=safe"), rename(scene.bob)):
        assert (await change).status_code == 404
    assert (await rename(scene.ann)).json() == {"labels": [{"name": "vault", "conversations": 1}]}
    assert (await scene.ann.get(place)).json()["labels"] == ["vault"]
    assert len((await scene.ann.get("/api/v1/conversations?label=vault")).json()["conversations"]) == 1
    assert (await scene.ann.delete("/api/v1/labels?label=vault")).status_code == 204
    assert (await scene.ann.get("/api/v1/labels")).json() == {"labels": []}


async def rename(client: httpx2.AsyncClient) -> httpx2.Response:
    return await client.patch("/api/v1/labels?label=safe", json={"name": "vault"})


async def test_lists_searches_and_exports_show_ones_own_only(scene: Scene) -> None:
    assert (await scene.bob.get("/api/v1/conversations")).json()["conversations"] == []
    assert (await scene.bob.get("/api/v1/search", params={"q": "combination"})).json()["hits"] == []
    mine = {"by": "conversation"}
    assert (await scene.bob.get("/api/v1/costs", params=mine)).json()["lines"] == []
    assert (await scene.ann.get("/api/v1/costs", params=mine)).json()["total"]["requests"] > 0
    within = {"q": "combination", "conversation": scene.ids["conversation"]}
    assert (await scene.bob.get("/api/v1/search", params=within)).status_code == 404
    before = {"q": "combination", "before": scene.ids["message"]}
    assert (await scene.bob.get("/api/v1/search", params=before)).json()["hits"] == []
    assert "31-41-59" not in (await scene.bob.get("/api/v1/export")).text
    assert (await scene.ann.get("/api/v1/search", params={"q": "combination"})).json()["hits"] != []
    assert (await scene.bob.get("/api/v1/me")).json()["owner"] == "bob"


async def test_an_imported_file_becomes_the_importers_own_and_touches_nothing(scene: Scene) -> None:
    place = f"/api/v1/conversations/{scene.ids['conversation']}"
    file = (await scene.ann.get(f"{place}/export")).content
    made = (await scene.bob.post("/api/v1/import", content=file)).json()["conversations"]
    assert made[0]["id"] != scene.ids["conversation"]
    assert [c["id"] for c in (await scene.bob.get("/api/v1/conversations")).json()["conversations"]] == [
        made[0]["id"]
    ]
    await scene.bob.delete(f"/api/v1/conversations/{made[0]['id']}")
    assert (await scene.ann.get(place)).status_code == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_the_gateway_finds_only_ones_own(scene: Scene, path: str) -> None:
    body = {
        "model": "claude-3-haiku" if path.endswith("messages") else "gpt-4-0613",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": SECRET}],
    }
    ids = []
    for caller in (scene.ann, scene.ann, scene.bob):
        answer = await caller.post(path, json=body)
        assert answer.status_code == 200, answer.text
        ids.append(answer.headers["x-octavo-conversation"])
    assert ids[0] == ids[1] != ids[2]
    mine = {"x-octavo-conversation": scene.ids["conversation"]}
    refused = await scene.bob.post(path, json=body, headers=mine)
    assert refused.status_code == 404
    never = await scene.bob.post(path, json=body, headers={"x-octavo-conversation": NOBODY})
    assert json.dumps(never.json()["error"]["message"]) == json.dumps(
        refused.json()["error"]["message"].replace(scene.ids["conversation"], NOBODY)
    )
    if path.endswith("messages"):
        counted = await scene.bob.post(
            f"{path}/count_tokens", json={k: body[k] for k in ("model", "messages")}
        )
        assert counted.json()["input_tokens"] > 0


async def test_what_was_deleted_is_listed_to_its_owner_alone(scene: Scene) -> None:
    """Planted: the trash listed whoever asks."""
    id = scene.ids["conversation"]
    await scene.ann.delete(f"/api/v1/conversations/{id}", params={"undo": 60})
    found = {
        name: (await client.get("/api/v1/conversations", params={"deleted": True})).json()["conversations"]
        for name, client in (("ann", scene.ann), ("bob", scene.bob))
    }
    assert [one["id"] for one in found["ann"]] == [id]
    assert found["bob"] == []


async def test_everybody_has_a_sample_of_their_own(scene: Scene) -> None:
    ann = (await scene.ann.post("/api/v1/sample")).json()
    bob = (await scene.bob.post("/api/v1/sample")).json()
    assert ann["id"] != bob["id"]
    assert (await scene.ann.post("/api/v1/sample")).json()["id"] == ann["id"]
    assert (await scene.bob.get(f"/api/v1/conversations/{ann['id']}")).status_code == 404
