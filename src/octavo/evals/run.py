"""The evaluation itself: every compressor on every case at every budget, one row each.

Rows hold what was measured, not what is shown: tables and plots are computed from them, and the same rows written as
JSON can be read by anything.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from octavo.core.extract.units import Analysis, analyse_all
from octavo.core.messages import place, user
from octavo.evals.baselines import NONE
from octavo.evals.compressor import CompressionJob, CompressionResult, Compressor, Tell, attempt
from octavo.evals.measure.interval import Comparison, Interval, Measurement, compare, interval, pooled
from octavo.evals.measure.needs import Count
from octavo.evals.measure.score import METRICS, Case, Ruler, Score, answers, make_ruler, measure
from octavo.evals.rounds import Course, Lasting, lasting, play

COSTS = {"seconds": "seconds a compression takes", "dollars": "what models asked for it"}
ASKED = 8
"""Questions of a case that are asked one by one, spread over all: each takes a compression of its own."""
LASTS = {"rounds": "rounds that a fact of the first round lasts"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """What is to be run."""

    cases: tuple[Case, ...]
    compressors: tuple[Compressor, ...]
    budgets: tuple[float, ...]
    """Shares of a conversation up to 1, tokens above."""
    count: Count
    rounds: int = 0
    """0: once, on the whole."""
    originals: bool = False
    """Whether each round starts from the originals instead of its own last result."""
    asked: int = ASKED
    """Questions of a case that are asked as the newest message at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One compressor on one case."""

    compressor: str
    budget: float
    set: str
    group: str
    case: str
    score: Score
    seconds: float
    dollars: float
    lasting: Lasting | None = None
    trajectory: tuple[int, ...] = ()

    def numbers(self, metric: str) -> Iterator[Measurement]:
        """Give the values of a metric."""
        found: Iterable[tuple[str, float]]
        match metric:
            case "seconds":
                found = [("", self.seconds)]
            case "dollars":
                found = [("", self.dollars)]
            case "rounds":
                found = [("", self.lasting.survived)] if self.lasting else []
            case _:
                found = METRICS[metric].read(self.score)
        yield from (Measurement(self.group, f"{self.case} {item}", number) for item, number in found)


async def run(plan: EvaluationPlan, tell: Tell) -> tuple[Row, ...]:
    """Run everything, saying how far it is."""
    rows: list[Row] = []
    total = len(plan.cases) * len(plan.compressors) * len(plan.budgets)
    rulers = _Rulers(plan.count)
    for _, group in groupby(plan.cases, key=lambda case: case.group):
        laid = [rulers.of(case) for case in group]
        for size in plan.budgets:
            for ruler in laid:
                for compressor in plan.compressors:
                    tell(f"{compressor.name} on {ruler.case.name}", len(rows), total)
                    rows.append(await _row(plan, ruler, compressor, size))
    return tuple(rows)


class _Rulers:
    """Makes rulers; cuts of one conversation share what is known of its messages."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._group = ""
        self._analyses: dict[str, Analysis] = {}

    def of(self, case: Case) -> Ruler:
        if case.group != self._group:
            self._group, self._analyses = case.group, {}
        if not case.elsewhere:  # the branches of a tree have other messages at the same places
            nodes = place(case.messages)
            found = analyse_all(nodes, self._analyses)
            self._analyses = {node.id: found[node.id] for node in nodes}
        return make_ruler(case, self._count, self._analyses if not case.elsewhere else None)


