"""A server on a database that cannot be written shows what is there, and says why nothing can be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.server.kit import client_of, listening

pytestmark = pytest.mark.anyio


async def test_a_server_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "octavo.db"
    async with await Engine.open(path, model="gpt-4o") as engine:
        chat = await engine.create("Harbour")
        node = await chat.add("The word is xylophone.")
        await engine.store.jobs.claim(chat.id, anchor=node.id, worker="dead", seen=None, lease=-1)
        _, secret = await engine.store.keys.create("reader", scopes=["read", "write", "admin"])
    only = await Engine.open(f"sqlite:///{path}?mode=ro", model="gpt-4o")
    app = create_app(only, ServerSettings(require_key=True))
    place = f"/api/v1/conversations/{chat.id}"
    async with only, listening(app), client_of(app, authorization=f"Bearer {secret}") as client:
        for get in (
            "/api/v1/conversations",
            place,
            f"{place}/messages",
            f"{place}/tree",
            f"{place}/branches",
            f"{place}/usage",
            f"{place}/context",
            f"{place}/snapshots",
            f"{place}/export",
            "/api/v1/search?q=xylophone",
            "/api/v1/settings",
            "/api/v1/models",
            "/health",
            "/ready",
        ):
            answer = await client.get(get)
            assert answer.status_code == 200, (get, answer.text)
        assert (await client.get("/ready")).json() == {
            "status": "ready",
            "database": "sqlite",
            "read_only": True,
        }
        for method, path_of, body in (
            ("POST", "/api/v1/conversations", {"title": "New"}),
            ("POST", f"{place}/messages", {"content": "Hi"}),
            ("PATCH", place, {"title": "Other"}),
            ("DELETE", place, None),
            ("DELETE", f"{place}/messages/{node.id}", None),
            ("PATCH", "/api/v1/settings", {"auto": False}),
        ):
            refused = await client.request(method, path_of, json=body)
            error = refused.json()["error"]
            assert (refused.status_code, error["type"]) == (403, "read_only"), (method, path_of)
            assert "for reading only" in error["message"]
            assert "retry-after" not in refused.headers
            assert str(path) not in refused.text
    async with await Engine.open(path) as again:
        assert (await again.store.conversations.get(chat.id)).title == "Harbour"
