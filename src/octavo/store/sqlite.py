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
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from octavo.errors import ReadOnly
from octavo.store import error_mapping
from octavo.store.connection import LOCK_WAIT, SyncConnection, Work, run_through
from octavo.store.error_mapping import primary_code

T = TypeVar("T")
Durability = Literal["process", "power"]
"""What an acknowledged write survives: the death of the process, or also a power cut (slower)."""
READERS = 5
"""Threads for reading: more gain nothing, since a read takes a millisecond or two."""
MEMORY = ":memory:"
PRIVATE = 0o600
"""Only the owner may read the file, since it holds conversations."""
_SWITCHES = 100
"""How often the switch to the other kind of journal is tried: each process that switches is in the way once."""
_CACHE_KIB = 8_192
"""What each of the six connections keeps of the file; the system keeps it too, for all of them.

Eight times as much made nothing faster in a conversation of 100,000 messages, and took 130 MB more.
"""


class Sqlite:
    """One SQLite database. In memory, one thread reads and writes: there is only the one connection."""

    dialect = "sqlite"

    def __init__(self, path: str, place: str, durability: Durability, *, read_only: bool = False) -> None:
        self._place = place
        self._only = Path(path) if read_only else None
        """The file, if nothing is written to it."""
        self._seen: object = None
        """How that file was when it was opened."""
        self._writer = _engine(lambda: path, durability, writes=True)
        self._writing = ThreadPoolExecutor(1, "octavo-write")
        self._reader, self._reading = self._writer, self._writing
        if path != MEMORY:
            only = self._only
            address = (lambda: path) if only is None else (lambda: opened_for_reading(only))
            self._reader = _engine(address, durability, writes=False)
            self._reading = ThreadPoolExecutor(READERS, "octavo-read")

    async def read(self, work: Work[T]) -> T:
        return await _in_thread(self._reading, lambda: self._read(work))

    async def write(self, work: Work[T], written: Counter[str] | None = None) -> T:  # noqa: ARG002
        if self._only is not None:
            raise ReadOnly(
                f"{self._place}: this database is opened for reading only, because it is write-protected or was asked "
                "for with ?mode=ro; nothing was written"
            )
        return await _in_thread(self._writing, lambda: self._write(work))

    async def close(self) -> None:
        """Close all connections and end the threads."""
        for engine, threads in {self._reader: self._reading, self._writer: self._writing}.items():
            await _in_thread(threads, engine.dispose)
            threads.shutdown()

    def _read(self, work: Work[T]) -> T:
        try:
            self._notice_change()
            with self._reader.connect() as connection:
                return run_through(work(SyncConnection(connection)))
        except error_mapping.driver_errors() as error:
            raise error_mapping.explain(error, self._place) from error

    def _notice_change(self) -> None:
        """Reopen a read-only file if it was changed or replaced: SQLite would not notice."""
        if self._only is not None and (found := _state(self._only)) != self._seen:
            self._seen = found
            self._reader.dispose()

    def _write(self, work: Work[T]) -> T:
        committing = False
        try:
            with self._writer.connect() as connection:
                result = run_through(work(SyncConnection(connection)))
                committing = True
                connection.commit()
                return result
        except error_mapping.driver_errors() as error:
            raise error_mapping.explain(error, self._place, committing=committing) from error


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
    with closing(sqlite3.connect(path, timeout=LOCK_WAIT)) as connection:
        for left in reversed(range(_SWITCHES)):
            try:
                connection.execute("PRAGMA journal_mode=WAL").fetchall()
                return
            except sqlite3.OperationalError as error:
                if not left or primary_code(error) != sqlite3.SQLITE_BUSY:
                    raise
                connection.execute("SELECT 1").fetchall()


def opened_for_reading(path: Path) -> str:
    """Give the address for opening a file that cannot be written.

    Where others have it open, their journal is read too. Where nobody has, SQLite must not look for one: for that it
    would make files beside it.
    """
    return f"{path.absolute().as_uri()}?mode=ro{'' if _in_use(path) else '&immutable=1'}"


def _in_use(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _state(path: Path) -> object:
    """Give what differs when a file must be opened anew; while others have it open, SQLite itself sees what they do."""
    if _in_use(path):
        return "in use"
    try:
        found = path.stat()
    except OSError:
        # Opening it says why.
        return "away"
    return found.st_ino, found.st_mtime_ns, found.st_size


def _engine(address: Callable[[], str], durability: Durability, *, writes: bool) -> sa.Engine:
    """Make an engine; `address` is a path, or one of SQLite's own, which says how the file is opened."""

    def connect() -> sqlite3.Connection:
        # A thread has a connection to itself while it works; which thread that is changes.
        return sqlite3.connect(at := address(), check_same_thread=False, uri=at.startswith("file:"))

    options: dict[str, Any] = {} if writes else {"isolation_level": "AUTOCOMMIT"}
    engine = sa.create_engine(
        "sqlite://",
        creator=connect,
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
