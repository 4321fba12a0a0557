"""When the database fails: a clear error, nothing lost, and the next call works."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from octavo.core.messages import Node, user
from octavo.errors import StoreError, UsageError
from octavo.store import Store
from tests.store import workers
from tests.store.conftest import sql, start_server
from tests.store.scenes import long_talk, start, until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "url",
    [
        "",
        "chats.db",
        "mysql://x/y",
        "sqlite:///no/such/folder/x.db",
        "postgresql+psycopg://x",
        "://",
        "http://x",
    ],
)
async def test_a_url_that_cannot_be_opened_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError):
        await Store.open(url)


async def test_memory_is_a_database_too() -> None:
    async with await Store.open("sqlite://") as store:
        made, branch = await long_talk(store, 20)
        await asyncio.gather(*(store.messages.append(made.id, user(f"m{i}")) for i in range(20)))
        assert (await store.conversations.get(made.id)).messages == 40
        assert len(await store.search.find("message")) == 20
        assert (await store.snapshots.context(branch[-1].id)).retained == branch
        assert await store.check() == ()
        with pytest.raises(UsageError, match="pg_dump"):
            await store.backup(Path("x.db"))


async def test_power_proof_durability_can_be_chosen(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url, durability="power") as store:
        assert len((await long_talk(store, 2))[1]) == 2


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes\n" * 100)
    with pytest.raises(StoreError, match="not an SQLite database"):
        await Store.open(f"sqlite:///{path}")
    assert path.read_text().startswith("these are my notes")


async def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        await Store.open(f"sqlite:///{tmp_path}")


async def test_a_lock_that_is_never_released_is_reported(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.store.sqlite.LOCK_WAIT", 0.2)
    async with await Store.open(sqlite_url) as store:
        made, branch = await long_talk(store, 2)
        other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="keeps the file locked; try again"):
            await store.messages.append(made.id, user("blocked"))
        assert await store.tree.branch(branch[-1].id) == branch
        other.execute("ROLLBACK")
        other.close()
        assert (await store.messages.append(made.id, user("free"))).depth == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "expected"),
    [
        (0o444, 0o555, "read it all; ReadOnly: "),
        (0o444, 0o777, "read it all; ReadOnly: "),
        (0o644, 0o555, "read it all; ReadOnly: "),
        (0o666, 0o555, "read it all; ReadOnly: "),
        (0o000, 0o777, "StoreError: "),
    ],
)
@pytest.mark.parametrize("left", ["nothing", "journal"])
def test_a_file_that_cannot_be_written_is_read(
    file_mode: int, folder_mode: int, expected: str, left: str, started: list[ForkServerProcess]
) -> None:
    """Also one whose writer was killed, with what it wrote last still in the journal."""
    folder = Path(tempfile.mkdtemp(prefix="octavo-ro-"))
    log = Path(f"{folder}.log")
    try:
        path = folder / "octavo.db"
        if left == "journal":
            writer = start(started, workers.talk_and_die, f"sqlite:///{path}")
            writer.join()
            assert sorted(folder.iterdir()) == [path, Path(f"{path}-shm"), Path(f"{path}-wal")]
        else:
            asyncio.run(prepare(f"sqlite:///{path}"))
        log.touch()
        log.chmod(0o666)
        for file in folder.iterdir():
            file.chmod(file_mode)
        folder.chmod(folder_mode)
        before = sorted(folder.iterdir())
        process = start(started, workers.use_as_nobody, f"sqlite:///{path}", log)
        process.join()
        assert process.exitcode == 0
        said, after = log.read_text(), sorted(folder.iterdir())
    finally:
        shutil.rmtree(folder)
        log.unlink()
    if (file_mode, left) == (0o666, "journal"):
        # Everything it takes is there: this one can be written.
        assert said == "read it all; wrote it"
        return
    assert said.startswith(expected)
    assert "read" in said or "cannot be opened" in said
    assert after == before


async def prepare(url: str) -> None:
    async with await Store.open(url) as store:
        await long_talk(store, 3)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = Path(tempfile.mkdtemp(prefix="octavo-disk-"))
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        folder.rmdir()
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)


async def test_a_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path) -> None:
    async with await Store.open(f"sqlite:///{small_disk / 'octavo.db'}") as store:
        made = await store.conversations.create()
        stored: list[Node] = []

        async def fill() -> None:
            for i in range(1_000):
                stored.append(await store.messages.append(made.id, user(f"{i} " + "words " * 500)))

        with pytest.raises(StoreError, match=r"disk is full|disk failed or is full"):
            await fill()
        assert len(stored) > 10
        assert await store.tree.branch(stored[-1].id) == tuple(stored)
        with pytest.raises(StoreError):
            await store.messages.append(made.id, user("x " * 400_000))
        assert [problem for problem in await store.check() if problem.kind != "search"] == []
        await asyncio.to_thread(enlarge, small_disk)
        assert (await store.messages.append(made.id, user("room again"))).depth == len(stored) + 1
        assert await store.check() == ()


async def test_a_disk_that_takes_nothing_is_noticed_by_a_look_whether_it_can_be_written(
    small_disk: Path,
) -> None:
    async with await Store.open(f"sqlite:///{small_disk / 'octavo.db'}") as store:
        await store.check_writable()
        filler = small_disk / "filler"
        with suppress(OSError):
            filler.write_bytes(b"x" * (1 << 20))

        async def look_often() -> None:
            # The log that writes go to may have room left from before.
            for _ in range(200):
                await store.check_writable()

        with pytest.raises(StoreError, match=r"disk is full|disk failed or is full"):
            await look_often()
        filler.unlink()
        await store.check_writable()


async def test_a_server_that_accepts_reads_only_is_noticed_by_the_same_look(postgres_url: str) -> None:
    async with await Store.open(postgres_url) as store:
        await store.check_writable()
    change = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {}', current_database()); END $$"
    on = change.format("SET default_transaction_read_only = on")
    off = change.format("RESET default_transaction_read_only")
    await asyncio.to_thread(sql, postgres_url, on)
    try:
        async with await Store.open(postgres_url) as store:
            assert await store.conversations.list() == ()
            with pytest.raises(StoreError, match="accepts reads only"):
                await store.check_writable()
    finally:
        await asyncio.to_thread(sql, postgres_url, "SET default_transaction_read_only = off", off)


async def test_a_full_disk_fails_a_backup_and_leaves_no_half_of_it(small_disk: Path, sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as store:
        made = await store.conversations.create()
        await store.messages.append(made.id, user("words " * 500_000))
        with pytest.raises(StoreError, match="full"):
            await store.backup(small_disk / "copy.db")
        assert not (small_disk / "copy.db").exists()
        assert not (small_disk / "copy.db.partial").exists()


async def test_a_full_disk_fails_an_export_and_leaves_no_half_of_it(
    small_disk: Path, sqlite_url: str
) -> None:
    async with await Store.open(sqlite_url) as store:
        made = await store.conversations.create()
        await store.messages.append(made.id, user("words " * 500_000))
        with pytest.raises(UsageError, match="cannot write"):
            await store.export(small_disk / "copy.jsonl", [made.id])
    assert not (small_disk / "copy.jsonl").exists()
    assert not (small_disk / "copy.jsonl.partial").exists()


async def test_the_files_of_a_database_are_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        async with await Store.open(f"sqlite:///{tmp_path / 'mine.db'}") as store:
            await store.conversations.create("secret")
            await store.backup(tmp_path / "copy.db")
            made = [tmp_path / name for name in ("mine.db", "mine.db-wal", "mine.db-shm", "copy.db")]
            assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o600] * 4
    finally:
        os.umask(before)


async def test_a_database_that_others_may_read_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o640)
    async with await Store.open(f"sqlite:///{path}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


async def test_a_backup_is_the_whole_store_while_others_write(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    async with await Store.open(sqlite_url) as store:
        made, branch = await long_talk(store, 500)

        async def write() -> None:
            for i in range(50):
                await store.messages.append(made.id, user(f"more {i}"))

        await asyncio.gather(write(), store.backup(target))
        with pytest.raises(UsageError, match="exists"):
            await store.backup(target)
        await store.backup(target, overwrite=True)
        with pytest.raises(UsageError, match="does not exist"):
            await store.backup(tmp_path / "no" / "copy.db")
    assert not target.with_name("copy.db.partial").exists()
    async with await Store.open(f"sqlite:///{target}") as copy:
        assert (await copy.conversations.get(made.id)).messages == 550
        assert (await copy.tree.branch(branch[-1].id)) == branch
        assert await copy.check() == ()


@pytest.fixture(scope="module")
def own_server() -> Iterator[Any]:
    """A server of this module's own, which may be stopped, with a user that needs a password."""
    folder = Path(tempfile.mkdtemp(prefix="octavo-pg-"))
    server = start_server(folder)
    sql(server.get_uri(), "CREATE ROLE guarded LOGIN PASSWORD 'right'", "CREATE DATABASE chats OWNER guarded")
    rules = folder / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    sql(server.get_uri(), "SELECT pg_reload_conf()")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def guarded(server: Any, password: str, database: str = "chats") -> str:
    return f"postgresql://guarded:{password}@/{database}?host={server.pgdata}"


