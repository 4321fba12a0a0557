"""A process of its own for what takes long: nobody else in this one is held up by it.

In a thread it would be: Python runs one thread at a time, and a turn changes threads with every statement of the
database, so each waits its turn some thirty times. Where no process can be started, or one dies, a thread does the work
after all.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import subprocess
import sys

from octavo.engine.making import Asked, Broken, Count, Made, Task, make, write, write_task
from octavo.errors import OctavoError

log = logging.getLogger(__name__)

LARGE = 10_000
"""Tokens from which on it is worth the trip: some thirty milliseconds of work."""
MOST = max(1, min(4, (os.cpu_count() or 1) - 1))
"""Processes at the same time, and as many again for what is urgent: one processor is left for the turns."""
IDLE = 60.0
"""Seconds after which a process without work is ended."""
PATIENCE, URGENT_PATIENCE = 600.0, 20.0
"""Seconds a piece of work may take, and one that a user waits for: 1,000,000 tokens take about two."""
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from octavo.engine.making import serve; "
    "serve(sys.stdin.buffer, sys.stdout.buffer)"
)

Child = subprocess.Popen[bytes]


class Lost(Exception):
    """The process could not be started, or ended before its work did."""


class Overdue(OctavoError):
    """The work took longer than anybody would wait for it."""


class Aside:
    """The processes of one engine."""

    def __init__(self) -> None:
        self._free: list[Child] = []
        self._resting: dict[Child, asyncio.TimerHandle] = {}
        """When each of those is ended."""
        self._places, self._urgent = asyncio.Semaphore(MOST), asyncio.Semaphore(MOST)

    async def make(self, task: Task, count: Count, *, tokens: int, urgent: bool) -> Made:
        """Make a snapshot from so many tokens; a cancelled caller stops it, an urgent one waits for its like only."""
        if tokens < LARGE:
            return await asyncio.to_thread(make, task, count)
        try:
            async with self._urgent if urgent else self._places:
                return await self._in_child(task, count, URGENT_PATIENCE if urgent else PATIENCE)
        except Lost as error:
            log.warning("compressing in a thread instead of a process of its own: %s", error)
            return await asyncio.to_thread(make, task, count)

    async def _in_child(self, task: Task, count: Count, patience: float) -> Made:
        child = self._taken() or _start()
        try:
            async with asyncio.timeout(patience):
                made = await asyncio.to_thread(_exchange, child, task, count)
        except BaseException as error:
            await asyncio.shield(asyncio.to_thread(_end, child))
            if isinstance(error, TimeoutError):
                raise Overdue(f"choosing the extracts took more than {patience:g} seconds") from error
            raise
        self._free.append(child)
        self._resting[child] = asyncio.get_running_loop().call_later(IDLE, self._rest, child)
        return made

    def _taken(self) -> Child | None:
        while self._free:
            child = self._free.pop()
            self._resting.pop(child).cancel()
            if child.poll() is None:
                return child
            _end(child)
        return None

    def _rest(self, child: Child) -> None:
        """End a process that has not been needed since."""
        if child in self._free:
            self._free.remove(child)
            self._resting.pop(child).cancel()
            _end(child)

    async def close(self) -> None:
        """End all processes."""
        while self._free:
            child = self._free.pop()
            self._resting.pop(child).cancel()
            await asyncio.to_thread(_end, child)


def _start() -> Child:
    if not sys.executable or getattr(sys, "frozen", False):
        raise Lost("this program is no Python that could run another")
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
        raise Lost(str(error)) from error


def _exchange(child: Child, task: Task, count: Count) -> Made:
    """Hand a task over, answer what is asked back, give what was made."""
    assert child.stdin
    assert child.stdout
    try:
        write_task(task, child.stdin)
        while isinstance(told := pickle.load(child.stdout), Asked):
            write(count(told.message), child.stdin)
    except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
        raise Lost(f"the process ended before its work did ({error!r})") from error
    if isinstance(told, Broken):
        raise Lost(f"the process failed: {told.detail}")
    assert isinstance(told, Made)
    return told


def _end(child: Child) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass  # what was written last was never read
    child.wait()
