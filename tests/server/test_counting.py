"""The provider's own count, over HTTP: the real adapter asks a provider that counts with another tokenizer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from octavo.engine.engine import Engine
from octavo.server.app import create_app, open_engine
from octavo.server.config import ServerSettings
from tests.server.fake import Provider, count
from tests.server.kit import accounts, client_of, listening

pytestmark = pytest.mark.anyio

MODEL = "claude-3-haiku"
HIDDEN = 300
"""Tokens of a prompt of its own that the provider adds unseen."""
TOOL = {"name": "look_up", "description": "Looks a word up.", "schema": {"type": "object"}}


@dataclass
class Slow(Provider):
    """Counts at once, and answers when it may."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    counted: list[str] = field(default_factory=list)
    """The paths that asked for a count."""

    async def messages(self, request: Request) -> Response:
        self.asked.set()
        await self.may_answer.wait()
        return await super().messages(request)

    async def count_tokens(self, request: Request) -> Response:
        self.counted.append(request.url.path)
        if not self.counts:
            return await super().count_tokens(request)
        body = await request.json()
        return JSONResponse({"input_tokens": count(body) + HIDDEN})


@asynccontextmanager
async def serving(provider: Provider, path: Path) -> AsyncIterator[tuple[httpx2.AsyncClient, Engine]]:
    async with listening(provider.app) as url:
        settings = ServerSettings(
            db=str(path / "octavo.db"), model=MODEL, summariser="none", providers=accounts(url)
        )
        engine = await open_engine(settings)
        app = create_app(engine, settings)
        try:
            async with client_of(app) as client:
                yield client, engine
        finally:
            await app.state.octavo.close()
            await engine.close()


async def begun(client: httpx2.AsyncClient) -> str:
    made = await client.post("/api/v1/conversations", json={"settings": {"system": "Be brief."}})
    return f"/api/v1/conversations/{made.json()['id']}"


async def test_the_meter_is_right_while_the_first_answer_is_being_written(tmp_path: Path) -> None:
    provider = Slow()
    async with serving(provider, tmp_path) as (client, engine):
        place = await begun(client)
        turn = await client.post(f"{place}/turns", json={"content": "What is a fold?", "stream": False})
        assert turn.status_code == 202, turn.text
        await provider.asked.wait()
        await engine.counts.settled()
        assert provider.counted == ["/v1/messages/count_tokens"]
        reading = (await client.get(f"{place}/usage")).json()["reading"]
        assert reading["error_bound"] == 0
        assert reading["tokens"] == (await client.post(f"{place}/count", json={})).json()["tokens"] > HIDDEN
        provider.may_answer.set()


async def test_the_count_is_given_on_request_beside_ours(tmp_path: Path) -> None:
    provider = Slow()
    async with serving(provider, tmp_path) as (client, _):
        place = await begun(client)
        await client.post(f"{place}/messages", json={"role": "user", "content": "What is a fold?"})
        asked = (await client.post(f"{place}/count", json={"tools": [TOOL]})).json()
        assert asked["model"] == MODEL
        assert asked["expected"]["tokens"] != asked["tokens"] > HIDDEN
        again = (await client.post(f"{place}/count", json={"tools": [TOOL]})).json()
        assert again["expected"]["tokens"] == again["tokens"] == asked["tokens"]
        provider.counts = False
        refused = await client.post(f"{place}/count", json={})
        assert refused.status_code == 502
        await client.patch(f"{place}/settings", json={"model": "gpt-4o"})
        unable = await client.post(f"{place}/count", json={})
        assert unable.status_code == 409
        assert "offers no count of its own" in unable.json()["error"]["message"]


async def test_requests_of_the_gateway_are_counted_by_their_bills_alone(tmp_path: Path) -> None:
    provider = Slow()
    provider.may_answer.set()
    async with serving(provider, tmp_path) as (client, _):
        body = {"model": MODEL, "max_tokens": 50, "messages": [{"role": "user", "content": "Hello."}]}
        assert (await client.post("/v1/messages", json=body)).status_code == 200
        assert provider.counted == []
