"""What a process keeps of the branches it has read: what it makes of a part is what it would make of the whole."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import pytest

from octavo.core.extract.totals import Totals
from octavo.core.messages import Node, Status, digest, system
from octavo.engine.long_branch import LongBranch
from octavo.engine.worker_task import (
    LEAST_KEPT,
    MOST_KEPT,
    BlockRead,
    BranchForgotten,
    BranchRead,
    CountRequest,
    MadeSnapshot,
    ReadBranch,
    ReadPlace,
    ReadTask,
    SnapshotTask,
    _read_on,
    _room,
    make,
    serve,
    write,
    write_end,
    write_page,
    write_task,
)
from octavo.testing import talk
from tests.engine.test_worker import branch, count, task

Nodes = tuple[Node, ...]


class Process:
    """The loop of a process in a thread."""

    def __init__(self) -> None:
        (its, to), (source, back) = os.pipe(), os.pipe()
        self._to: IO[bytes] = os.fdopen(to, "wb")
        self._source: IO[bytes] = os.fdopen(source, "rb")
        self._pipes = os.fdopen(its, "rb"), os.fdopen(back, "wb")
        self._thread = threading.Thread(target=serve, args=self._pipes)
        self._thread.start()

    def ask(self, asked: SnapshotTask | ReadTask, place: ReadPlace | None = None, name: str = "one") -> Any:
        write_task(asked, self._to, place=place, name=name)
        return self._told()

    def ask_blocks(self, asked: SnapshotTask, *blocks: Nodes, name: str = "one") -> Any:
        write_task(asked, self._to, blocks=True, name=name)
        for block in blocks:
            for start in range(0, len(block), 8):
                write_page(block[start : start + 8], self._to)
            write_page(None, self._to)
            assert self._told() == BlockRead()
        write_end(self._to)
        return self._told()

    def _told(self) -> Any:
        while isinstance(told := pickle.load(self._source), CountRequest):
            assert not isinstance(told.what, str)
            write(count(told.what), self._to)
        return told

    def end(self) -> None:
        self._to.close()
        self._thread.join()
        for pipe in (self._source, *self._pipes):
            pipe.close()
        gc.enable()
        gc.unfreeze()


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.end()


NODES = tuple(replace(node, depth=at) for at, node in enumerate((branch(1)[0], *branch(40)), start=1))
NODES = (replace(NODES[0], id="system", message=system("Be brief.")), *NODES[1:])


def reading(nodes: Nodes, start: int, stop: int, settled: int = 0) -> ReadTask:
    before = ("", b"") if start else None
    return ReadTask(new=nodes[start:stop], continues=before, leading=1, settled=settled)


def covering(nodes: Nodes, cut: int) -> SnapshotTask:
    return replace(task(nodes, cut), leading=1)


def continued(nodes: Nodes, cut: int, read: int) -> SnapshotTask:
    """Give the task with what follows the messages that were read."""
    whole = covering(nodes, cut)
    return replace(
        whole, whole=nodes[read:cut], after=nodes[max(read, cut) :], continues=("", b""), depth=cut
    )


@pytest.mark.parametrize(("cut", "settled"), [(21, 61), (47, 0), (60, 40), (61, 61), (75, 40)])
def test_what_is_read_in_parts_makes_what_it_makes_as_a_whole(
    process: Process, cut: int, settled: int
) -> None:
    """Whether the cut lies before or after what was read, and whatever would have been covered by then."""
    assert process.ask(reading(NODES, 0, 30, min(settled, 30))) == BranchRead()
    assert process.ask(reading(NODES, 30, 61, min(settled, 61)), ReadPlace("one", 30)) == BranchRead()
    whole = make(covering(NODES, cut), count)
    assert whole.snapshot.extracts
    assert process.ask(continued(NODES, cut, 61), ReadPlace("one", 61)) == whole


def test_a_branch_that_was_compressed_is_gone_on_with(process: Process) -> None:
    first = process.ask(covering(NODES[:50], 40))
    assert first == make(covering(NODES[:50], 40), count)
    # What stood behind the cut was read as well, and a shorter beginning is there, too.
    assert process.ask(continued(NODES, 70, 50), ReadPlace("one", 50)) == make(covering(NODES, 70), count)
    other = (*NODES[:30], *(replace(node, id=f"other {node.id}") for node in NODES[31:60]))
    other = tuple(replace(node, depth=at) for at, node in enumerate(other, start=1))
    made = process.ask(continued(other, 45, 30), ReadPlace("one", 30), "two")
    assert made == make(covering(other, 45), count)
    # Both are there now.
    assert process.ask(continued(NODES, 75, 70), ReadPlace("one", 70)) == make(covering(NODES, 75), count)
    again = process.ask(continued(other, 50, 45), ReadPlace("two", 45), "two")
    assert again == make(covering(other, 50), count)


def test_what_is_only_shown_shortened_is_not_kept_as_what_was_said(process: Process) -> None:
    shortened = replace(covering(NODES[:50], 40), shortened=True)
    assert process.ask(shortened) == make(shortened, count)
    whole = make(covering(NODES, 70), count)
    assert process.ask(continued(NODES, 70, 40), ReadPlace("one", 40)) == whole


def test_blocks_of_a_long_branch_are_read_there_as_here_and_gone_on_with(process: Process) -> None:
    blocks = NODES[:24], NODES[24:40]
    work = replace(covering(NODES[:70], 60), whole=NODES[40:60])
    here = LongBranch(work, count)
    for block in blocks:
        here.add(block)
    first = process.ask_blocks(work, *blocks)
    assert first == make(work, count, here)
    assert first.snapshot.digest == digest(node.message for node in NODES[:60])
    assert (first.snapshot.messages, first.snapshot.first) == (59, NODES[1].id)
    more = replace(continued(NODES, 75, 70), previous=first.snapshot)
    second = process.ask(more, ReadPlace("one", 70))
    assert second.snapshot.digest == digest(node.message for node in NODES[:75])
    assert (second.snapshot.messages, second.snapshot.previous) == (74, first.snapshot.id)
    whole = make(covering(NODES, 75), count)
    for kind in ("path", "number"):
        counted = [made.receipt.tally(kind).count for made in (first, second, whole)]
        assert 0 < counted[0] < counted[1] == counted[2]


@pytest.mark.parametrize(
    ("status", "fates"), [("complete", (0, 1)), ("aborted", (0, 1)), ("error", (1, 0)), ("deleted", (1, 0))]
)
def test_only_what_is_sent_keeps_a_fact_word_for_word(status: Status, fates: tuple[int, int]) -> None:
    """An answer that failed stands in the branch and is not sent."""
    nodes = talk("u: The vault has code K7731-204.", "a: Noted.", "u: Which one?", "a: It is K7731-204.")
    nodes = (*nodes[:3], replace(nodes[3], status=status))
    made = make(replace(task(nodes, 2), cap=0), count)
    tally = made.receipt.tally("identifier")
    tally = tally if tally.count else made.receipt.tally("number")
    assert (tally.lost_count, tally.verbatim_count) == fates
    carried = make(replace(task(nodes, 3), cap=0, answers=(nodes[0].id,)), count)
    assert sum(each.lost_count for each in carried.receipt.tallies if each.kind == tally.kind) == 0


def test_a_branch_that_is_not_there_is_asked_for_again(process: Process) -> None:
    assert process.ask(reading(NODES, 0, 30)) == BranchRead()
    assert process.ask(continued(NODES, 60, 30), ReadPlace("unknown", 30)) == BranchForgotten()
    assert process.ask(continued(NODES, 60, 0), ReadPlace("one", 0)) == BranchForgotten()
    assert isinstance(process.ask(continued(NODES, 60, 30), ReadPlace("one", 30)), MadeSnapshot)


def test_of_two_branches_for_which_there_is_no_room_the_newer_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = len(pickle.dumps(NODES, protocol=pickle.HIGHEST_PROTOCOL))
    monkeypatch.setattr("octavo.engine.worker_task.KEPT", size)
    small = Process()
    try:
        assert small.ask(reading(NODES, 0, 81), None, "one") == BranchRead()
        assert isinstance(small.ask(continued(NODES, 60, 81), ReadPlace("one", 81), "one"), MadeSnapshot)
        assert small.ask(reading(NODES, 0, 40), None, "two") == BranchRead()
        assert small.ask(continued(NODES, 60, 81), ReadPlace("one", 81)) == BranchForgotten()
        assert isinstance(small.ask(continued(NODES[:40], 30, 40), ReadPlace("two", 40)), MadeSnapshot)
    finally:
        small.end()


def totals(length: int) -> Totals:
    made = Totals()
    made.nodes = NODES[:length]
    return made


@pytest.mark.parametrize(
    ("before", "added", "left"),
    [
        ((), 30, (30,)),
        ((10, 20), 30, (10, 20, 30)),
        ((10, 30, 40), 30, (10, 30)),
        # Of more than four, one goes that stands close between two others; never the longest.
        ((10, 12, 50, 70), 80, (12, 50, 70, 80)),
        ((30, 40, 42, 60), 80, (30, 42, 60, 80)),
        ((20, 40, 60, 75), 80, (20, 40, 60, 80)),
        ((20, 40, 45, 50), 80, (20, 40, 50, 80)),
        ((10, 21, 30, 60), 80, (10, 30, 60, 80)),
    ],
)
def test_totals_are_kept_of_beginnings_far_apart(
    before: tuple[int, ...], added: int, left: tuple[int, ...]
) -> None:
    read = ReadBranch(nodes=NODES, totals=tuple(map(totals, before)))
    kept = read.with_totals(totals(added))
    assert tuple(len(one.nodes) for one in kept) == left
    found = [
        replace(read, totals=kept).totals_for(covered) for covered in (left[-1], left[-1] - 1, left[0] - 1)
    ]
    expected = (left[-1], left[-2] if len(left) > 1 else None, None)
    assert tuple(len(one.nodes) if one else None for one in found) == expected


def test_of_a_branch_as_much_is_given_as_is_asked_for() -> None:
    digests = tuple(bytes([at]) for at in range(len(NODES)))
    read = ReadBranch(nodes=NODES, digests=digests, size=8_100)
    assert read.up_to(81) is read
    assert read.up_to(90) is read
    part = read.up_to(30)
    assert (part.nodes, part.digests, part.size) == (NODES[:30], digests[:30], 3_000)
    late = replace(read, nodes=NODES[40:], skipped=40, size=4_100)
    assert late.up_to(50).nodes == NODES[40:50]
    assert late.up_to(50).size == 1_000
    assert late.up_to(30).nodes == ()


@pytest.mark.parametrize(
    ("memory", "kept"),
    [(1 << 20, LEAST_KEPT), (16_000_000 * 1_000, 16_000_000), (1 << 50, MOST_KEPT), (None, LEAST_KEPT)],
)
def test_a_process_keeps_a_thousandth_of_the_memory_within_bounds(
    monkeypatch: pytest.MonkeyPatch, memory: int | None, kept: int
) -> None:
    def sysconf(name: str) -> int:
        if memory is None:
            raise ValueError(f"unrecognized configuration name {name}")
        return {"SC_PAGE_SIZE": 1_000, "SC_PHYS_PAGES": memory // 1_000}[name]

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert _room() == kept


def test_what_is_read_ahead_is_counted_as_far_as_a_snapshot_would_cover_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And digested to its end, so that a compression finds both."""
    monkeypatch.setattr("octavo.core.extract.totals.BLOCK", 1)
    first = _read_on(reading(NODES, 0, 30, settled=21), ReadBranch(), 100)
    assert [len(one.nodes) for one in first.totals] == [20]
    second = _read_on(reading(NODES, 30, 61, settled=50), first, 200)
    assert [len(one.nodes) for one in second.totals] == [20, 49]
    assert (second.nodes, second.size) == (NODES[:61], 300)
    assert list(second.digests) == [digest(node.message for node in NODES[:at]) for at in range(1, 62)]
    less = _read_on(reading(NODES, 30, 61, settled=20), first, 200)
    assert [len(one.nodes) for one in less.totals] == [19]
    nothing = _read_on(reading(NODES, 0, 30, settled=0), ReadBranch(), 100)
    assert [len(one.nodes) for one in nothing.totals] == [0]
    # Of a long branch, only the end is there: what stands before it has no digest here.
    long = replace(first, nodes=NODES[10:30], digests=(), skipped=10)
    late = _read_on(reading(NODES, 30, 61, settled=50), long, 200)
    assert late.digests == ()
    assert [len(one.nodes) for one in late.totals] == [20, 39]


