"""Results as Markdown: a page of their own, and the tables in other pages between two marks.

No figure is typed by hand: a page has `<!-- benchmark: NAME -->` and `<!-- end -->`, and what is between them is
replaced by the table of that name. A region whose table was not measured stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchmarks import headlines
from benchmarks.figures import Cell, Goal, Machine, Note, Part, Results, Table

ABSENT = "–"
HEAD = """\
# Benchmarks

Every figure of Octavo's speed, beside others in the same run, and what its compressions keep. This page is written by a
command; nothing on it is typed by hand.

```sh
make bench                            # everything, in an environment with the other libraries
make bench OPTIONS="store engine"     # some parts
make bench OPTIONS=--quick            # small sizes: to see that it works, not to quote
```

The benchmarks are part of the source, not of the package. `make bench` installs what Octavo is measured beside, and
what it is measured on, into an environment of its own. In any other environment `python -m benchmarks` leaves out what
is not installed and says so. A part that fails is reported and stops no other.

`make figures` runs everything, keeps the results, and writes this page and the tables of the README from them.
`make figures OPTIONS="caches --from benchmarks/results.json"` measures one part again and keeps the others. What stands
side by side in a table was measured in one run.
"""
REGION = re.compile(
    r"(?P<start><!-- benchmark: (?P<name>[\w.%-]+) -->\n)"
    r"(?P<old>(?:(?!<!-- benchmark: ).)*?)(?P<end><!-- end -->)",
    re.DOTALL,
)


def page(results: Results) -> str:
    """Write the whole page."""
    short = headlines.headlines(results)
    first = [f"## In short\n\n{table_text(short)}\n"] if short else []
    parts = (part_text(part) for part in results.parts)
    return "\n".join([HEAD, *_about(results), *first, *parts]).rstrip() + "\n"


def _about(results: Results) -> Iterator[str]:
    yield f"Measured {describe(results.machine)}.\n"
    if results.quick:
        yield "**A quick run: sizes are too small, and repetitions too few, to be quoted.**\n"


def describe(machine: Machine) -> str:
    """Describe a machine without naming it."""
    noun = "processor" if machine.processors == 1 else "processors"
    return (
        f"on {machine.processors} {noun} ({machine.processor}), {machine.memory_gb:g} GB of memory, {machine.system}, "
        f"{machine.python}"
    )


def part_text(part: Part) -> str:
    """Write a part: how to repeat it, its tables, its goals, and what could not be measured."""
    return "\n".join(_lines(part))


def _lines(part: Part) -> Iterator[str]:
    yield f"## {part.title}\n"
    yield (
        f"`python -m benchmarks {part.name}` · {part.date}, Octavo {part.octavo} · {part.seconds:.0f} s; "
        f"{part.load:g} processes wanted to run when it began\n"
    )
    for item in part.items:
        if isinstance(item, Table):
            yield f"### {item.title}\n"
            yield f"{item.reading}\n"
            yield f"{table_text(item)}\n"
    goals = [item for item in part.items if isinstance(item, Goal)]
    if goals:
        yield f"{goals_text(goals)}\n"
    yield from (f"{item.text}\n" for item in part.items if isinstance(item, Note))
    if part.absent:
        yield f"Not measured: {part.absent}\n"
    if part.failed:
        yield f"**Failed:** {part.failed}\n"


def goals_text(goals: Sequence[Goal]) -> str:
    rows: list[tuple[Cell, ...]] = [
        (
            goal.what,
            f"{shown(goal.found)}{goal.unit}",
            f"{'≥' if goal.at_least else '≤'} {shown(goal.limit)}{goal.unit}",
            "met" if goal.met else "**missed**",
        )
        for goal in goals
    ]
    return markdown_table(("goal", "found", "limit", ""), rows)


def table_text(table: Table) -> str:
    return markdown_table(table.columns, table.rows)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Write a table; columns of numbers are aligned to the right."""
    numbers = [
        any(isinstance(row[at], int | float) for row in rows)
        and not any(isinstance(row[at], str) for row in rows)
        for at in range(len(columns))
    ]
    lines = ["| " + " | ".join(columns) + " |"]
    lines.append("|" + "|".join(" ---: " if right else " --- " for right in numbers) + "|")
    lines += ["| " + " | ".join(map(shown, row)) + " |" for row in rows]
    return "\n".join(lines)


def shown(cell: Cell) -> str:
    """Write a number with as many digits as mean something."""
    match cell:
        case None:
            return ABSENT
        case str():
            return cell
        case int():
            return f"{cell:,}"
        case _:
            digits = next(
                (digits for least, digits in ((99.95, 0), (9.995, 1), (0.995, 2)) if abs(cell) >= least), 3
            )
            return f"{cell:,.{digits}f}" if cell else "0"


def fill(text: str, results: Results) -> str:
    """Put the tables of the results between the marks of a page; those of a quick run are not for quoting."""
    if results.quick:
        return text

    def replaced(found: re.Match[str]) -> str:
        name = found["name"]
        table = headlines.of_readme(results, name)
        if table is None:
            return found[0]
        when = results.dates() if name == headlines.NAME else results.dates(name)
        return f"{found['start']}\n{table_text(table)}\n\n{table.reading} ({when}.)\n\n{found['end']}"

    return REGION.sub(replaced, text)
