"""Reading and writing: tried again after a passing fault, in turns with others, to the end even at a close."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest
import sqlalchemy as sa
from sqlalchemy import event

from octavo.core.messages import user
from octavo.errors import StoreError, UsageError
from octavo.store import Store, database
from octavo.store.connection import Connection, Work
from octavo.store.error_mapping import TransientError
from octavo.store.postgresql import Postgresql
from octavo.store.schema import message
from octavo.store.sqlite import Sqlite
from tests.store.scenes import long_talk, until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PAUSE", 0.001)


def failing(times: int, tries: list[int]) -> Work[str]:
    """Make work that meets a passing fault so many times."""

    async def work(connection: Connection) -> str:  # noqa: ARG001
        tries.append(1)
        if len(tries) <= times:
            raise TransientError("it is locked")
        return "done"

    return work


@pytest.mark.parametrize("way", ["read", "write"])
async def test_work_that_meets_a_passing_fault_is_tried_three_times(memory: Store, way: str) -> None:
    run: Callable[[Work[str]], Any] = getattr(memory._database, way)
    tries: list[int] = []
    assert await run(failing(2, tries)) == "done"
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(TransientError, match="it is locked"):
        await run(failing(9, tries))
    assert len(tries) == 3


async def test_a_fault_has_time_to_pass_before_work_is_tried_again(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is over before the first pause is."""
    monkeypatch.setattr(database, "PAUSE", 0.05)
    over = threading.Event()

    async def work(connection: Connection) -> str:  # noqa: ARG001
        if not over.is_set():
            raise TransientError("it is locked")
        return "done"

    asyncio.get_running_loop().call_later(0.02, over.set)
    assert await memory._database.write(work) == "done"