def test_a_branch_that_grows_too_large_is_dropped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen failing with: its beginning, which was taken for all of it."""
    monkeypatch.setattr("octavo.engine.worker_task.KEPT", len(pickle.dumps(NODES[:60])))
    small = Process()
    try:
        assert small.ask(reading(NODES, 0, 30)) == BranchRead()
        assert small.ask(reading(NODES, 30, 81), ReadPlace("one", 30)) == BranchRead()
        assert small.ask(continued(NODES, 60, 81), ReadPlace("one", 81)) == BranchForgotten()
    finally:
        small.end()


def test_garbage_is_looked_for_between_tasks_and_blocks_and_what_is_kept_is_not_looked_through(
    process: Process,
) -> None:
    looked: list[str] = []

    def look(phase: str, _: object) -> None:
        looked.append(phase)

    gc.callbacks.append(look)
    try:
        assert process.ask(reading(NODES, 0, 30)) == BranchRead()
        work = replace(covering(NODES[:70], 60), whole=NODES[40:60])
        assert isinstance(process.ask_blocks(work, NODES[:24], NODES[24:40], name="two"), MadeSnapshot)
        assert process.ask(reading(NODES, 0, 30), None, "three") == BranchRead()
    finally:
        gc.callbacks.remove(look)
    # The last look may not be over yet.
    assert looked.count("start") in (4, 5)
    assert gc.get_freeze_count() > 0
