"""Findings as Markdown for people and as JSON for programs.

A table shows only what was measured: a column in which no compressor has a number is left out. Shares are percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from octavo.core.json_values import Json, JsonObject
from octavo.core.receipt import KINDS
from octavo.evals.baselines import NONE
from octavo.evals.findings import Findings, by_age, by_kind, by_question, by_round, dump_interval, failures
from octavo.evals.judging import PROBE_KINDS
from octavo.evals.measure.interval import Interval
from octavo.evals.measure.score import METRICS
from octavo.evals.run import COSTS, LASTS, PairedComparison, Row, Summary

COLUMNS = (
    "index",
    "answers",
    "asked",
    "old_answers",
    "evidence",
    "recall",
    "grounded",
    "deep",
    "facts",
    "decisions",
    "traced",
    "pins",
    "leak",
    "kept",
    "over",
    "valid",
    "rounds",
    "seconds",
    "dollars",
)
"""Columns of a table, in order."""
ABSENT = "–"


def markdown(findings: Findings) -> str:
    """Write everything as Markdown."""
    return "\n".join(_lines(findings)) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table of a report, whatever it is written in."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[int] = frozenset()
    """The rows with the highest index, the first column of numbers."""
    notes: tuple[tuple[str, str], ...] = ()
    """Compressors that made what cannot be sent, and why."""


def tables(findings: Findings) -> Iterator[ReportTable]:
    """Give a table for each set and budget, then the comparisons."""
    for set, budget in product(findings.sets, findings.budgets):
        chosen = [one for one in findings.summaries if (one.set, one.budget) == (set, budget)]
        if chosen:
            columns = shown_columns(chosen)
            yield ReportTable(
                title=f"{set}, budget {budget_name(budget)}",
                head=("compressor", *map(title_of, columns)),
                rows=tuple(
                    (one.compressor, *(cell(name, one.found.get(name)) for name in columns)) for one in chosen
                ),
                best=_best(chosen),
                notes=tuple(failures(row for row in findings.rows if (row.set, row.budget) == (set, budget))),
            )
    if findings.comparisons:
        yield ReportTable(
            title=f"{findings.comparisons[0].reference} against the others, item by item",
            head=("against", "budget", "difference", "95 %", "better", "worse", ""),
            rows=tuple(map(_compared, findings.comparisons)),
        )


def _best(chosen: Sequence[Summary]) -> frozenset[int]:
    means = {
        number: found.mean
        for number, one in enumerate(chosen)
        if one.compressor != NONE and (found := one.found.get("index"))
    }
    return frozenset(number for number, mean in means.items() if mean == max(means.values()))


def _compared(one: PairedComparison) -> tuple[str, ...]:
    difference = one.index.difference
    return (
        one.compressor,
        budget_name(one.budget),
        f"{100 * difference.mean:+.1f}",
        f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}",
        f"{one.index.better:,}",
        f"{one.index.worse:,}",
        "" if one.index.sure else "may be chance",
    )


def _lines(findings: Findings) -> Iterator[str]:
    for table in tables(findings):
        yield from (f"### {table.title}", "", *_table_lines(table.head, table.rows), "")
        if table.notes:
            yield from (*(f"- **{name}**: {words}" for name, words in table.notes), "")
    if findings.probes or findings.stopped:
        yield from _probed(findings)
    yield from _legend(findings)


def _table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def shown_columns(chosen: Sequence[Summary]) -> list[str]:
    """Choose the columns that have something to show; a price only if there was one."""
    return [name for name in COLUMNS if _shown(name, chosen)]


def _shown(name: str, chosen: Sequence[Summary]) -> bool:
    found = [one.found.get(name) for one in chosen]
    return any(found) and not (name == "dollars" and not any(one and one.mean for one in found))


def title_of(name: str) -> str:
    return METRICS[name].title if name in METRICS else name


def budget_name(budget: float) -> str:
    return f"{100 * budget:g} %" if budget <= 1 else f"{budget:,.0f} tokens"


def cell(name: str, found: Interval | None) -> str:
    """Write a number as its column wants it."""
    if found is None:
        return ABSENT
    match name:
        case "index":
            return f"{100 * found.mean:.1f} ({100 * found.low:.0f}–{100 * found.high:.0f})"
        case "rounds":
            return f"{found.mean:.1f}"
        case "seconds":
            return f"{found.mean:.3f}"
        case "dollars":
            return f"{found.mean:.4f}"
        case _:
            return f"{100 * found.mean:.1f}"


def _probed(findings: Findings) -> Iterator[str]:
    yield from ("### Probes: answers of a model, judged from 0 to 5", "")
    if findings.stopped:
        yield from (f"Stopped early, {findings.stopped}", "")
    rows = (
        (
            one.context,
            f"{one.probes}",
            f"{one.tokens:,}",
            f"{one.score.mean:.2f}",
            f"{one.score.low:.2f}–{one.score.high:.2f}",
            *(f"{one.by_kind[kind].mean:.2f}" if kind in one.by_kind else ABSENT for kind in PROBE_KINDS),
        )
        for one in findings.probes
    )
    yield from (*_table_lines(("context", "probes", "tokens", "score", "95 %", *PROBE_KINDS), rows), "")


def _legend(findings: Findings) -> Iterator[str]:
    shown = shown_columns(findings.summaries)
    means = {**{name: metric.means for name, metric in METRICS.items()}, **LASTS, **COSTS}
    yield "Shares in percent; in brackets, 95 % intervals."
    yield ""
    yield from (f"- **{title_of(name)}**: {means[name]}" for name in shown)
    yield ""
    if findings.rounds:
        kept = "from the originals" if findings.originals else "from its own last result"
        yield f"Compressed about {findings.rounds} times on the way, each time {kept}."
    yield f"Tokens as counted by {findings.meter}."


def to_json(findings: Findings) -> JsonObject:
    """Write everything as plain JSON values."""
    return {
        "meter": findings.meter,
        "rounds": findings.rounds,
        "originals": findings.originals,
        "summaries": [_summary_json(one) for one in findings.summaries],
        "comparisons": [_against_json(one) for one in findings.comparisons],
        "retention": [
            _retention_json(findings, name, budget)
            for budget in findings.budgets
            for name in findings.compressors
        ],
        "cases": [_row_json(row) for row in findings.rows],
        "probes": [
            {
                "context": one.context,
                "probes": one.probes,
                "tokens": one.tokens,
                "score": _listed(one.score),
                "gap": _listed(one.gap),
                "by_kind": {kind: _listed(found) for kind, found in one.by_kind.items()},
            }
            for one in findings.probes
        ],
        "probes_stopped": findings.stopped,
    }


def _summary_json(one: Summary) -> JsonObject:
    found: JsonObject = {name: _listed(value) for name, value in one.found.items() if value}
    return {"set": one.set, "budget": one.budget, "compressor": one.compressor, "found": found}


def _against_json(one: PairedComparison) -> JsonObject:
    return {
        "compressor": one.compressor,
        "reference": one.reference,
        "budget": one.budget,
        "difference": _listed(one.index.difference),
        "better": one.index.better,
        "worse": one.index.worse,
        "sure": one.index.sure,
    }


def _retention_json(findings: Findings, name: str, budget: float) -> JsonObject:
    rows = [row for row in findings.rows if (row.compressor, row.budget) == (name, budget)]
    return {
        "compressor": name,
        "budget": budget,
        "by_age": dict(by_age(rows)),
        "by_kind": dict(by_kind(rows)),
        "by_question": dict(by_question(rows)),
        "by_round": dict(by_round(rows)),
    }


def _row_json(row: Row) -> JsonObject:
    facts = row.score.survivals
    return {
        "case": row.case,
        "set": row.set,
        "compressor": row.compressor,
        "budget": row.budget,
        "before": row.score.before,
        "after": row.score.after,
        "over": row.score.over,
        "problems": list(row.score.problems),
        "lost": {
            kind: sum(found.kind == kind and not found.kept for found in facts)
            for kind in KINDS
            if any(found.kind == kind for found in facts)
        },
        "values": {name: [value.number for value in row.numbers(name)] for name in METRICS},
        "seconds": round(row.seconds, 6),
        "dollars": row.dollars,
        "tokens": list(row.trajectory),
    }


def _listed(found: Interval | None) -> Json:
    dumped = dump_interval(found)
    return list(dumped) if dumped else None
