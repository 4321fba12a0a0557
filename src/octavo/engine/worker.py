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
from typing import TYPE_CHECKING

from octavo.engine.worker_task import (
    Answer,
    BranchForgotten,
    BranchKey,
    Count,
    CountRequest,
    MadeSnapshot,
    SnapshotTask,
    WorkerFailure,
    do,
    write,
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

Child = subprocess.Popen[bytes]


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
        self, task: SnapshotTask, count: Count, *, tokens: int, urgent: bool, seconds: float | None = None
    ) -> MadeSnapshot:
        """Make a snapshot from so many tokens, in so many seconds; an urgent one waits for its like only.

        Raises `PrefixForgotten` if the task continues a branch that no process has.
        """
        try:
            async with asyncio.timeout(seconds):
                made = await self._do(task, count, large=tokens >= LARGE, urgent=urgent)
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
        self, task: SnapshotTask | JudgeTask, count: Answer, *, large: bool, urgent: bool
    ) -> MadeSnapshot | JudgedAnswer:
        """Do it in a process if it is large, else in a thread; a cancelled caller stops the process."""
        if not large:
            return await asyncio.to_thread(do, task, count)
        try:
            async with self._urgent if urgent else self._places:
                return await self._in_child(task, count)
        except WorkerLost as error:
            if isinstance(task, SnapshotTask) and task.continues is not None:
                raise PrefixForgotten from error
            log.warning("compressing in a thread instead of a process of its own: %s", error)
            return await asyncio.to_thread(do, task, count)

    async def _in_child(self, task: SnapshotTask | JudgeTask, count: Answer) -> MadeSnapshot | JudgedAnswer:
        """Have a process do it; one that has read before what the task continues, if it continues anything."""
        continues = task.continues if isinstance(task, SnapshotTask) else None
        child = self._taken(continues)
        if child is None:
            if continues is not None:
                raise PrefixForgotten
            child = _start()
        try:
            made = await asyncio.to_thread(_exchange, child, task, count)
        except BaseException:
            self._read.pop(child, None)
            await asyncio.shield(asyncio.to_thread(_end, child))
            raise
        self._free.append(child)
        self._resting[child] = asyncio.get_running_loop().call_later(IDLE, self._rest, child)
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


def _exchange(
    child: Child, task: SnapshotTask | JudgeTask, count: Answer
) -> MadeSnapshot | JudgedAnswer | BranchForgotten:
    """Hand a task over, answer what is asked back, give what came of it."""
    assert child.stdin
    assert child.stdout
    try:
        write_task(task, child.stdin)
        while isinstance(told := pickle.load(child.stdout), CountRequest):
            write(count(told.what), child.stdin)
    except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
        raise WorkerLost(f"the process ended before its work did ({error!r})") from error
    if isinstance(told, WorkerFailure):
        raise WorkerLost(f"the process failed: {told.detail}")
    made: MadeSnapshot | JudgedAnswer | BranchForgotten = told
    return made


def _end(child: Child) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass  # what was written last was never read
    child.wait()
