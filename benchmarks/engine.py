"""What the engine adds to a turn: with a slow summariser in the background, and as a conversation grows."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from octavo.core.messages import assistant, user
from octavo.core.protocol import OPENAI
from octavo.core.reply import Delta, Reply, Request, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import CompressionStarted, Shrunk

MODEL = "gpt-4o"
SUMMARY_SECONDS = 10.0
TEXT = "The build of the harbour service failed again because port 8080 was taken by the old process. " * 3
SIZES = (1_000, 10_000, 100_000)
TURNS = 25


class Instant:
    """A provider that answers at once: what a turn takes with it is what the engine adds."""

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


async def _turn(chat: Chat, n: int) -> tuple[float, float, bool]:
    """Take a turn; give wall and processor milliseconds, and whether it waited for a compression."""
    waited, wall, cpu = False, time.perf_counter(), time.process_time()
    async for event in chat.turn(f"Question {n}. {TEXT}"):
        waited = waited or isinstance(event, CompressionStarted | Shrunk)
    return 1_000 * (time.perf_counter() - wall), 1_000 * (time.process_time() - cpu), waited


async def latency(folder: Path) -> None:
    """Turns while a ten-second summary is written behind them; the provider itself answers at once."""
    engine = await Engine.open(folder / "latency.db", model=MODEL, provider=Instant(), summariser=Slow())
    await engine.models.learn_window(MODEL, 32_000)
    chat = await engine.create()
    for n in range(140):
        await chat.add(f"Question {n}. {TEXT}")
        await chat.add(f"Answer {n}. {TEXT}", role="assistant")
    took = [await _turn(chat, n) for n in range(60)]
    busy = engine.state(chat.id).task is not None
    walls = sorted(wall for wall, _, waited in took if not waited)
    print(
        f"turns below the hard mark while a {SUMMARY_SECONDS:.0f} s summary is written ({'yes' if busy else 'no'}): "
        f"median {statistics.median(walls):.1f} ms, p95 {walls[int(len(walls) * 0.95)]:.1f} ms added"
    )
    await engine.close()


async def growth(folder: Path, sizes: Sequence[int]) -> None:
    print("\n| messages | engine per turn, ms CPU (median) | against 1,000 |")
    print("| ---: | ---: | ---: |")
    first = 0.0
    for size in sizes:
        engine = await Engine.open(
            folder / f"{size}.db",
            model=MODEL,
            provider=Instant(),
            summariser="none",
        )
        await engine.models.learn_window(MODEL, 32_000)
        chat = await engine.create()
        for start in range(0, size, 1_000):
            said = [
                user(TEXT) if n % 2 == 0 else assistant(TEXT) for n in range(start, min(size, start + 1_000))
            ]
            await engine.store.append_many(chat.id, said)
            if start % 10_000 == 0:
                await chat.compress(keep=2_000)
        await chat.compress(keep=2_000)
        took = [await _turn(chat, n) for n in range(TURNS)]
        middle = statistics.median(cpu for _, cpu, _ in took)
        first = first or middle
        print(f"| {size:,} | {middle:.2f} | {middle / first:.2f}× |")
        await engine.close()


def main(arguments: Sequence[str]) -> None:
    sizes = tuple(int(text) for text in arguments) or SIZES
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(latency(Path(folder)))
        asyncio.run(growth(Path(folder), sizes))


if __name__ == "__main__":
    main([])