async def _row(plan: EvaluationPlan, ruler: Ruler, compressor: Compressor, size: float) -> Row:
    budget = ruler.budget(size)
    course: Course | None = None
    started = time.perf_counter()
    if plan.rounds:
        course = await play(
            ruler,
            compressor,
            budget,
            plan.rounds,
            originals=plan.originals,
            thread=f"{ruler.case.name} {size}",
        )
        made: CompressionResult = course.made
    else:
        case = ruler.case
        job = CompressionJob(
            messages=case.messages, budget=budget, pins=case.pins, thread=f"{case.group} {size}"
        )
        made = await attempt(compressor, job)
    seconds = time.perf_counter() - started
    whole = compressor.name == NONE
    score = measure(ruler, made.messages, budget, made.wrong, whole=whole)
    if not plan.rounds:
        found = [answer async for answer in _ask(ruler, compressor, size, plan.asked)]
        score = replace(score, asked=tuple(found))
    return Row(
        compressor=compressor.name,
        budget=size,
        set=ruler.case.set,
        group=ruler.case.group,
        case=ruler.case.name,
        score=score,
        seconds=seconds,
        dollars=made.price,
        lasting=lasting(ruler, course.rounds) if course else None,
        trajectory=course.tokens if course else (),
    )


async def _ask(ruler: Ruler, compressor: Compressor, size: float, most: int) -> AsyncIterator[bool]:
    """Ask questions of a case, each as the newest message after its conversation."""
    keys = [key for key in ruler.exam.keys if key.extractive] if ruler.exam else []
    for key in keys[:: max(1, -(-len(keys) // max(1, most)))] if most else ():
        question = user(key.question.text)
        job = CompressionJob(
            messages=(*ruler.case.messages, question),
            budget=ruler.budget(size),
            pins=ruler.case.pins,
            thread=f"{ruler.case.group} {size} asked",
            asked=True,
        )
        made = await attempt(compressor, job)
        yield answers(ruler, key, made.messages, job.budget, whole=compressor.name == NONE)


Found = Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All rows of one compressor at one budget in one set, as means with intervals."""

    compressor: str
    budget: float
    set: str
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """One compressor compared with the reference, over all sets."""

    compressor: str
    reference: str
    budget: float
    index: Comparison


def summaries(rows: Sequence[Row]) -> tuple[Summary, ...]:
    """Summarise by set; several sets also together, as the mean of their indices."""
    made = [
        Summary(compressor=name, budget=budget, set=set, found=_means(chosen))
        for (set, budget, name), chosen in _grouped(rows).items()
    ]
    return (*made, *_indices(rows))


def _grouped(rows: Sequence[Row]) -> dict[tuple[str, float, str], list[Row]]:
    groups: dict[tuple[str, float, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.set, row.budget, row.compressor), []).append(row)
    return groups


def _means(rows: Sequence[Row]) -> Found:
    return {name: interval(values(rows, name)) for name in (*METRICS, *LASTS, *COSTS)}


def values(rows: Iterable[Row], metric: str) -> list[Measurement]:
    """Give all values of a metric."""
    return [value for row in rows for value in row.numbers(metric)]


ALL = "all sets"


def _indices(rows: Sequence[Row]) -> Iterator[Summary]:
    groups = _grouped(_judged(rows))
    judged = list(dict.fromkeys(set for set, _, _ in groups))
    if len(judged) == 1:
        return
    for budget, name in dict.fromkeys((row.budget, row.compressor) for row in rows):
        sets = [values(groups.get((set, budget, name), ()), "index") for set in judged]
        if all(sets):
            yield Summary(compressor=name, budget=budget, set=ALL, found={"index": pooled(sets)})


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Choose the rows that ask or need something; if none does, all: facts are what is left to go by."""
    return [row for row in rows if row.score.marks or row.score.recall] or list(rows)


def comparisons(rows: Sequence[Row]) -> tuple[PairedComparison, ...]:
    """Compare every compressor with the first one, item by item."""
    made: list[PairedComparison] = []
    names = list(dict.fromkeys(row.compressor for row in rows))
    for budget in dict.fromkeys(row.budget for row in rows):
        ours = [row for row in _judged(rows) if row.budget == budget]
        reference = values([row for row in ours if row.compressor == names[0]], "index")
        for name in names[1:]:
            theirs = [row for row in ours if row.compressor == name]
            found = compare(reference, values(theirs, "index"))
            # What never fits has no index to compare with.
            if found and not all(row.score.over for row in theirs):
                made.append(PairedComparison(compressor=name, reference=names[0], budget=budget, index=found))
    return tuple(made)
