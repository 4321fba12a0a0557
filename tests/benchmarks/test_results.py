"""Results: kept as JSON, read again, shown as a page and between the marks of another; never typed by hand."""

from __future__ import annotations

import json
import platform
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures import Goal, Machine, Note, Part, Results, Table, describe_machine, dump, read
from benchmarks.headlines import MILDER, headlines, of_readme
from benchmarks.render import fill, markdown_table, page, shown

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results.json"
MACHINE = Machine(processors=2, memory_gb=8.0, processor="A", system="Linux", python="CPython 3.11.7")


def table(name: str, columns: tuple[str, ...], *rows: tuple[str | int | float | None, ...]) -> Table:
    return Table(name=name, title=f"About {name}", columns=columns, rows=rows, reading="Read it so.")


SPEED = table(
    "tokens.speed",
    ("counter", "load", "start", "more"),
    ("tiktoken", 1.0, 2.0, 20.0),
    ("octavo o200k", 1.0, 1.0, 4.0),
)
STORE = table(
    "store.sqlite", ("", "1,000", "10,000"), ("context ms", 1.0, 1.5), ("load and filter ms", 8.0, 75.0)
)
PEERS = table(
    "peers",
    ("library", "version", "messages", "decide", "times ours", "compress"),
    ("octavo", "1", 1_000, 0.1, 1.0, 40.0),
    ("octavo", "1", 10_000, 0.2, 1.0, 400.0),
    ("other", "2", 10_000, 15.0, 75.0, 20.0),
)
GROWTH = table("engine.growth", ("messages", "turn", "times"), (1_000, 4.0, 1.0), (100_000, 5.0, 1.25))
STREAMS = table(
    "gateway.streams",
    ("", "streams", "complete", "median", "p95", "MB"),
    ("provider", 500, 500, 1.0, 2.0, None),
    ("gateway", 500, 500, 2.0, 9.0, 170.0),
)
LATENCY = table(
    "gateway.latency", ("request", "until", "provider", "gateway"), ("chat", "first byte", 0.4, 2.4)
)


def results(*parts: Part, quick: bool = False) -> Results:
    return Results(quick=quick, machine=MACHINE, parts=parts)


def part(
    *items: Table | Goal | Note,
    name: str = "core",
    date: str = "2026-11-15",
    absent: str = "",
    failed: str = "",
) -> Part:
    return Part(
        name=name,
        title="A part",
        octavo="0.1.0",
        date=date,
        load=0.1,
        seconds=2.0,
        items=items,
        absent=absent,
        failed=failed,
    )


EVERYTHING = results(
    part(
        SPEED,
        Goal(what="fast", found=4.5, limit=4.0, unit="×", at_least=True),
        Goal(what="small", found=12.0, limit=10.0, unit=" ms"),
        Note(text="Something is missing."),
    ),
    part(STORE, PEERS, GROWTH, LATENCY, STREAMS),
    part(name="reading", absent="no model here"),
    part(name="store", failed="OSError: disk full"),
)


def test_what_is_kept_is_read_again_as_it_was() -> None:
    assert read(json.loads(json.dumps(dump(EVERYTHING)))) == EVERYTHING


def test_numbers_are_kept_with_as_many_digits_as_mean_something() -> None:
    rough = results(part(table("t", ("x",), (1 / 3,))))
    assert read(dump(rough)).parts[0].items == (table("t", ("x",), (0.33333,)),)


def test_a_page_shows_tables_goals_and_what_is_missing() -> None:
    made = page(EVERYTHING)
    assert "### About tokens.speed\n\nRead it so.\n\n| counter | load | start | more |\n" in made
    assert "| fast | 4.50× | ≥ 4.00× | met |" in made
    assert "| small | 12.0 ms | ≤ 10.0 ms | **missed** |" in made
    assert "Not measured: no model here" in made
    assert "**Failed:** OSError: disk full" in made
    assert "2 processors (A), 8 GB of memory" in made
    assert "quick run" not in made
    assert "**A quick run" in page(results(part(SPEED), quick=True))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        ("so", "so"),
        (1_234, "1,234"),
        (1_234.5, "1,234"),
        (99.96, "100"),
        (12.34, "12.3"),
        (1.234, "1.23"),
        (0.01234, "0.012"),
        (0.0, "0"),
    ],
)
def test_a_number_is_shown_with_about_three_digits(cell: str | int | float | None, text: str) -> None:
    assert shown(cell) == text


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    rows = (("a", 1, "x"), ("b", None, 2))
    assert markdown_table(("n", "v", "m"), rows).splitlines()[1] == "| --- | ---: | --- |"


