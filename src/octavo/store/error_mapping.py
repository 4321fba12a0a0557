"""Classifies the drivers' errors, once: what happened to which database, and what to do.

No error of a driver leaves the store as it is. A `TransientError` ended before anything was committed, so the store
tries again before a caller hears of it.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable

from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from octavo.errors import BadInput, OctavoError, ReadOnly, StoreError


class TransientError(StoreError):
    """A fault that may be over by now: a lost connection, a lock, a deadlock."""


def driver_errors() -> tuple[type[BaseException], ...]:
    """List what drivers raise; asyncpg is an extra, and raises its own errors while connecting."""
    asyncpg = sys.modules.get("asyncpg")
    own = (asyncpg.PostgresError, asyncpg.InterfaceError) if asyncpg else ()
    return (SQLAlchemyError, sqlite3.Error, OSError, OverflowError, *own)


def explain(error: BaseException, place: str, *, committing: bool = False) -> OctavoError:
    """Say in our words what a driver's error means."""
    if isinstance(error, StatementError) and isinstance(error.orig, OctavoError):
        return error.orig
    cause = _cause(error)
    if _misfit(error, cause):
        return BadInput("", f"a value does not fit its column in the database: {_line(cause)}")
    kind, advice = _sqlite(cause) or _postgresql(cause) or _connection(error, cause) or (StoreError, "")
    if committing and kind is TransientError:
        return StoreError(
            f"{place}: the connection broke during a commit ({_line(cause)}): what was written last may or may not "
            "be stored; look before writing it again, or give the entry an id and append it again"
        )
    return kind(f"{place}: {_line(cause)}{': ' + advice if advice else ''}")


def _misfit(error: BaseException, cause: BaseException) -> bool:
    """Tell whether a value was refused, by the driver (a `ValueError`) or by the server (states 22...)."""
    refused = isinstance(cause, OverflowError | ValueError) or isinstance(error, DataError)
    return refused or str(getattr(cause, "sqlstate", "")).startswith("22")


def _cause(error: BaseException) -> BaseException:
    cause: BaseException = error.orig if isinstance(error, StatementError) and error.orig else error
    return cause.__cause__ if hasattr(cause, "sqlstate") and cause.__cause__ else cause


def _line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].removeprefix("<class '").strip()


Verdict = tuple[Callable[[str], StoreError], str]

_SQLITE: dict[int, Verdict] = {
    sqlite3.SQLITE_BUSY: (
        TransientError,
        "another program keeps the file locked; try again, or stop the other one",
    ),
    sqlite3.SQLITE_LOCKED: (TransientError, "another connection keeps a table locked; try again"),
    sqlite3.SQLITE_READONLY: (ReadOnly, "the file or its folder is read-only; nothing was written"),
    sqlite3.SQLITE_FULL: (
        StoreError,
        "the disk is full; nothing of this call was stored; make room and try again",
    ),
    sqlite3.SQLITE_IOERR: (StoreError, "the disk failed or is full; nothing of this call was stored"),
    sqlite3.SQLITE_CORRUPT: (StoreError, "the file is damaged; restore a backup"),
    sqlite3.SQLITE_NOTADB: (StoreError, "the file is not an SQLite database; give another path"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "the file cannot be opened; does its folder exist, may it be written to?",
    ),
    sqlite3.SQLITE_TOOBIG: (StoreError, "a value is larger than SQLite allows (1 GB); nothing was stored"),
}
_PRIMARY_CODE = 0xFF
"""SQLite's extended error codes keep the primary one in their low byte."""


def primary_code(error: BaseException) -> int | None:
    """Give SQLite's primary code of an error; None if it is not one of SQLite's."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY_CODE


def _sqlite(cause: BaseException) -> Verdict | None:
    code = primary_code(cause)
    return None if code is None else _SQLITE.get(code, (StoreError, ""))


_POSTGRESQL: dict[str, Verdict] = {
    "40": (TransientError, "it lost a race against another writer; try again"),
    "55P03": (TransientError, "another writer keeps the conversation locked; try again"),
    "28": (StoreError, "user or password is wrong, or this user may not connect; check the URL"),
    "3D": (StoreError, "there is no such database on the server; create it, or check the URL"),
    "42501": (StoreError, "this user lacks the right to do that; grant it, or use another user"),
    "25006": (ReadOnly, "the server accepts reads only (a standby?); connect to the primary"),
    "53100": (StoreError, "the server's disk is full; nothing of this call was stored"),
    "53300": (StoreError, "the server has no free connection; raise max_connections or run fewer replicas"),
    "57014": (StoreError, "the statement was cancelled or took too long; nothing of this call was stored"),
    "57": (TransientError, "the server is shutting down or starting; try again"),
    "08": (TransientError, "the connection to the server was lost; try again"),
}


def _postgresql(cause: BaseException) -> Verdict | None:
    state = getattr(cause, "sqlstate", None)
    if not isinstance(state, str):
        return None
    return _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2]) or (StoreError, "")


def _connection(error: BaseException, cause: BaseException) -> Verdict | None:
    if isinstance(error, PoolTimeout):
        return (StoreError, "all connections of this process were busy for too long; try again")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return (TransientError, "the connection to the server was lost; try again")
    if isinstance(cause, OSError):
        return (TransientError, "the database server does not answer; is it running, is the address right?")
    return None
