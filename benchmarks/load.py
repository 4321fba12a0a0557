"""The full size of what `tests/server/test_replicas.py` shows: `python -m benchmarks.load [CONVERSATIONS TURNS]`.

Two processes on one PostgreSQL, one of them killed in the middle: nothing that was acknowledged is lost.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.server.test_replicas import survive
from tests.store.conftest import start_server

LOAD = (200, 30)


async def load(conversations: int, turns: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="octavo-bench-"))
    server = await asyncio.to_thread(start_server, folder)
    start = time.perf_counter()
    messages, snapshots = await survive(server.get_uri(), conversations, turns)
    seconds = time.perf_counter() - start
    print(
        f"{conversations} conversations of {turns} turns on two processes, one killed in the middle: {messages:,} "
        f"messages, {snapshots:,} snapshots, nothing lost, nothing double; {seconds:.0f} s, "
        f"{conversations * turns / seconds:.0f} turns/s."
    )


if __name__ == "__main__":
    sizes = [int(text) for text in sys.argv[1:]]
    asyncio.run(load(*(sizes or LOAD)))
