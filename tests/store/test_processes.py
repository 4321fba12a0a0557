"""Several processes on one database: nothing lost, nothing twice, and nobody minds a kill -9."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import user
from octavo.store import Store
from tests.store import workers
from tests.store.scenes import PROCESSES, long_talk, start

pytestmark = pytest.mark.anyio

LEASE = 2.0
"""Seconds: long enough that a busy machine does not keep a living owner from renewing it."""


async def finished(processes: list[ForkServerProcess]) -> list[int | None]:
    for process in processes:
        await asyncio.to_thread(process.join)
    return [process.exitcode for process in processes]


async def test_twelve_writers_lose_nothing(store: Store, url: str, started: list[ForkServerProcess]) -> None:
    """8 writers to one conversation and 4 to others, 2,000 messages; a locked database never reaches a caller."""
    shared = await store.conversations.create()
    others = [await store.conversations.create() for _ in range(4)]
    each, rest = 200, 100
    for i in range(8):
        start(started, workers.write, url, shared.id, f"w{i}", each)
    for i, other in enumerate(others):
        start(started, workers.write, url, other.id, f"o{i}", rest)
    assert await finished(started) == [0] * 12

    tip = (await store.conversations.get(shared.id)).tip
    assert tip
    branch = await store.tree.branch(tip, tokenizer="words")
    assert [node.depth for node in branch] == list(range(1, 8 * each + 1))
    assert Counter(node.message.text for node in branch) == Counter(
        f"w{i} {k}" for i in range(8) for k in range(each)
    )
    assert all(node.counts == {"words": 2} for node in branch)
    for i, other in enumerate(others):
        tip = (await store.conversations.get(other.id)).tip
        assert tip
        assert [node.message.text for node in await store.tree.branch(tip)] == [
            f"o{i} {k}" for k in range(rest)
        ]
    assert await store.check() == ()


async def test_one_compression_is_done_once_although_its_owner_is_killed(
    store: Store, url: str, started: list[ForkServerProcess]
) -> None:
    """Cases 50, 54: six processes race, the owner is killed in its model call, one takes over."""
    made, branch = await long_talk(store, 8)
    ours, theirs = PROCESSES.Pipe()
    for _ in range(6):
        start(started, workers.compress, url, made.id, branch[-1].id, LEASE, theirs, True)
    events = [await next_event(ours)]
    kind, owner, attempt = events[0]
    assert (kind, attempt) == ("call", 1)
    # While the owner renews its lease, nobody else calls a model, for longer than the lease.
    await asyncio.sleep(1.5 * LEASE)
    assert not ours.poll()
    os.kill(owner, signal.SIGKILL)
    while len(events) < 8:
        events.append(await next_event(ours))
    await finished(started)
    calls = [event for event in events if event[0] == "call"]
    assert [(call[2], call[1] != owner) for call in calls] == [(1, False), (2, True)]
    assert [event[1:] for event in events if event[0] == "done"] == [(calls[1][1], "Snapshot")]
    assert len([event for event in events if event[0] == "stale"]) == 5
    (snapshot,) = await store.snapshots.of_conversation(made.id)
    (job,) = await store.jobs.of_conversation(made.id)
    assert (job.status, job.attempt, job.snapshot) == ("done", 2, snapshot.id)
    assert await store.check() == ()


async def next_event(calls: Any) -> tuple[Any, ...]:
    assert await asyncio.to_thread(calls.poll, 30), "no process said anything for 30 seconds"
    event: tuple[Any, ...] = calls.recv()
    return event


async def test_a_writer_killed_again_and_again_loses_no_acknowledged_message(
    store: Store, url: str, started: list[ForkServerProcess], tmp_path: Path
) -> None:
    """Case 54. Killed with -9 at random moments, in the middle of whatever it was doing.

    On PostgreSQL the server goes on, and what a client was doing is only given up: there, fewer kills tell as much.
    """
    times = 50 if url.startswith("sqlite") else 15
    made = await store.conversations.create()
    await store.messages.append(made.id, user("first"))
    acknowledged = tmp_path / "acknowledged"
    dice = random.Random(50)
    for round in range(times):
        before = size(acknowledged)
        process = start(started, workers.write_until_killed, url, made.id, f"r{round}", acknowledged)
        while size(acknowledged) == before:
            assert process.is_alive()
            await asyncio.sleep(0.002)
        await asyncio.sleep(dice.random() * 0.03)
        process.kill()
        assert await finished([process]) == [-signal.SIGKILL]
    ids = acknowledged.read_text().split()
    assert len(ids) == len(set(ids)) > times
    tip = (await store.conversations.get(made.id)).tip
    assert tip
    stored = {node.id for node in await store.tree.branch(tip)}
    assert set(ids) <= stored
    # At the most the one that was being written when the kill came is stored and not acknowledged.
    assert len(stored) - 1 - len(ids) <= times * 5
    assert await store.check() == ()


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