async def test_between_two_of_many_transactions_others_can_write_to_the_file(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody does a little later is done before the next one begins."""
    monkeypatch.setattr(database, "HOLD", 0.0)
    monkeypatch.setattr(database, "GAP", 0.05)
    loop, done, seen = asyncio.get_running_loop(), list[int](), list[list[int]]()

    async def step(connection: Connection) -> bool:  # noqa: ARG001
        seen.append([*done])
        loop.call_soon_threadsafe(loop.call_later, 0.01, done.append, len(seen))
        return len(seen) < 3

    async with await Store.open(sqlite_url) as store:
        await store._database.in_turns(step)
    assert seen == [[], [1], [1, 2]]


@pytest.mark.parametrize("times", [1, 9])
async def test_a_store_that_is_closed_waits_for_what_is_tried_again(
    memory: Store, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Also when it fails in the end: that is told to whoever asked for it, not to whoever closes."""
    monkeypatch.setattr(database, "PAUSE", 0.05)
    tries: list[int] = []
    asked = asyncio.create_task(memory._database.write(failing(times, tries)))

    async def tried() -> object:
        return tries

    await until(tried)
    await memory.close()
    (found,) = await asyncio.gather(asked, return_exceptions=True)
    assert found == "done" if times == 1 else isinstance(found, TransientError)


async def test_a_failure_that_nobody_waits_for_any_more_is_not_reported_as_one_that_was_overlooked(
    memory: Store,
) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    begun, given_up = threading.Event(), threading.Event()

    async def work(connection: Connection) -> None:  # noqa: ARG001
        begun.set()
        assert given_up.wait(30)
        raise UsageError("it is of no use")

    async def is_begun() -> bool:
        return begun.is_set()

    async def is_over() -> bool:
        return not memory._database._running

    asked = asyncio.create_task(memory._database.write(work))
    await until(is_begun)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    given_up.set()
    await until(is_over)
    gc.collect()
    await asyncio.sleep(0)
    assert asked.cancelled()
    assert reported == []


@pytest.mark.parametrize("hold", [0.0, 60.0])
async def test_many_steps_are_done_in_as_many_transactions_as_it_takes_to_hold_each_shortly(
    memory: Store, monkeypatch: pytest.MonkeyPatch, hold: float
) -> None:
    monkeypatch.setattr(database, "HOLD", hold)
    driver = memory._database._driver
    assert isinstance(driver, Sqlite)
    begun, steps = list[int](), iter(range(5))
    event.listen(driver._writer, "begin", lambda _: begun.append(1))

    async def step(connection: Connection) -> bool:
        await connection.execute(sa.text("SELECT 1"))
        return next(steps, None) is not None

    await memory._database.in_turns(step)
    assert next(steps, None) is None
    assert len(begun) == (6 if hold == 0.0 else 1)


async def test_a_view_is_of_one_moment_whatever_others_write_meanwhile(store: Store, url: str) -> None:
    made, _ = await long_talk(store, 3)
    counted = sa.select(sa.func.count()).select_from(message)
    one_more = sa.select(message.c.n)

    async def look(connection: Connection) -> tuple[int, int]:
        before = await connection.scalar(counted)
        if connection.dialect.name == "sqlite":
            # Nothing can be waited for on SQLite's thread, so somebody else removes a message there.
            with sqlite3.connect(url.removeprefix("sqlite:///")) as other:
                other.execute("DELETE FROM message WHERE depth = 3")
            other.close()
        else:
            async with await Store.open(url) as another:
                await another.messages.append(made.id, user("more"))
        return before, await connection.scalar(counted)

    assert await store._database.view(look) == (3, 3)
    assert len(await store._database.read(lambda c: _all(c, one_more))) != 3


async def _all(connection: Connection, statement: sa.Select[Any]) -> list[Any]:
    return [*(await connection.execute(statement)).all()]


async def test_a_database_that_cannot_be_opened_leaves_no_thread_behind(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE octavo_version (version_num)")
        connection.execute("INSERT INTO octavo_version VALUES ('9999')")
    connection.close()
    before = {*threading.enumerate()}
    with pytest.raises(StoreError, match="newer"):
        await Store.open(f"sqlite:///{path}")
    assert [one.name for one in threading.enumerate() if one not in before and "octavo" in one.name] == []


async def test_without_its_driver_postgresql_is_refused_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "octavo.store.postgresql", None)
    with pytest.raises(UsageError, match=r"pip install 'octavo\[postgres\]'"):
        await Store.open("postgresql://127.0.0.1:1/x")


async def test_the_name_of_memory_may_be_spelled_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with await Store.open("sqlite:///:memory:") as store:
        await store.conversations.create()
        assert store.place == "sqlite://"
    assert names_in(tmp_path) == []


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


async def test_many_readers_share_a_few_threads_and_writers_queue_for_one(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as store:
        made, branch = await long_talk(store, 4)
        for _ in range(3):
            found = await asyncio.gather(*(store.tree.branch(branch[-1].id) for _ in range(12)))
            assert set(found) == {branch}
        await asyncio.gather(*(store.messages.append(made.id, user("more")) for _ in range(6)))
        names = [one.name for one in threading.enumerate() if one.name.startswith("octavo-write")]
    assert names == ["octavo-write_0"]


async def test_a_file_that_somebody_keeps_locked_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that another program made, while it writes: the kind of journal cannot be changed."""
    monkeypatch.setattr("octavo.store.sqlite.LOCK_WAIT", 0.01)
    monkeypatch.setattr("octavo.store.sqlite._SWITCHES", 3)
    path = tmp_path / "locked.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE mine (x)")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="keeps the file locked"):
        await Store.open(f"sqlite:///{path}")
    other.execute("ROLLBACK")
    other.close()
    async with await Store.open(f"sqlite:///{path}") as store:
        assert await store.conversations.list() == ()


async def test_a_commit_that_breaks_is_told_and_not_repeated(store: Store) -> None:
    """What it wrote may be stored, and would be stored twice."""
    driver = store._database._driver
    assert isinstance(driver, Sqlite | Postgresql)
    engine = driver._writer if isinstance(driver, Sqlite) else driver._writer.sync_engine
    commits: list[int] = []

    def fail(connection: sa.Connection) -> None:  # noqa: ARG001
        commits.append(1)
        if isinstance(driver, Sqlite):
            error = sqlite3.OperationalError("it is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        raise asyncpg.ConnectionDoesNotExistError("it is gone")

    event.listen(engine, "commit", fail)
    with pytest.raises(StoreError, match="may or may not be stored"):
        await store.conversations.create()
    event.remove(engine, "commit", fail)
    assert len(commits) == 1
    assert await store.conversations.list() == ()


async def test_a_store_can_be_looked_at_whether_it_can_be_read(memory: Store) -> None:
    await memory.check_readable()
    await memory._database.write(lambda c: c.execute(sa.text("DROP TABLE note")))
    with pytest.raises(StoreError):
        await memory.check_readable()
    await memory.close()
    with pytest.raises(UsageError, match="was closed"):
        await memory.check_readable()


async def test_a_store_tells_whether_other_machines_may_work_on_it(store: Store, url: str) -> None:
    assert store.shared is url.startswith("postgresql")
    assert not store.read_only
