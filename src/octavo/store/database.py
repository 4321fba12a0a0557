"""Opening databases, and the only two ways to use one: `read` and `write`.

In SQLite and in PostgreSQL alike `write` is all or nothing, no transaction outlives the function it runs, and work that
meets a passing fault is tried again before a caller hears of it.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from octavo.errors import UsageError
from octavo.store import error_mapping, migrate
from octavo.store.connection import Connection, Work
from octavo.store.sqlite import MEMORY, Durability, Sqlite, make_private, set_wal

T = TypeVar("T")
TRIES = 3
"""How often work that meets a passing fault is tried; then the caller is told."""
PAUSE = 0.05
"""Seconds before the second try; it grows with every further one."""
HOLD = 0.05
"""Seconds that one of many transactions may keep others waiting; then it commits what it has done."""
GAP = 0.025
"""Seconds between two such transactions: SQLite first looks this often whether another process released the file."""


class Driver(Protocol):
    """A database through its driver; errors of the driver are raised as ours."""

    @property
    def dialect(self) -> str: ...

    async def read(self, work: Work[T]) -> T:
        """Run statements that only read, each seeing the newest committed state."""

    async def write(self, work: Work[T], written: Counter[str] | None = None) -> T:
        """Run work in a transaction; the rows it writes are counted by table, where statistics depend on that."""

    async def close(self) -> None: ...


class Database:
    """One opened database."""

    def __init__(self, driver: Driver, place: str, path: Path | None, *, read_only: bool = False) -> None:
        self._driver = driver
        self.read_only = read_only
        """Whether it is known that nothing can be written."""
        self.place = place
        """Where it is, for people; never with a password."""
        self.path = path
        """The file of an SQLite database, if it is in one."""
        self._turned = 0.0
        """When the last of many transactions ended."""
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def dialect(self) -> str:
        return self._driver.dialect

    async def read(self, work: Work[T]) -> T:
        """Run statements that only read, each seeing the newest committed state."""
        return await self._try(lambda: self._driver.read(work))

    async def write(self, work: Work[T], written: Counter[str] | None = None) -> T:
        """Run `work` in a transaction: all of it is stored, or nothing. It may run more than once.

        Transactions that belong together count what they have `written`, by table, in one place.
        """
        return await self._try(lambda: self._driver.write(work, written))

    async def in_turns(self, step: Work[bool]) -> None:
        """Repeat a step until it is false, in short transactions: others get their turn in between."""

        async def some(connection: Connection) -> bool:
            until = time.monotonic() + HOLD
            while await step(connection):
                if time.monotonic() >= until:
                    return True
            return False

        while await self.turn(some):
            pass

    async def turn(self, work: Work[T], written: Counter[str] | None = None) -> T:
        """Run one of many transactions, after others had a chance to write to the file; a server has no need of it."""
        if self.path is not None:
            await asyncio.sleep(self._turned + GAP - time.monotonic())
        try:
            return await self.write(work, written)
        finally:
            self._turned = time.monotonic()

    async def view(self, work: Work[T]) -> T:
        """Run statements that only read, all of them seeing one state of the database."""
        if self.dialect == "postgresql":
            return await self.write(
                lambda c: _after("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", c, work)
            )
        if self.path is None:
            return await self.write(work)
        # Rolled back when the connection is given back.
        return await self.read(lambda c: _after("BEGIN", c, work))

    async def close(self) -> None:
        """Wait for what is still running, then close all connections; a second time, nothing is left to do."""
        if self._closed:
            return
        self._closed = True
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._driver.close()

    async def _try(self, once: Callable[[], Awaitable[T]]) -> T:
        """Run something to its end, even if the caller is cancelled meanwhile.

        A driver that is interrupted in the middle gives its connection up, and with it a memory database.
        """
        if self._closed:
            raise UsageError(f"{self.place} was closed: open it again")
        task = asyncio.create_task(self._try_again(once))
        self._running.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Looked at, so that the failure of a call nobody waits for any more is not reported as unhandled.
            task.exception()

    async def _try_again(self, once: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, TRIES):
            try:
                return await once()
            except error_mapping.TransientError:
                await asyncio.sleep(PAUSE * attempt)
        return await once()


async def _after(first: str, connection: Connection, work: Work[T]) -> T:
    await connection.execute(sa.text(first))
    return await work(connection)


async def open_database(url: str, *, durability: Durability = "process") -> Database:
    """Open a database by its URL and bring its schema up to date."""
    parsed = _parse(url)
    if parsed.drivername == "sqlite":
        database = await _open_sqlite(parsed, durability)
    else:
        database = _open_postgresql(url, parsed)
    try:
        found = await database.read(migrate.version)
        if found != migrate.HEAD:
            if database.read_only:
                raise migrate.refusal(found, database.place)
            await database.write(migrate.bring_up_to_date)
    except BaseException:
        await database.close()
        raise
    return database


def _parse(url: str) -> URL:
    known = "sqlite:///path/to/file.db, sqlite:// (memory) or postgresql://user@host/database"
    try:
        parsed = make_url(re.sub("^postgres:", "postgresql:", url))
    except ArgumentError:
        raise UsageError(f"{url!r} is no database URL; give {known}") from None
    if parsed.drivername not in ("sqlite", "postgresql"):
        raise UsageError(f"cannot open a {parsed.drivername!r} database; give {known}")
    return parsed


async def _open_sqlite(url: URL, durability: Durability) -> Database:
    if not url.database or url.database == MEMORY:
        return Database(Sqlite(MEMORY, "sqlite://", durability), "sqlite://", None)
    path = Path(url.database)
    if not path.parent.is_dir():
        raise UsageError(f"the folder {str(path.parent)!r} does not exist; create it, or give another path")
    place, mode = f"sqlite:///{path}", url.query.get("mode", "rwc")
    if mode not in ("ro", "rwc"):
        raise UsageError(f"{mode!r} is no way to open a file: leave it out, or give ?mode=ro to read only")
    if mode == "ro" or await asyncio.to_thread(_is_protected, path, place):
        return Database(Sqlite(str(path), place, durability, read_only=True), place, path, read_only=True)
    return Database(Sqlite(str(path), place, durability), place, path)


def _is_protected(path: Path, place: str) -> bool:
    """Tell whether a file is there and cannot be written; one that can is made ready for it."""
    if path.is_file() and not os.access(path, os.W_OK):
        return True
    make_private(path)
    try:
        set_wal(path)
    except sqlite3.Error as error:
        if error_mapping.primary_code(error) == sqlite3.SQLITE_READONLY:
            return True
        raise error_mapping.explain(error, place) from error
    return False


def _open_postgresql(url: str, parsed: URL) -> Database:
    try:
        # SQLAlchemy itself needs `greenlet` to use the driver; both come with the extra.
        from octavo.store.postgresql import Postgresql
    except ImportError:
        raise UsageError("PostgreSQL needs a driver; run: pip install 'octavo[postgres]'") from None

    place = parsed.render_as_string(hide_password=True)
    return Database(Postgresql(re.sub("^postgres:", "postgresql:", url), place), place, None)
