"""The parts really run, at sizes that take a moment; one that cannot run, or fails, says so and stops nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import caches, core, engine, extracts, gateway, peers, quality, store, tokens
from benchmarks.figures import Goal, Item, Note, Table
from benchmarks.parts import PARTS, run_part
from octavo.evals.cases import built_in

SMALL = 40
"""Messages: enough for a conversation to be divided."""


def tables(items: Iterable[Item]) -> dict[str, Table]:
    return {item.name: item for item in items if isinstance(item, Table)}


def goals(items: Iterable[Item]) -> dict[str, Goal]:
    return {item.what: item for item in items if isinstance(item, Goal)}


class Told(list[str]):
    """What was said while something was measured."""

    def __call__(self, words: str) -> None:
        self.append(words)


def test_every_part_has_a_module_that_measures() -> None:
    assert all(callable(import_module(f"benchmarks.{name}").measure) for name in PARTS)


def test_a_part_runs_in_a_process_of_its_own() -> None:
    told = Told()
    part = run_part("core", quick=True, tell=told)
    assert (part.failed, part.absent, told) == ("", "", ["core: 1,000 messages"])
    assert [row[0] for row in tables(part.items)["core"].rows] == [1_000]


def test_a_part_that_fails_is_reported_with_its_reason() -> None:
    part = run_part("nothing", quick=True, tell=Told())
    assert part.failed == "ModuleNotFoundError: No module named 'benchmarks.nothing'"
    assert part.absent == ""


def test_a_part_that_cannot_run_here_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTAVO_CACHE", str(tmp_path))
    part = run_part("reading", quick=True, tell=Told())
    assert part.failed == ""
    assert "octavo[local]" in part.absent or "octavo local install" in part.absent


def test_the_core_and_the_extracts_are_measured() -> None:
    told = Told()
    found = tables([*core.measure(quick=True, tell=told), *extracts.measure(quick=True, tell=told)])
    assert all(isinstance(cell, float) and cell > 0 for cell in found["core"].rows[0][1:])
    assert {row[0] for row in found["extracts"].rows} == {"made-up chat", "made-up work"}
    assert {row[0] for row in found["extracts.growth"].rows} == set(extracts.HOSTILE)
    assert len(told) == 3 + len(extracts.HOSTILE)


def test_turns_go_on_while_a_slow_summary_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SUMMARY_SECONDS", 86_400.0)
    took, busy = asyncio.run(engine.latency(tmp_path, 3))
    assert busy
    assert len(took) == 3


def test_turns_are_measured_beside_a_compression(tmp_path: Path) -> None:
    alone, meanwhile, seconds = asyncio.run(engine.beside(tmp_path, 400))
    assert min(*alone, *meanwhile, seconds) > 0
    assert engine._beside_table(400, alone, meanwhile, seconds).rows[1][1] == len(meanwhile)


def test_the_engine_is_measured_on_a_conversation_that_was_folded(tmp_path: Path) -> None:
    assert asyncio.run(engine.growth(tmp_path, 300)) > 0


def test_the_query_is_measured_beside_load_and_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST", 2)
    found = asyncio.run(store.one(f"sqlite:///{tmp_path}/bench.db", 300))
    rows = {row[0]: row for row in store.table("SQLite", {300: found}).rows}
    assert rows["times faster"][1] == found["load and filter ms"] / found["context ms"]
    assert rows["context, times the first"] == ("context, times the first", 1.0)


def test_the_gateway_is_measured_beside_the_provider(tmp_path: Path) -> None:
    with (
        gateway.process("provider") as (_, direct),
        gateway.process("server", f"sqlite:///{tmp_path}/bench.db", direct) as (pid, url),
    ):
        table = asyncio.run(gateway.latency(direct, url, pid, gateway.TURNS))
        forks, slowest = asyncio.run(gateway.forks(direct, url, pid, 1))
        assert gateway.memory(pid) > 0
    assert gateway.added_goal(table).limit == gateway.GOAL_ADDED
    assert isinstance(forks, Table)
    assert [row[:2] for row in forks.rows] == [("provider", gateway.FORKS), ("gateway", gateway.FORKS)]
    assert isinstance(slowest, Goal)
    assert slowest.found > 0
    assert {row[:2] for row in table.rows} == {
        (request, until)
        for request in ("a chat goes on", "the same, streamed", f"{gateway.HISTORY} unknown messages")
        for until in ("first byte", "end")
    }


def test_other_libraries_are_measured_if_they_are_installed() -> None:
    told = Told()
    rows = list(peers.own((SMALL,), told))
    there = {row["peer"] for row in rows if "error" not in row}
    assert {"octavo", "trim_messages"} <= there
    items = list(peers.items(rows))
    ours = next(row for row in tables(items)["peers"].rows if row[0] == "octavo")
    assert (ours[2], ours[4], ours[6], ours[9]) == (SMALL, 1.0, 1.0, "SQLite file")
    assert f"decide at {SMALL} messages" in goals(items)
    assert told == [f"{name}, {SMALL} messages" for name in peers.PEERS]


def test_a_library_that_is_installed_and_breaks_is_named() -> None:
    broken = {"peer": "octavo", "n": SMALL, "error": "AssertionError: no"}
    assert Note(text=f"octavo, {SMALL} messages: AssertionError: no") in peers.items([broken])


def test_our_own_evaluation_tells_decisions_and_traced_lines() -> None:
    cases = [case for case in built_in() if case.set == "chats"][:2]
    found = tables(quality.own(cases, ("octavo", "truncate"), Told(), "built-in"))
    assert set(found) == {"quality.own.10%", "quality.own.25%"}
    table = found["quality.own.25%"]
    ours, cut = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (ours["traced"], ours["valid"], ours["over"]) == (100.0, 100.0, 0.0)
    assert ours["decisions"] is not None
    assert isinstance(ours["index"], float)
    assert isinstance(cut["index"], float)
    assert ours["index"] > cut["index"]


def test_the_rows_of_the_yardstick_become_a_table_and_goals() -> None:
    def rows(name: str, index: float) -> list[dict[str, object]]:
        sets = [{"compressor": name, "budget": 0.1, "valid": 1.0, "over": over} for over in (0.0, 0.5)]
        return [*sets, {"compressor": name, "budget": 0.1, "index": index}]

    found = [*rows("tail_safe", 0.22), *rows(quality.ECONOMICAL, 0.674), *rows("unheard of", 1.0)]
    oracle: dict[str, object] = {"compressor": "oracle", "budget": 0.1, "index": 0.908}
    items = list(quality.yardstick_items([*found, oracle]))
    assert [row[2:] for row in tables(items)["quality"].rows] == [
        (22.0, None, 100.0, 50.0),
        (pytest.approx(67.4), None, 100.0, 50.0),
        (90.8, None, None, None),
    ]
    assert goals(items)["economical at 10%"].met


def test_counting_without_tiktoken_says_that_there_is_nothing_to_compare_with() -> None:
    row = {"load": 1.0, "start": 2.0, "later": 3.0, "many": 4.0, "tokens": 100.0}
    ours = {name: row for name in tokens.COUNTERS if name != "tiktoken"}
    alone = list(tokens.speed_items(ours))
    assert any(isinstance(item, Note) and "tiktoken" in item.text for item in alone)
    beside = list(tokens.speed_items({"tiktoken": {**row, "later": 15.0}, **ours}))
    assert goals(beside)["faster than tiktoken once loaded"].found == 5.0


def test_what_a_cache_can_serve_is_counted_by_the_provider() -> None:
    loop = caches.Loop(name="short", window=2_048, turns=1, steps=6, tokens=150, reply=100)
    direct = caches.alone(loop, lambda messages: messages)
    cut = caches.alone(replace(loop, window=600), caches.truncated(replace(loop, window=600)))
    assert (direct.requests, direct.breaks) == (7, 0)
    assert direct.share > cut.share
    assert cut.fullest <= 500
    assert direct.cost < direct.sent
    assert direct.served == direct.same
