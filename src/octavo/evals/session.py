"""One evaluation from what is wanted to what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from octavo.errors import UsageError
from octavo.evals.baselines import NONE
from octavo.evals.compressor import CompressionJob, Compressor, Tell, attempt
from octavo.evals.findings import Findings, Story, conclude
from octavo.evals.judging import FULL, Contender
from octavo.evals.measure.score import Case, make_ruler
from octavo.evals.rounds import ROUNDS, lasting, play
from octavo.evals.run import EvaluationPlan, run
from octavo.meters.meter import Meter

LONGEST_STORY = 60_000
"""Tokens of a conversation that is shown growing: a longer one takes too long to play, and looks no different."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """What an evaluation is to do."""

    compressors: tuple[str, ...]
    budgets: tuple[float, ...]
    rounds: int = 0
    originals: bool = False
    model: str = "chars4"
    only: tuple[str, ...] = ()
    seed: int = 0
    stories: bool = False
    """Whether to show a conversation growing."""
    probe: str = ""
    judge: str = ""
    repeats: int = 5
    probes: int = 4
    """Of each kind."""
    probe_cases: int = 3


def choose(cases: Sequence[Case], only: Sequence[str]) -> tuple[Case, ...]:
    """Choose the cases of the wanted sets."""
    chosen = tuple(case for case in cases if not only or case.set in only)
    if not chosen:
        known = ", ".join(dict.fromkeys(case.set for case in cases)) or "none"
        raise UsageError(f"there is nothing to measure; sets there are: {known}")
    return chosen


async def measured(
    wanted: EvaluationOptions,
    cases: Sequence[Case],
    compressors: Sequence[Compressor],
    meter: Meter,
    tell: Tell,
) -> Findings:
    """Run everything and work out what it means."""
    plan = EvaluationPlan(
        cases=tuple(cases),
        compressors=tuple(compressors),
        budgets=wanted.budgets,
        count=meter.count_message,
        rounds=wanted.rounds,
        originals=wanted.originals,
    )
    rows = await run(plan, tell)
    return conclude(
        rows,
        meter=meter.card.name,
        rounds=wanted.rounds,
        originals=wanted.originals,
        stories=await _stories(plan, meter, tell) if wanted.stories else (),
    )


async def _stories(plan: EvaluationPlan, meter: Meter, tell: Tell) -> list[Story]:
    """Let one conversation grow under every compressor: the longest that does not take too long."""
    sized = [(sum(map(meter.count_message, case.messages)), number) for number, case in enumerate(plan.cases)]
    fitting = [pair for pair in sized if pair[0] <= LONGEST_STORY] or [min(sized)]
    case = plan.cases[max(fitting)[1]]
    ruler = make_ruler(case, plan.count)
    budget = ruler.budget(plan.budgets[0])
    rounds = plan.rounds or ROUNDS
    told: list[Story] = []
    for number, compressor in enumerate(plan.compressors):
        tell(f"{compressor.name} on {case.name}, growing", number, len(plan.compressors))
        course = await play(ruler, compressor, budget, rounds, originals=plan.originals, thread="growing")
        told.append(
            Story(
                compressor=compressor.name,
                case=case.name,
                budget=budget,
                tokens=course.tokens,
                lasting=lasting(ruler, course.rounds),
            )
        )
    return told


async def contenders(
    cases: Sequence[Case], compressors: Sequence[Compressor], budget: float, meter: Meter
) -> tuple[Contender, ...]:
    """Make the contexts that probes are answered from: the whole, and what each compressor makes of it."""
    made: list[Contender] = []
    for case in cases:
        ruler = make_ruler(case, meter.count_message)
        contexts = [(FULL, case.messages)]
        for compressor in compressors:
            if compressor.name != NONE:
                job = CompressionJob(
                    messages=case.messages, budget=ruler.budget(budget), pins=case.pins, thread=case.name
                )
                result = await attempt(compressor, job)
                contexts.append((compressor.name, result.messages))
        made += [
            Contender(
                name=name,
                case=case.name,
                messages=messages,
                tokens=sum(map(meter.count_message, messages)),
            )
            for name, messages in contexts
        ]
    return tuple(made)
