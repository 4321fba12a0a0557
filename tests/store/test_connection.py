"""Work on SQLite: run through in a thread of its own, in one go."""

from __future__ import annotations

import asyncio
import threading

import pytest
import sqlalchemy as sa

from octavo.errors import UsageError
from octavo.store import Store
from octavo.store.connection import Connection, run_through

pytestmark = pytest.mark.anyio


async def test_work_that_waits_for_something_else_is_refused() -> None:
    async def wait() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="something else"):
        run_through(wait())


async def test_what_work_raises_is_raised() -> None:
    async def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run_through(fail())


async def test_all_statements_of_a_piece_of_work_make_one_trip_to_one_thread(sqlite_url: str) -> None:
    seen: list[str] = []

    async def look(connection: Connection) -> int:
        total = 0
        for n in range(3):
            seen.append(threading.current_thread().name)
            total += int(await connection.scalar(sa.select(sa.literal(n))))
        return total

    async with await Store.open(sqlite_url) as store:
        assert await store._database.read(look) == 3
        assert await store._database.write(look) == 3
    assert len(set(seen[:3])) == len(set(seen[3:])) == 1
    assert seen[0].startswith("octavo-read")
    assert seen[3].startswith("octavo-write")


async def test_the_threads_end_when_a_store_is_closed(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as store:
        await store.conversations.create()
        mine = {thread for thread in threading.enumerate() if thread.name.startswith("octavo-")}
        assert mine
    assert not any(thread.is_alive() for thread in mine)


async def test_a_closed_store_says_so_and_may_be_closed_again(url: str) -> None:
    store = await Store.open(url)
    await store.close()
    await store.close()
    with pytest.raises(UsageError, match="was closed: open it again"):
        await store.conversations.create()
