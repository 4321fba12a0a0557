"""The surroundings of a command, and how commands open the engine.

A command touches neither the environment nor a global: it is handed a `Setup`. A test, or a program that embeds the
command line, hands it another one, with a provider of its own for example.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from octavo.errors import NotFound, UsageError
from octavo.settings import ProcessSettings, make_folder, read_settings

if TYPE_CHECKING:
    from octavo.engine.chat import Chat
    from octavo.engine.engine import Engine
    from octavo.engine.outcome import Event
    from octavo.protocols import Provider
    from octavo.store.values import Conversation

T = TypeVar("T")
SHORT = 8
"""Characters of an id that people are shown: its end, which is random; the beginning is the time."""
SEARCHED = 10_000
"""Conversations looked through for a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The surroundings of a command."""

    environment: Mapping[str, str]
    settings: ProcessSettings
    provider: Provider | None = None
    """Serves every model; None: each is found by its name."""

    @property
    def stored(self) -> bool:
        """Whether there is a database to look into: one was named, or the default one was made before."""
        return self.settings.chosen or Path(self.settings.database).exists()

    def at(self, database: str | None) -> Setup:
        """Choose another database, if one is named."""
        if not database:
            return self
        return replace(self, settings=replace(self.settings, database=database, chosen=True))


def read_setup(environment: Mapping[str, str]) -> Setup:
    return Setup(environment=environment, settings=read_settings(environment))


def setup_of(context: typer.Context, database: str | None = None) -> Setup:
    """Give the setup a command runs in, with the database it was told."""
    found = context.find_object(Setup)
    return (found or read_setup(os.environ)).at(database)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run what a command does."""
    import asyncio

    return asyncio.run(work)


def run_busy(work: Coroutine[Any, Any, T]) -> T:
    """Run what a command does that computes, or reads, and seldom waits: Ctrl-C stops it where it is.

    Left to itself, asyncio notes a Ctrl-C and acts on it when something is awaited the next time.
    """

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        return run(work)
    finally:
        signal.signal(signal.SIGINT, before)


@asynccontextmanager
async def opened(
    setup: Setup, *, listen: Callable[[str, Event], None] | None = None
) -> AsyncIterator[Engine]:
    """Open the engine on the database of a setup; the default database is made on first use."""
    from octavo.engine.engine import Engine

    if not setup.settings.chosen:
        make_folder(setup.settings.data)
    engine = await Engine.open(
        setup.settings.database, model=setup.settings.model, provider=setup.provider, listen=listen
    )
    async with engine:
        yield engine


def short(id: str) -> str:
    return id[-SHORT:]


async def find_conversation(engine: Engine, wanted: str) -> Conversation:
    """Find a conversation by its id, the end of its id, its title, or `last`."""
    known = await engine.conversations(limit=SEARCHED, archived=None)
    name = wanted.strip().lower()
    if name == "last" and known:
        return known[0]
    found = [one for one in known if one.id == name.replace("-", "") or one.title.lower() == name]
    if not found and len(name) >= SHORT // 2:
        found = [one for one in known if one.id.endswith(name) or one.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{len(found)} conversations are called {wanted!r}; give an id: {', '.join(short(c.id) for c in found)}"
        )
    raise NotFound(f"there is no conversation {wanted!r}; see: octavo conversations")


async def find_chat(engine: Engine, wanted: str) -> Chat:
    return await engine.chat((await find_conversation(engine, wanted)).id)
