"""A database that version 0.1.0 has made, in use: it opens, nothing is missing, and work goes on in it.

`data/octavo-0.1.0.db.gz` was made by that program: a tree with branches, two roots, tool calls, a large text, a file, a
deleted message, and snapshots that are active, undone, retired and edited; pins; settings of all levels; jobs that were
done, failed, and left behind; an archived conversation, an empty one, another owner's; four conversations in the
server's bin, which it kept in notes; notes and keys. `octavo-0.1.0.jsonl.gz` is what it exported.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from octavo.core.messages import assistant, chain, user
from octavo.errors import NotFound
from octavo.store import ForConversation, ForModel, Store, migrate, new_id
from octavo.store import rows as stored
from octavo.store.connection import Connection
from octavo.store.postgresql import Postgresql
from octavo.store.schema import metadata
from octavo.store.sqlite import Sqlite
from tests.store.conftest import other_database, sql
from tests.store.scenes import fold, texts

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parent / "data"
FIRST = "v0001_first.py"
"""The one step of the schema that 0.1.0 knew."""
LISTED = ["Empty", "Gone on with", "Harbour", "Lighthouse", "Of another owner"]
ARCHIVED = ["Archived"]
DELETED = ["Due", "In the bin", "In the bin, archived before"]

Row = dict[str, Any]


def unpack(folder: Path) -> Path:
    path = folder / "octavo.db"
    path.write_bytes(gzip.decompress((DATA / "octavo-0.1.0.db.gz").read_bytes()))
    return path


def exported() -> list[Row]:
    """What 0.1.0 exported; where a conversation is listed is told apart."""
    lines = gzip.decompress((DATA / "octavo-0.1.0.jsonl.gz").read_bytes()).decode()
    return [comparable(json.loads(line)) for line in lines.splitlines()]


def comparable(line: Row) -> Row:
    """Leave out where it is listed, and what a snapshot says in so many words or not at all."""
    if line["type"] == "snapshot":
        snapshot = stored.snapshot_of(line.pop("content"), **dict.fromkeys(stored._COLUMNS, ""))
        line["content"] = stored.snapshot_content(snapshot)
    return {key: value for key, value in line.items() if key != "archived"}


def old_columns(path: Path) -> dict[sa.Table, list[sa.Column[Any]]]:
    """The tables as they were, parents before children."""
    connection = sqlite3.connect(path)
    found = {
        table: {row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")}
        for table in metadata.sorted_tables
    }
    connection.close()
    return {
        table: [column for column in table.c if column.name in names]
        for table, names in found.items()
        if names
    }


async def move_to_server(path: Path, url: str, folder: Path) -> None:
    """Make the same database on PostgreSQL, at the schema of 0.1.0."""
    steps = folder / "migrations"
    shutil.copytree(migrate.MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__", "v*.py"))
    shutil.copy(migrate.MIGRATIONS / "versions" / FIRST, steps / "versions")
    file, server = Sqlite(str(path), "old", "process"), Postgresql(url, "new")
    await server.write(lambda c: migrate.upgrade(c, steps))
    for table, columns in old_columns(path).items():

        async def read(c: Connection, columns: Any = columns) -> list[Row]:
            return [row._asdict() for row in await c.execute(sa.select(*columns))]

        async def write(c: Connection, table: sa.Table = table, rows: Any = ()) -> None:
            await c.execute(sa.insert(table), rows)
            if "n" in table.c:
                await c.execute(
                    sa.text(
                        f"SELECT setval(pg_get_serial_sequence('{table.name}', 'n'), max(n)) FROM {table.name}"
                    )
                )

        rows = await file.read(read)
        await server.write(lambda c, w=write, r=rows: w(c, rows=r))  # type: ignore[misc]
    await file.close()
    await server.close()


@pytest.fixture
def server_database(server_url: str) -> Iterator[str]:
    name = f"upgrade_{os.getpid()}"
    sql(server_url, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    yield other_database(server_url, name)
    sql(server_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database of 0.1.0."""
    path = unpack(tmp_path)
    if request.param == "sqlite":
        return f"sqlite:///{path}"
    url: str = request.getfixturevalue("server_database")
    asyncio.run(move_to_server(path, url, tmp_path))
    return url


async def by_title(store: Store) -> dict[str, str]:
    return {one.title: one.id for one in await store.conversations.list(archived=None, deleted=None)}


async def titles(store: Store, **wanted: bool | None) -> list[str]:
    return sorted(one.title for one in await store.conversations.list(**wanted))  # type: ignore[arg-type]


async def test_nothing_is_missing(old: str, tmp_path: Path) -> None:
    async with await Store.open(old) as store:
        assert await store._database.read(migrate.version) == migrate.HEAD
        assert await store.check() == ()
        ids = await by_title(store)
        path = tmp_path / "now.jsonl"
        await store.export(path, sorted(ids.values()))
        now = (await asyncio.to_thread(path.read_text)).splitlines()
        assert [comparable(json.loads(line)) for line in now] == exported()


