"""What compressing keeps: by an independent yardstick where it is at hand, and by our own evaluation.

The yardstick asks for answers, and for names that later turns needed, in five public sets of long conversations. Our
evaluation adds what it lacks: sentences that decide or plan, and lines that can be traced to their source. Without the
public sets it runs on the built-in conversations.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.figures import Cell, Goal, Item, Note, Table, Tell
from benchmarks.places import DATA, QUALITY_YARDSTICK, ROOT
from octavo.evals.cases import built_in
from octavo.evals.compressors import CompressorFactory, make_all, meter_of, release
from octavo.evals.measure.score import Case
from octavo.evals.run import ALL, EvaluationPlan, Summary, run, summaries
from octavo.evals.sources import read_sets

BUDGETS = (0.05, 0.10, 0.25)
ECONOMICAL, DEFAULT, STORED = (f"benchmarks.yardstick:{name}" for name in ("economical", "default", "stored"))
NAMES = {
    "tail_naive": "newest messages, one by one",
    "lc_trim": "LangChain `trim_messages`",
    "lc_trim(start_on=human)": "LangChain `trim_messages`, from a user's message on",
    "lc_summarize(default)": "LangChain `SummarizationMiddleware`, summaries by tf-idf",
    "tail_safe": "truncation: the newest messages that fit, tool pairs intact",
    "coverage": "greedy coverage of words and identifiers, the best of the usual ways",
    DEFAULT: "**Octavo**, default (half of it the newest turns, word for word)",
    ECONOMICAL: "**Octavo**, most economical",
    "oracle": "hindsight: knows what will be asked",
}
"""The rows of the yardstick that are shown, in order."""
GOALS = {(ECONOMICAL, 0.10): 66.0, (ECONOMICAL, 0.25): 86.0, (DEFAULT, 0.10): 62.0, (DEFAULT, 0.25): 83.0}
GOAL_LASTING = 98.0
"""Percent of the answers from the older half that are still there after nine rounds, of those after one."""
ROUNDS_BUDGET = 0.10
LASTING = {
    "tail_safe": "truncation",
    "coverage": "greedy coverage, from the last result",
    STORED: "**Octavo**, stored",
}
OWN_BUDGETS = (0.10, 0.25)
COMPRESSORS = ("octavo", "octavo@0.05", "truncate", "head+tail", "mask")
QUICK_COMPRESSORS = ("octavo", "octavo@0.05", "truncate")
QUICK_SETS = ("runs", "branches")
STEP = 10
"""Percent between two lines of progress."""
METRICS = ("index", "answers", "asked", "decisions", "traced", "facts", "pins", "leak", "over", "valid")


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    if quick:
        yield from own(
            [case for case in built_in() if case.set in QUICK_SETS], QUICK_COMPRESSORS, tell, "built-in"
        )
        return
    if QUALITY_YARDSTICK.exists():
        yield from by_yardstick(tell)
        yield from lasting(tell)
    else:
        yield Note(
            text="The yardstick and its public sets are not here: only built-in conversations are measured."
        )
    meter = meter_of("chars4")
    there = DATA.exists()
    cases = read_sets(DATA, meter.count_message) if there else iter(built_in())
    yield from own(list(cases), COMPRESSORS, tell, "public" if there else "built-in")


def ask_yardstick(*options: str) -> list[dict[str, Any]]:
    """Run the yardstick; give its rows."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "quality.json"
        command = [sys.executable, str(QUALITY_YARDSTICK), *options, "--json", str(out)]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {**os.environ, "PYTHONPATH": path}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        rows: list[dict[str, Any]] = json.loads(out.read_text())["rows"]
        return rows


def by_yardstick(tell: Tell) -> Iterator[Item]:
    tell("the yardstick: five sets, three budgets")
    options = ["--budgets", *map(str, BUDGETS), "--only", *(name for name in NAMES if ":" not in name)]
    for ours in (DEFAULT, ECONOMICAL):
        options += ["--compressor", ours]
    if find_spec("langchain") is not None:
        options.append("--langchain")
    yield from yardstick_items(ask_yardstick(*options))


