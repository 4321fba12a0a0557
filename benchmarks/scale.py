"""What one node does: `python -m benchmarks.scale [REPLICAS CONVERSATIONS TURNS]`.

So many `octavo serve`, each a process of its own, on one PostgreSQL, with a provider on loopback that answers at once.
All
conversations talk at the same time, each turn at a replica chosen by chance. Processor time is what counts: on a
machine that does other things too, the clock says little.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import asyncpg  # type: ignore[import-untyped]
import httpx2

from benchmarks.gateway import process
from tests.store.conftest import start_server

SIZE = (3, 30, 10)
WORDS = "The ledger of berth {n} is kept on port {n} and must answer within {n} ms, also at night. " * 4
TICKS = os.sysconf("SC_CLK_TCK")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


class Found(NamedTuple):
    """What was measured."""

    turns: int
    seconds: float
    servers: float
    """Processor seconds of the replicas."""
    database: float
    """Processor seconds of PostgreSQL."""
    messages: int
    bytes: int
    """Growth of the database, indexes and all."""
    connections: int


@dataclass(frozen=True, slots=True)
class Replica:
    """A server that is up."""

    pid: int
    url: str


@contextmanager
def serving(db: str, upstream: str, folder: str) -> Iterator[Replica]:
    """Run `octavo serve` until it is no longer needed."""
    environment = {
        **os.environ,
        "OCTAVO_DB": db,
        "OCTAVO_DATA": folder,
        "OPENAI_API_KEY": "sk-none",
        "OPENAI_BASE_URL": upstream,
    }
    command = [sys.executable, "-m", "octavo", "serve", "--port", "0", "--model", "gpt-4o"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            said = next(filter(ADDRESS.search, running.stderr), "")
            found = ADDRESS.search(said)
            assert found, "the server did not start"
            yield Replica(running.pid, found[0])
        finally:
            running.terminate()


def processor(pids: Iterable[int]) -> float:
    """Add up the processor seconds of processes, and of those that they started and that ended."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(ticks) for one in fields for ticks in one[11:15]) / TICKS


def family(postmaster: int) -> list[int]:
    """Name a PostgreSQL and the processes it started."""
    found = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, found)]


async def talk(client: httpx2.AsyncClient, urls: list[str], turns: int, dice: random.Random) -> None:
    made = await client.post(f"{dice.choice(urls)}/api/v1/conversations", json={"title": "Scale"})
    made.raise_for_status()
    path = f"/api/v1/conversations/{made.json()['id']}/turns"
    for n in range(turns):
        while True:
            answer = await client.post(dice.choice(urls) + path, json={"content": WORDS.format(n=n)})
            if answer.status_code != httpx2.codes.SERVICE_UNAVAILABLE:
                break
            await asyncio.sleep(float(answer.headers.get("retry-after", "1")))
        answer.raise_for_status()
        assert "event: answered" in answer.text, answer.text


async def load(db: str, replicas: list[Replica], conversations: int, turns: int) -> Found:
    urls, dice = [one.url for one in replicas], random.Random(1)
    connection = await asyncpg.connect(db)
    size = "SELECT pg_database_size(current_database())"
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    data = Path(await connection.fetchval("SHOW data_directory"))
    postmaster = int((data / "postmaster.pid").read_text().split()[0])
    limits = httpx2.Limits(max_connections=conversations)
    async with httpx2.AsyncClient(timeout=300, trust_env=False, limits=limits) as client:
        await asyncio.gather(*(talk(client, urls, 1, dice) for _ in range(len(urls) * 4)))  # all are warm
        await connection.execute("CHECKPOINT")
        before = await connection.fetchval(size)
        counted = await connection.fetchval("SELECT count(*) FROM message")
        servers, database = processor([one.pid for one in replicas]), processor(family(postmaster))
        began = time.perf_counter()
        await asyncio.gather(*(talk(client, urls, turns, dice) for _ in range(conversations)))
        seconds = time.perf_counter() - began
    found = Found(
        turns=conversations * turns,
        seconds=seconds,
        servers=processor([one.pid for one in replicas]) - servers,
        database=processor(family(postmaster)) - database,
        messages=await connection.fetchval("SELECT count(*) FROM message") - counted,
        bytes=await connection.fetchval(size) - before,
        connections=await connection.fetchval(others),
    )
    await connection.close()
    return found


def measure_fleet(replicas: int, conversations: int, turns: int) -> Found:
    """Start everything, and let all conversations talk."""
    with tempfile.TemporaryDirectory(prefix="octavo-bench-") as folder, ExitStack() as stack:
        server = start_server(Path(folder) / "postgres")
        stack.callback(server.cleanup)
        _, upstream = stack.enter_context(process("provider"))
        db = server.get_uri()
        address = upstream if upstream.endswith("/v1") else f"{upstream}/v1"
        fleet = [stack.enter_context(serving(db, address, folder)) for _ in range(replicas)]
        return asyncio.run(load(db, fleet, conversations, turns))


def report(replicas: int, conversations: int, found: Found) -> str:
    both = found.servers + found.database
    return (
        f"{replicas} replicas, {conversations} conversations at a time, {found.turns:,} turns in {found.seconds:.1f} s "
        f"({found.turns / found.seconds:.0f} a second on {os.cpu_count()} cores)\n"
        f"processor: {1000 * found.servers / found.turns:.1f} ms a turn in Octavo, "
        f"{1000 * found.database / found.turns:.1f} ms in PostgreSQL; "
        f"{found.turns / found.servers:.0f} turns a second and core of Octavo, {found.turns / both:.0f} of both\n"
        f"database: {found.bytes / found.messages:,.0f} bytes a message ({found.messages:,} messages), "
        f"{found.connections} connections, {found.connections / replicas:.1f} a replica"
    )


if __name__ == "__main__":
    sizes = tuple(int(text) for text in sys.argv[1:]) or SIZE
    print(report(sizes[0], sizes[1], measure_fleet(*sizes)))
