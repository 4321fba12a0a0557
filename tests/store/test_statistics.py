"""What PostgreSQL believes about its tables after many rows were written at once.

Its statistics may be taken while they are being written. Nobody sees them then: the table seems to be empty, and a plan
made by that reads all of it for each message of a branch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg  # type: ignore[import-untyped]
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.asyncpg import dialect

from octavo.core.messages import Branch, user
from octavo.store import Store, new_id, rows, walk
from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.messages import add
from octavo.store.postgresql import MANY
from octavo.store.schema import conversation
from octavo.store.values import TIP, Entry

pytestmark = pytest.mark.anyio


@pytest.fixture
async def other(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Another connection, on which somebody looks after the database; the server itself does not meanwhile."""
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("ALTER TABLE message SET (autovacuum_enabled = off)")
    yield connection
    await connection.execute("ALTER TABLE message RESET (autovacuum_enabled)")
    await connection.close()


async def known(connection: asyncpg.Connection) -> float:
    found: float = await connection.fetchval("SELECT reltuples FROM pg_class WHERE relname = 'message'")
    return found


async def write(store: Store, count: int, other: asyncpg.Connection) -> Branch:
    """Write messages; before they are committed, somebody else takes statistics."""
    made = await store.conversations.create()

    async def work(connection: Connection) -> Branch:
        entries = [Entry(message=user(f"m{i}")) for i in range(count)]
        nodes = (await add(connection, await lock(connection, made.id), entries, TIP, select=True)).nodes
        await other.execute("ANALYZE message")
        return nodes

    return await store._database.write(work)


async def test_statistics_taken_while_many_messages_are_written_do_not_spoil_the_plans(
    postgres_url: str, other: asyncpg.Connection
) -> None:
    async with await Store.open(postgres_url) as store:
        nodes = await write(store, MANY, other)
        assert await known(other) == MANY
        plan = await store._database.read(plan_of_a_branch)
        assert len(await store.tree.branch(nodes[-1].id)) == MANY
    reads = [node for node in " ".join(plan).split("-> ") if " on message" in node]
    assert len(reads) >= 3
    assert [node for node in reads if "Index Cond" not in node] == []


async def plan_of_a_branch(connection: Connection) -> list[str]:
    statement = walk.branch(previews=True).compile(dialect=dialect())  # type: ignore[no-untyped-call]
    bound = {"tip": UUID(int=0), "stop": 1, "tokenizer": "words"}
    values = tuple(bound[name] for name in statement.positiontup or ())
    found = await connection.run_sync(
        lambda sync: sync.exec_driver_sql(f"EXPLAIN (COSTS OFF) {statement}", values)
    )
    return [str(line).strip() for line in found.scalars()]


async def test_few_messages_are_written_without_taking_statistics(
    postgres_url: str, other: asyncpg.Connection
) -> None:
    async with await Store.open(postgres_url) as store:
        made = await store.conversations.create()
        await store.messages.append_many(made.id, [user("hi")] * (MANY - 1))
    assert await known(other) == -1


@pytest.mark.parametrize(("believed", "found"), [(20, 20), (19, 10)])
async def test_statistics_that_were_about_right_are_left_as_they_are(
    postgres_url: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, believed: int, found: int
) -> None:
    """A table that is known to be twice as large as what is written into it, or larger."""
    monkeypatch.setattr("octavo.store.postgresql.MANY", 10)
    believe = f"UPDATE pg_class SET reltuples = {believed} WHERE relname = 'message'"
    async with await Store.open(postgres_url) as store:
        made = await store.conversations.create()
        await other.execute(believe)
        await store.messages.append_many(made.id, [user("hi")] * 10)
        assert await known(other) == found


async def test_a_row_alone_counts_as_none(
    postgres_url: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever adds messages one by one is not slowed down."""
    monkeypatch.setattr("octavo.store.postgresql.MANY", 2)
    async with await Store.open(postgres_url) as store:
        made = await store.conversations.create()

        async def work(connection: Connection) -> None:
            row = {**rows.conversation_row(made.id, owner="", title="", created=0, updated=0), "id": new_id()}
            await connection.execute(sa.insert(conversation).values(row))

        await other.execute("UPDATE pg_class SET reltuples = -1 WHERE relname = 'conversation'")
        await store._database.write(work)
        of = "SELECT reltuples FROM pg_class WHERE relname = 'conversation'"
        assert await other.fetchval(of) == -1


async def test_what_was_written_is_stored_though_somebody_else_is_at_work_on_the_table(
    postgres_url: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "octavo.store.postgresql._STATISTICS_WAIT", sa.text("SET LOCAL lock_timeout = '50ms'")
    )
    async with await Store.open(postgres_url) as store, other.transaction():
        await other.execute("LOCK TABLE message IN SHARE UPDATE EXCLUSIVE MODE")
        made = await store.conversations.create()
        await store.messages.append_many(made.id, [user("hi")] * MANY)
        assert (await store.conversations.get(made.id)).messages == MANY
    assert await known(other) == -1