def yardstick_items(rows: Sequence[dict[str, Any]]) -> Iterator[Item]:
    """Put the index of each way at each budget, and whether what it made can be sent."""
    index = {(row["compressor"], row["budget"]): 100 * row["index"] for row in rows if "index" in row}
    made: list[tuple[Cell, ...]] = []
    for name, title in NAMES.items():
        if any(who == name for who, _ in index):
            own_rows = [row for row in rows if row["compressor"] == name and "valid" in row]
            valid = 100 * min(row["valid"] for row in own_rows) if own_rows else None
            over = 100 * max(row["over"] for row in own_rows) if own_rows else None
            made.append((title, *(index.get((name, budget)) for budget in BUDGETS), valid, over))
    yield Table(
        name="quality",
        title="Still there after compressing five public sets to so much of their tokens, in percent, no model asked",
        columns=("", *(f"{budget:.0%}" for budget in BUDGETS), "valid, worst set", "over budget, worst set"),
        rows=tuple(made),
        reading="Mean over LoCoMo, LongMemEval, mini-swe-agent, tau-bench and pi of answers, or of names later turns "
        "needed, in their context; what breaks the protocol or its budget counts 0.",
    )
    for (name, budget), limit in GOALS.items():
        if (name, budget) in index:
            what = f"{name.partition(':')[2]} at {budget:.0%}"
            yield Goal(what=what, found=index[name, budget], limit=limit, at_least=True)


def lasting(tell: Tell) -> Iterator[Item]:
    """Compress once, and again each time the context has doubled."""
    tell("the yardstick: again and again")
    options = ["--suite", "dialog", "--budgets", str(ROUNDS_BUDGET), "--only", "tail_safe", "coverage"]
    options += ["--compressor", STORED]
    once, again = (ask_yardstick(*options, *more) for more in ((), ("--progressive",)))
    found = {name: (_old_half(once, name), _old_half(again, name)) for name in LASTING}
    yield Table(
        name="quality.rounds",
        title=f"Answers from the older half after one compression to {ROUNDS_BUDGET:.0%}, and after about nine, in %",
        columns=("", "after one", "after nine", "of these left"),
        rows=tuple((LASTING[name], one, nine, 100 * nine / one) for name, (one, nine) in found.items()),
        reading="LoCoMo and LongMemEval; Octavo starts each time from the originals, which it has kept.",
    )
    one, nine = found[STORED]
    yield Goal(
        what="old answers left after nine rounds",
        found=100 * nine / one,
        limit=GOAL_LASTING,
        unit=" %",
        at_least=True,
    )


def _old_half(rows: Iterable[dict[str, Any]], name: str) -> float:
    values: list[float] = [
        row["old"] for row in rows if row["compressor"] == name and row["budget"] == ROUNDS_BUDGET
    ]
    return 100 * sum(values) / len(values)


def own(cases: Sequence[Case], names: Sequence[str], tell: Tell, what: str) -> Iterator[Item]:
    """Run our own evaluation."""
    found = asyncio.run(_evaluated(cases, names, tell))
    for budget in OWN_BUDGETS:
        at = [one for one in found if one.budget == budget]
        yield Table(
            name=f"quality.own.{budget:.0%}",
            title=f"`octavo eval` on the {what} sets at {budget:.0%}, in percent",
            columns=("compressor", *METRICS),
            rows=tuple((name, *_means(at, name)) for name in names),
            reading="Means over the sets, each counting once: sentences that decide or plan, lines traceable to their "
            "source, facts, pinned texts; leak, over budget and valid. [Each of them](evaluation.md#what-is-measured).",
        )


async def _evaluated(cases: Sequence[Case], names: Sequence[str], tell: Tell) -> tuple[Summary, ...]:
    meter = meter_of("chars4")
    compressors = make_all(CompressorFactory(meter=meter), names)
    last = [""]

    def step(words: str, done: int, total: int) -> None:
        share = f"{STEP * (100 * done // total // STEP)} %"
        if share != last[0]:
            last[0] = share
            tell(f"octavo eval, {share}: {words}")

    plan = EvaluationPlan(
        cases=tuple(cases), compressors=compressors, budgets=OWN_BUDGETS, count=meter.count_message
    )
    try:
        return summaries(await run(plan, step))
    finally:
        await release(compressors)


def _means(found: Sequence[Summary], name: str) -> Iterator[Cell]:
    """Give each metric as the mean of its means in the sets; the index as it is pooled."""
    ours = [one for one in found if one.compressor == name]
    for metric in METRICS:
        pooled = [one for one in ours if one.set == ALL] if metric == "index" else []
        values = [value.mean for one in pooled or ours if (value := one.found.get(metric))]
        yield 100 * sum(values) / len(values) if values else None