async def test_a_wrong_password_is_said_without_showing_it(own_server: Any) -> None:
    with pytest.raises(StoreError, match="password is wrong") as raised:
        await Store.open(guarded(own_server, "wrong-secret"))
    assert "wrong-secret" not in str(raised.value)
    with pytest.raises(StoreError, match="no such database"):
        await Store.open(guarded(own_server, "right", "nowhere"))
    async with await Store.open(guarded(own_server, "right").replace("postgresql:", "postgres:")) as store:
        assert "right" not in store.place
        assert (await long_talk(store, 2))[0].title == ""


async def test_a_server_that_does_not_answer_is_said_so() -> None:
    for url in (
        "postgresql://127.0.0.1:1/x",
        "postgresql:///x?host=/nowhere",
        "postgresql://no-such-host.invalid/x",
    ):
        with pytest.raises(StoreError, match="does not answer"):
            await Store.open(url)


WAITING = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def terminate_others(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid()"
    )
    await connection.close()


async def test_lost_connections_are_replaced_without_anybody_noticing(postgres_url: str) -> None:
    async with await Store.open(postgres_url) as store:
        made, branch = await long_talk(store, 3)
        for _ in range(3):
            await terminate_others(postgres_url)
            assert await store.tree.branch(branch[-1].id) == branch
            await terminate_others(postgres_url)
            await store.messages.append(made.id, user("goes on"))
        assert (await store.conversations.get(made.id)).messages == 6


