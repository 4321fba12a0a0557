"""What the engine adds to a turn: with a slow summariser in the background, and as a conversation grows."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.adapter import neutral
from benchmarks.clock import median, p95
from benchmarks.figures import Cell, Goal, Item, Note, Table, Tell
from benchmarks.peers import conversation
from octavo.core.messages import assistant, user
from octavo.core.protocol import OPENAI
from octavo.core.reply import Delta, Reply, Request, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine

MODEL = "gpt-4o"
SUMMARY_SECONDS = 10.0
TEXT = "The build of the harbour service failed again because port 8080 was taken by the old process. " * 3
SIZES = (1_000, 10_000, 100_000)
TURNS = 25
BUSY_TURNS, QUICK_TURNS = 30, 10
"""Turns while a summary is written."""
EARLIER = 127
"""Questions and answers before them: past the soft mark, and all turns that follow stay below the hard one."""
WINDOW = 32_000
BATCH = 1_000
FOLD_EVERY = 10_000
"""Messages between two compressions while a conversation is filled."""
KEEP = 2_000
"""Tokens retained then."""
BESIDE, QUICK_BESIDE = 5_000, 400
"""Messages of a conversation that is compressed, without a model, beside the turns of another one."""
GOAL_ADDED, GOAL_GROWTH = 10.0, 2.0


class Instant:
    """A provider that answers at once: what a turn takes with it is what the engine adds."""

    name = "instant"
    rules = OPENAI

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        yield Delta("Noted.")
        billed = sum(len(message.text) for message in request.messages) // 4
        yield Reply(message=assistant("Noted."), usage=Usage(input=billed, output=2))

    async def close(self) -> None:
        """Nothing is open."""


class Slow:
    """A summariser that takes ten seconds."""

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        del tell
        await asyncio.sleep(SUMMARY_SECONDS)
        return Narrative(text=f"They looked at {len(job.covered)} messages about port 8080.", model="slow")


async def _turn(chat: Chat, n: int) -> tuple[float, float]:
    """Take a turn; give its wall and processor milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    async for _ in chat.turn(f"Question {n}. {TEXT}"):
        pass
    return 1_000 * (time.perf_counter() - wall), 1_000 * (time.process_time() - cpu)


async def latency(folder: Path, turns: int) -> tuple[list[tuple[float, float]], bool]:
    """Take turns while a ten-second summary is written behind them; the provider itself answers at once.

    Gives the milliseconds of each, on the clock and of the processor, and whether the summary was still being
    written at the end.
    """
    engine = await Engine.open(folder / "latency.db", model=MODEL, provider=Instant(), summariser=Slow())
    await engine.models.learn_window(MODEL, WINDOW)
    chat = await engine.create()
    for n in range(EARLIER):
        await chat.add(f"Question {n}. {TEXT}")
        await chat.add(f"Answer {n}. {TEXT}", role="assistant")
    took = [await _turn(chat, n) for n in range(turns)]
    busy = engine.is_compressing(chat.id)
    await engine.close()
    return took, busy


async def growth(folder: Path, size: int) -> float:
    """Fill a conversation, then take turns; give the processor milliseconds of one."""
    engine = await Engine.open(folder / f"{size}.db", model=MODEL, provider=Instant(), summariser="none")
    await engine.models.learn_window(MODEL, WINDOW)
    chat = await engine.create()
    for start in range(0, size, BATCH):
        said = [user(TEXT) if n % 2 == 0 else assistant(TEXT) for n in range(start, min(size, start + BATCH))]
        await engine.store.messages.append_many(chat.id, said)
        if start % FOLD_EVERY == 0:
            await chat.compress(keep=KEEP)
    await chat.compress(keep=KEEP)
    took = [await _turn(chat, n) for n in range(TURNS)]
    await engine.close()
    return median([cpu for _, cpu in took])


