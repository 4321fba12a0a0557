"""Octavo beside other libraries on one conversation: what every turn pays, and what a compression takes.

Where a yardstick of libraries lies beside the checkout, that is run, with our adapter; else the same is done here, each
library and size in a process of its own. The model answers at once, so all that is measured is the libraries' own work.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.adapter import Octavo
from benchmarks.clock import median
from benchmarks.figures import Cell, Goal, Item, Note, Table, Tell
from benchmarks.others import LangChain, Neutral, PydanticAI, Strands, TrimMessages

PEERS: dict[str, Any] = {
    "octavo": Octavo,
    "trim_messages": TrimMessages,
    "langchain": LangChain,
    "strands": Strands,
    "pydantic-ai": PydanticAI,
}
"""By the names that the yardstick has for them, too."""
SIZES = (1_000, 10_000)
QUICK_SIZE = 200
SAMPLES, COMPRESSIONS = 11, 3
GOAL_DECIDE = 0.3
"""Milliseconds of the processor."""
GOAL_IMPORT = 0.15
"""Seconds."""
WORDS = """
the invoice total differs from the ledger because rounding happens before tax so settlement should keep keys stable
while migration runs behind a flag for some accounts please look at the logs around the release and compare latency
""".strip().split()


def conversation(size: int, seed: int = 7) -> list[Neutral]:
    """Write a conversation of questions, tool rounds and answers: about 120 tokens a message, always the same."""
    dice = random.Random(seed)
    said: list[Neutral] = []

    def say(role: str, words: int, **more: Any) -> None:
        text = " ".join(dice.choices(WORDS, k=words)).capitalize() + "."
        plain: Neutral = {
            "id": f"m{len(said)}",
            "role": role,
            "text": text,
            "calls": [],
            "call_id": None,
            "name": None,
        }
        said.append({**plain, **more})

    while len(said) < size:
        say("user", dice.randint(30, 120))
        call = {
            "id": f"call{len(said)}",
            "name": "read_file",
            "args": {"path": f"src/{dice.choice(WORDS)}.py"},
        }
        say("assistant", dice.randint(8, 30), calls=[call])
        say("tool", dice.randint(60, 200), call_id=call["id"], name=call["name"])
        say("assistant", dice.randint(90, 220))
    return said[: size - size % 4]


def measured(name: str, size: int) -> dict[str, Any]:
    """Measure a library in this process, which was made for it."""
    peer = PEERS[name]()
    start = time.perf_counter()
    import_module(peer.module)
    found: dict[str, Any] = {
        "peer": name,
        "name": peer.name,
        "n": size,
        "import_s": time.perf_counter() - start,
    }
    found["version"] = importlib.metadata.version(peer.dist)
    found["store"] = peer.store
    said, more = conversation(size), conversation(4 * (SAMPLES + 2), seed=8)[::4]
    found["decide_ms"], found["decide_cpu_ms"] = _deciding(peer, said, more)
    found["compress_ms"], found["compress_cpu_ms"] = _compressing(peer, said)
    found["rss_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return found


def _deciding(peer: Any, said: list[Neutral], more: Sequence[Neutral]) -> tuple[float, float]:
    state = peer.setup(said, over=False, usage=False)
    times: list[tuple[float, float]] = []
    for message in more:
        peer.append(state, message)
        times.append(_clocked(peer.decide, state))
    # The first two load what is loaded once.
    wall, cpu = zip(*times[2:], strict=True)
    return median(wall), median(cpu)


def _compressing(peer: Any, said: list[Neutral]) -> tuple[float, float]:
    states = [peer.setup(said, over=True, usage=False) for _ in range(COMPRESSIONS)]
    wall, cpu = zip(*(_clocked(peer.compress, state) for state in states), strict=True)
    return median(wall), median(cpu)


def _clocked(work: Any, state: Any) -> tuple[float, float]:
    gc.collect()
    gc.disable()
    cpu, wall = time.process_time(), time.perf_counter()
    work(state)
    took = 1_000 * (time.perf_counter() - wall), 1_000 * (time.process_time() - cpu)
    gc.enable()
    return took


def own(sizes: Sequence[int], tell: Tell) -> Iterator[dict[str, Any]]:
    """Measure every library that is installed, each in a process of its own."""
    for size in sizes:
        for name in PEERS:
            tell(f"{name}, {size:,} messages")
            command = [sys.executable, "-m", "benchmarks.peers", name, str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no output"])[-1]
                yield {"peer": name, "n": size, "error": last}
            else:
                yield json.loads(done.stdout.splitlines()[-1])


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    sizes = (QUICK_SIZE,) if quick else SIZES
    yield from items(list(own(sizes, tell)))
    if missing := [name for name, peer in PEERS.items() if not _there(peer.module)]:
        yield Note(text=f"Not installed here: {', '.join(missing)}. `make bench` installs them.")


def _there(module: str) -> bool:
    return find_spec(module.partition(".")[0]) is not None


def items(rows: Sequence[dict[str, Any]]) -> Iterator[Item]:
    """Put what was measured beside our own figures."""
    good = [row for row in rows if "error" not in row]
    ours = {row["n"]: row for row in good if row["peer"] == "octavo"}
    yield Table(
        name="peers",
        title="Decide, ms of processor time, and compress, ms on the clock",
        columns=(
            "library",
            "version",
            "messages",
            "decide",
            "times ours",
            "compress",
            "times ours",
            "import, s",
            "peak, MB",
            "store",
        ),
        rows=tuple(_row(row, ours.get(row["n"])) for row in good),
        reading="`decide` is what every turn pays when nothing is to be done, without a provider's bills; `compress` "
        "is a whole compression. Ours includes its database, chooses extracts from every message, writes a receipt "
        "and asks no model; those of summarisers leave out the model, which here takes no time. Ours is done in a "
        "process of its own (hence the clock, and its memory is not in the peak), which is started for it and has read "
        "nothing before; turns go on meanwhile.",
    )
    for size, row in ours.items():
        yield Goal(
            what=f"decide at {size:,} messages", found=row["decide_cpu_ms"], limit=GOAL_DECIDE, unit=" ms"
        )
    if ours:
        slowest = max(row["import_s"] for row in ours.values())
        yield Goal(what="import the engine", found=slowest, limit=GOAL_IMPORT, unit=" s")
    for row in rows:
        if "error" in row and _there(PEERS[row["peer"]].module):
            yield Note(text=f"{row['peer']}, {row['n']:,} messages: {row['error']}")


def _row(row: dict[str, Any], ours: dict[str, Any] | None) -> tuple[Cell, ...]:
    cells: list[Cell] = [row["name"], row["version"], row["n"]]
    for what in ("decide_cpu_ms", "compress_ms"):
        cells += [row[what], row[what] / ours[what] if ours else None]
    return (*cells, row["import_s"], row["rss_peak_mb"], row.get("store", ""))


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
