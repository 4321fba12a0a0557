"""A database that is opened to be read: everything that reads works, everything that writes says why it does not."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from octavo.core.messages import user
from octavo.errors import ReadOnly, StoreError, UsageError
from octavo.store import Everywhere, Store
from tests.store.scenes import fold, long_talk, talk
from tests.store.test_upgrade import unpack

pytestmark = pytest.mark.anyio


async def test_reading_works_and_writing_says_why_it_does_not(sqlite_url: str, tmp_path: Path) -> None:
    async with await Store.open(sqlite_url) as store:
        made, branch = await long_talk(store, 12)
        await store.snapshots.add(made.id, fold(branch, 6))
        _, secret = await store.keys.create("reader")
    async with await Store.open(f"{sqlite_url}?mode=ro") as store:
        assert store.read_only
        assert (await store.snapshots.context(branch[-1].id)).snapshot is not None
        assert len(await store.search.find("message")) == 12
        assert await store.keys.find(secret) is not None
        assert await store.check() == ()
        await store.export(tmp_path / "x.jsonl", [made.id])
        await store.backup(tmp_path / "copy.db")
        for write in (
            store.messages.append(made.id, user("more")),
            store.conversations.create(),
            store.bin.delete(made.id),
            store.bin.delete(made.id, undo=60),
            store.import_file(tmp_path / "x.jsonl", new_ids=True),
            store.settings.put(Everywhere(), "auto", True),
            store.notes.put("x", 1),
        ):
            with pytest.raises(ReadOnly, match=r"octavo\.db: this database is opened for reading only"):
                await write
    async with await Store.open(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert not copy.read_only
        assert (await copy.messages.append(made.id, user("more"))).depth == 13
        assert await copy.check() == ()


async def test_what_others_write_meanwhile_is_read(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as writer:
        made, _ = await talk(writer, "u: hi")
        async with await Store.open(f"{sqlite_url}?mode=ro") as reader:
            await writer.messages.append(made.id, user("more"))
            assert (await reader.conversations.get(made.id)).messages == 2


async def test_a_file_that_was_changed_or_replaced_is_opened_anew(sqlite_url: str, tmp_path: Path) -> None:
    """Nobody had it open at first, so SQLite was told that nothing changes."""
    async with await Store.open(sqlite_url) as writer:
        made, _ = await talk(writer, "u: hi")
    async with await Store.open(f"{sqlite_url}?mode=ro") as reader:
        assert (await reader.conversations.get(made.id)).messages == 1
        async with await Store.open(sqlite_url) as writer:
            await writer.messages.append(made.id, user("more"))
            assert (await reader.conversations.get(made.id)).messages == 2
            await writer.messages.append(made.id, user("more still"))
            await writer.backup(tmp_path / "copy.db")
        assert (await reader.conversations.get(made.id)).messages == 3
    other = f"sqlite:///{tmp_path / 'copy.db'}?mode=ro"
    async with await Store.open(other) as reader, await Store.open(sqlite_url) as writer:
        assert (await reader.conversations.get(made.id)).messages == 3
        await writer.messages.append(made.id, user("once more"))
        await writer.backup(tmp_path / "copy.db", overwrite=True)
        assert (await reader.conversations.get(made.id)).messages == 4
        assert await reader.check() == ()


async def test_nothing_is_made_beside_a_file_that_is_only_read(sqlite_url: str, tmp_path: Path) -> None:
    async with await Store.open(sqlite_url) as store:
        await talk(store, "u: hi")
    before = contents(tmp_path)
    async with await Store.open(f"{sqlite_url}?mode=ro") as store:
        assert len(await store.conversations.list()) == 1
        assert contents(tmp_path) == before
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


async def test_a_schema_that_would_have_to_change_is_refused(tmp_path: Path) -> None:
    old = await asyncio.to_thread(unpack, tmp_path)
    with pytest.raises(StoreError, match=r"older Octavo .schema 0001.*read-only: copy it"):
        await Store.open(f"sqlite:///{old}?mode=ro")
    empty = tmp_path / "empty.db"
    connection = sqlite3.connect(empty)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    with pytest.raises(StoreError, match="holds no conversations"):
        await Store.open(f"sqlite:///{empty}?mode=ro")
    connection.execute("CREATE TABLE octavo_version (version_num)")
    connection.execute("INSERT INTO octavo_version VALUES ('9999')")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"newer Octavo .schema 9999"):
        await Store.open(f"sqlite:///{empty}?mode=ro")
    with pytest.raises(StoreError, match="cannot be opened"):
        await Store.open(f"sqlite:///{tmp_path / 'nowhere.db'}?mode=ro")
    with pytest.raises(UsageError, match=r"'rw' is no way to open a file"):
        await Store.open(f"sqlite:///{old}?mode=rw")