async def beside(folder: Path, size: int) -> tuple[list[float], list[float], float]:
    """Take turns alone, then while another conversation is compressed; give their milliseconds and its seconds."""
    engine = await Engine.open(folder / "beside.db", model=MODEL, provider=Instant(), summariser="none")
    long, chat = await engine.create(), await engine.create()
    await engine.store.messages.append_many(long.id, [neutral(message) for message in conversation(size)])
    # A history is counted when it is first looked at; what is measured is compressing it.
    await engine.state_of(long.id)
    await _turn(chat, 0)
    alone = [(await _turn(chat, n))[0] for n in range(BUSY_TURNS)]
    started = time.perf_counter()
    compressing = asyncio.create_task(long.compress())
    await asyncio.sleep(0)
    meanwhile: list[float] = []
    while not compressing.done():
        if len(meanwhile) % BUSY_TURNS == 0:
            # So many turns in a few seconds would fill any window: it is not its own compression that is looked for.
            chat = await engine.create()
        meanwhile.append((await _turn(chat, len(meanwhile)))[0])
    await compressing
    took = time.perf_counter() - started
    await engine.close()
    return alone, meanwhile, took


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell(f"turns while a summary of {SUMMARY_SECONDS:.0f} s is written")
        took, busy = asyncio.run(latency(folder, QUICK_TURNS if quick else BUSY_TURNS))
        yield _latency_table(took)
        walls = [wall for wall, _ in took]
        yield Goal(
            what="added to a turn below the hard mark, p95", found=p95(walls), limit=GOAL_ADDED, unit=" ms"
        )
        if not busy:
            yield Note(
                text="The summary was finished before the last of these turns: they took longer than it."
            )
        size = QUICK_BESIDE if quick else BESIDE
        tell(f"turns while another conversation of {size:,} messages is compressed")
        yield _beside_table(size, *asyncio.run(beside(folder, size)))
        sizes = SIZES[:1] if quick else SIZES
        found: dict[int, float] = {}
        for size in sizes:
            tell(f"a conversation of {size:,} messages")
            found[size] = asyncio.run(growth(folder, size))
        yield _growth_table(found)
        if len(found) > 1:
            times = found[sizes[-1]] / found[sizes[0]]
            what = f"a turn at {sizes[-1]:,} messages against one at {sizes[0]:,}"
            yield Goal(what=what, found=times, limit=GOAL_GROWTH, unit="×")


def _latency_table(took: Sequence[tuple[float, float]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, len(times), median(times), p95(times), max(times))
        for name, times in zip(("on the clock", "of the processor"), zip(*took, strict=True), strict=True)
    ]
    return Table(
        name="engine.latency",
        title=f"Added to a turn while a summary of {SUMMARY_SECONDS:.0f} s is written in the background, ms",
        columns=("time", "turns", "median", "p95", "slowest"),
        rows=tuple(rows),
        reading="The provider answers at once, so all of it is ours: store, count, decide, build, store.",
    )


def _beside_table(size: int, alone: list[float], meanwhile: list[float], seconds: float) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, len(times), median(times), p95(times), max(times))
        for name, times in (("alone", alone), ("meanwhile", meanwhile))
    ]
    return Table(
        name="engine.beside",
        title=f"A turn while another conversation of {size:,} messages is compressed, ms on the clock",
        columns=("turns", "number", "median", "p95", "slowest"),
        rows=tuple(rows),
        reading=f"No model is asked: extracts and receipt kept a processor busy for {seconds:.1f} s, in a process of "
        "its own.",
    )


def _growth_table(found: dict[int, float]) -> Table:
    first = next(iter(found.values()))
    rows: tuple[tuple[Cell, ...], ...] = tuple((size, cpu, cpu / first) for size, cpu in found.items())
    return Table(
        name="engine.growth",
        title="A whole turn as the conversation grows, ms of processor time",
        columns=("messages", "engine per turn, median", "times the first"),
        rows=rows,
        reading="`times the first` near 1 means: what a turn costs does not depend on how long the conversation is.",
    )