async def test_every_conversation_is_where_it_was(old: str) -> None:
    """Also one that was deleted and gone on with: it was to come back."""
    async with await Store.open(old) as store:
        assert await titles(store) == LISTED
        assert await titles(store, archived=True) == ARCHIVED
        assert await titles(store, archived=None, deleted=True) == DELETED
        assert await store.search.find("xylophone") == ()
        assert await store.notes.starting("trash:") == {}
        ids = await by_title(store)
        assert not (await store.bin.restore(ids["In the bin"])).archived
        assert (await store.bin.restore(ids["In the bin, archived before"])).archived
        assert len(await store.search.find("xylophone")) == 1
        assert await store.bin.remove_due() == (ids["Due"],)
        assert await titles(store) == sorted([*LISTED, "In the bin"])


async def test_what_is_not_in_an_export_is_there_too(old: str) -> None:
    async with await Store.open(old) as store:
        harbour = (await by_title(store))["Harbour"]
        jobs = await store.jobs.of_conversation(harbour)
        assert sorted(job.status for job in jobs) == ["done", "failed", "failed"], "one's worker died"
        assert [job.worker for job in await store.jobs.abandoned()] == ["w2"]
        states = [one.state for one in await store.snapshots.of_conversation(harbour)]
        assert {"active", "undone", "retired"} == set(states)
        assert [(key.name, key.revoked) for key in await store.keys.every()] == [
            ("laptop", False),
            ("lost", True),
        ]
        assert list(await store.notes.starting("learned:")) == ["gpt-4o"]
        assert await store.settings.of_scope(ForModel("gpt-4o")) == {"reply": 1000}


async def test_work_goes_on(old: str) -> None:
    for _ in range(2):
        async with await Store.open(old) as store:
            ids = await by_title(store)
            info = await store.conversations.get(ids["Harbour"])
            assert info.tip
            before = await store.snapshots.context(info.tip)
            node = await store.messages.append(info.id, user("And what now?"))
            assert (await store.snapshots.context(node.id)).retained == (*before.retained, node)
            branch = await store.tree.branch(node.id)
            await store.snapshots.add(info.id, fold(branch, 14))
            await store.pins.add(node.id)
            await store.settings.put(ForConversation(info.id), "auto", True)
            copy = await store.conversations.fork(node.id)
            assert copy.tip
            assert texts(await store.tree.branch(copy.tip)) == texts(branch)
            await store.bin.delete(copy.id, undo=60)
            assert [hit.node for hit in await store.search.find("what now", limit=1)] == [node.id]
            assert await store.check() == ()


async def test_a_program_of_then_that_has_it_open_is_waited_for_and_goes_on(tmp_path: Path) -> None:
    """In one folder, a reader in the middle of reading and a writer in the middle of writing, both of 0.1.0.

    The statements are those of that program: it names its columns, and knows nothing of later ones.
    """
    path = await asyncio.to_thread(unpack, tmp_path)
    reader, writer = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    writer.execute("PRAGMA journal_mode=WAL").fetchall()
    reader.execute("BEGIN")
    before = reader.execute("SELECT count(*) FROM conversation").fetchone()
    writer.execute("BEGIN IMMEDIATE")
    ours = old_conversation(writer, "In the middle")
    opening = asyncio.create_task(Store.open(f"sqlite:///{path}"))
    await asyncio.sleep(0.1)
    assert not opening.done()
    writer.execute("COMMIT")
    async with await opening as store:
        assert ours in {one.id for one in await store.conversations.list()}
        assert reader.execute("SELECT count(*) FROM conversation").fetchone() == before
        reader.execute("COMMIT")

        later = old_conversation(writer, "After the upgrade")
        archive = "UPDATE conversation SET archived=? WHERE conversation.id = ?"
        writer.execute(archive, (1, bytes.fromhex(later)))
        node = await store.messages.append(later, assistant("Hello to then."))
        found = reader.execute("SELECT text FROM message WHERE message.id = ?", (bytes.fromhex(node.id),))
        assert found.fetchone() == ("Hello to then.",)
        assert (await store.conversations.get(later)).archived
        assert later in {one.id for one in await store.conversations.list(archived=True)}
        assert await store.check() == ()
        await store.bin.delete(later)
        with pytest.raises(NotFound):
            await store.conversations.get(later)
    reader.close()
    writer.close()


def old_conversation(connection: sqlite3.Connection, title: str) -> str:
    """Make a conversation with a message as 0.1.0 does."""
    id, message, now = new_id(), new_id(), int(time.time() * 1_000)
    connection.execute(
        "INSERT INTO conversation (id, owner, title, messages, deletions, revision, created, updated) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (bytes.fromhex(id), "", title, 0, 0, 0, now, now),
    )
    connection.execute(
        "INSERT INTO message (id, conversation_id, depth, role, status, digest, large, text) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            bytes.fromhex(message),
            bytes.fromhex(id),
            1,
            "user",
            "complete",
            chain(b"", user("Hello from then.")),
            0,
            "Hello from then.",
        ),
    )
    connection.execute(
        "UPDATE conversation SET tip_id=?, messages=(conversation.messages + ?) WHERE conversation.id = ?",
        (bytes.fromhex(message), 1, bytes.fromhex(id)),
    )
    return id