def test_the_marks_of_a_page_are_filled_and_everything_else_stays() -> None:
    text = (
        "Before.\n<!-- benchmark: store.sqlite -->\nold\n<!-- end -->\nAfter.\n"
        "<!-- benchmark: none -->\nstays\n<!-- end -->\n"
    )
    made = fill(text, EVERYTHING)
    assert made.startswith("Before.\n<!-- benchmark: store.sqlite -->\n\n|  | 1,000 | 10,000 |\n")
    assert "old" not in made
    assert made.endswith("After.\n<!-- benchmark: none -->\nstays\n<!-- end -->\n")
    assert fill(made, EVERYTHING) == made
    assert fill(text, results(part(STORE), quick=True)) == text


def test_parts_of_two_days_stand_on_one_page_each_with_its_own() -> None:
    both = results(part(SPEED, date="2026-11-15"), part(STORE, date="2026-11-17"))
    made = page(both)
    assert "` · 2026-11-15, Octavo 0.1.0 · 2 s" in made
    assert "` · 2026-11-17, Octavo 0.1.0 · 2 s" in made
    region = "<!-- benchmark: {} -->\n<!-- end -->\n"
    assert "Read it so. (2026-11-17.)" in fill(region.format("store.sqlite"), both)
    assert "(2026-11-15 to 2026-11-17.)" in fill(region.format("speed"), both)


def test_parts_of_two_machines_do_not_stand_on_one_page() -> None:
    other = replace(EVERYTHING, machine=replace(MACHINE, processors=64))
    assert not EVERYTHING.belongs_with(other)
    assert not EVERYTHING.belongs_with(replace(EVERYTHING, quick=True))
    assert EVERYTHING.belongs_with(results(part(SPEED)))


def test_the_first_figures_are_taken_from_the_tables() -> None:
    made = headlines(EVERYTHING)
    assert made is not None
    assert [row[1:] for row in made.rows] == [
        (4.0, "tiktoken", 20.0, "5.0×"),
        (1.5, "load and filter", 75.0, "50.0×"),
        (0.2, "other", 15.0, "75.0×"),
        (400.0, "other", 20.0, "0.05×"),
        (5.0, "at 1,000 messages", 4.0, "1.2×"),
        (2.4, "the provider itself", 0.4, None),
        (9.0, "the provider itself", 2.0, None),
    ]
    assert headlines(results(part())) is None


def test_the_readme_shows_the_first_figure_of_each_kind() -> None:
    made = of_readme(EVERYTHING, "speed")
    assert made is not None
    assert [row[3] for row in made.rows] == [20.0, 75.0, 15.0, 20.0, 4.0, 0.4]
    kept = read(json.loads(KEPT.read_text("utf-8")))
    whole, short = kept.table("quality"), of_readme(kept, "quality")
    assert whole is not None
    assert short is not None
    assert [row[0] for row in whole.rows if row not in short.rows] == list(MILDER)


def test_a_machine_is_described_without_its_name() -> None:
    found = describe_machine()
    assert found.processors >= 1
    assert found.memory_gb > 0
    assert platform.node() not in str(found) or platform.node() in platform.system()


def test_the_pages_are_made_from_the_kept_results() -> None:
    """To write them again from the kept results: python -m benchmarks --from FILE --markdown FILE --readme FILE."""
    kept = read(json.loads(KEPT.read_text("utf-8")))
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == page(kept)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert fill(readme, kept) == readme
    assert set(re.findall(r"<!-- benchmark: ([\w.]+) -->", readme)) == {"quality", "speed"}
