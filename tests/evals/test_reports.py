"""What was found, told: tables, JSON and a page that needs nothing else."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from octavo.errors import UsageError
from octavo.evals.cases import built_in
from octavo.evals.compressors import CompressorFactory, make_all, meter_of
from octavo.evals.findings import Findings, by_age, by_kind, by_question, by_round
from octavo.evals.judging import Verdict
from octavo.evals.measure.interval import Interval
from octavo.evals.page import page
from octavo.evals.plots import Axes, PlotLine, bar_plot, line_plot, round_up
from octavo.evals.report import budget_name, cell, markdown, to_json
from octavo.evals.run import comparisons, summaries
from octavo.evals.session import EvaluationOptions, choose, contenders, measured

pytestmark = pytest.mark.anyio
METER = meter_of("chars4")
CASES = [case for case in built_in() if case.name in ("chat 1", "run 1", "Chinese", "tree 1, branch 1")]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def found() -> Findings:
    wanted = EvaluationOptions(compressors=("octavo", "truncate", "none"), budgets=(0.1, 400), stories=True)
    compressors = make_all(CompressorFactory(meter=METER), wanted.compressors)
    return await measured(wanted, CASES, compressors, METER, lambda *_: None)


async def test_every_compressor_is_measured_on_every_case_at_every_budget(found: Findings) -> None:
    assert len(found.rows) == len(CASES) * 3 * 2
    assert found.sets == ("all sets", "chats", "runs", "languages", "branches")
    assert found.budgets == (0.1, 400)


async def test_the_index_over_all_sets_is_the_mean_of_theirs(found: Findings) -> None:
    ours = {
        one.set: one.found["index"]
        for one in found.summaries
        if (one.compressor, one.budget) == ("octavo", 0.1)
    }
    everything = ours.pop("all sets")
    assert everything is not None
    means = [index.mean for index in ours.values() if index]
    assert everything.mean == pytest.approx(sum(means) / 4)


async def test_what_keeps_everything_is_the_upper_end_and_fits_nowhere(found: Findings) -> None:
    (chat,) = [
        one for one in found.summaries if (one.set, one.compressor, one.budget) == ("chats", "none", 0.1)
    ]
    means = {name: value.mean for name, value in chat.found.items() if value}
    assert (means["answers"], means["facts"], means["over"], means["index"]) == (1.0, 1.0, 1.0, 1.0)


async def test_questions_are_also_asked_as_the_newest_message(found: Findings) -> None:
    (ours, newest, whole) = (
        next(row for row in found.rows if (row.case, row.compressor, row.budget) == ("chat 1", name, 0.1))
        for name in ("octavo", "truncate", "none")
    )
    assert len(ours.score.asked) == len(newest.score.asked) == len(whole.score.asked) > 3
    assert all(whole.score.asked)
    assert sum(ours.score.asked) > sum(newest.score.asked)
    table = next(part for part in markdown(found).split("###") if part.startswith(" chats"))
    assert "| answers | asked | old half |" in table
    cases: Any = to_json(found)["cases"]
    assert all("asked" in case["values"] for case in cases)


async def test_the_first_compressor_is_compared_with_those_that_fit(found: Findings) -> None:
    assert {(one.reference, one.compressor) for one in found.comparisons} == {("octavo", "truncate")}
    assert all(one.index.sure and one.index.difference.mean > 0 for one in found.comparisons)


async def test_one_set_alone_has_no_index_over_all(found: Findings) -> None:
    rows = [row for row in found.rows if row.set == "chats"]
    assert {one.set for one in summaries(rows)} == {"chats"}


async def test_facts_count_where_nothing_is_asked(found: Findings) -> None:
    rows = [replace(row, score=replace(row.score, marks=(), recall=None)) for row in found.rows]
    assert {one.set for one in summaries(rows)} >= {"all sets"}
    assert comparisons(rows)


async def test_retention_is_divided_by_age_kind_question_and_round(found: Findings) -> None:
    rows = [row for row in found.rows if (row.compressor, row.budget) == ("truncate", 0.1)]
    ages = list(by_age(rows).values())
    assert ages[-1] is not None
    assert ages[0] is not None
    assert ages[-1] > ages[0]
    assert set(by_kind(rows)) >= {"name", "number", "path", "decision"}
    assert set(by_question(rows)) >= {"fact", "decision", "needle"}
    story = next(story for story in found.stories if story.compressor == "truncate")
    assert by_round((), [story])["1"] is not None
    assert by_round(()) == {}


async def test_the_markdown_has_a_table_for_every_set_and_explains_its_columns(found: Findings) -> None:
    text = markdown(found)
    for name in found.sets:
        assert f"### {name}, budget 10 %" in text
        assert f"### {name}, budget 400 tokens" in text
    widths = [line.count("|") for line in re.split("\n\n", text)[1].splitlines()]
    assert len(set(widths)) == 1
    assert "- **deep**: " in text
    assert "dollars" not in text
    assert text.endswith("Tokens as counted by chars4.\n")


async def test_the_json_can_be_written_and_has_every_case(found: Findings) -> None:
    data = json.loads(json.dumps(to_json(found)))
    assert len(data["cases"]) == len(found.rows)
    assert {one["compressor"] for one in data["retention"]} == {"octavo", "truncate", "none"}
    one = next(one for one in data["summaries"] if one["set"] == "runs")
    assert len(one["found"]["grounded"]) == 3


class Strict(HTMLParser):
    """Looks for what a page must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}
        if tag not in ("meta", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert all(value is not None for _, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


async def test_the_page_is_whole_and_needs_nothing_else(found: Findings) -> None:
    html = page(found, "A <title>")
    strict = Strict()
    strict.feed(html)
    assert strict.open == []
    assert "script" not in strict.tags
    assert "link" not in strict.tags
    assert "http" not in html
    assert "A &lt;title&gt;" in html
    assert "prefers-color-scheme: dark" in html
    assert strict.tags.count("svg") == 2 * 3 + 2
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ET.fromstring(svg)


async def test_the_page_says_when_it_was_rounds(found: Findings) -> None:
    again = page(replace(found, rounds=9, stories=()))
    assert "about 9 times" in again
    assert "its own last result" in again
    assert "the originals" in page(replace(found, rounds=9, originals=True))
    assert "about 9 times" in markdown(replace(found, rounds=9))


async def test_probes_are_told_too(found: Findings) -> None:
    sure = Interval(3.5, 3.0, 4.0, 8)
    verdict = Verdict(
        context="octavo", probes=8, tokens=1_200, score=sure, gap=sure, by_kind={"recall": sure}
    )
    told = found.with_probes([verdict])
    assert "| octavo | 8 | 1,200 | 3.50 | 3.00–4.00 | 3.50 | – | – | – |" in markdown(told)
    assert to_json(told)["probes"] == [
        {
            "context": "octavo",
            "probes": 8,
            "tokens": 1_200,
            "score": [3.5, 3.0, 4.0],
            "gap": [3.5, 3.0, 4.0],
            "by_kind": {"recall": [3.5, 3.0, 4.0]},
        }
    ]


async def test_rounds_are_measured_in_the_table() -> None:
    wanted = EvaluationOptions(compressors=("truncate",), budgets=(0.1,), rounds=3)
    compressors = make_all(CompressorFactory(meter=METER), wanted.compressors)
    again = await measured(wanted, CASES[:1], compressors, METER, lambda *_: None)
    assert again.rows[0].trajectory
    assert "| rounds |" in markdown(again)
    assert by_round(again.rows)


async def test_contexts_to_probe_are_the_whole_and_what_was_made_of_it() -> None:
    compressors = make_all(CompressorFactory(meter=METER), ["octavo", "none"])
    ready = await contenders(CASES[:1], compressors, 0.2, METER)
    assert [one.name for one in ready] == ["the whole conversation", "octavo"]
    assert ready[1].tokens < ready[0].tokens / 4


def test_only_the_wanted_sets_are_chosen() -> None:
    assert {case.set for case in choose(CASES, ["runs"])} == {"runs"}
    with pytest.raises(UsageError, match="sets there are: chats, runs"):
        choose(CASES, ["mine"])


def test_cells_are_written_as_their_columns_want() -> None:
    found = Interval(0.12345, 0.1, 0.2, 9)
    assert cell("index", found) == "12.3 (10–20)"
    assert [cell(name, found) for name in ("answers", "seconds", "dollars", "rounds")] == [
        "12.3",
        "0.123",
        "0.1235",
        "0.1",
    ]
    assert cell("answers", None) == "–"
    assert (budget_name(0.25), budget_name(4_000.0)) == ("25 %", "4,000 tokens")


def test_plots_draw_what_there_is() -> None:
    axes = Axes(title="T", labels=["a", "b", "c"], across="x", up="y")
    lines = [PlotLine("one & only", 0, [0.5, None, 1.0]), PlotLine("ninth", 8, [0.0, 0.1, 0.2])]
    drawn = line_plot(axes, lines)
    assert drawn.count("<circle") == 5
    assert "one &amp; only, c: 100 %" in drawn
    assert 'class="c0 again"' in drawn
    assert bar_plot(axes, lines).count("<rect") == 5
    assert line_plot(Axes(title="T", labels=[], across="", up="", top=0), []).startswith("<svg")


def test_a_long_line_is_thinned() -> None:
    axes = Axes(title="T", labels=[str(n) for n in range(5_000)], across="", up="", top=5_000, percent=False)
    drawn = line_plot(axes, [PlotLine("long", 0, [float(n) for n in range(5_000)])])
    assert len(re.findall(r"\d,\d", drawn.split("polyline")[1])) <= 400
    assert "<circle" not in drawn


def test_axes_end_at_round_numbers() -> None:
    assert [round_up(number) for number in (0, 3, 9, 2_029, 51_234)] == [4, 4, 12, 2_400, 52_000]
