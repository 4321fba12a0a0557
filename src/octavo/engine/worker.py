"""Does long work in a process of its own, so that it holds up nobody in this one.

A thread would hold others up: Python runs one thread at a time, and a turn changes threads with every statement of the
database, so it would wait some thirty times. Where no process can be started, or one dies, a thread does the work after
all.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, TypeAlias

from octavo.core.messages import Branch, Node
from octavo.engine.worker_task import (
    Answer,
    BlockRead,
    BranchForgotten,
    BranchKey,
    BranchRead,
    Count,
    CountRequest,
    MadeSnapshot,
    ReadPlace,
    ReadTask,
    SnapshotTask,
    Task,
    WorkerFailure,
    do,
    make,
    write,
    write_end,
    write_page,
    write_task,
)
from octavo.errors import OctavoError
from octavo.store.ids import new_id

if TYPE_CHECKING:
    from octavo.core.ask.answer import JudgedAnswer, JudgeTask
    from octavo.core.ask.blocks import Measure
    from octavo.core.snapshot import Snapshot

log = logging.getLogger(__name__)

LARGE = 10_000
"""Tokens from which on a process is worth its trip: some thirty milliseconds of work."""
MOST = max(1, min(4, (os.cpu_count() or 1) - 1))
"""Processes at the same time, and as many again for what is urgent: one processor is left for the turns."""
IDLE = 600.0
"""Seconds after which an idle process is ended. Until then, the next compression of a branch that it has read costs
only what is new."""
PLACES = 256
"""Places in the branches of a process that are remembered; it keeps as many branches as it has room for."""
LARGE_SOURCE = 40_000
"""Characters of a source from which on judging a summary by it is worth the trip."""
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from octavo.engine.worker_task import serve; "
    "serve(sys.stdin.buffer, sys.stdout.buffer)"
)

BLOCK = 20_000
"""Messages that a long branch is read in blocks of: what is known of short ones takes some forty megabytes."""

Child = subprocess.Popen[bytes]
Pages = Callable[[], AsyncIterator[Branch]]
"""Goes through messages from the root on, some at a time; it may be asked for again."""
WorkerReply: TypeAlias = "MadeSnapshot | JudgedAnswer | BranchForgotten | BranchRead | BlockRead"


class WorkerLost(Exception):
    """The process could not be started, or ended before its work did."""


class PrefixForgotten(Exception):
    """No process has the branch that a task continues: it is to be sent whole."""


class WorkerOverdue(OctavoError):
    """The work took longer than anybody would wait for it."""


def places(base: BranchKey | None, nodes: Branch) -> Iterator[BranchKey]:
    """Name, after each of the nodes that follow the cutoff of a snapshot, or the root, what was said so far.

    A message is told by its id and its status: what it says changes only if it is deleted. One that is still being
    written ends the list.
    """
    said = blake2b(base[1] if base else b"", digest_size=16)
    for node in nodes:
        if node.status == "streaming":
            return
        said.update(f"{node.id} {node.status} ".encode())
        yield node.id, said.digest()


@dataclass(slots=True)
class BranchesRead:
    """What a process has read, as far as is known here: it may have dropped some of it."""

    places: OrderedDict[BranchKey, ReadPlace] = field(default_factory=OrderedDict)
    lengths: dict[str, int] = field(default_factory=dict)
    """How long each of its branches is."""

    def name_after(self, place: ReadPlace | None) -> str:
        """Name the branch that goes on from a place: at its end it is the same one."""
        if place and self.lengths.get(place.name) == place.length:
            return place.name
        return new_id()

    def add(self, key: BranchKey, place: ReadPlace) -> None:
        """Note that a branch has a place."""
        self.places[key] = place
        self.places.move_to_end(key)
        self.lengths[place.name] = max(place.length, self.lengths.get(place.name, 0))
        while len(self.places) > PLACES:
            _, dropped = self.places.popitem(last=False)
            if all(other.name != dropped.name for other in self.places.values()):
                del self.lengths[dropped.name]

    def add_snapshot(self, made: Snapshot, name: str, after: Branch) -> None:
        """Note what was read for a snapshot: what it covers, and what follows that."""
        cutoff = made.cutoff, made.digest
        self.add(cutoff, ReadPlace(name, made.cutoff_depth))
        if known := [*places(cutoff, after)]:
            self.add(known[-1], ReadPlace(name, made.cutoff_depth + len(known)))

    def forget(self, name: str) -> None:
        """Note that the process has dropped a branch."""
        self.lengths.pop(name, None)
        for key in [key for key, place in self.places.items() if place.name == name]:
            del self.places[key]


class WorkerPool:
    """The processes of one engine."""

    def __init__(self) -> None:
        self._free: list[Child] = []
        self._resting: dict[Child, asyncio.TimerHandle] = {}
        """When each of those is ended."""
        self._read: dict[Child, BranchesRead] = {}
        self._reading: dict[Child, asyncio.Event] = {}
        """Those that read ahead, and when they have done so."""
        self._places, self._urgent = asyncio.Semaphore(MOST), asyncio.Semaphore(MOST)

    def known(self, base: BranchKey | None, nodes: Branch) -> tuple[BranchKey | None, int]:
        """Find how far a branch was read: up to a snapshot's cutoff, or some nodes further; tell how many nodes."""
        found = {key for child in self._within_reach() for key in self._read[child].places}
        ids = {id for id, _ in found}
        best, length = (base if base in found else None), 0
        if any(node.id in ids for node in nodes):
            for number, key in enumerate(places(base, nodes), start=1):
                if key[0] in ids and key in found:
                    best, length = key, number
        return best, length

    def _within_reach(self) -> list[Child]:
        """List the processes that have read something and are free, or will be at once."""
        return [child for child in (*self._free, *self._reading) if child in self._read]

    async def make(
        self,
        task: SnapshotTask,
        count: Count,
        *,
        tokens: int,
        urgent: bool,
        seconds: float | None = None,
        before: Pages | None = None,
        kept: Branch = (),
    ) -> MadeSnapshot:
        """Make a snapshot from so many tokens, in so many seconds; an urgent one waits for its like only.

        `before` gives what stands before the messages of the task, if that is too long to be held. `kept` are all nodes
        after the cutoff. Raises `PrefixForgotten` if the task continues a branch that no process has.
        """
        try:
            async with asyncio.timeout(seconds):
                made = await self._do(
                    task, count, large=tokens >= LARGE, urgent=urgent, before=before, kept=kept
                )
        except TimeoutError as error:
            raise WorkerOverdue("there was no time left to choose the exact lines") from error
        assert isinstance(made, MadeSnapshot)
        return made

    async def read(self, task: ReadTask, key: BranchKey) -> None:
        """Have a process read messages before a snapshot is wanted; `key` names the branch with them.

        Raises `PrefixForgotten` if no process has what the task continues, and `WorkerLost` if there is no process.
        """
        async with self._places:
            await self._in_child(task, key=key)

    async def judge(self, asked: JudgeTask, measure: Measure) -> JudgedAnswer:
        """Judge what a model answered."""
        source = asked.expected.source_text.text
        # It takes the places of urgent work: it may be urgent itself, and it takes a moment.
        judged = await self._do(asked, measure, large=len(source) >= LARGE_SOURCE, urgent=True)
        assert not isinstance(judged, MadeSnapshot)
        return judged

    async def _do(
        self,
        task: SnapshotTask | JudgeTask,
        count: Answer,
        *,
        large: bool,
        urgent: bool,
        before: Pages | None = None,
        kept: Branch = (),
    ) -> MadeSnapshot | JudgedAnswer:
        """Do it in a process if it is large, else in a thread; a cancelled caller stops the process."""
        goes_on = isinstance(task, SnapshotTask) and task.continues is not None
        if not (large or goes_on or before is not None):
            return await asyncio.to_thread(do, task, count)
        try:
            async with self._urgent if urgent else self._places:
                made = await self._in_child(task, count, before, kept=kept)
                assert not isinstance(made, BranchRead)
                return made
        except WorkerLost as error:
            if goes_on:
                raise PrefixForgotten from error
            log.warning("compressing in a thread instead of a process of its own: %s", error)
            if isinstance(task, SnapshotTask) and before is not None:
                return await _in_thread(task, count, before)
            return await asyncio.to_thread(do, task, count)

    async def _in_child(
        self,
        task: Task,
        count: Answer | None = None,
        before: Pages | None = None,
        *,
        kept: Branch = (),
        key: BranchKey | None = None,
    ) -> MadeSnapshot | JudgedAnswer | BranchRead:
        """Have a process do it; one that has read before what the task continues, if it continues anything."""
        continues = task.continues if isinstance(task, SnapshotTask | ReadTask) else None
        child = await self._taken(continues)
        if child is None:
            if continues is not None:
                raise PrefixForgotten
            child = _start()
        read = self._read.setdefault(child, BranchesRead())
        place = read.places.get(continues) if continues else None
        name = read.name_after(place)
        done = asyncio.Event()
        if key is not None:
            self._reading[child] = done
        try:
            await asyncio.to_thread(
                _hand_over, child, task, blocks=before is not None, place=place, name=name
            )
            if before is not None:
                await _send_blocks(child, before, count)
            made = await asyncio.to_thread(_answered, child, count)
        except BaseException:
            self._read.pop(child, None)
            await asyncio.shield(asyncio.to_thread(_end, child))
            raise
        finally:
            self._reading.pop(child, None)
            done.set()
        self._free.append(child)
        self._resting[child] = asyncio.get_running_loop().call_later(IDLE, self._rest, child)
        assert not isinstance(made, BlockRead)
        if isinstance(made, BranchForgotten):
            if place:
                read.forget(place.name)
            raise PrefixForgotten
        if isinstance(made, MadeSnapshot):
            assert isinstance(task, SnapshotTask)
            read.add_snapshot(made.snapshot, name, () if task.shortened else kept)
        elif key and isinstance(task, ReadTask):
            read.add(key, ReadPlace(name, (place.length if place else 0) + len(task.new)))
        return made

    async def _taken(self, branch: BranchKey | None) -> Child | None:
        """Take a process that is free and alive: of those that have read a branch, if one is given.

        One that has read it and goes on reading is waited for.
        """
        while True:
            for child in self._free[::-1]:
                if branch is not None and (child not in self._read or branch not in self._read[child].places):
                    continue
                self._leave(child)
                if child.poll() is None:
                    return child
                self._read.pop(child, None)
                _end(child)
            reading = (child for child in self._reading if child in self._read)
            found = next((child for child in reading if branch in self._read[child].places), None)
            if branch is None or found is None:
                return None
            await self._reading[found].wait()

    def _leave(self, child: Child) -> None:
        """Count a process as free no longer."""
        self._free.remove(child)
        self._resting.pop(child).cancel()

    def _rest(self, child: Child) -> None:
        """End a process that has not been needed since."""
        if child in self._free:
            self._leave(child)
            self._read.pop(child, None)
            _end(child)

    async def close(self) -> None:
        """End all processes."""
        while self._free:
            child = self._free[-1]
            self._leave(child)
            self._read.pop(child, None)
            await asyncio.to_thread(_end, child)


