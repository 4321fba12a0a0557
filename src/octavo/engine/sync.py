"""The same engine for programs without an event loop: every method of a chat, without `await`.

A loop runs in a thread of its own. Each method here is made from the method it stands for, so type checkers know its
parameters and what it returns, and the two cannot drift apart. Coroutines become plain calls, asynchronous iterators
become iterators, and chats that come back are wrapped again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import update_wrapper
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, cast

from octavo.core.message_json import Json
from octavo.engine.accept import check_options
from octavo.engine.chat import Chat, ChatPins
from octavo.engine.chat_snapshots import ChatSnapshots
from octavo.engine.engine import Engine, EngineOptions
from octavo.errors import NotFound, UsageError
from octavo.store.values import Conversation

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="octavo", daemon=True)
        self._thread.start()

    @property
    def stopped(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it here; interrupting the wait stops the work."""
        future = self.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine there; the future tells how it ends."""
        if self.stopped:
            work.close()
            raise UsageError("this conversation was closed: open it again with octavo.open()")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def iterate(self, stream: AsyncIterator[T]) -> Iterator[T]:
        """Iterate over an asynchronous iterator; leaving early closes it."""
        try:
            while True:
                try:
                    yield self.run(_next(stream))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None and not self.stopped:
                self.run(close())

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)


class _Waiting(Generic[S]):
    """Something whose methods are called in a loop."""

    def __init__(self, inner: S, loop: Loop) -> None:
        self._inner, self._loop = inner, loop


class _Call(Generic[S, P, T]):
    """A method that waits."""

    def __init__(self, method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]]) -> None:
        self.method = method

    def __get__(self, holder: _Waiting[S], owner: type[_Waiting[S]]) -> Callable[P, T]:
        def call(*arguments: P.args, **options: P.kwargs) -> T:
            return holder._loop.run(self.method(holder._inner, *arguments, **options))

        return update_wrapper(call, self.method)


class _Stream(Generic[S, P, T]):
    """A method that gives one thing after the other."""

    def __init__(self, method: Callable[Concatenate[S, P], AsyncIterator[T]]) -> None:
        self.method = method

    def __get__(self, holder: _Waiting[S], owner: type[_Waiting[S]]) -> Callable[P, Iterator[T]]:
        def call(*arguments: P.args, **options: P.kwargs) -> Iterator[T]:
            return holder._loop.iterate(self.method(holder._inner, *arguments, **options))

        return update_wrapper(call, self.method)


class _Another(Generic[P]):
    """A method that gives another chat."""

    def __init__(self, method: Callable[Concatenate[Chat, P], Coroutine[Any, Any, Chat]]) -> None:
        self.method = method

    def __get__(self, chat: SyncChat, owner: type[SyncChat]) -> Callable[P, SyncChat]:
        def call(*arguments: P.args, **options: P.kwargs) -> SyncChat:
            made = chat._loop.run(self.method(chat._inner, *arguments, **options))
            return SyncChat(made, chat._loop, chat._engine)

        return update_wrapper(call, self.method)


class SyncSnapshots(_Waiting[ChatSnapshots]):
    """The snapshots of a conversation, without `await`; see `ChatSnapshots`."""

    list = _Call(ChatSnapshots.list)
    serving = _Call(ChatSnapshots.serving)
    overview = _Call(ChatSnapshots.overview)
    get = _Call(ChatSnapshots.get)
    edit = _Call(ChatSnapshots.edit)
    size = _Call(ChatSnapshots.size)
    regenerate = _Call(ChatSnapshots.regenerate)
    regenerating = _Stream(ChatSnapshots.regenerating)
    diff = _Call(ChatSnapshots.diff)
    use = _Call(ChatSnapshots.use)
    expand = _Call(ChatSnapshots.expand)
    receipt = _Call(ChatSnapshots.receipt)
    saved_so_far = _Call(ChatSnapshots.saved_so_far)
    restore = _Call(ChatSnapshots.restore)
    recall = _Call(ChatSnapshots.recall)
    standing = _Call(ChatSnapshots.standing)
    drop = _Call(ChatSnapshots.drop)


class SyncPins(_Waiting[ChatPins]):
    """The pins of a conversation, without `await`; see `ChatPins`."""

    add = _Call(ChatPins.add)
    remove = _Call(ChatPins.remove)
    list = _Call(ChatPins.list)


class SyncChat(_Waiting[Chat]):
    """One conversation, without `await`; see `Chat` for what each method does."""

    def __init__(self, chat: Chat, loop: Loop, engine: Engine) -> None:
        super().__init__(chat, loop)
        self._engine = engine
        self.id = chat.id
        self.snapshots = SyncSnapshots(chat.snapshots, loop)
        self.pins = SyncPins(chat.pins, loop)

    info = _Call(Chat.info)
    branch = _Call(Chat.branch)
    branches = _Call(Chat.branches)
    settings = _Call(Chat.settings)
    set = _Call(Chat.set)
    rename = _Call(Chat.rename)
    add = _Call(Chat.add)
    turn = _Stream(Chat.turn)
    answer = _Stream(Chat.answer)
    edit = _Call(Chat.edit)
    regenerate = _Stream(Chat.regenerate)
    checkout = _Call(Chat.checkout)
    fork = _Another(Chat.fork)
    delete_message = _Call(Chat.delete_message)
    search = _Call(Chat.search)
    usage = _Call(Chat.usage)
    context = _Call(Chat.context)
    count = _Call(Chat.count)
    plan = _Call(Chat.plan)
    compress = _Call(Chat.compress)
    compressing = _Stream(Chat.compressing)
    undo = _Call(Chat.undo)
    redo = _Call(Chat.redo)
    wait_until_idle = _Call(Chat.wait_until_idle)

    def close(self) -> None:
        """Close the engine and stop its loop; a second time, nothing is left to do."""
        if not self._loop.stopped:
            self._loop.run(self._engine.close())
            self._loop.stop()

    def __enter__(self) -> SyncChat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SyncChat({self._inner!r})"


class OpenOptions(EngineOptions, total=False):
    """The options of `open`: those of `Engine`, and those of the conversation."""

    system: str


def open(
    where: str | Path = "sqlite://", *, conversation: str | None = None, **options: Unpack[OpenOptions]
) -> SyncChat:
    """Open a database and a conversation in it, for programs without an event loop.

    `conversation` is an id or a title; the default is the last one, or a new one if there is none. Options are those
    of `Engine` (`model`, `provider`, `summariser`, `policy`, ...), and `system` for the conversation.
    """
    check_options("octavo.open", options, {*OpenOptions.__optional_keys__, "conversation"})
    settings: dict[str, Json] = {"system": options["system"]} if "system" in options else {}
    rest = cast(EngineOptions, {name: value for name, value in options.items() if name not in settings})
    loop = Loop()
    try:
        engine, chat = loop.run(_open(where, conversation, rest, settings))
    except BaseException:
        loop.stop()
        raise
    return SyncChat(chat, loop, engine)


async def _open(
    where: str | Path, wanted: str | None, options: EngineOptions, settings: dict[str, Json]
) -> tuple[Engine, Chat]:
    engine = await Engine.open(where, **options)
    try:
        found = await _find(engine, wanted)
        chat = Chat(engine, found.id) if found else await engine.create(wanted or "")
        if settings:
            await chat.set(**settings)
    except BaseException:
        await engine.close()
        raise
    return engine, chat


async def _find(engine: Engine, wanted: str | None) -> Conversation | None:
    """Find a conversation by its id or its title; the last one if none is named."""
    if wanted is None:
        return next(iter(await engine.conversations(limit=1)), None)
    with suppress(NotFound):  # a title is no id
        for found in await engine.conversations(ids=[wanted]):
            return found
    return next(iter(await engine.conversations(titled=wanted, limit=1)), None)
