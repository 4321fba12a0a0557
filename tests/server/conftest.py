"""Engines on real files, with a provider that answers by a function, and applications in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.engine import Engine
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from octavo.testing import ScriptedProvider, Step

# What other tests run too: one aimock and one PostgreSQL for all of them.
from tests.providers.conftest import peer  # noqa: F401
from tests.server.kit import client_of
from tests.store.conftest import postgres_url, server_url  # noqa: F401

MODEL = "gpt-4-0613"
WINDOW = 4_096


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


METER = Meter(find_card(MODEL))


def billing(say: Callable[[Request], Step]) -> Callable[[Request], Step]:
    """Have a provider charge the true count of what it was sent."""

    def step(request: Request) -> Step:
        said = say(request)
        if not isinstance(said, str):
            return said
        asked = METER.unit.frame.request + sum(METER.count_message(message) for message in request.messages)
        usage = Usage(input=asked, output=METER.count_text(said))
        return Reply(message=assistant(said), usage=usage, model=request.model)

    return step


MakeEngine = Callable[..., Awaitable[Engine]]


@pytest.fixture
async def make_engine(tmp_path: Path, anyio_backend: str) -> AsyncIterator[MakeEngine]:  # noqa: ARG001
    """Make engines on one file, closed at the end."""
    made: list[Engine] = []

    async def make(
        say: Callable[[Any], Step] = lambda request: (
            f"Answer {len(request.messages)}: the port is 80{len(made)}7."
        ),
        **options: Any,
    ) -> Engine:
        usual: dict[str, Any] = {
            "model": MODEL,
            "summariser": "none",
            "provider": ScriptedProvider(billing(say)),
        }
        engine = await Engine.open(tmp_path / "octavo.db", **(usual | options))
        await engine.models.learn_window(MODEL, WINDOW)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        await engine.close()


@pytest.fixture
async def engine(make_engine: MakeEngine) -> Engine:
    return await make_engine()


@pytest.fixture
async def app(engine: Engine) -> AsyncIterator[FastAPI]:
    made = create_app(engine, ServerSettings())
    yield made
    await made.state.octavo.close()


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(app) as client:
        yield client
