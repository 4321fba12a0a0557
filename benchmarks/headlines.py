"""The figures a reader wants first, taken from the tables of a run: ours, what it stands beside, and how many times.

A line whose tables were not measured is left out; no figure is here that is not in a table of the page. The README has
room for fewer lines than the page of benchmarks: the first one of each kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from benchmarks.figures import Cell, Results, Table

NAME = "speed"
COLUMNS = ("", "Octavo", "beside it", "", "times")
QUALITY = "quality"
MILDER = ("newest messages, one by one", "LangChain `trim_messages`")
"""Ways of cutting that the README leaves out, because it shows a better form of each."""
Line = tuple[Cell, ...]


def of_readme(results: Results, name: str) -> Table | None:
    """Give a table as the README shows it."""
    if name == NAME:
        return headlines(results, each=1)
    table = results.table(name)
    if table is None or name != QUALITY:
        return table
    return replace(table, rows=tuple(row for row in table.rows if row[0] not in MILDER))


def headlines(results: Results, *, each: int | None = None) -> Table | None:
    """Put them into a table of their own; `each` limits the lines of a kind."""
    kinds = (_counting, _queries, _deciding, _compressing, _growth, _beside, _gateway)
    lines = tuple(line for kind in kinds for line in islice(kind(results), each))
    if not lines:
        return None
    return Table(
        name=NAME,
        title="Speed in short",
        columns=COLUMNS,
        rows=lines,
        reading="Taken from the tables of the benchmarks page, each line side by side in one run.",
    )


def _rows(results: Results, name: str) -> dict[Cell, tuple[Cell, ...]]:
    table = results.table(name)
    return {row[0]: row for row in table.rows} if table else {}


def _ratio(theirs: Cell, ours: Cell) -> Cell:
    both = isinstance(theirs, int | float) and isinstance(ours, int | float) and ours
    return f"{theirs / ours:.{1 if theirs >= ours else 2}f}×" if both else None  # type: ignore[operator]


def _counting(results: Results) -> Iterator[Line]:
    rows = _rows(results, "tokens.speed")
    ours, theirs = rows.get("octavo o200k"), rows.get("tiktoken")
    if ours and theirs:
        yield ("count 1,000 new messages, ms", ours[3], "tiktoken", theirs[3], _ratio(theirs[3], ours[3]))


def _queries(results: Results) -> Iterator[Line]:
    for kind in ("SQLite", "PostgreSQL"):
        table = results.table(f"store.{kind.lower()}")
        if table:
            rows = {row[0]: row for row in table.rows}
            ours, theirs = rows["context ms"][-1], rows["load and filter ms"][-1]
            what = f"read the context of {table.columns[-1]} messages, {kind}, ms"
            yield (what, ours, "load and filter", theirs, _ratio(theirs, ours))


def _deciding(results: Results) -> Iterator[Line]:
    return _beside_peers(results, "decide at {:,} messages, ms", 3)


def _compressing(results: Results) -> Iterator[Line]:
    # Where we are slower is said as well: we read every covered message, in the background.
    return _beside_peers(
        results, "compress {:,} messages without a model, extracts and receipt included, ms", 5
    )


def _beside_peers(results: Results, what: str, at: int) -> Iterator[Line]:
    table = results.table("peers")
    if table is None:
        return
    size = table.rows[-1][2]
    rows = [row for row in table.rows if row[2] == size]
    ours = next((row for row in rows if row[0] == "octavo"), None)
    others = [row for row in rows if row is not ours]
    if ours is None:
        return
    timed = [row for row in others if isinstance(row[at], int | float)]
    if timed:
        fastest = min(timed, key=lambda row: row[at])  # type: ignore[return-value, arg-type]
        beside = f"the fastest of {len(timed)}: {fastest[0]}" if len(timed) > 1 else fastest[0]
        yield (what.format(size), ours[at], beside, fastest[at], _ratio(fastest[at], ours[at]))


def _growth(results: Results) -> Iterator[Line]:
    table = results.table("engine.growth")
    if table and len(table.rows) > 1:
        first, last = table.rows[0], table.rows[-1]
        what = f"a whole turn at {last[0]:,} messages, ms"
        yield (what, last[1], f"at {first[0]:,} messages", first[1], _ratio(last[1], first[1]))


def _beside(results: Results) -> Iterator[Line]:
    rows = _rows(results, "engine.beside")
    if "alone" in rows and "meanwhile" in rows:
        alone, meanwhile = rows["alone"][2], rows["meanwhile"][2]
        what = "a turn while another conversation is compressed, median ms"
        yield (what, meanwhile, "nothing else going on", alone, _ratio(meanwhile, alone))


def _gateway(results: Results) -> Iterator[Line]:
    table = results.table("gateway.latency")
    if table:
        row = table.rows[0]
        yield (
            "an answer through the gateway, median ms to the first byte",
            row[3],
            "the provider itself",
            row[2],
            None,
        )
    held = _rows(results, "gateway.streams")
    if "gateway" in held and "provider" in held:
        ours, theirs = held["gateway"], held["provider"]
        what = f"{ours[1]:,} streams at a time, first byte p95 ms"
        yield (what, ours[4], "the provider itself", theirs[4], None)
