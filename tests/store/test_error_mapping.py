"""Errors of the drivers: what each means, whether it may be over by now, and what is said of it."""

from __future__ import annotations

import sqlite3

import asyncpg  # type: ignore[import-untyped]
import pytest
from sqlalchemy.exc import DataError, DBAPIError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from octavo.errors import BadInput, NotFound, OctavoError, ReadOnly, StoreError
from octavo.store.error_mapping import TransientError, explain


def sqlite_error(code: int, text: str = "it failed") -> sqlite3.Error:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def wrapped(error: BaseException, *, lost: bool = False) -> DBAPIError:
    """Wrap an error of a driver as SQLAlchemy does."""
    return DBAPIError("SELECT 1", None, error, connection_invalidated=lost)


class Adapted(Exception):
    """An error of PostgreSQL's driver as SQLAlchemy's adapter passes it on: the cause says it best."""

    def __init__(self, cause: asyncpg.PostgresError) -> None:
        super().__init__(f"<class 'asyncpg'>: {cause}")
        self.sqlstate = cause.sqlstate
        self.__cause__ = cause


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), TransientError, "another program keeps the file locked"),
        (sqlite_error(sqlite3.SQLITE_LOCKED), TransientError, "keeps a table locked"),
        (sqlite_error(sqlite3.SQLITE_READONLY_DIRECTORY), ReadOnly, "nothing was written"),
        (sqlite_error(sqlite3.SQLITE_FULL), StoreError, "the disk is full"),
        (wrapped(sqlite_error(sqlite3.SQLITE_CORRUPT_INDEX)), StoreError, "restore a backup"),
        (asyncpg.DeadlockDetectedError("it failed"), TransientError, "lost a race"),
        (asyncpg.LockNotAvailableError("it failed"), TransientError, "keeps the conversation locked"),
        (asyncpg.InvalidPasswordError("it failed"), StoreError, "user or password is wrong"),
        (asyncpg.ReadOnlySQLTransactionError("it failed"), ReadOnly, "accepts reads only"),
        (asyncpg.AdminShutdownError("it failed"), TransientError, "shutting down"),
        (asyncpg.QueryCanceledError("it failed"), StoreError, "was cancelled"),
        (wrapped(Adapted(asyncpg.TooManyConnectionsError("it failed"))), StoreError, "no free connection"),
        (PoolTimeout("it failed"), StoreError, "all connections of this process were busy"),
        (wrapped(RuntimeError("it failed"), lost=True), TransientError, "was lost"),
        (ConnectionRefusedError("it failed"), TransientError, "does not answer"),
    ],
)
def test_what_happened_is_told_with_what_to_do(error: Exception, kind: type[OctavoError], said: str) -> None:
    found = explain(error, "here")
    assert type(found) is kind
    assert str(found).startswith("here: it failed: ")
    assert said in str(found)


@pytest.mark.parametrize(
    "error",
    [
        sqlite_error(sqlite3.SQLITE_MISMATCH),
        asyncpg.UndefinedTableError("it failed"),
        wrapped(RuntimeError("it failed")),
    ],
)
def test_of_what_nobody_knows_more_about_only_the_driver_speaks(error: Exception) -> None:
    found = explain(error, "here")
    assert (type(found), str(found)) == (StoreError, "here: it failed")


@pytest.mark.parametrize(
    "error",
    [
        OverflowError("too large"),
        StatementError("m", "SELECT 1", None, ValueError("too large")),
        DataError("SELECT 1", None, RuntimeError("too large")),
        asyncpg.NumericValueOutOfRangeError("too large"),
        wrapped(Adapted(asyncpg.NumericValueOutOfRangeError("too large"))),
    ],
)
def test_a_value_that_does_not_fit_is_bad_input(error: Exception) -> None:
    found = explain(error, "here")
    assert type(found) is BadInput
    assert str(found) == "a value does not fit its column in the database: too large"


def test_an_error_of_our_own_is_what_it_was() -> None:
    own = NotFound("there is no such message")
    assert explain(StatementError("m", "SELECT 1", None, own), "here") is own


def test_a_connection_that_broke_during_a_commit_is_not_tried_again() -> None:
    """It would be written twice if it was stored."""
    broken = explain(ConnectionResetError("reset"), "here", committing=True)
    assert type(broken) is StoreError
    assert "may or may not be stored" in str(broken)
    full = explain(sqlite_error(sqlite3.SQLITE_FULL), "here", committing=True)
    assert "the disk is full" in str(full)


def test_an_error_is_told_in_one_line_and_by_its_name_if_it_says_nothing() -> None:
    assert str(explain(sqlite_error(sqlite3.SQLITE_MISMATCH, "first\nsecond"), "here")) == "here: first"
    assert str(explain(sqlite_error(sqlite3.SQLITE_MISMATCH, " "), "here")) == "here: OperationalError"
