"""Watches the memory of a server that answers many turns: `python -m scripts.memory [--turns N]`.

The real application and engine on an SQLite file, a provider that answers at once, and conversations that are
compressed as they grow. After each part of the way it prints what the process holds, and what of it can be named: what
levels off is a cache, what does not is a leak.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2

from octavo.core.reply import Request
from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.app_state import AppState
from octavo.server.config import Limits, ServerSettings
from octavo.testing import ScriptedProvider

MODEL = "gpt-4o"
WINDOW = 8_192
"""Small, so that every conversation is compressed a few times."""
LENGTH = 100
"""Turns of a conversation."""
STEP = 5_000
"""Turns between two lines that are printed."""
AT_ONCE = 4
"""Conversations that go on side by side."""
ANSWER = "The berth is free from noon, and the crane is booked for the same hour. " * 4


def resident() -> float:
    """Megabytes that the process holds."""
    status = Path("/proc/self/status").read_text("utf-8")
    found = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(found.split()[1]) / 1_024


def question(number: int) -> str:
    return f"Berth {number}: does ship-{number} of {number % 37} metres fit? " + "The tide matters too. " * 12


async def converse(client: httpx2.AsyncClient, numbers: Iterator[int]) -> None:
    """Talk, one conversation after the other, until all turns are taken."""
    place = ""
    for taken, number in enumerate(numbers):
        if taken % LENGTH == 0:
            made = await client.post("/api/v1/conversations", json={})
            place = f"/api/v1/conversations/{made.json()['id']}"
        said = await client.post(f"{place}/turns", json={"content": question(number)})
        if '"status":"done"' not in said.text[-80:]:
            raise SystemExit(f"turn {number} failed: {said.text[-400:]}")


def show(turns: int, app_state: AppState, began: float) -> None:
    works = app_state.tasks.kept
    events = sum(work.feed.size for work in works) / (1 << 20)
    gc.collect()
    print(
        f"{turns:>7,} turns  {resident():>7.1f} MB  {len(gc.get_objects()):>9,} objects  "
        f"{len(works):>6,} tasks with {events:>5.1f} MB of events  {time.monotonic() - began:>6.0f} s",
        flush=True,
    )


async def watch(turns: int, step: int, keep: float) -> None:
    provider = ScriptedProvider(lambda _: ANSWER)

    def answer(_: Request) -> str:
        # What it was asked is remembered for tests, and would be all that grows here.
        provider.requests.clear()
        return ANSWER

    provider.script = answer
    with tempfile.TemporaryDirectory() as folder:
        engine = await Engine.open(
            Path(folder) / "chats.db", model=MODEL, provider=provider, summariser="none"
        )
        await engine.models.learn_window(MODEL, WINDOW)
        app = create_app(engine, ServerSettings(limits=Limits(keep_seconds=keep)))
        transport = httpx2.ASGITransport(app)
        base = "http://127.0.0.1:8765"
        async with engine, httpx2.AsyncClient(transport=transport, base_url=base, timeout=None) as client:
            began = time.monotonic()
            show(0, app.state.octavo, began)
            for start in range(0, turns, step):
                stop = min(start + step, turns)
                numbers = iter(range(start, stop))
                await asyncio.gather(*(converse(client, numbers) for _ in range(AT_ONCE)))
                show(stop, app.state.octavo, began)


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("--turns", type=int, default=50_000)
    reading.add_argument("--step", type=int, default=STEP, help="turns between two lines")
    reading.add_argument("--keep", type=float, default=Limits().keep_seconds, help="seconds events are kept")
    told = reading.parse_args()
    asyncio.run(watch(told.turns, told.step, told.keep))


if __name__ == "__main__":
    main()
