"""Reads what was said before it has to be compressed, so that a compression costs little more than its choice.

What a message says is found out once, by the process that will choose from it. It is sent new messages in the
background, some at a time, when a conversation has come half the way to its next compression. A compression waits for
those that are being read, and sends the rest itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from octavo.core.lru_cache import LruCache
from octavo.core.messages import Branch, Node, digest
from octavo.engine.state import LONG
from octavo.engine.worker import LARGE, PrefixForgotten, WorkerLost, WorkerPool, places
from octavo.engine.worker_task import BranchKey, ReadTask

if TYPE_CHECKING:
    from octavo.engine.state import TipState
    from octavo.store.store import Store

log = logging.getLogger(__name__)

FEWEST, FEWEST_TOKENS = 100, 10_000
"""Messages, or tokens, that are worth a trip."""
MOST, MOST_TOKENS = 500, 50_000
"""Of a trip: what is under way holds a compression up, by a tenth of a second."""
NEAR = 0.85
"""Share of the mark from which on all that a snapshot covers is read once more, where no process has it any more."""
RETAINED = 1.25
"""Times what is usually retained that may be, because whole turns are."""
REMEMBERED = 2_000
"""Conversations of which it is remembered how far they were read."""


def base_of(state: TipState) -> BranchKey | None:
    """Name what a state's snapshot covers; None if there is none, or it does not say."""
    snapshot = state.recipe.snapshot
    return (snapshot.cutoff, snapshot.digest) if snapshot and snapshot.digest else None


class ReadAhead:
    """What is read ahead of compressions, for all conversations."""

    def __init__(self, store: Store, workers: WorkerPool) -> None:
        self._store, self._workers = store, workers
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopping = set[str]()
        self._read_to = LruCache[str, str](REMEMBERED)
        """Up to which message of each conversation everything was read, or given up."""
        self._given_up = LruCache[str, str](REMEMBERED)
        """Conversations that a process had read and dropped, with the snapshot in use: where there are too many for its
        room, they would take it from each other again and again."""
        self._lost = False

    def begin(self, state: TipState) -> None:
        """Read in the background what is new, if it is enough and a compression comes nearer."""
        if state.conversation in self._tasks or not self._worth(state):
            return
        task = self._tasks[state.conversation] = asyncio.create_task(self._read(state))
        task.add_done_callback(lambda _: self._tasks.pop(state.conversation, None))

    async def settle(self, conversation: str) -> None:
        """Wait until nothing is being read; the rest is left to the caller."""
        if task := self._tasks.get(conversation):
            self._stopping.add(conversation)
            await asyncio.wait([task])
            self._stopping.discard(conversation)

    async def wait(self, conversation: str) -> None:
        """Wait until all is read that is worth it."""
        if task := self._tasks.get(conversation):
            await asyncio.wait([task])

    async def close(self) -> None:
        """Stop reading."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _worth(self, state: TipState) -> bool:
        if (
            self._lost
            or state.shortened
            or state.unloaded is not None
            or not state.half_way
            or state.history < LARGE
            or self._given_up.get(state.conversation) == (state.serving or "")
        ):
            return False
        last, tokens = self._read_to.get(state.conversation), 0
        for number, node in enumerate(_backwards(state)):
            if node.id == last:
                return False
            tokens += state.size(node)
            if number >= FEWEST or tokens >= FEWEST_TOKENS:
                return True
        return False

    async def _read(self, state: TipState) -> None:
        """Read what is new, some messages at a time."""
        self._read_to.put(state.conversation, state.tip)
        base, branch = base_of(state), state.recipe.branch
        if state.recipe.snapshot is not None:
            cutoff = state.recipe.snapshot.cutoff_depth
            branch = tuple(node for node in branch if node.depth > cutoff)
        known, read = self._workers.known(base, branch)
        try:
            if known is None and state.recipe.snapshot is not None:
                known = await self._covered(state, base)
                if known is None:
                    return
            keys = [*places(base, branch)]
            for start, stop in _trips(state, branch[: len(keys)], read):
                known = await self._trip(state, branch[start:stop], known, keys[stop - 1])
                if known is None:
                    return
        except PrefixForgotten:
            self._given_up.put(state.conversation, state.serving or "")
        except WorkerLost as error:
            log.info("nothing is read ahead of compressions any more: %s", error)
            self._lost = True

    async def _covered(self, state: TipState, base: BranchKey | None) -> BranchKey | None:
        """Read what a snapshot covers, if the next one is near; None if not all of it was read, or some was deleted."""
        snapshot = state.recipe.snapshot
        near = state.reading.cautious >= NEAR * state.budget.trigger
        if snapshot is None or base is None or snapshot.cutoff_depth > LONG or not near:
            return None
        known: BranchKey | None = None
        value, stop, unit = b"", snapshot.cutoff_depth, state.meter.unit.name
        async for page in self._store.tree.pages(
            snapshot.cutoff, above=0, stop=stop, tokenizer=unit, size=MOST
        ):
            for first, end in _trips(state, page, 0):
                new = page[first:end]
                value = digest((node.message for node in new), start=value)
                known = await self._trip(state, new, known, (new[-1].id, value))
                if known is None:
                    return None
        return known if known == base else None

    async def _trip(
        self, state: TipState, new: Branch, known: BranchKey | None, key: BranchKey
    ) -> BranchKey | None:
        """Read some messages; None if a compression waits."""
        if state.conversation in self._stopping:
            return None
        task = ReadTask(
            new=new,
            continues=known,
            leading=len(state.recipe.leading),
            settled=_settled(state),
        )
        await self._workers.read(task, key)
        return key


def _backwards(state: TipState) -> Iterator[Node]:
    return chain(reversed(state.added), reversed(state.loaded.branch))


def _settled(state: TipState) -> int:
    """Tell how many messages from the root a compression would cover by now: all but the newest."""
    kept = 0
    for node in _backwards(state):
        kept += state.size(node)
        if kept > RETAINED * state.budget.retained:
            return node.depth
    return 0


def _trips(state: TipState, branch: Sequence[Node], start: int) -> Iterator[tuple[int, int]]:
    """Divide what is new into parts of some messages, and not too many tokens."""
    while start < len(branch):
        stop, tokens = start, 0
        for node in islice(branch, start, start + MOST):
            if tokens and tokens + state.size(node) > MOST_TOKENS:
                break
            tokens += state.size(node)
            stop += 1
        yield start, stop
        start = stop
