"""Long work is done in a process of its own: the same is made there, and no trouble with it is anybody's trouble."""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from octavo.core.ask.answer import Expected, JudgeTask, verdict
from octavo.core.ask.language import Language
from octavo.core.ask.source_check import source_text
from octavo.core.messages import Message, Node, ToolCall, assistant, digest, user
from octavo.core.policy import Voice
from octavo.core.reply import Reply
from octavo.core.snapshot import Snapshot
from octavo.engine.outcome import Compressed, Failed
from octavo.engine.worker import (
    LARGE,
    MOST,
    BranchesRead,
    Child,
    PrefixForgotten,
    WorkerPool,
    _start,
    in_blocks,
    places,
)
from octavo.engine.worker_task import (
    CHUNK,
    BranchForgotten,
    CountRequest,
    MadeSnapshot,
    ReadPlace,
    ReadTask,
    SnapshotTask,
    WorkerFailure,
    make,
    serve,
    write,
    write_task,
)
from octavo.errors import NotOnBranch
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio

ROUNDS = CHUNK
"""Questions, each with an answer: more than one piece goes through the pipe."""


def branch(rounds: int = ROUNDS) -> tuple[Node, ...]:
    said = [
        message
        for n in range(rounds)
        for message in (
            user(f"Which port does service {n} use, and where is it set?"),
            assistant(f"Service {n} listens on port {8000 + n}; it is set in src/service_{n}/config.toml."),
        )
    ]
    return tuple(
        Node(id=f"{n:032x}", parent=f"{n - 1:032x}" if n else None, depth=n + 1, message=message)
        for n, message in enumerate(said)
    )


def task(nodes: tuple[Node, ...], cut: int) -> SnapshotTask:
    return SnapshotTask(
        id="f" * 32,
        whole=nodes[:cut],
        leading=0,
        after=nodes[cut:],
        previous=None,
        summary="",
        cap=600,
        pins=("Never restart service 7.",),
        focus="",
        voice=Voice(),
    )


def count(message: Message) -> int:
    return len(message.text) // 4


def served(source: io.BytesIO) -> list[Any]:
    """Run the loop of a process on what it is to read; gives what it wrote."""
    to = io.BytesIO()
    source.seek(0)
    try:
        serve(source, to)
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
    to.seek(0)
    told = []
    while to.tell() < len(to.getvalue()):
        told.append(pickle.load(to))
    return told


@pytest.fixture
def work() -> SnapshotTask:
    nodes = branch()
    return task(nodes, len(nodes) - 4)


async def test_the_same_is_made_there_as_here(work: SnapshotTask) -> None:
    aside = WorkerPool()
    there = await aside.make(work, count, tokens=LARGE, urgent=False)
    again = await aside.make(work, count, tokens=LARGE, urgent=True)
    assert there == again == make(work, count)
    assert there.snapshot.extracts
    assert there.receipt.tallies
    assert len(aside._free) == 1
    # A minute is counted from its last work, not from its first.
    assert list(aside._resting) == aside._free
    await aside.close()
    assert aside._resting == {}


def continued(work: SnapshotTask, first: MadeSnapshot, nodes: tuple[Node, ...], cut: int) -> SnapshotTask:
    """Give the task that goes on from a snapshot: with what is new alone."""
    snapshot = first.snapshot
    start = snapshot.cutoff_depth
    return replace(
        work,
        id="e" * 32,
        whole=nodes[start:cut],
        after=nodes[cut:],
        previous=snapshot,
        continues=(snapshot.cutoff, snapshot.digest),
        depth=cut,
    )


