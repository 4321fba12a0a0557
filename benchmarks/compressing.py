"""What a compression without a model costs: of a stored conversation, and of a list that somebody keeps.

Of a stored one, what was said can be read before it has to be compressed; that happens while it grows, in the process
that will choose. So three figures belong together: what reading it costs, a compression with all of it read, and one
with nothing read. Processor time is that of the engine's process and of the one that chooses.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import octavo
from benchmarks.adapter import neutral
from benchmarks.clock import cpu, median
from benchmarks.figures import Absent, Cell, Goal, Item, Table, Tell
from benchmarks.peers import conversation
from octavo.core.messages import Message
from octavo.core.wire import write
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed

SIZES, QUICK_SIZES = (1_000, 10_000), (400,)
REPEATS = 3
MODEL = "gpt-4o"
"""With a window of 128,000 tokens: a thousand messages fill it, ten thousand were imported."""
SMALL, FEW = "gpt-4-0613", 60
"""A model with a window of 8,192 tokens, and messages that nearly fill it."""
NEW = 200
"""Messages between two compressions."""
BUDGET = 0.25
"""Share of a list that its compressed form may take."""
READING, READING_MORE = "reading what was said", f"reading {NEW} more"
FIRST, UNREAD = "the first compression, all read", "the first compression, nothing read"
NEXT, NEXT_UNREAD = f"the next one after {NEW} more, all read", f"the next one after {NEW} more, those unread"
FRESH, AGAIN = "a list that is new", "the same list and two more"
GOALS = {
    FIRST: {1_000: 60.0, 10_000: 400.0},
    NEXT: {10_000: 60.0},
    FRESH: {1_000: 200.0, 10_000: 1_500.0},
    AGAIN: {1_000: 15.0},
}
"""Milliseconds of the processor, of all processes."""
TIDIES = 0.3
"""Seconds."""
TASKS = Path("/proc/self/task")

Took = dict[str, tuple[float, float]]
"""Milliseconds of the processor in this process, and in those that it started, by what was done."""


def others() -> float:
    """Give the milliseconds of the processor that the processes have taken which this one started."""
    found = 0.0
    for children in TASKS.glob("*/children"):
        for pid in children.read_text().split():
            for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                found += int(task.read_text().split()[0]) / 1e6
    return found


async def clocked(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    gc.collect()
    here, there = time.process_time(), others()
    await work()
    took = 1_000 * (time.process_time() - here)
    # The other process tidies up when it has answered.
    await asyncio.sleep(TIDIES)
    return took, others() - there


async def stored(folder: Path, said: Sequence[Message], *, read: bool) -> Took:
    """Compress a stored conversation, let it grow, and compress it again; with all of it read before, or nothing."""
    engine = await Engine.open(folder / f"{time.monotonic_ns()}.db", model=MODEL, summariser="none")
    # What the first request of a program imports, and the first compression compiles, is no part of what is measured.
    engine.rules_of(MODEL)
    another = await engine.create(model=SMALL)
    await engine.store.messages.append_many(another.id, said[:FEW])
    await _compress(another)
    chat = await engine.create()
    await engine.store.messages.append_many(chat.id, said[:-NEW])
    await engine.state_of(chat.id)
    took: Took = {}
    if read:
        took[READING] = await _read(engine, chat)
    took[FIRST if read else UNREAD] = await clocked(lambda: _compress(chat))
    await engine.wait_until_idle(chat.id)
    await engine.store.messages.append_many(chat.id, said[-NEW:])
    await engine.state_of(chat.id)
    if read:
        took[READING_MORE] = await _read(engine, chat)
    took[NEXT if read else NEXT_UNREAD] = await clocked(lambda: _compress(chat))
    await engine.close()
    return took


async def _read(engine: Engine, chat: Chat) -> tuple[float, float]:
    """Have read what was said, as it is while a conversation grows."""
    state = await engine.state_of(chat.id)

    async def read() -> None:
        engine.reading.begin(state)
        await engine.reading.wait(chat.id)

    return await clocked(read)


async def _compress(chat: Chat) -> None:
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed), outcome


def lists(said: Sequence[Message]) -> dict[str, float]:
    """Compress a list that is new, and then with two messages more, and two more."""
    plain = write("openai", said).messages
    budget = int(BUDGET * sum(len(message.text) for message in said) / 4)

    def compress(size: int) -> float:
        given: list[Any] = copy.deepcopy(plain[:size])
        return cpu(lambda: octavo.compress(given, budget=budget, model=MODEL))

    compress(40)
    took = [compress(len(said) - NEW + 2 * n) for n in range(2 + REPEATS)]
    return {FRESH: took[0], AGAIN: median(took[2:])}


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    if not TASKS.exists():
        raise Absent("the processor time of other processes, which is read from /proc")
    rows: list[tuple[Cell, ...]] = []
    goals: list[Goal] = []
    for size in QUICK_SIZES if quick else SIZES:
        said = [neutral(message) for message in conversation(size + NEW)]
        tell(f"{size:,} messages, stored")
        with tempfile.TemporaryDirectory() as folder:
            found = [
                [asyncio.run(stored(Path(folder), said, read=read)) for _ in range(REPEATS)]
                for read in (True, False)
            ]
        took = {name: _middle([run[name] for run in runs]) for runs in found for name in runs[0]}
        tell(f"{size:,} messages, a list")
        took |= {name: (ms, 0.0) for name, ms in lists(said).items()}
        rows += [(name, size, here, there, here + there) for name, (here, there) in took.items()]
        for name, limits in GOALS.items():
            if size in limits:
                what = f"{name}, {size:,} messages"
                goals.append(Goal(what=what, found=sum(took[name]), limit=limits[size], unit=" ms"))
    yield Table(
        name="compressing",
        title="Compressing without a model, extracts and receipt included, ms of processor time",
        columns=("work", "messages", "here", "in the process that chooses", "both"),
        rows=tuple(rows),
        reading=f"About 120 tokens a message; medians of {REPEATS}. What a conversation says is read while it grows, "
        "or when an import is counted, from half the way to its mark on: then only the choice is left to do. "
        "`nothing read` is the first compression after a start, and it includes that of the process. A list is "
        "compressed where it is.",
    )
    yield from goals


def _middle(runs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return median([here for here, _ in runs]), median([there for _, there in runs])
