"""Connections: what a piece of work may ask of the database, and the connection for drivers that do not wait.

Work on the database is written once, as coroutines. With PostgreSQL's driver they wait for the server. SQLite's driver
runs in a thread of its own, where nothing they await ever waits. So a whole piece of work runs there at one go, and
makes one trip to the thread, however many statements it has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

T = TypeVar("T")
LOCK_WAIT = 30.0
"""Seconds that a writer waits for another one. No write takes nearly as long, so only a stuck program is reported."""


class Connection(Protocol):
    """What a piece of work may ask of the database; it awaits nothing else."""

    @property
    def dialect(self) -> sa.Dialect: ...

    async def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]: ...

    async def scalar(self, statement: sa.Executable, parameters: Any = None) -> Any: ...

    async def scalars(self, statement: sa.Executable, parameters: Any = None) -> sa.ScalarResult[Any]: ...

    async def run_sync(self, work: Callable[..., T], /, *arguments: Any) -> T: ...


Work = Callable[[Connection], Awaitable[T]]


class SyncConnection:
    """A connection whose coroutines never wait: for use in one thread."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    @property
    def dialect(self) -> sa.Dialect:
        return self._connection.dialect

    async def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        return self._connection.execute(statement, parameters)

    async def scalar(self, statement: sa.Executable, parameters: Any = None) -> Any:
        return self._connection.scalar(statement, parameters)

    async def scalars(self, statement: sa.Executable, parameters: Any = None) -> sa.ScalarResult[Any]:
        return self._connection.scalars(statement, parameters)

    async def run_sync(self, work: Callable[..., T], /, *arguments: Any) -> T:
        return work(self._connection, *arguments)


def run_through(work: Awaitable[T]) -> T:
    """Run work on a `SyncConnection` connection to its end, here and now."""
    steps = _awaited(work)
    try:
        steps.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    steps.close()
    raise RuntimeError("work on the database waited for something else than the database")


async def _awaited(work: Awaitable[T]) -> T:
    return await work