async def test_a_process_is_sent_only_what_is_new_and_makes_the_same_of_it() -> None:
    nodes = branch(2 * ROUNDS)
    work, aside = task(nodes[: 2 * ROUNDS], 2 * ROUNDS - 4), WorkerPool()
    first = await aside.make(work, count, tokens=LARGE, urgent=False)
    key = first.snapshot.cutoff, first.snapshot.digest
    assert aside.known(key, ()) == (key, 0)
    assert aside.known((first.snapshot.cutoff, b"of other words"), ()) == (None, 0)
    cut = len(nodes) - 4
    more = continued(work, first, nodes, cut)
    made = await aside.make(more, count, tokens=LARGE, urgent=False)
    assert made == make(replace(more, whole=nodes[:cut], continues=None), count)
    assert made.snapshot.messages == cut
    # The same branch may go on twice.
    assert aside.known(key, ()) == (key, 0)
    assert await aside.make(more, count, tokens=LARGE, urgent=False) == made
    await aside.close()
    assert aside._read == {}


async def test_how_far_a_branch_was_read_is_known_as_long_as_it_is_the_same(work: SnapshotTask) -> None:
    """Seen failing with: a branch that goes on differently taken for the one that was read."""
    nodes, aside = branch(ROUNDS + 2), WorkerPool()
    covered = len(work.whole)
    first = await aside.make(work, count, tokens=LARGE, urgent=False, kept=work.after)
    cutoff, end = (first.snapshot.cutoff, first.snapshot.digest), nodes[covered:]
    assert work.after == end[:4]
    *_, last = places(cutoff, work.after)
    assert aside.known(cutoff, end) == (last, 4)
    assert aside.known(cutoff, end[:3]) == (cutoff, 0)
    assert aside.known(None, end) == (None, 0)
    deleted = (replace(end[0], status="deleted"), *end[1:])
    assert aside.known(cutoff, deleted) == (cutoff, 0)
    streaming = (*end[:3], replace(end[3], status="streaming"), *end[4:])
    assert [key for key, _ in places(cutoff, streaming)] == [node.id for node in end[:3]]
    assert [*places(last, end[4:])] != [*places(None, end[4:])]
    # What is shown shortened was not read as it was said.
    shortened = replace(work, shortened=True, id="d" * 32)
    other = WorkerPool()
    made = await other.make(shortened, count, tokens=LARGE, urgent=False, kept=work.after)
    again = made.snapshot.cutoff, made.snapshot.digest
    assert other.known(again, end) == (again, 0)
    await aside.close()
    assert aside.known(cutoff, end) == (None, 0)
    await other.close()


def test_what_was_read_is_remembered_by_its_newest_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.engine.worker.PLACES", 3)
    read = BranchesRead()
    a, b, c, d = [(name, b"") for name in "abcd"]
    read.add(a, ReadPlace("one", 10))
    assert read.name_after(ReadPlace("one", 10)) == "one"
    read.add(b, ReadPlace("one", 20))
    read.add(a, ReadPlace("one", 10))
    assert read.lengths == {"one": 20}
    assert read.name_after(ReadPlace("one", 20)) == "one"
    # What goes on from its middle is another branch.
    assert read.name_after(ReadPlace("one", 10)) not in ("one", read.name_after(None))
    read.add(c, ReadPlace("two", 5))
    assert list(read.places) == [b, a, c]
    read.add(d, ReadPlace("two", 7))
    assert (list(read.places), read.lengths) == ([a, c, d], {"one": 20, "two": 7})
    read.add(b, ReadPlace("three", 1))
    assert (list(read.places), read.lengths) == ([c, d, b], {"two": 7, "three": 1})
    read.forget("two")
    assert (read.places, read.lengths) == ({b: ReadPlace("three", 1)}, {"three": 1})
    read.forget("two")


async def test_pages_are_put_into_blocks_of_so_many_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.engine.worker.BLOCK", 10)
    nodes = branch(20)

    async def blocks(*sizes: int) -> list[int | None]:
        async def pages() -> AsyncIterator[tuple[Node, ...]]:
            for size in sizes:
                yield nodes[:size]

        return [None if page is None else len(page) async for page in in_blocks(pages)]

    assert await blocks(4, 5, 1, 3) == [4, 5, 1, None, 3, None]
    assert await blocks(9, 20, 10) == [9, 20, None, 10, None]
    assert await blocks() == []


