"""One engine for each database of this process, in a thread of its own, for callers with any event loop or none.

A framework may call from several loops and from threads, and agents come and go; the database is opened once, with the
first request, and closed when the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from octavo.engine.engine import Engine, database_url
from octavo.engine.sync import Loop

IN_MEMORY = "sqlite://"
"""The database if none is named: it lives as long as the process."""

T = TypeVar("T")
Work = Callable[[Engine], Coroutine[Any, Any, T]]


class SharedEngine:
    """An engine, and the thread that it runs in."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._loop = Loop()
        self._engine: Engine | None = None
        self._opening: asyncio.Lock | None = None
        self.storing: asyncio.Lock | None = None
        """Held while a history is looked up and stored, so that two callers with the same one store it once."""

    def run(self, work: Work[T]) -> T:
        """Do some work with the engine, and wait for it."""
        return self._loop.run(self._with_engine(work))

    async def arun(self, work: Work[T]) -> T:
        """Do some work with the engine, and await it in any event loop."""
        return await asyncio.wrap_future(self._loop.submit(self._with_engine(work)))

    async def _with_engine(self, work: Work[T]) -> T:
        return await work(await self._opened())

    async def _opened(self) -> Engine:
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._engine is None:
                self._engine = await Engine.open(self._url, summariser="none")
                self.storing = asyncio.Lock()
            return self._engine

    def close(self) -> None:
        """Close the engine and stop its thread."""
        if self._loop.stopped:
            return
        self._loop.run(self._close())
        self._loop.stop()

    async def _close(self) -> None:
        if self._engine is not None:
            await self._engine.close()
            self._engine = None


_engines: dict[str, SharedEngine] = {}
_lock = threading.Lock()


def shared_engine(store: str | Path | None) -> SharedEngine:
    """Give the engine of a database: a file, an URL, or None for one in memory."""
    url = IN_MEMORY if store is None else database_url(store)
    with _lock:
        if url not in _engines:
            _engines[url] = SharedEngine(url)
        return _engines[url]


def close_engines() -> None:
    """Close every database that drop-ins have opened in this process; the next request opens it again."""
    with _lock:
        open_now = [*_engines.values()]
        _engines.clear()
    for engine in open_now:
        engine.close()


# Before the pools of threads are shut down, which closing needs: what `atexit` calls comes after that.
getattr(threading, "_register_atexit", atexit.register)(close_engines)
# A child process has none of the threads that the engines run in: it opens its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_engines.clear)