@pytest.fixture
async def blocked(postgres_url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(postgres_url)
    yield connection
    if not connection.is_closed():
        await connection.close()


async def test_a_connection_lost_in_the_middle_of_a_write_is_tried_again(
    postgres_url: str, blocked: Any
) -> None:
    async with await Store.open(postgres_url) as store:
        made, _ = await long_talk(store, 3)
        hold = blocked.transaction()
        await hold.start()
        await blocked.execute("SELECT * FROM conversation FOR UPDATE")
        waiting = asyncio.create_task(store.messages.append(made.id, user("patient")))
        await until(lambda: blocked.fetchval(f"SELECT count(*) {WAITING}"))
        await blocked.execute(f"SELECT pg_terminate_backend(pid) {WAITING}")
        await asyncio.sleep(0.1)
        await hold.rollback()
        assert (await waiting).depth == 4
        assert await store.check() == ()


async def test_a_server_gone_in_the_middle_of_a_query_loses_nothing(own_server: Any) -> None:
    url = guarded(own_server, "right")
    async with await Store.open(url) as store:
        made, branch = await long_talk(store, 5)
        holder = await asyncpg.connect(url)
        hold = holder.transaction()
        await hold.start()
        await holder.execute("SELECT * FROM conversation FOR UPDATE")
        waiting = asyncio.create_task(store.messages.append(made.id, user("never")))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(own_server.stop)
        with pytest.raises(StoreError, match=r"does not answer|lost|shutting down"):
            await waiting
        with pytest.raises(StoreError):
            await store.tree.branch(branch[-1].id)
        await asyncio.to_thread(own_server.ensure_postgres_running)
        assert await store.tree.branch(branch[-1].id) == branch
        assert (await store.messages.append(made.id, user("back again"))).depth == 6
        assert await store.check() == ()
        holder.terminate()


async def test_a_cancelled_call_leaves_the_store_usable(store: Store) -> None:
    made, branch = await long_talk(store, 50)
    for pause in (0, 0.0005, 0.001, 0.002, 0.004):
        tasks = [asyncio.create_task(store.messages.append(made.id, user(f"x{i}"))) for i in range(5)]
        tasks.append(asyncio.create_task(store.tree.branch(branch[-1].id)))  # type: ignore[arg-type]
        await asyncio.sleep(pause)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await store.tree.branch(branch[-1].id) == branch
    assert (await store.messages.append(made.id, user("still here"))).depth >= 51
    assert await store.check() == ()


async def test_no_transaction_is_open_between_two_calls(postgres_url: str) -> None:
    """Case 55: nothing is held while a model works."""
    async with await Store.open(postgres_url) as store:
        made, branch = await long_talk(store, 8)
        await store.jobs.claim(made.id, anchor=branch[6].id, worker="w", seen=None)
        watcher = await asyncpg.connect(postgres_url)
        states = await watcher.fetch(
            "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        held = await watcher.fetchval(
            "SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database "
            "WHERE datname = current_database()) AND pid <> pg_backend_pid()"
        )
        await watcher.close()
        assert {row["state"] for row in states} <= {"idle"}
        assert held == 0
