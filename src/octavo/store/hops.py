"""SQLite's driver with one trip to its thread for a statement.

`aiosqlite` makes four: for a cursor, for the statement, for its rows, for closing the cursor. Each costs more than most
statements of a turn. Here a statement is run, read to its end and closed in one go, so a cursor never holds on to
anything; `stream` and server-side cursors are not for these connections.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import aiosqlite

CHUNK = 64
"""Rows at a time when a cursor of the driver's own is iterated over, which nobody does."""


class Connection(aiosqlite.Connection):
    """A connection whose cursors make one trip."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connect, CHUNK)
        # A thread that waits for work must not keep the program from ending.
        self._thread.daemon = True

    def cursor(self) -> Cursor:  # type: ignore[override]
        return Cursor(self)


class Cursor:
    """A statement and what came of it."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Sequence[Any] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Cursor:
        return self

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        await self._connection._execute(self._run, "execute", statement, values)  # type: ignore[no-untyped-call]
        return self

    async def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> Cursor:
        await self._connection._execute(self._run, "executemany", statement, values)  # type: ignore[no-untyped-call]
        return self

    def _run(self, how: str, statement: str, values: Any) -> None:
        """Run a statement in the connection's thread, and read all it gives."""
        done: sqlite3.Cursor = getattr(self._connection._conn, how)(statement, values)
        try:
            self.description = done.description
            self._rows = done.fetchall() if done.description else []
            self.rowcount, self.lastrowid = done.rowcount, done.lastrowid
        finally:
            done.close()

    async def fetchall(self) -> list[Any]:
        return self._rows

    async def close(self) -> None:
        """Nothing is open."""


async def open_connection(path: str) -> Connection:
    """Open a database file, or one in memory."""
    connection: Connection = await Connection(lambda: sqlite3.connect(path))  # type: ignore[assignment]
    return connection
