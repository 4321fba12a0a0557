"""A gateway with the official libraries as its clients and a provider that owes nothing to Octavo."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from fastapi import FastAPI

from octavo.core.messages import Node
from octavo.engine.engine import Engine
from tests.server import conftest as shared
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider
from tests.server.kit import gateway
from tests.store.conftest import postgres_url, server_url  # noqa: F401

anyio_backend, engine, make_engine = shared.anyio_backend, shared.engine, shared.make_engine
MODEL = "gpt-4-0613"
CLAUDE = "claude-3-haiku"
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CLAUDE_WEATHER: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}


class Setup:
    """A gateway and clients that know nothing of it."""

    def __init__(self, app: FastAPI, url: str, provider: Provider, engine: Engine) -> None:
        self.app, self.url, self.provider, self.engine = app, url, provider, engine
        self.openai = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        self.anthropic = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)
        self.http = httpx2.AsyncClient(base_url=url)

    async def ask(self, *messages: Any, **options: Any) -> tuple[Any, httpx2.Headers]:
        options = {"model": MODEL, **options}
        raw = await self.openai.chat.completions.with_raw_response.create(messages=list(messages), **options)
        return raw.parse(), raw.headers

    async def ask_claude(self, *messages: Any, **options: Any) -> tuple[Any, httpx2.Headers]:
        options = {"model": CLAUDE, "max_tokens": 200, **options}
        raw = await self.anthropic.messages.with_raw_response.create(messages=list(messages), **options)
        return await raw.parse(), raw.headers

    async def tree(self, headers: httpx2.Headers) -> list[Node]:
        """All messages of the conversation that an answer belongs to."""
        found = self.engine.store.tree.whole(headers["x-octavo-conversation"], previews=False)
        return [node async for node in found]

    async def stored(self, headers: httpx2.Headers) -> list[tuple[str, str]]:
        """Role and words of the branch that a conversation shows."""
        conversation = await self.engine.store.conversations.get(headers["x-octavo-conversation"])
        assert conversation.tip
        return [
            (n.message.role, n.message.text) for n in await self.engine.store.tree.branch(conversation.tip)
        ]


@asynccontextmanager
async def setup(engine: Engine, provider: Provider, **settings: Any) -> AsyncIterator[Setup]:
    async with gateway(engine, provider.app, **settings) as (app, url):
        made = Setup(app, url, provider, engine)
        yield made
        await made.openai.close()
        await made.anthropic.close()
        await made.http.aclose()
    assert provider.torn == []


@pytest.fixture
async def house(make_engine: MakeEngine) -> AsyncIterator[Setup]:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(window=4_096)) as made:
        yield made


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def said(text: str) -> Any:
    return {"role": "assistant", "content": text}


def long(number: int) -> str:
    """A question of some 250 tokens with a fact in it."""
    return (
        f"Question {number}: the code of door {number} is D{number:03d}-{number * 37 % 1000:03d}. "
        + "Filler words. " * 75
    )


async def grown(house: Setup, turns: int) -> tuple[list[Any], httpx2.Headers]:
    """A conversation of that many long turns."""
    history: list[Any] = [{"role": "system", "content": "You guard the doors."}]
    headers = httpx2.Headers()
    for number in range(turns):
        history.append(user(long(number)))
        answer, headers = await house.ask(*history)
        history.append(said(answer.choices[0].message.content))
    return history, headers