async def test_urgent_work_waits_for_its_like_only(work: SnapshotTask) -> None:
    """So does the judgement of a summary, for which a turn may wait."""
    aside = WorkerPool()
    for _ in range(MOST):
        await aside._places.acquire()
    async with asyncio.timeout(60):
        assert (await aside.make(work, count, tokens=LARGE, urgent=True)).snapshot.extracts
        told = "".join(f"Service {n} listens on port {8000 + n}, see service_{n}.toml.\n" for n in range(900))
        expected = Expected(
            source_text=source_text([told]),
            told=told,
            language=Language("English", "latin"),
            source=50_000,
            cap=200,
        )
        asked = JudgeTask(reply=Reply(message=assistant("Fine.")), expected=expected, bullets=False)
        assert await aside.judge(asked, len) == verdict(asked, len)
    assert len(aside._free) == 1
    waiting = asyncio.create_task(aside.make(work, count, tokens=LARGE, urgent=False))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(aside._free) == 1
    assert not waiting.done()
    aside._places.release()
    assert (await waiting).snapshot.extracts
    await aside.close()


async def test_a_branch_that_no_process_has_is_asked_for_whole(work: SnapshotTask) -> None:
    """Planted bug: a thread stands in for the process and covers what is new alone."""
    nodes, aside = branch(), WorkerPool()
    first = make(work, count)
    more = continued(work, first, nodes, len(nodes) - 2)
    with pytest.raises(PrefixForgotten):
        await aside.make(more, count, tokens=LARGE, urgent=False)
    first = await aside.make(work, count, tokens=LARGE, urgent=False)
    (child,) = aside._free
    # It was forgotten there.
    aside._read[child].add(("0" * 32, b"unread"), ReadPlace("unread", 7))
    with pytest.raises(PrefixForgotten):
        await aside.make(replace(more, continues=("0" * 32, b"unread")), count, tokens=LARGE, urgent=False)
    assert aside._free == [child]

    def count_and_kill(message: Message) -> int:
        child.kill()
        child.wait()
        return count(message)

    with pytest.raises(PrefixForgotten):
        await aside.make(more, count_and_kill, tokens=LARGE, urgent=False)
    assert aside._free == []
    await aside.close()


