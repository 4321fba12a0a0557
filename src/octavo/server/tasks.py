"""Tasks of the server: turns and compressions that go on when the client is gone, and end in exactly one last event.

A task's events are kept for a while after its end, so that a client that lost its connection reads on where it was.
The id of a turn is the id its answer is stored under: another replica, which knows nothing of the task, finds the
answer by it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from octavo.engine.outcome import Answered, AnswerFailed, CompressionEnded, Event
from octavo.errors import OctavoError
from octavo.http.errors import UNEXPECTED, explain
from octavo.server.events import describe, describe_failure
from octavo.server.stream import Feed

log = logging.getLogger("octavo.server")

T = TypeVar("T")
Kind = Literal["turn", "compression"]
Status = Literal["running", "done", "failed", "cancelled"]
KEPT_BYTES = 16 << 20
"""Bytes of events of finished tasks that are kept, about 2,000 usual answers; the oldest are dropped first."""


@dataclass(slots=True)
class Work:
    """A task, and its events so far."""

    id: str
    kind: Kind
    conversation: str
    feed: Feed = field(default_factory=Feed)
    status: Status = "running"
    ended: float | None = None
    """When it ended, by the clock of `Tasks`; None while it runs."""
    task: asyncio.Task[None] | None = None

    def finish(self, status: Status, name: str = "", **data: Any) -> None:
        """Publish the last event; later calls do nothing."""
        if self.status != "running":
            return
        if name:
            self.feed.put(name, data)
        self.status = status
        self.feed.put("done", {"status": status})
        self.feed.end()


class Tasks:
    """The tasks that this process runs, and those that ended a short while ago."""

    def __init__(self, keep: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep, self._clock = keep, clock
        self._works: dict[str, Work] = {}
        self._others: set[asyncio.Task[Any]] = set()

    def start(
        self,
        id: str,
        kind: Kind,
        conversation: str,
        events: AsyncIterator[Event],
        announce: Callable[[str, Event], None],
    ) -> Work:
        """Start a task; `announce` gets each event, besides those who follow the task."""
        self._forget()
        work = Work(id, kind, conversation)
        self._works[id] = work
        work.task = asyncio.create_task(_run(work, events, announce))
        work.task.add_done_callback(lambda task: self._ended(work, task))
        return work

    def _ended(self, work: Work, task: asyncio.Task[None]) -> None:
        """Record the end of a task, also of one that failed unexpectedly."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the %s %s broke", work.kind, work.id, exc_info=error)
            work.finish("failed", "failed", **describe_failure(UNEXPECTED))
        work.finish("cancelled")
        work.ended = self._clock()

    def find(self, id: str, kind: Kind, conversation: str) -> Work | None:
        work = self._works.get(id)
        return work if work and (work.kind, work.conversation) == (kind, conversation) else None

    @property
    def kept(self) -> tuple[Work, ...]:
        """All tasks that run, or ended a short while ago."""
        return tuple(self._works.values())

    @property
    def running(self) -> bool:
        """Whether any task runs."""
        return any(work.status == "running" for work in self._works.values())

    def cancel(self, id: str, conversation: str) -> bool:
        """Cancel a task; false if it does not run here."""
        work = self._works.get(id)
        if work is None or work.conversation != conversation or work.task is None or work.task.done():
            return False
        work.task.cancel()
        return True

    def of(self, conversation: str, kind: Kind) -> list[Work]:
        """List the tasks of a conversation, the newest last."""
        return [w for w in self._works.values() if (w.kind, w.conversation) == (kind, conversation)]

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run small work that must not end with the request that asked for it."""
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
        return task

    async def drop(self, conversation: str) -> None:
        """Cancel all tasks of a conversation that is being deleted."""
        works = [work for work in self._works.values() if work.conversation == conversation]
        for work in works:
            if work.task is not None:
                work.task.cancel()
        await asyncio.gather(*(work.task for work in works if work.task), return_exceptions=True)
        for work in works:
            self._works.pop(work.id, None)

    async def close(self, grace: float) -> None:
        """Wait for all tasks, then cancel those that still run; their partial answers are stored."""
        running = [work.task for work in self._works.values() if work.task and not work.task.done()]
        tasks: list[asyncio.Task[Any]] = [*running, *self._others]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _forget(self) -> None:
        now = self._clock()
        finished = [(work, work.ended) for work in self._works.values() if work.ended is not None]
        size = sum(work.feed.size for work, _ in finished)
        for work, ended in finished:
            if now - ended > self._keep or size > KEPT_BYTES:
                del self._works[work.id]
                size -= work.feed.size


async def _run(work: Work, events: AsyncIterator[Event], announce: Callable[[str, Event], None]) -> None:
    status: Status = "done"
    try:
        async for event in events:
            work.feed.put(*describe(event))
            announce(work.conversation, event)
            match event:
                case AnswerFailed():
                    status = "failed"
                case Answered() | CompressionEnded():
                    status = "done"
        work.finish(status)
    except OctavoError as error:
        work.finish("failed", "failed", **describe_failure(explain(error)))
    except asyncio.CancelledError:
        work.finish("cancelled", "cancelled")
        raise
