"""The same engine for programs without an event loop: one wrapper for everything, no second set of classes.

A loop runs in a thread of its own. Attributes of a wrapped object that are coroutines become plain calls, asynchronous
iterators become iterators, and chats that come back are wrapped again.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from octavo.core.plain import Json
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="octavo", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine there and wait for it here; interrupting the wait stops the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def iterate(self, stream: AsyncIterator[Any]) -> Iterator[Any]:
        """Iterate over an asynchronous iterator; leaving early closes it."""
        try:
            while True:
                try:
                    yield self.run(_next(stream))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                self.run(close())

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _next(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream)


class Sync:
    """Any object of the engine, without `await`."""

    def __init__(self, wrapped: Any, loop: Loop, engine: Engine) -> None:
        self._wrapped, self._loop, self._engine = wrapped, loop, engine

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wrapped, name)
        return self._call(value) if callable(value) else value

    def _call(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            result = method(*arguments, **options)
            if inspect.isasyncgen(result):
                return self._loop.iterate(result)
            if inspect.iscoroutine(result):
                result = self._loop.run(result)
            return Sync(result, self._loop, self._engine) if isinstance(result, Chat) else result

        return call

    def close(self) -> None:
        """Close the engine and stop its loop."""
        self._loop.run(self._engine.close())
        self._loop.stop()

    def __enter__(self) -> Sync:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Sync({self._wrapped!r})"


def open(where: str | Path = "sqlite://", *, conversation: str | None = None, **options: Any) -> Sync:
    """Open a database and a conversation in it, for programs without an event loop.

    `conversation` is an id or a title; by default the last one is gone on with, or a first one made. Options are those
    of `Engine` (`model`, `provider`, `summariser`, `policy`, ...), and `system` for the conversation.
    """
    loop = Loop()
    settings: dict[str, Json] = {key: options.pop(key) for key in ("system",) if key in options}
    try:
        engine, chat = loop.run(_open(where, conversation, options, settings))
    except BaseException:
        loop.stop()
        raise
    return Sync(chat, loop, engine)


async def _open(
    where: str | Path, wanted: str | None, options: dict[str, Any], settings: dict[str, Json]
) -> tuple[Engine, Chat]:
    engine = await Engine.open(where, **options)
    known = await engine.conversations(limit=1_000)
    found = [c for c in known if wanted is None or wanted in (c.id, c.title)]
    chat = Chat(engine, found[0].id) if found else await engine.create(wanted or "")
    if settings:
        await chat.set(**settings)
    return engine, chat
