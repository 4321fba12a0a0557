"""SQLite in threads of its own: one for writing, a few for reading. A file that cannot be written is read all the same.

Writers take the write lock before they read (`BEGIN IMMEDIATE`), since the driver's default loses updates; readers run
outside transactions on connections that cannot write. Writers of one process queue fairly for their one thread instead
of polling for the file's lock.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from octavo.errors import ReadOnly
from octavo.store import faults
from octavo.store.direct import LOCK_WAIT, Direct, Work, run_through

T = TypeVar("T")
Durability = Literal["process", "power"]
"""What an acknowledged write survives: the death of the process, or also a power cut (slower)."""
READERS = 5
"""Threads for reading: more gain nothing, since a read takes a millisecond or two."""
MEMORY = ":memory:"
PRIVATE = 0o600
"""Conversations are nobody else's business."""
_CACHE_KIB = 65_536


class Sqlite:
    """One SQLite database. In memory, one thread reads and writes: there is only the one connection."""

    dialect = "sqlite"

    def __init__(self, path: str, place: str, durability: Durability, *, read_only: bool = False) -> None:
        """`path` may be an address of SQLite's own, which says how a file is opened."""
        self._place, self._read_only = place, read_only
        self._writer = _engine(path, durability, writes=True)
        self._writing = ThreadPoolExecutor(1, "octavo-write")
        self._reader, self._reading = self._writer, self._writing
        if path != MEMORY:
            self._reader = _engine(path, durability, writes=False)
            self._reading = ThreadPoolExecutor(READERS, "octavo-read")

    async def read(self, work: Work[T]) -> T:
        return await _in_thread(self._reading, lambda: self._read(work))

    async def write(self, work: Work[T], written: Counter[str] | None = None) -> T:  # noqa: ARG002
        if self._read_only:
            raise ReadOnly(f"{self._place}: this database was opened for reading only; nothing was written")
        return await _in_thread(self._writing, lambda: self._write(work))

    async def close(self) -> None:
        """Close all connections and end the threads."""
        for engine, threads in {self._reader: self._reading, self._writer: self._writing}.items():
            await _in_thread(threads, engine.dispose)
            threads.shutdown()

    def _read(self, work: Work[T]) -> T:
        try:
            with self._reader.connect() as connection:
                return run_through(work(Direct(connection)))
        except faults.driver_errors() as error:
            raise faults.explain(error, self._place) from error

    def _write(self, work: Work[T]) -> T:
        committing = False
        try:
            with self._writer.connect() as connection:
                connection.begin()
                result = run_through(work(Direct(connection)))
                committing = True
                connection.commit()
                return result
        except faults.driver_errors() as error:
            raise faults.explain(error, self._place, committing=committing) from error


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, work)


def make_private(path: Path) -> None:
    """Make the file of a new database its owner's alone; what SQLite puts beside it takes after it.

    What cannot be made here SQLite cannot open either, and says why.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))


def set_wal(path: Path) -> None:
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


def opened_for_reading(path: Path) -> str:
    """Give the address by which a file is opened that cannot be written.

    Where others have it open, their journal is read too. Where nobody has, SQLite must not look for one: for that it
    would make files beside it.
    """
    in_use = path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"


def _engine(path: str, durability: Durability, *, writes: bool) -> sa.Engine:
    options: dict[str, Any] = {} if writes else {"isolation_level": "AUTOCOMMIT"}
    engine = sa.create_engine(
        "sqlite://",
        # A thread has a connection to itself while it works; which thread that is changes.
        creator=lambda: sqlite3.connect(path, check_same_thread=False, uri=path.startswith("file:")),
        poolclass=sa.QueuePool,
        pool_size=1 if writes else READERS,
        max_overflow=0,
        **options,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:  # noqa: ARG001
        connection.isolation_level = None
        for pragma in (
            f"synchronous={'NORMAL' if durability == 'process' else 'FULL'}",
            f"busy_timeout={int(LOCK_WAIT * 1000)}",
            "foreign_keys=ON",
            "secure_delete=ON",
            f"cache_size=-{_CACHE_KIB}",
            "temp_store=MEMORY",
            f"query_only={'OFF' if writes else 'ON'}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    if writes:

        @event.listens_for(engine, "begin")
        def begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
