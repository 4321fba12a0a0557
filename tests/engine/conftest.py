"""Engines over a real SQLite file, with providers that answer by a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.engine import Engine
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.testing import ScriptedProvider

MODEL = "gpt-4o"
METER = Meter(find_card(MODEL))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def billed(request: Request) -> int:
    """What the provider charges: the true count of what it was sent."""
    return METER.unit.frame.request + sum(METER.count_message(message) for message in request.messages)


def answering(say: Callable[[Request], str | Reply | BaseException]) -> ScriptedProvider:
    """Make a provider that answers by a function and bills what it was really sent."""

    def step(request: Request) -> Reply | BaseException:
        said = say(request)
        if isinstance(said, BaseException | Reply):
            return said
        usage = Usage(input=billed(request), output=METER.count_text(said))
        return Reply(message=assistant(said), usage=usage, model=request.model)

    return ScriptedProvider(step)


MakeEngine = Callable[..., Awaitable[Engine]]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[MakeEngine]:
    """Make engines on one file, with a window of their own; they are closed at the end."""
    made: list[Engine] = []

    async def engine(
        say: Callable[[Request], str | Reply | BaseException] = lambda _: "Fine.",
        *,
        window: int = 4_096,
        **options: Any,
    ) -> Engine:
        options.setdefault("summariser", "none")
        options.setdefault("provider", answering(say))
        engine = await Engine.open(tmp_path / "chats.db", model=MODEL, **options)
        await engine.models.learn_window(MODEL, window)
        made.append(engine)
        return engine

    yield engine
    for engine_ in made:
        await engine_.close()