def test_a_branch_that_is_too_large_is_not_kept(work: SnapshotTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.engine.worker_task.KEPT", 0)
    small = replace(work, cap=0)
    nodes = branch()
    source = io.BytesIO()
    write_task(small, source, name="read")
    for _ in range(2):
        write(7, source)
    more = continued(small, make(small, lambda _: 7), nodes, len(nodes) - 2)
    write_task(more, source, place=ReadPlace("read", len(small.whole)), name="read")
    told = served(source)
    assert [type(each) for each in told] == [CountRequest, CountRequest, MadeSnapshot, BranchForgotten]


async def test_the_next_compression_reads_only_what_is_new(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(summariser="none", window=60_000)
    chat = await engine.create()
    await engine.store.messages.append_many(chat.id, [node.message for node in branch(400)])
    first = await chat.compress(keep=0.1)
    assert isinstance(first, Compressed)
    await engine.store.messages.append_many(chat.id, [user(f"Port {n} is closed now.") for n in range(40)])

    async def whole(*_: object, **__: object) -> None:
        raise AssertionError("the whole branch was read")

    with monkeypatch.context() as patched:
        patched.setattr(engine.store.tree, "branch", whole)
        second = await chat.compress(keep=0)
    assert isinstance(second, Compressed)
    await chat.undo()
    await engine._workers.close()
    again = await chat.compress(keep=0)
    assert isinstance(again, Compressed)
    made, known = again.snapshot, second.snapshot
    assert made.extracts == known.extracts
    assert (made.digest, made.messages, made.tokens_after) == (
        known.digest,
        known.messages,
        known.tokens_after,
    )
    assert (again.before, again.after) == (second.before, second.after)


async def test_a_process_is_sent_long_outputs_as_they_were_and_not_as_they_are_shown(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.engine.worker.LARGE", 0)
    engine, written = await make(summariser="none", window=6_000), list[int]()

    def noted(task: Any, to: Any, **more: Any) -> None:
        written.append(len(task.whole))
        write_task(task, to, **more)

    monkeypatch.setattr("octavo.engine.worker.write_task", noted)
    chat, made = await engine.create(), list[Snapshot]()
    for start in (0, 6):
        for n in range(start, start + 6):
            await chat.add(f"What does log {n} say?")
            call = ToolCall(id=f"c{n}", name="read", input="{}")
            await chat.add(Message(role="assistant", parts=(call,)))
            log = "\n".join(f"line {at}: host{at}-{n}.example.org" for at in range(130))
            await chat.add({"role": "tool", "tool_call_id": call.id, "content": log})
            await chat.add(assistant(f"Log {n} names hosts."))
        assert (await chat._state()).shortened
        outcome = await chat.compress(keep=200)
        assert isinstance(outcome, Compressed), outcome
        made.append(outcome.snapshot)
        covered = (await chat.branch())[: made[-1].cutoff_depth]
        assert made[-1].digest == digest(node.message for node in covered)
    assert written == [made[0].cutoff_depth, made[1].cutoff_depth - made[0].cutoff_depth]


async def test_what_was_deleted_meanwhile_is_in_no_later_snapshot(make: MakeEngine) -> None:
    engine = await make(summariser="none", window=60_000)
    chat = await engine.create()
    said = await engine.store.messages.append_many(
        chat.id, [user("Never open port 4711 to Zanzibar."), *(node.message for node in branch(400))]
    )
    first = await chat.compress(keep=0.1)
    assert isinstance(first, Compressed)
    assert "Zanzibar" in str(first.snapshot.extracts)
    await engine.store.messages.delete(said[0].id)
    await engine.store.messages.append_many(chat.id, [user(f"Port {n} is closed now.") for n in range(40)])
    second = await chat.compress(keep=0)
    assert isinstance(second, Compressed)
    assert "Zanzibar" not in str(second.snapshot.extracts)
    assert second.snapshot.previous is None


async def test_a_process_is_ended_when_it_is_not_needed_and_when_all_is_closed(work: SnapshotTask) -> None:
    aside = WorkerPool()
    await aside.make(work, count, tokens=LARGE, urgent=False)
    (first,) = aside._free
    assert os.getsid(first.pid) == first.pid, "Ctrl-C in the terminal is not for it"
    aside._rest(first)
    assert first.returncode == -signal.SIGKILL, "whatever it was doing"
    assert first.stdin is not None
    assert first.stdin.closed
    assert aside._read == {}
    aside._rest(first)
    await aside.make(work, count, tokens=LARGE, urgent=False)
    (second,) = aside._free
    await aside.close()
    assert second is not first
    assert second.returncode is not None
    assert aside._free == []


async def test_one_that_died_meanwhile_is_replaced(work: SnapshotTask) -> None:
    aside = WorkerPool()
    await aside.make(work, count, tokens=LARGE, urgent=False)
    (first,) = aside._free
    first.kill()
    first.wait()
    assert await aside.make(work, count, tokens=LARGE, urgent=False) == make(work, count)
    (second,) = aside._free
    assert second is not first
    assert [*aside._read] == [second]
    assert first.stdin is not None
    assert first.stdin.closed
    await aside.close()


async def test_a_cancelled_caller_stops_the_work(work: SnapshotTask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted bug: the process is left to itself when nobody waits for what it makes."""
    asked, ended = threading.Event(), threading.Event()
    started: list[Child] = []

    def start() -> Child:
        started.append(_start())
        return started[-1]

    monkeypatch.setattr("octavo.engine.worker._start", start)

    def count_forever(message: Message) -> int:
        asked.set()
        assert ended.wait(60)
        return count(message)

    aside = WorkerPool()
    waiting = asyncio.create_task(aside.make(work, count_forever, tokens=LARGE, urgent=False))
    await asyncio.to_thread(asked.wait, 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [child.returncode is not None for child in started] == [True]
    assert aside._free == []
    assert aside._read == {}
    ended.set()
    assert await aside.make(work, count, tokens=LARGE, urgent=False) == make(work, count)
    await aside.close()


async def test_work_that_takes_too_long_is_ended_and_nothing_is_changed(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who waits for it is answered from a shortened context; what was said is all there."""
    monkeypatch.setattr("octavo.engine.compression.NOT_WAITED_FOR", 0.0)
    monkeypatch.setattr("octavo.engine.turn.WAITED_FOR", 0.0)
    engine = await make(summariser="none", window=20_000)
    chat = await engine.create()
    said = await engine.store.messages.append_many(chat.id, [node.message for node in branch(400)])
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Failed)
    assert "no time left to choose the exact lines" in outcome.error
    sent = await chat.context()
    assert any("left out" in note or "shortened" in note for note in sent.notes), sent.notes
    assert sent.usage.reading.cautious <= sent.usage.budget.hard < (await chat.usage()).reading.tokens
    assert await chat.snapshots.list() == ()
    assert await engine.store.tree.branch(said[-1].id) == said
    assert engine._workers._free == []


async def test_a_long_answer_is_judged_there_as_here() -> None:
    """To judge 120 kB by a million tokens held everybody up for sixteen seconds."""
    facts = [
        f"Service {n} listens on port {8000 + n}, see src/service_{n}/config.toml.\n" for n in range(900)
    ]
    expected = Expected(
        source_text=source_text(["".join(facts)]),
        told="".join(facts),
        language=Language("English", "latin"),
        source=50_000,
        cap=200,
    )
    for bullets in (False, True):
        asked = JudgeTask(
            reply=Reply(message=assistant("".join(facts[:80]))), expected=expected, bullets=bullets
        )
        aside = WorkerPool()
        judged = await aside.judge(asked, len)
        assert judged == verdict(asked, len)
        assert judged.text
        assert len(aside._free) == 1
        await aside.close()
    aside = WorkerPool()
    short = replace(asked, expected=replace(expected, source_text=source_text(facts[:80])))
    assert (await aside.judge(short, len)).text
    assert aside._free == []


async def test_where_no_process_can_be_started_a_thread_does_it(
    work: SnapshotTask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    aside, made = WorkerPool(), make(work, count)
    for executable, frozen, why in (
        ("", False, "this program is no Python that could run another"),
        ("/nowhere/python", False, "No such file"),
        (sys.executable, True, "this program is no Python that could run another"),
    ):
        monkeypatch.setattr(sys, "executable", executable)
        monkeypatch.setattr(sys, "frozen", frozen, raising=False)
        with caplog.at_level(logging.WARNING):
            assert await aside.make(work, count, tokens=LARGE, urgent=False) == made
        assert "in a thread instead" in caplog.messages[-1]
        assert why in caplog.messages[-1]
    assert aside._free == []


async def test_a_process_that_dies_at_work_is_stood_in_for(
    work: SnapshotTask, caplog: pytest.LogCaptureFixture
) -> None:
    aside = WorkerPool()
    await aside.make(work, count, tokens=LARGE, urgent=False)
    (child,) = aside._free

    def count_and_kill(message: Message) -> int:
        if child.poll() is None:
            child.kill()
            child.wait()
        return count(message)

    with caplog.at_level(logging.WARNING):
        assert await aside.make(work, count_and_kill, tokens=LARGE, urgent=False) == make(work, count)
    assert "before its work did" in caplog.messages[-1]
    assert aside._free == []


async def test_what_is_wrong_with_a_task_is_said_by_the_one_who_has_it(work: SnapshotTask) -> None:
    aside = WorkerPool()
    with pytest.raises(NotOnBranch, match="nothing to cover"):
        await aside.make(replace(work, whole=()), count, tokens=LARGE, urgent=False)
    await aside.close()


def test_the_process_answers_what_it_can_and_ends_with_its_input(work: SnapshotTask) -> None:
    source = io.BytesIO()
    write_task(replace(work, whole=()), source)
    write_task(replace(work, cap=0), source)
    for _ in range(2):
        write(7, source)
    told = served(source)
    assert [type(each) for each in told] == [WorkerFailure, CountRequest, CountRequest, MadeSnapshot]
    assert told[-1] == make(replace(work, cap=0), lambda _: 7)


def test_the_question_of_a_turn_that_goes_on_is_sent_unless_the_task_names_another_or_none() -> None:
    nodes = branch(5)
    inside = task(nodes, len(nodes) - 1)
    carried = [make(replace(inside, carried=asked), count).snapshot.carried for asked in ("", "named", None)]
    assert carried == [nodes[-2].id, "named", None]


async def test_only_long_histories_are_worth_a_process(make: MakeEngine) -> None:
    engine = await make(summariser="none")
    chat = await engine.create()
    await engine.store.messages.append_many(chat.id, [node.message for node in branch(20)])
    await chat.compress(keep=0.2)
    assert engine._workers._free == []
    await engine.store.messages.append_many(chat.id, [node.message for node in branch(400)])
    await chat.compress(keep=0.2)
    (child,) = engine._workers._free
    snapshot = (await chat._state()).recipe.snapshot
    assert snapshot is not None
    assert snapshot.messages > 400
    await engine.close()
    assert child.returncode is not None


def idle() -> Child:
    """A process that does nothing until it is ended."""
    return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def test_of_several_processes_the_one_that_has_read_a_branch_is_taken_wherever_it_stands() -> None:
    """And any that is free, the newest first, where nothing was read."""
    aside, key = WorkerPool(), ("a", b"read")
    children = [idle() for _ in range(4)]
    loop = asyncio.get_running_loop()

    def free(*these: Child) -> None:
        for child in these:
            aside._free.append(child)
            aside._resting[child] = loop.call_later(600, int)

    try:
        free(*children)
        for child in children:
            aside._read[child] = BranchesRead()
            aside._read[child].add(key, ReadPlace("one", 1))
            assert aside.known(key, ()) == (key, 0)
            assert await aside._taken(key) is child
            assert aside.known(key, ()) == (None, 0)
            assert await aside._taken(key) is None
            free(child)
            del aside._read[child]
        taken = [await aside._taken(None) for _ in range(5)]
        assert taken == [*children[::-1], None]
    finally:
        free(*children)
        await aside.close()
    assert all(child.returncode is not None for child in children)


async def test_what_a_process_has_read_is_known_while_it_reads_on_but_not_while_it_makes_a_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who continues it waits for the one, and does not for the other."""
    aside, nodes = WorkerPool(), branch(20)
    keys = [*places(None, nodes)]
    begun, gate = threading.Event(), threading.Event()

    def slowly(*given: Any, **more: Any) -> None:
        begun.set()
        assert gate.wait(60)
        write_task(*given, **more)

    async def known_during(work: Coroutine[Any, Any, object]) -> int:
        begun.clear()
        gate.clear()
        doing = asyncio.create_task(work)
        try:
            await asyncio.to_thread(begun.wait, 60)
            return aside.known(None, nodes)[1]
        finally:
            gate.set()
            await doing

    await aside.read(ReadTask(new=nodes[:20], continues=None, leading=0, settled=0), keys[19])
    monkeypatch.setattr("octavo.engine.worker.write_task", slowly)
    more = ReadTask(new=nodes[20:], continues=keys[19], leading=0, settled=0)
    assert await known_during(aside.read(more, keys[39])) == 20
    made = replace(task(nodes, 36), whole=(), after=(), continues=keys[39], depth=36)
    assert await known_during(aside.make(made, count, tokens=0, urgent=False)) == 0
    assert aside.known(None, nodes) == (keys[39], 40)
    await aside.close()
