"""No copy and no export is written over the database it is made from, by whatever name or link."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from octavo.core.messages import user
from octavo.errors import StoreError, UsageError
from octavo.store import Store
from tests.store.scenes import long_talk

pytestmark = pytest.mark.anyio


def itself(path: Path) -> Path:
    return path


def another_way(path: Path) -> Path:
    (path.parent / "folder").mkdir(exist_ok=True)
    return path.parent / "folder" / ".." / path.name


def hard_link(path: Path) -> Path:
    other = path.with_name("hard.db")
    os.link(path, other)
    return other


def symbolic_link(path: Path) -> Path:
    other = path.with_name("link.db")
    other.symlink_to(path)
    return other


def linked_folder(path: Path) -> Path:
    (path.parent / "elsewhere").symlink_to(path.parent)
    return path.parent / "elsewhere" / path.name


def journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def index_of_journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-shm")


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def halves(folder: Path) -> list[Path]:
    return list(folder.glob("*.partial"))


WAYS = [itself, another_way, hard_link, symbolic_link, linked_folder, journal, index_of_journal]


@pytest.mark.parametrize("way", WAYS)
async def test_a_copy_is_not_put_in_the_place_of_its_original(
    tmp_path: Path, way: Callable[[Path], Path]
) -> None:
    """As it was found: the copy took the place of a file that others had open, which was damaged soon after."""
    path = tmp_path / "octavo.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        made, _ = await long_talk(store, 20)
        target, inode = way(path), path.stat().st_ino
        with pytest.raises(UsageError, match="is the database itself, or a part of it"):
            await store.backup(target, overwrite=True)
        for i in range(100):
            await store.messages.append(made.id, user(f"more {i}"))
        assert path.stat().st_ino == inode
        assert await store.check() == ()
    async with await Store.open(f"sqlite:///{path}") as again:
        assert (await again.conversations.get(made.id)).messages == 120
    assert halves(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
async def test_an_export_is_not_put_in_the_place_of_a_database(
    tmp_path: Path, way: Callable[[Path], Path]
) -> None:
    path = tmp_path / "octavo.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        made, _ = await long_talk(store, 20)
        with pytest.raises(UsageError, match="is a database, or a part of one"):
            await store.export(way(path), [made.id])
        await store.messages.append(made.id, user("more"))
        assert await store.check() == ()


async def test_a_copy_does_not_replace_a_database_that_is_in_use(tmp_path: Path) -> None:
    here, there = (tmp_path / name for name in ("here.db", "there.db"))
    async with await Store.open(f"sqlite:///{here}") as source:
        await long_talk(source, 4)
        async with await Store.open(f"sqlite:///{there}") as other:
            made, _ = await long_talk(other, 6)
            with pytest.raises(UsageError, match=r"there\.db is in use: there is a there\.db-wal beside it"):
                await source.backup(there, overwrite=True)
            await other.messages.append(made.id, user("more"))
            assert await other.check() == ()
        await source.backup(there, overwrite=True)
    async with await Store.open(f"sqlite:///{there}") as copy:
        assert [one.messages for one in await copy.conversations.list()] == [4]


async def test_a_copy_is_one_file_that_can_be_read_where_nothing_can_be_made_beside_it(
    tmp_path: Path,
) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'octavo.db'}") as store:
        await long_talk(store, 4)
        await store.backup(tmp_path / "copy.db")
        (tmp_path / "folder.db").mkdir()
        with pytest.raises(StoreError):
            await store.backup(tmp_path / "folder.db", overwrite=True)
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert names_in(tmp_path) == ["copy.db", "folder.db", "octavo.db"]


async def test_a_database_called_like_half_a_copy_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "chats.partial"
    async with await Store.open(f"sqlite:///{path}") as store:
        made, _ = await long_talk(store, 4)
        await store.backup(tmp_path / "chats")
        await store.export(tmp_path / "chats.jsonl", [made.id])
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM message").fetchone() == (4,)
    connection.close()
    async with await Store.open(f"sqlite:///{tmp_path / 'chats'}") as copy:
        assert [one.messages for one in await copy.conversations.list()] == [4]