def _start() -> Child:
    if not sys.executable or getattr(sys, "frozen", False):
        raise WorkerLost("this program is no Python that could run another")
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in a terminal is for the program, which ends this one.
            start_new_session=True,
        )
    except OSError as error:
        raise WorkerLost(str(error)) from error


def _hand_over(child: Child, task: Task, *, blocks: bool, place: ReadPlace | None, name: str) -> None:
    """Hand a task over."""
    with _alive():
        write_task(task, _input(child), blocks=blocks, place=place, name=name)


async def _send_blocks(child: Child, before: Pages, count: Answer | None) -> None:
    """Send a long branch page by page; none is held longer than it takes to write it."""

    def send(page: Branch | None) -> None:
        with _alive():
            write_page(page, _input(child))
        if page is None:
            told = _answered(child, count)
            assert isinstance(told, BlockRead)

    def end() -> None:
        with _alive():
            write_end(_input(child))

    async for page in in_blocks(before):
        await asyncio.to_thread(send, page)
    await asyncio.to_thread(end)


async def _in_thread(task: SnapshotTask, count: Answer, before: Pages) -> MadeSnapshot:
    """Make a snapshot of a long branch in this process."""
    from octavo.engine.long_branch import LongBranch

    long, block = LongBranch(task, count), list[Node]()
    async for page in in_blocks(before):
        if page is not None:
            block += page
            continue
        await asyncio.to_thread(long.add, tuple(block))
        block = []
    return await asyncio.to_thread(make, task, count, long)


async def in_blocks(before: Pages) -> AsyncIterator[Branch | None]:
    """Give pages, and None where a block ends."""
    size = 0
    async for page in before():
        yield page
        size += len(page)
        if size >= BLOCK:
            yield None
            size = 0
    if size:
        yield None


def _answered(child: Child, count: Answer | None) -> WorkerReply:
    """Answer what is asked back, and give what comes of it."""
    assert child.stdout
    with _alive():
        while isinstance(told := pickle.load(child.stdout), CountRequest):
            assert count
            write(count(told.what), _input(child))
    if isinstance(told, WorkerFailure):
        raise WorkerLost(f"the process failed: {told.detail}")
    reply: WorkerReply = told
    return reply


def _input(child: Child) -> IO[bytes]:
    assert child.stdin
    return child.stdin


@contextmanager
def _alive() -> Iterator[None]:
    """Say that a process is lost when it does not listen, or what it says makes no sense."""
    try:
        yield
    except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
        raise WorkerLost(f"the process ended before its work did ({error!r})") from error


def _end(child: Child) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass  # what was written last was never read
    child.wait()
