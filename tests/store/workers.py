"""What the processes of the concurrency and crash tests do; each function runs in a process of its own."""

from __future__ import annotations

import asyncio
import os
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

from octavo.core.messages import user
from octavo.errors import OctavoError
from octavo.store import Busy, Job, Stale, Store
from tests.store.scenes import fold, long_talk


def write(url: str, conversation: str, name: str, count: int) -> None:
    """Append `count` messages to a conversation; leave with an error if any append fails."""
    asyncio.run(_write(url, conversation, name, count))


async def _write(url: str, conversation: str, name: str, count: int) -> None:
    async with await Store.open(url) as store:
        for i in range(count):
            await store.messages.append(conversation, user(f"{name} {i}"), counts={"words": 2})


def write_until_killed(url: str, conversation: str, name: str, acknowledged: Path) -> None:
    """Append for ever, and note each id once the store has acknowledged it."""
    asyncio.run(_write_until_killed(url, conversation, name, acknowledged))


async def _write_until_killed(url: str, conversation: str, name: str, acknowledged: Path) -> None:
    done = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    async with await Store.open(url) as store:
        i = 0
        while True:
            i += 1
            if i % 7:
                nodes = [await store.messages.append(conversation, user(f"{name} {i}"), counts={"words": 2})]
            else:
                nodes = list(
                    await store.messages.append_many(
                        conversation, [user(f"{name} {i}.{k}") for k in range(5)]
                    )
                )
            os.write(done, "".join(f"{node.id}\n" for node in nodes).encode())


def import_file(url: str, path: Path) -> None:
    """Import a file, if nobody kills the process meanwhile."""
    asyncio.run(_import_file(url, path))


async def _import_file(url: str, path: Path) -> None:
    async with await Store.open(url) as store:
        await store.import_file(path)


def compress(url: str, conversation: str, tip: str, lease: float, calls: Connection, hold: bool) -> None:
    """Try to compress until it is done, by whomever; say when the model is called and when it answered."""
    asyncio.run(_compress(url, conversation, tip, lease, calls, hold=hold))


async def _compress(
    url: str, conversation: str, tip: str, lease: float, calls: Connection, *, hold: bool
) -> None:
    worker = str(os.getpid())
    async with await Store.open(url) as store:
        branch = await store.tree.branch(tip)
        while True:
            found = await store.jobs.claim(
                conversation, anchor=branch[-2].id, tip=tip, worker=worker, seen=None, lease=lease
            )
            if isinstance(found, Stale):
                calls.send(("stale", os.getpid()))
                return
            if isinstance(found, Busy):
                await asyncio.sleep(0.05)
                continue
            await _work(store, found, branch, calls, hold=hold, lease=lease)


async def _work(
    store: Store, job: Job, branch: tuple[object, ...], calls: Connection, *, hold: bool, lease: float
) -> None:
    calls.send(("call", os.getpid(), job.attempt))
    if hold and job.attempt == 1:
        # The first owner hangs in its model call, renewing its lease, until it is killed.
        while True:
            await asyncio.sleep(lease / 4)
            await store.jobs.renew(job, lease=lease)
    await asyncio.sleep(0.2)
    stored = await store.jobs.finish(job, fold(branch, 4, branch[-2]))  # type: ignore[arg-type]
    calls.send(("done", os.getpid(), type(stored).__name__))


def talk_and_die(url: str) -> None:
    """Store a conversation and go without closing anything."""
    asyncio.run(_talk_and_die(url))


async def _talk_and_die(url: str) -> None:
    await long_talk(await Store.open(url), 3)
    os._exit(0)


def use_as_nobody(url: str, log: Path) -> None:
    """Read and write as a user whom file permissions bind; say what happened. Root is not bound by them."""
    # Everything that is imported late is imported now: that user may not read where Python is installed.
    asyncio.run(_rehearse())
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    log.write_text(asyncio.run(_use(url)))


NOBODY = 65534


async def _rehearse() -> None:
    with tempfile.TemporaryDirectory() as folder:
        await _talk_in(f"sqlite:///{folder}/x.db")
        await _use(f"sqlite:///{folder}/x.db")
        await _use(f"sqlite:///{folder}/x.db?mode=ro")


async def _talk_in(url: str) -> None:
    async with await Store.open(url) as store:
        await long_talk(store, 3)


async def _use(url: str) -> str:
    """Do everything that only reads, then something that does not."""
    said = ""
    try:
        async with await Store.open(url) as store, asyncio.timeout(60):
            (made,) = await store.conversations.list()
            assert made.tip
            assert len(await store.tree.branch(made.tip)) == made.messages
            assert len(await store.search.find("message", conversation=made.id)) >= 3
            assert await store.check() == ()
            with tempfile.TemporaryDirectory() as folder:
                await store.export(Path(folder) / "x.jsonl", [made.id])
                await store.backup(Path(folder) / "copy.db")
                async with await Store.open(f"sqlite:///{folder}/copy.db") as copy:
                    assert await copy.conversations.list() == (made,)
                    await copy.messages.append(made.id, user("more"))
            said = "read it all; "
            await store.messages.append(made.id, user("more"))
    except OctavoError as error:
        return f"{said}{type(error).__name__}: {error}"
    return f"{said}wrote it"
