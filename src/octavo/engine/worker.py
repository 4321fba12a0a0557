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
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TypeAlias

from octavo.core.messages import Branch, Node
from octavo.engine.worker_task import (
    Answer,
    BlockRead,
    BranchForgotten,
    BranchKey,
    Count,
    CountRequest,
    MadeSnapshot,
    SnapshotTask,
    WorkerFailure,
    do,
    make,
    write,
    write_end,
    write_page,
    write_task,
)
from octavo.errors import OctavoError

if TYPE_CHECKING:
    from octavo.core.ask.answer import JudgedAnswer, JudgeTask
    from octavo.core.ask.blocks import Measure

log = logging.getLogger(__name__)

LARGE = 10_000
"""Tokens from which on a process is worth its trip: some thirty milliseconds of work."""
MOST = max(1, min(4, (os.cpu_count() or 1) - 1))
"""Processes at the same time, and as many again for what is urgent: one processor is left for the turns."""
IDLE = 600.0
"""Seconds after which an idle process is ended. Until then, the next compression of a branch that it has read costs
only what is new."""
KNOWN = 32
"""Branches that a process is asked for; it keeps as many as it has room for."""
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
WorkerReply: TypeAlias = "MadeSnapshot | JudgedAnswer | BranchForgotten | BlockRead"


class WorkerLost(Exception):
    """The process could not be started, or ended before its work did."""


class PrefixForgotten(Exception):
    """No process has the branch that a task continues: it is to be sent whole."""


class WorkerOverdue(OctavoError):
    """The work took longer than anybody would wait for it."""


class WorkerPool:
    """The processes of one engine."""

    def __init__(self) -> None:
        self._free: list[Child] = []
        self._resting: dict[Child, asyncio.TimerHandle] = {}
        """When each of those is ended."""
        self._read: dict[Child, deque[BranchKey]] = {}
        """The branches that each process has read last."""
        self._places, self._urgent = asyncio.Semaphore(MOST), asyncio.Semaphore(MOST)

    def knows(self, branch: BranchKey) -> bool:
        """Tell whether a process that is free has read a branch; it need not be sent to it again."""
        return any(branch in self._read.get(child, ()) for child in self._free)

    async def make(
        self,
        task: SnapshotTask,
        count: Count,
        *,
        tokens: int,
        urgent: bool,
        seconds: float | None = None,
        before: Pages | None = None,
    ) -> MadeSnapshot:
        """Make a snapshot from so many tokens, in so many seconds; an urgent one waits for its like only.

        `before` gives what stands before the messages of the task, if that is too long to be held. Raises
        `PrefixForgotten` if the task continues a branch that no process has.
        """
        try:
            async with asyncio.timeout(seconds):
                made = await self._do(task, count, large=tokens >= LARGE, urgent=urgent, before=before)
        except TimeoutError as error:
            raise WorkerOverdue("there was no time left to choose the exact lines") from error
        assert isinstance(made, MadeSnapshot)
        return made

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
    ) -> MadeSnapshot | JudgedAnswer:
        """Do it in a process if it is large, else in a thread; a cancelled caller stops the process."""
        if not large and before is None:
            return await asyncio.to_thread(do, task, count)
        try:
            async with self._urgent if urgent else self._places:
                return await self._in_child(task, count, before)
        except WorkerLost as error:
            if isinstance(task, SnapshotTask) and task.continues is not None:
                raise PrefixForgotten from error
            log.warning("compressing in a thread instead of a process of its own: %s", error)
            if isinstance(task, SnapshotTask) and before is not None:
                return await _in_thread(task, count, before)
            return await asyncio.to_thread(do, task, count)

    async def _in_child(
        self, task: SnapshotTask | JudgeTask, count: Answer, before: Pages | None
    ) -> MadeSnapshot | JudgedAnswer:
        """Have a process do it; one that has read before what the task continues, if it continues anything."""
        continues = task.continues if isinstance(task, SnapshotTask) else None
        child = self._taken(continues)
        if child is None:
            if continues is not None:
                raise PrefixForgotten
            child = _start()
        try:
            await asyncio.to_thread(_hand_over, child, task, blocks=before is not None)
            if before is not None:
                await _send_blocks(child, before, count)
            made = await asyncio.to_thread(_answered, child, count)
        except BaseException:
            self._read.pop(child, None)
            await asyncio.shield(asyncio.to_thread(_end, child))
            raise
        self._free.append(child)
        self._resting[child] = asyncio.get_running_loop().call_later(IDLE, self._rest, child)
        assert not isinstance(made, BlockRead)
        if isinstance(made, BranchForgotten):
            raise PrefixForgotten
        if isinstance(made, MadeSnapshot):
            read = self._read.setdefault(child, deque(maxlen=KNOWN))
            read.append((made.snapshot.cutoff, made.snapshot.digest))
        return made

    def _taken(self, branch: BranchKey | None) -> Child | None:
        """Take a process that is free and alive: of those that have read a branch, if one is given."""
        for child in self._free[::-1]:
            if branch is not None and branch not in self._read.get(child, ()):
                continue
            self._leave(child)
            if child.poll() is None:
                return child
            self._read.pop(child, None)
            _end(child)
        return None

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


def _hand_over(child: Child, task: SnapshotTask | JudgeTask, *, blocks: bool) -> None:
    """Hand a task over."""
    with _alive():
        write_task(task, _input(child), blocks=blocks)


async def _send_blocks(child: Child, before: Pages, count: Answer) -> None:
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


def _answered(child: Child, count: Answer) -> WorkerReply:
    """Answer what is asked back, and give what comes of it."""
    assert child.stdout
    with _alive():
        while isinstance(told := pickle.load(child.stdout), CountRequest):
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
