"""What the server's tests share: servers on free ports, clients in process, and reading of event streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from octavo.engine.engine import Engine
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app
from octavo.server.config import ServerSettings

KEY = Secret("sk-server-0123456789abcdef", "TEST")
HOME = "http://127.0.0.1:8765"


def accounts(url: str) -> ProviderSettings:
    """The server's own accounts, at a fake provider."""
    return ProviderSettings(
        openai=ProviderAccount(key=KEY, base_url=f"{url}/v1"),
        anthropic=ProviderAccount(key=KEY, base_url=url),
    )


@asynccontextmanager
async def listening(app: ASGIApp, **options: Any) -> AsyncIterator[str]:
    """Run an application on a free port, in this event loop; gives its address."""
    config = uvicorn.Config(
        app,
        port=0,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=2,
        access_log=False,
        **options,
    )
    server = uvicorn.Server(config)
    server.capture_signals = _no_signals  # type: ignore[method-assign]
    task = asyncio.create_task(server.serve())
    while not server.started:
        if task.done():
            await task
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _no_signals() -> Any:
    return _Nothing()


@asynccontextmanager
async def client_of(app: FastAPI, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that talks to an application in process."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=HOME, headers=named) as client:
        yield client


@asynccontextmanager
async def gateway(engine: Engine, provider: ASGIApp, **settings: Any) -> AsyncIterator[tuple[FastAPI, str]]:
    """A gateway in front of a provider, both on ports of their own; gives the application and its address."""
    async with listening(provider) as upstream:
        app = create_app(engine, ServerSettings(providers=accounts(upstream), **settings))
        async with listening(app) as url:
            yield app, url


async def until(check: Callable[[], Awaitable[bool]], seconds: int = 30) -> None:
    """Look again and again until something is so; give up after a while."""
    for _ in range(100 * seconds):
        if await check():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to be")


async def conversation(client: httpx2.AsyncClient, **settings: object) -> str:
    """Make a conversation; give its address."""
    made = await client.post("/api/v1/conversations", json={"title": "Test", "settings": settings})
    assert made.status_code == 201, made.text
    return f"/api/v1/conversations/{made.json()['id']}"


async def talk(client: httpx2.AsyncClient, place: str, *questions: str) -> list[dict[str, Any]]:
    """Have questions answered; give the messages shown then."""
    for question in questions:
        told = read_events((await client.post(f"{place}/turns", json={"content": question})).text)
        assert told[-1].data == {"status": "done"}, told[-2:]
    messages: list[dict[str, Any]] = (await client.get(f"{place}/messages")).json()["messages"]
    return messages


@dataclass(frozen=True)
class Told:
    """An event of a stream."""

    id: int
    name: str
    data: dict[str, Any]


def read_events(text: str) -> list[Told]:
    """Read a whole stream; pings are left out."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append(Told(int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found
