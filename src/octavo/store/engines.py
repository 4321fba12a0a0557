"""Opening databases, and the only two ways to use one: `read` and `write`.

SQLite: writers take the write lock before they read (`BEGIN IMMEDIATE`), since the driver's default loses updates;
readers run outside transactions on connections that cannot write. PostgreSQL: a writer first locks the row of its
conversation. In both cases `write` is all or nothing, and no transaction outlives the function it runs.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from octavo.errors import UsageError
from octavo.store import faults, migrate
from octavo.store.hops import open_connection

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]
Durability = Literal["process", "power"]
"""What an acknowledged write survives: the death of the process, or also a power cut (slower)."""

LOCK_WAIT = 30.0
"""Seconds a writer waits for another one: far more than any write takes, so only a stuck program is reported."""
CONNECT_WAIT = 10.0
"""Seconds a PostgreSQL server has to answer."""
READERS = 5
"""Connections for reading: more gain nothing, since a read takes a millisecond or two."""
TRIES = 3
"""A fault that passes is met this often before the caller hears of it."""
PAUSE = 0.05
"""Seconds before the second try; it grows with every further one."""
_CACHE_KIB = 65_536
_SESSION = f"""
SET lock_timeout = '{int(LOCK_WAIT)}s';
SET idle_in_transaction_session_timeout = '120s';
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
"""
"""For PostgreSQL. Every statement here looks rows up by key, and takes a millisecond: planning or compiling it anew
each time costs more than running it, and a plan that was made while a table was small would read all of it later."""


class Database:
    """One opened database."""

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine, place: str, path: Path | None) -> None:
        self._reader = reader
        self._writer = writer
        self.place = place
        """Where it is, for people; never with a password."""
        self.path = path
        """The file of an SQLite database, if it is in one."""
        self._running: set[asyncio.Task[Any]] = set()

    @property
    def dialect(self) -> str:
        return self._writer.dialect.name

    async def read(self, work: Work[T]) -> T:
        """Run statements that only read, each seeing the newest committed state."""
        return await self._try(lambda: self._read_once(work))

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction: all of it is stored, or nothing. It may run more than once."""
        return await self._try(lambda: self._write_once(work))

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
        """Wait for what is still running, then close all connections."""
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._reader.dispose()
        if self._writer is not self._reader:
            await self._writer.dispose()

    async def _try(self, once: Callable[[], Awaitable[T]]) -> T:
        """Run something to its end, also when the caller is cancelled meanwhile.

        A driver that is interrupted in the middle gives its connection up, and with it a memory database.
        """
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
            except faults.Passing:
                await asyncio.sleep(PAUSE * attempt)
        return await once()

    async def _read_once(self, work: Work[T]) -> T:
        try:
            async with self._reader.connect() as connection:
                return await work(connection)
        except faults.driver_errors() as error:
            raise faults.explain(error, self.place) from error

    async def _write_once(self, work: Work[T]) -> T:
        committing = False
        try:
            async with self._writer.connect() as connection:
                await connection.begin()
                result = await work(connection)
                committing = True
                await connection.commit()
                return result
        except faults.driver_errors() as error:
            raise faults.explain(error, self.place, committing=committing) from error


async def _after(first: str, connection: AsyncConnection, work: Work[T]) -> T:
    await connection.execute(sa.text(first))
    return await work(connection)


async def open_database(url: str, *, durability: Durability = "process") -> Database:
    """Open a database by its URL and bring its schema up to date."""
    parsed = _parse(url)
    if parsed.drivername == "sqlite":
        database = await _open_sqlite(parsed, durability)
    else:
        database = _postgresql(url, parsed)
    try:
        if await database.read(migrate.version) != migrate.HEAD:
            await database.write(migrate.upgrade)
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
    if not url.database or url.database == ":memory:":
        engine = _sqlite(":memory:", durability, writes=True)
        return Database(engine, engine, "sqlite://", None)
    path = Path(url.database)
    if not path.parent.is_dir():
        raise UsageError(f"the folder {str(path.parent)!r} does not exist; create it, or give another path")
    place = f"sqlite:///{path}"
    try:
        await asyncio.to_thread(_set_wal, path)
    except sqlite3.Error as error:
        raise faults.explain(error, place) from error
    reader, writer = (_sqlite(str(path), durability, writes=writes) for writes in (False, True))
    return Database(reader, writer, place, path)


def _set_wal(path: Path) -> None:
    """Let readers and a writer work side by side; the file remembers it.

    While another process switches too, SQLite answers "locked" at once instead of waiting, hence the loop.
    """
    connection = sqlite3.connect(path, timeout=LOCK_WAIT)
    try:
        for attempt in range(1, 100):
            try:
                connection.execute("PRAGMA journal_mode=WAL").fetchall()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or attempt == 99:
                    raise
                connection.execute("SELECT 1").fetchall()
    finally:
        connection.close()


def _sqlite(path: str, durability: Durability, *, writes: bool) -> AsyncEngine:
    # One connection for writing: writers of this process queue fairly here instead of polling for the file's lock.
    size = 1 if writes else READERS
    options: dict[str, Any] = {} if writes else {"isolation_level": "AUTOCOMMIT"}
    engine = create_async_engine(
        "sqlite+aiosqlite://",
        async_creator=lambda: open_connection(path),
        pool_size=size,
        max_overflow=0,
        pool_timeout=LOCK_WAIT,
        poolclass=sa.AsyncAdaptedQueuePool,
        # Whoever gives a connection back has ended its transaction, and its statements are read to the end.
        pool_reset_on_return=None,
        **options,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, record: Any) -> None:  # noqa: ARG001
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"synchronous={'NORMAL' if durability == 'process' else 'FULL'}",
            f"busy_timeout={int(LOCK_WAIT * 1000)}",
            "foreign_keys=ON",
            "secure_delete=ON",
            f"cache_size=-{_CACHE_KIB}",
            "temp_store=MEMORY",
            f"query_only={'OFF' if writes else 'ON'}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    if writes:

        @event.listens_for(engine.sync_engine, "begin")
        def begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql(url: str, parsed: URL) -> Database:
    try:
        import asyncpg  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError("PostgreSQL needs a driver: install octavo[postgres]") from None
    dsn = re.sub("^postgres:", "postgresql:", url)

    async def connect() -> Any:
        # The driver reads the URL itself, so everything libpq's URLs can say (sslmode, several hosts) works.
        connection = await asyncpg.connect(dsn, timeout=CONNECT_WAIT)
        try:
            await connection.execute(_SESSION)
        except BaseException:
            connection.terminate()
            raise
        return connection

    writer = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        pool_size=READERS,
        max_overflow=10,
        pool_timeout=LOCK_WAIT,
    )
    reader = writer.execution_options(isolation_level="AUTOCOMMIT")
    return Database(reader, writer, parsed.render_as_string(hide_password=True), None)
