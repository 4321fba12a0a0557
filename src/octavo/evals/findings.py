"""What an evaluation found, as one value: everything that a report in any form is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from octavo.core.receipt import KINDS
from octavo.evals.judging import Verdict
from octavo.evals.measure.interval import Interval
from octavo.evals.rounds import Lasting
from octavo.evals.run import ALL, PairedComparison, Row, Summary, comparisons, summaries

AGES = 5
"""Parts a conversation is divided into, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One conversation growing under one compressor."""

    compressor: str
    case: str
    budget: int
    tokens: tuple[int, ...]
    lasting: Lasting | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that was found."""

    meter: str
    rounds: int
    originals: bool
    rows: tuple[Row, ...]
    summaries: tuple[Summary, ...]
    comparisons: tuple[PairedComparison, ...]
    stories: tuple[Story, ...] = ()
    probes: tuple[Verdict, ...] = ()
    stopped: str = ""
    """Why probing ended early, and when."""

    def with_probes(self, probes: Iterable[Verdict], stopped: str = "") -> Findings:
        """Add what a judge said."""
        return replace(self, probes=tuple(probes), stopped=stopped)

    @property
    def compressors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.compressor for row in self.rows))

    @property
    def budgets(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(row.budget for row in self.rows))

    @property
    def sets(self) -> tuple[str, ...]:
        """All sets together first, then each."""
        every = dict.fromkeys(summary.set for summary in self.summaries)
        return tuple(sorted(every, key=lambda name: name != ALL))


REASON = 200
"""Characters of why a result is worth nothing."""


def failures(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Say which compressors made what cannot be sent, how often, and why most of the time."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.compressor, []).append(row)
    for name, tried in groups.items():
        reasons = Counter(problem for row in tried for problem in row.score.problems[:1])
        if reasons:
            ((reason, _),) = reasons.most_common(1)
            others = f" (the first of {len(reasons):,} reasons)" if len(reasons) > 1 else ""
            words = " ".join(reason.split())[:REASON]
            yield name, f"{reasons.total():,} of {len(tried):,} results count 0: {words}{others}"


def conclude(
    rows: Sequence[Row],
    *,
    meter: str,
    rounds: int = 0,
    originals: bool = False,
    stories: Iterable[Story] = (),
) -> Findings:
    """Work out means, intervals and comparisons."""
    return Findings(
        meter=meter,
        rounds=rounds,
        originals=originals,
        rows=tuple(rows),
        summaries=summaries(rows),
        comparisons=comparisons(rows),
        stories=tuple(stories),
    )


Shares = Mapping[str, float | None]
"""A share for each label, in order; None where there is nothing to measure."""


def by_age(rows: Iterable[Row]) -> Shares:
    """Give the share of facts kept by where in the conversation they stand."""
    kept: list[list[bool]] = [[] for _ in range(AGES)]
    for row in rows:
        for found in row.score.survivals:
            kept[min(AGES - 1, int(found.age * AGES))].append(found.kept)
    names = [f"{100 * n // AGES}–{100 * (n + 1) // AGES} %" for n in range(AGES)]
    return {name: _share(found) for name, found in zip(names, kept, strict=True)}


def by_kind(rows: Iterable[Row]) -> Shares:
    """Give the share of facts kept by their kind."""
    kept: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for row in rows:
        for found in row.score.survivals:
            kept[found.kind].append(found.kept)
    return {kind: _share(found) for kind, found in kept.items() if found}


def by_question(rows: Iterable[Row]) -> Shares:
    """Give the share of questions answered by their kind."""
    kept: dict[str, list[bool]] = {}
    for row in rows:
        for mark in row.score.marks:
            if mark.answered is not None:
                kept.setdefault(mark.kind or "question", []).append(mark.answered)
    return {kind: _share(found) for kind, found in sorted(kept.items())}


def by_round(rows: Iterable[Row], stories: Iterable[Story] = ()) -> Shares:
    """Give the share of the first round's facts that are left after each round."""
    courses = [row.lasting.shares for row in rows if row.lasting]
    courses += [story.lasting.shares for story in stories if story.lasting]
    longest = max(map(len, courses), default=0)
    left = [[shares[n] for shares in courses if len(shares) > n] for n in range(longest)]
    return {str(n + 1): sum(found) / len(found) for n, found in enumerate(left)}


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def dump_interval(found: Interval | None) -> list[float] | None:
    """Write an interval as mean, low, high."""
    return [round(number, 5) for number in (found.mean, found.low, found.high)] if found else None
