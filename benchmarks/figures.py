"""What a run of the benchmarks found, as values: everything that a page is made from, and nothing that is not measured.

Tables hold numbers, not text, so that the same results can be shown again, compared, or checked. What was run on is
described without naming the machine: no host name and no path is in the results.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None
"""A number or a word; None where there is nothing to measure."""
Tell = Callable[[str], None]
"""Says what is being done."""


class Absent(Exception):
    """What a part measures is not on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Figures that belong together."""

    name: str
    """For those who look for it in the results."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    reading: str
    """How to read it, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A limit the project sets itself, and what was found."""

    what: str
    found: float
    limit: float
    unit: str = ""
    at_least: bool = False
    """Whether more is better."""

    @property
    def met(self) -> bool:
        return self.found >= self.limit if self.at_least else self.found <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence about what could not be measured, or how it was."""

    text: str


Item: TypeAlias = Table | Goal | Note
"""What a part gives, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part found."""

    name: str
    title: str
    octavo: str
    """The version that was measured."""
    date: str
    load: float
    """Processes that wanted to run when it began: above the number of processors, figures are too high."""
    seconds: float
    items: tuple[Item, ...] = ()
    absent: str = ""
    """What it would need; empty if it was run."""
    failed: str = ""
    """Why it stopped; empty if it did not."""

    @property
    def tables(self) -> Iterator[Table]:
        return (item for item in self.items if isinstance(item, Table))


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What was run on."""

    processors: int
    memory_gb: float
    processor: str
    system: str
    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What was measured on one machine: each part by itself, so that one can be measured again."""

    quick: bool
    machine: Machine
    parts: tuple[Part, ...]

    def belongs_with(self, other: Results) -> bool:
        """Tell whether parts of both may stand on one page: the same machine and size."""
        return (self.machine, self.quick) == (other.machine, other.quick)

    def table(self, name: str) -> Table | None:
        """Find a table by its name."""
        found = (table for part in self.parts for table in part.tables if table.name == name)
        return next(found, None)

    def dates(self, name: str = "") -> str:
        """Tell when a table was measured, or all of them: a day, or the first and the last."""
        wanted = (
            part.date for part in self.parts if not name or any(table.name == name for table in part.tables)
        )
        days = sorted(set(wanted))
        return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def start(*, quick: bool, parts: Sequence[Part] = ()) -> Results:
    """Describe the run."""
    return Results(
        quick=quick,
        machine=describe_machine(),
        parts=tuple(parts),
    )


def describe_machine() -> Machine:
    """Look at what is run on."""
    return Machine(
        processors=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        processor=_processor(),
        system=_system(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
    )


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text("utf-8", "replace").splitlines() if told.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _system() -> str:
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {platform.machine()}"
    except OSError:
        return f"{platform.system()} {platform.machine()}"


def dump_item(item: Item) -> dict[str, Any]:
    """Write an item for JSON."""
    match item:
        case Table():
            return {
                "kind": "table",
                "name": item.name,
                "title": item.title,
                "reading": item.reading,
                "columns": list(item.columns),
                "rows": [[_rounded(cell) for cell in row] for row in item.rows],
            }
        case Goal():
            return {
                "kind": "goal",
                "what": item.what,
                "found": _rounded(item.found),
                "limit": item.limit,
                "unit": item.unit,
                "at_least": item.at_least,
                "met": item.met,
            }
        case Note():
            return {"kind": "note", "text": item.text}


def read_item(data: dict[str, Any]) -> Item:
    """Read an item again."""
    match data["kind"]:
        case "table":
            return Table(
                name=data["name"],
                title=data["title"],
                reading=data["reading"],
                columns=tuple(data["columns"]),
                rows=tuple(tuple(row) for row in data["rows"]),
            )
        case "goal":
            fields = ("what", "found", "limit", "unit", "at_least")
            return Goal(**{name: data[name] for name in fields})
        case _:
            return Note(text=data["text"])


SIGNIFICANT = 5
"""Digits that are written: more are noise."""


def _rounded(cell: Cell) -> Cell:
    return float(f"{cell:.{SIGNIFICANT}g}") if isinstance(cell, float) else cell


def dump(results: Results) -> dict[str, Any]:
    """Write results for JSON."""
    machine = results.machine
    return {
        "quick": results.quick,
        "machine": {name: getattr(machine, name) for name in Machine.__slots__},
        "parts": [
            {
                "name": part.name,
                "title": part.title,
                "octavo": part.octavo,
                "date": part.date,
                "load": part.load,
                "seconds": round(part.seconds, 1),
                "absent": part.absent,
                "failed": part.failed,
                "items": [dump_item(item) for item in part.items],
            }
            for part in results.parts
        ],
    }


def read(data: dict[str, Any]) -> Results:
    """Read results again."""
    return Results(
        quick=data["quick"],
        machine=Machine(**data["machine"]),
        parts=tuple(
            Part(**{**part, "items": tuple(read_item(item) for item in part["items"])})
            for part in data["parts"]
        ),
    )
