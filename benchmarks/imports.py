"""Cold imports, each in a fresh process: what a program pays before its first line of work."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.figures import Cell, Goal, Item, Note, Table, Tell

OURS = (
    ("octavo", "the names; what they stand for is imported when it is used"),
    ("octavo.engine.stateless", "what `octavo.compress` needs"),
    ("octavo.engine.engine", "the engine"),
    ("octavo.store.store", "its store, with SQLAlchemy: imported when the first engine is opened"),
    ("octavo.cli.main", "the command line, up to its help"),
    ("octavo.server.app", "the server"),
)
OTHERS = (
    ("tiktoken", "counts tokens"),
    ("langchain.agents.middleware", "LangChain's summarising middleware"),
    ("strands", "Strands, with its conversation managers"),
    ("pydantic_ai_harness.compaction", "pydantic-ai-harness"),
)
ROUNDS = 7
GOAL_SECONDS = 0.15
"""For `import octavo`, for what one call of `octavo.compress` needs, and for the engine."""
SCRIPT = """
import sys, time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
took = time.perf_counter() - wall, time.process_time() - cpu
import resource
print(*took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def timed(module: str) -> tuple[float, float, float] | None:
    """Import a module; give seconds on the clock, of the processor, and megabytes; None if it is not there."""
    command = [sys.executable, "-c", SCRIPT.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    wall, cpu, memory = map(float, done.stdout.split()[-3:])
    return wall, cpu, memory


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    rows: list[tuple[Cell, ...]] = []
    missing: list[str] = []
    for module, what in (*OURS, *OTHERS):
        tell(module)
        runs = [timed(module) for _ in range(1 if quick else ROUNDS)]
        good = [run for run in runs if run is not None]
        if good:
            rows.append((f"`{module}`", what, *map(statistics.median, zip(*good, strict=True))))
        else:
            missing.append(module)
    yield Table(
        name="imports",
        title="Cold imports",
        columns=("module", "what it is", "s on the clock", "s of the processor", "MB of the process"),
        rows=tuple(rows),
        reading="Medians of fresh processes, files already in the system's cache.",
    )
    for module, _ in OURS[:3]:
        found = next(row[3] for row in rows if row[0] == f"`{module}`")
        assert isinstance(found, float)
        yield Goal(what=f"import of `{module}`", found=found, limit=GOAL_SECONDS, unit=" s")
    if missing:
        yield Note(text=f"Not installed here: {', '.join(missing)}.")
