"""An import goes in piece by piece: others write meanwhile, nobody sees half of it, what breaks off leaves nothing."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
import sqlalchemy as sa

from octavo.core.messages import digest, user
from octavo.errors import BadInput, NotFound, StoreError, UsageError
from octavo.store import Store
from octavo.store.connection import Connection
from octavo.store.postgresql import MANY
from octavo.store.schema import conversation, large_text, message
from octavo.store.transfer import importer
from octavo.store.transfer.formats import read_items
from octavo.store.transfer.import_writer import ImportWriter
from octavo.store.transfer.importer import Importer, ImportPiece
from octavo.store.transfer.source import read_values
from tests.store import workers
from tests.store.scenes import fold, import_text, long_talk, start, talk, until

pytestmark = pytest.mark.anyio

WORD = "xylophone"


def write_file(path: Path, count: int, *, last: str = "") -> Path:
    """Write a long conversation, one message in each line."""
    lines = (
        {"id": i, "parent_id": i - 1 if i else None, "role": "user", "content": f"{WORD} {i}"}
        for i in range(count)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + last)
    return path


async def rows(store: Store) -> tuple[int, int]:
    """Count what there is, hidden or not."""

    async def count(connection: Connection) -> tuple[int, int]:
        tables = (conversation, message)
        found = [await connection.scalar(sa.select(sa.func.count()).select_from(t)) for t in tables]
        return found[0], found[1]

    return await store._database.read(count)


async def let_time_pass(store: Store) -> None:
    """Let nobody have heard of an import for a long time."""

    async def work(connection: Connection) -> None:
        hidden = conversation.c.hidden == "importing"
        await connection.execute(sa.update(conversation).where(hidden).values(due=1))

    await store._database.write(work)


async def test_others_write_while_a_file_is_read(store: Store, url: str, tmp_path: Path) -> None:
    """In the same process and in others: each of many small writes ends before the import does."""
    path = write_file(tmp_path / "long.jsonl", 12_000)
    made, _ = await talk(store, "u: hi")
    async with await Store.open(url) as other:
        importing = asyncio.create_task(store.import_file(path))
        await until(lambda: hidden(store))
        written = 0
        for i in range(5):
            await store.messages.append(made.id, user(f"here {i}"))
            await other.messages.append(made.id, user(f"there {i}"))
            written += not importing.done()
        (read,) = await importing
        assert written == 5
        assert (await other.conversations.get(read.id)).messages == 12_000
    assert (await store.conversations.get(made.id)).messages == 11
    assert await store.check() == ()


async def hidden(store: Store) -> bool:
    return (await rows(store))[1] > 1_000


def watched(pieces: Iterator[ImportPiece], look: Callable[[], Awaitable[None]]) -> Iterator[ImportPiece]:
    """Look around whenever a piece has been stored; pieces are asked for in another thread."""
    loop = asyncio.get_running_loop()

    def each() -> Iterator[ImportPiece]:
        for piece in pieces:
            yield piece
            asyncio.run_coroutine_threadsafe(_run(look), loop).result()

    return each()


async def _run(look: Callable[[], Awaitable[None]]) -> None:
    await look()


def pieces_of(path: Path) -> Iterator[ImportPiece]:
    return Importer(owner=None, title=None, new_ids=False).pieces(read_items(read_values(path)))


async def test_nobody_sees_a_conversation_before_all_of_the_file_is_there(
    store: Store, tmp_path: Path
) -> None:
    (first, branch), (second, others) = await long_talk(store, 3_000), await long_talk(store, 40)
    await store.snapshots.add(second.id, fold(others, 20))
    path, ids = tmp_path / "both.jsonl", [first.id, second.id]
    await store.export(path, ids)
    for id in ids:
        await store.bin.delete(id)
    said, stored = [digest(node.message for node in branch[:10])], list[int]()

    async def look() -> None:
        stored.append((await rows(store))[1])
        assert await store.conversations.list(archived=None, deleted=None) == ()
        assert await store.search.find("message") == ()
        assert await store.tree.find_prefix(said) is None
        assert await store.bin.remove_due() == ()
        assert await store.check() == ()
        for work in (store.conversations.get, store.bin.delete, store.bin.restore, store.conversations.copy):
            with pytest.raises(NotFound):
                await work(first.id)
        with pytest.raises(NotFound):
            await store.messages.append(first.id, user("I know this id."))
        with pytest.raises(UsageError, match="is taken"):
            await store.conversations.create(id=first.id)

    read = await ImportWriter(store._database).run(watched(pieces_of(path), look))
    assert len(stored) > 5
    assert stored == sorted(stored)
    assert stored[-1] == 3_040
    assert [(one.id, one.messages) for one in read] == [(first.id, 3_000), (second.id, 40)]
    assert await store.tree.find_prefix(said) is not None
    assert len(await store.snapshots.of_conversation(second.id)) == 1
    assert await store.check() == ()


async def test_what_breaks_off_in_the_middle_leaves_nothing(store: Store, tmp_path: Path) -> None:
    broken = '{"id": "last", "parent_id": "nobody", "role": "user", "content": "x"}\n'
    path = write_file(tmp_path / "broken.jsonl", 3_000, last=broken)
    with pytest.raises(BadInput, match="line 3001"):
        await store.import_file(path)
    assert await rows(store) == (0, 0)
    assert await store.search.find(WORD) == ()
    assert await store.check() == ()


async def test_no_word_of_what_broke_off_is_left_in_the_file(sqlite_url: str, tmp_path: Path) -> None:
    path = write_file(tmp_path / "broken.jsonl", 1_500, last='{"id"\n')
    async with await Store.open(sqlite_url) as store:
        with pytest.raises(BadInput):
            await store.import_file(path)
        assert found(tmp_path) == []


def found(folder: Path) -> list[str]:
    """Name the files of the database that hold the word."""
    return [one.name for one in folder.glob("octavo.db*") if WORD.encode() in one.read_bytes()]


async def test_a_cancelled_import_is_out_of_the_way_at_once_and_removed_later(
    store: Store, url: str, tmp_path: Path
) -> None:
    path = write_file(tmp_path / "long.jsonl", 12_000)
    importing = asyncio.create_task(store.import_file(path))
    await until(lambda: hidden(store))
    importing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await importing
    assert await store.conversations.list(archived=None, deleted=None) == ()
    async with await Store.open(url) as other:
        await until(lambda: nothing_left(other))
        assert await store.check() == ()
    assert len(await store.import_file(write_file(tmp_path / "short.jsonl", 10))) == 1


async def nothing_left(store: Store) -> bool:
    return await rows(store) == (0, 0)


async def test_a_killed_import_is_seen_by_nobody_and_removed_by_the_next_that_opens(
    url: str, tmp_path: Path, started: list[ForkServerProcess]
) -> None:
    path = write_file(tmp_path / "long.jsonl", 30_000)
    async with await Store.open(url) as store:
        kept, _ = await talk(store, "u: kept")
        process = start(started, workers.import_file, url, path)
        await until(lambda: hidden(store))
        process.kill()
        await asyncio.to_thread(process.join)
        assert process.exitcode == -signal.SIGKILL
        assert [one.id for one in await store.conversations.list(archived=None, deleted=None)] == [kept.id]
        assert await store.search.find(WORD) == ()
        assert await store.check() == ()
        # As long as somebody may still be at it, nobody touches it.
        async with await Store.open(url):
            assert await store.bin.remove_due() == ()
        assert (await rows(store))[1] > 1_000
        await let_time_pass(store)
    async with await Store.open(url) as again:
        await until(lambda: only_one_left(again))
        assert await again.check() == ()
        assert len(await again.import_file(path)) == 1


async def test_a_program_that_ends_at_once_removes_some_of_it(store: Store, url: str, tmp_path: Path) -> None:
    importing = asyncio.create_task(store.import_file(write_file(tmp_path / "long.jsonl", 5_000)))
    await until(lambda: hidden(store))
    importing.cancel()
    await asyncio.gather(importing, return_exceptions=True)
    while (before := await rows(store)) != (0, 0):
        async with await Store.open(url):
            pass
        assert await rows(store) < before


async def test_a_program_that_ends_at_once_does_not_wait_until_everything_is_removed(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.store.store.TIDY_SECONDS", 0.0)
    monkeypatch.setattr("octavo.store.database.HOLD", 0.0)
    async with await Store.open(sqlite_url) as store:
        await long_talk(store, 1_000)
        removing = sa.update(conversation).values(hidden="removing")
        await store._database.write(lambda c: c.execute(removing))
    async with await Store.open(sqlite_url):
        pass
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        (left,) = connection.execute("SELECT count(*) FROM message").fetchone()
    assert left > 0


async def test_others_write_while_a_long_conversation_is_removed(store: Store, tmp_path: Path) -> None:
    made, _ = await talk(store, "u: hi")
    (long,) = await store.import_file(write_file(tmp_path / "long.jsonl", 8_000))
    removing = asyncio.create_task(store.bin.delete(long.id))

    async def is_away() -> bool:
        return [one.id for one in await store.conversations.list()] == [made.id]

    await until(is_away)
    for i in range(3):
        await store.messages.append(made.id, user(f"more {i}"))
        assert not removing.done()
    await removing
    assert await rows(store) == (1, 4)


async def only_one_left(store: Store) -> bool:
    return await rows(store) == (1, 1)


async def test_a_server_in_service_removes_it_too(store: Store, tmp_path: Path) -> None:
    """A removal that was broken off is gone on with, whoever began it."""
    importing = asyncio.create_task(store.import_file(write_file(tmp_path / "long.jsonl", 5_000)))
    await until(lambda: hidden(store))
    importing.cancel()
    await asyncio.gather(importing, return_exceptions=True)
    assert len(await store.bin.remove_due()) == 1
    assert await rows(store) == (0, 0)


async def test_an_import_that_was_taken_for_dead_does_not_go_on(store: Store, tmp_path: Path) -> None:
    path, gone = write_file(tmp_path / "long.jsonl", 3_000), list[tuple[str, ...]]()

    async def look() -> None:
        await let_time_pass(store)
        gone.append(await store.bin.remove_due())

    with pytest.raises(StoreError, match="stood still for more than 60 seconds"):
        await ImportWriter(store._database).run(watched(pieces_of(path), look))
    assert [len(one) for one in gone] == [1]
    assert await rows(store) == (0, 0)
    assert await store.check() == ()


async def test_a_slow_import_says_that_it_is_alive(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "long.jsonl", 3_000)

    async def look() -> None:
        await let_time_pass(store)

    monkeypatch.setattr("octavo.store.transfer.import_writer.RENEW", 0.0)
    (read,) = await ImportWriter(store._database).run(watched(pieces_of(path), look))
    assert read.messages == 3_000


async def test_one_message_larger_than_a_piece_is_whole(store: Store) -> None:
    text = "the quick brown fox " * 60_000
    (read,) = await import_text(store, json.dumps([{"role": "user", "content": text}]))
    assert read.tip
    assert (await store.tree.node(read.tip)).message == user(text)
    assert await store.check() == ()
    await store.bin.delete(read.id)
    left = await store._database.read(lambda c: c.scalar(sa.select(sa.func.count()).select_from(large_text)))
    assert left == 0


async def test_many_small_conversations_are_shown_together(store: Store) -> None:
    lines = [json.dumps({"messages": [{"role": "user", "content": f"hi {i}"}]}) + "\n" for i in range(1_500)]
    read = await import_text(store, lines)
    assert len(read) == len({one.id for one in read}) == 1_500
    assert len(await store.conversations.list(limit=2_000)) == 1_500
    firsts = [(await store.tree.node(one.tip or "")).message.text for one in (read[0], read[-1])]
    assert firsts == ["hi 0", "hi 1499"]


async def test_an_id_that_is_hidden_is_told_apart(store: Store, tmp_path: Path) -> None:
    made, _ = await talk(store, "u: hi")
    path = tmp_path / "one.jsonl"
    await store.export(path, [made.id])
    with pytest.raises(UsageError, match=f"conversation {made.id} is already here"):
        await store.import_file(path)
    await store.bin.delete(made.id, undo=60)
    with pytest.raises(UsageError, match=f"conversation {made.id} is in the bin"):
        await store.import_file(path)
    assert await rows(store) == (1, 1)
    await store.bin.delete(made.id)
    tries = list[UsageError]()

    async def look() -> None:
        with pytest.raises(UsageError, match="is being imported or removed now") as refused:
            await store.import_file(path)
        tries.append(refused.value)

    await ImportWriter(store._database).run(watched(pieces_of(path), look))
    assert len(tries) == 1
    assert [one.id for one in await store.conversations.list()] == [made.id]


async def test_the_journal_is_written_back(sqlite_url: str, tmp_path: Path) -> None:
    async with await Store.open(sqlite_url) as store:
        await store.import_file(write_file(tmp_path / "long.jsonl", 5_000))
        journal = await asyncio.to_thread((tmp_path / "octavo.db-wal").stat)
        assert journal.st_size == 0


async def test_the_server_knows_how_many_rows_came_in_pieces(postgres_url: str, tmp_path: Path) -> None:
    """Each piece has fewer rows than statistics are taken for; together they have many more."""
    assert importer.PIECE < MANY
    async with await Store.open(postgres_url) as store:
        await store.import_file(write_file(tmp_path / "long.jsonl", 3 * MANY))
        known = await store._database.read(
            lambda c: c.scalar(sa.text("SELECT reltuples FROM pg_class WHERE relname = 'message'"))
        )
        assert known >= 2 * MANY
