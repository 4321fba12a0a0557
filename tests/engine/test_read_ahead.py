"""What was said is read before it has to be compressed; the snapshot is the same, and only what is new is sent."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import Message, Text, assistant, user
from octavo.core.snapshot import Snapshot
from octavo.engine import worker
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.engine.read_ahead import NEAR, _settled, _trips
from octavo.engine.state import TipState
from octavo.engine.worker import LARGE, WorkerLost
from octavo.engine.worker_task import ReadPlace, ReadTask, SnapshotTask, write_task
from octavo.errors import UsageError
from octavo.store.values import Unloaded
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio

WINDOW = 60_000
PATIENCE = 60.0
"""Seconds after which what never happens has failed."""


def said(rounds: int, start: int = 0) -> list[Message]:
    return [
        message
        for n in range(start, start + rounds)
        for message in (
            user(f"Which port does service {n} use, and who looks after it? Its folder is src/service_{n}."),
            assistant(
                f"Service {n} listens on port {8000 + n}; Priya{n} looks after it, see config_{n}.toml."
            ),
        )
    ]


@dataclass
class Trips:
    """What was written to processes."""

    read: list[int] = field(default_factory=list)
    compressed: list[int] = field(default_factory=list)
    """How many messages went with each task."""
    begun: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> Trips:
    seen = Trips()

    def write(task: Any, to: Any, **more: Any) -> None:
        if isinstance(task, ReadTask):
            seen.read.append(len(task.new))
            seen.begun.set()
        elif isinstance(task, SnapshotTask):
            seen.compressed.append(len(task.whole) + len(task.after))
        write_task(task, to, **more)

    monkeypatch.setattr(worker, "write_task", write)
    return seen


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a trip take few messages, so that there are several."""
    monkeypatch.setattr("octavo.engine.read_ahead.MOST", 150)


async def grown(engine: Engine, rounds: int = 400) -> Chat:
    chat = await engine.create()
    await engine.store.messages.append_many(chat.id, said(rounds))
    return chat


async def read(engine: Engine, chat: Chat) -> None:
    engine.reading.begin(await engine.state_of(chat.id))
    await engine.reading.wait(chat.id)


def same(one: Snapshot, other: Snapshot) -> bool:
    """Tell whether two snapshots of equal messages in different conversations say the same."""
    texts = [[(extract.text, extract.depth) for extract in made.extracts] for made in (one, other)]
    papers = [json.loads(made.receipt or "{}") for made in (one, other)]
    for paper in papers:
        del paper["seconds"]
        for tally in paper["facts"].values():
            tally["lost"] = [text for text, _ in tally["lost"]]
        paper["standing"] = paper["conflicts"] = None
    return texts[0] == texts[1] and papers[0] == papers[1] and one.digest == other.digest


async def compressed(chat: Chat, keep: float = 0.2) -> Snapshot:
    outcome = await chat.compress(keep=keep)
    assert isinstance(outcome, Compressed), outcome
    return outcome.snapshot


async def test_what_turns_have_said_is_read_before_it_is_compressed(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat, other = await grown(engine), await grown(engine)
    async for _ in chat.turn("Which port does service 3 use?"):
        pass
    await engine.reading.wait(chat.id)
    assert trips.read == [150] * 5 + [52]
    for message in (user("Which port does service 3 use?"), assistant("Fine.")):
        await engine.store.messages.append_many(other.id, [message])
    made = await compressed(chat)
    whole = await compressed(other)
    assert trips.compressed == [0, 802]
    assert same(made, whole)


async def test_a_conversation_that_is_far_from_its_mark_is_not_read(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat = await grown(engine, 200)
    usage = await chat.usage()
    assert LARGE < usage.reading.tokens < usage.budget.trigger / 2
    await read(engine, chat)
    assert trips.read == []
    # Neither is a short one, however near its mark it is.
    small = await make(window=8_000)
    short = await grown(small, 80)
    usage = await short.usage()
    assert usage.budget.trigger / 2 < usage.reading.tokens < LARGE
    await read(small, short)
    assert trips.read == []


async def test_what_is_new_is_read_when_it_is_enough(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat = await grown(engine)
    await read(engine, chat)
    await engine.store.messages.append_many(chat.id, said(20, 400))
    await read(engine, chat)
    assert sum(trips.read) == 800
    await engine.store.messages.append_many(chat.id, said(40, 420))
    await read(engine, chat)
    assert sum(trips.read) == 920
    await read(engine, chat)
    assert sum(trips.read) == 920


async def test_the_next_compression_is_read_for_as_well(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat, other = await grown(engine), await grown(engine)
    await read(engine, chat)
    await compressed(chat)
    await compressed(other)
    for one in (chat, other):
        await engine.store.messages.append_many(one.id, said(300, 400))
    await read(engine, chat)
    assert sum(trips.read) == 800 + 600
    assert same(await compressed(chat), await compressed(other))
    assert trips.compressed[2] == 0
    # The other one was never read ahead, so what it covered stands there from its first compression.
    assert trips.compressed[3] == 600


async def test_an_import_is_read_in_the_background(make: MakeEngine, trips: Trips, tmp_path: Path) -> None:
    engine = await make(window=WINDOW)
    file = tmp_path / "chat.json"
    plain = [{"role": message.role, "content": message.text} for message in said(400)]
    file.write_text(json.dumps({"messages": plain}), "utf-8")
    (made,) = await engine.import_file(file)
    await engine.wait_until_idle(made.id)
    await engine.reading.wait(made.id)
    assert sum(trips.read) == 800


async def test_what_is_deleted_after_it_was_read_is_in_no_snapshot(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat = await engine.create()
    first, *_ = await engine.store.messages.append_many(chat.id, [user("Never open port 4711 to Zanzibar.")])
    nodes = await engine.store.messages.append_many(chat.id, said(400))
    await read(engine, chat)
    await engine.store.messages.delete(first.id)
    made = await compressed(chat)
    assert "Zanzibar" not in str(made.extracts)
    assert trips.compressed == [801]
    # One that stands late costs only what was read with it, and after it.
    chat = await grown(engine)
    nodes = await chat.branch()
    await read(engine, chat)
    await engine.store.messages.delete(nodes[700].id)
    trips.compressed.clear()
    made = await compressed(chat, keep=0)
    assert trips.compressed == [200]
    assert [extract.text for extract in made.extracts if extract.source == nodes[700].id] == []


async def test_another_branch_of_what_was_read_is_compressed_as_it_is(make: MakeEngine, trips: Trips) -> None:
    engine = await make(window=WINDOW)
    chat, other = await grown(engine), await engine.create()
    await read(engine, chat)
    nodes = await chat.branch()
    await engine.store.messages.append_many(chat.id, said(100, 900), parent=nodes[610].id)
    await engine.store.messages.append_many(other.id, [*said(400)[:611], *said(100, 900)])
    made, whole = await compressed(chat), await compressed(other)
    assert trips.compressed == [811 - 600, 811]
    assert same(made, whole)
    # The branch that was read is still there.
    await chat.checkout(nodes[-1].id)
    await compressed(chat)
    assert trips.compressed[-1] == 0


async def test_a_compression_waits_for_what_is_being_read_and_sends_the_rest(
    make: MakeEngine, trips: Trips, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.engine.read_ahead.MOST", 5)
    engine = await make(window=WINDOW)
    chat, other = await grown(engine), await grown(engine)
    engine.reading.begin(await engine.state_of(chat.id))
    await asyncio.to_thread(trips.begun.wait, 60)
    made = await compressed(chat)
    assert sum(trips.read) + trips.compressed[0] == 800
    assert trips.read
    assert trips.compressed[0] > 0
    assert same(made, await compressed(other))
    assert len(engine._workers._free) == 1


async def test_what_a_snapshot_covers_is_read_after_a_restart_when_the_next_one_is_near(
    make: MakeEngine, trips: Trips
) -> None:
    engine = await make(window=WINDOW)
    chat, other = await grown(engine), await grown(engine)
    for one in (chat, other):
        await compressed(one)
        await engine.store.messages.append_many(one.id, said(150, 400))
    await engine.close()
    again = await make(window=WINDOW)
    chat, other = await again.chat(chat.id), await again.chat(other.id)
    state = await again.state_of(chat.id)
    assert state.budget.trigger / 2 < state.reading.cautious < NEAR * state.budget.trigger
    await read(again, chat)
    assert trips.read == []
    for one in (chat, other):
        await again.store.messages.append_many(one.id, said(200, 550))
    await read(again, chat)
    assert sum(trips.read) == 1_500
    trips.compressed.clear()
    made, whole = await compressed(chat), await compressed(other)
    assert trips.compressed == [0, 1_500]
    assert same(made, whole)


async def test_what_a_process_has_dropped_is_not_read_again_and_again(
    make: MakeEngine, trips: Trips, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(window=WINDOW)
    chat = await grown(engine)
    await read(engine, chat)
    (child,) = engine._workers._free
    names = {place.name for place in engine._workers._read[child].places.values()}
    monkeypatch.setattr(engine._workers._read[child], "lengths", dict.fromkeys(names, 0))
    for place in engine._workers._read[child].places:
        engine._workers._read[child].places[place] = ReadPlace("dropped", 800)
    await engine.store.messages.append_many(chat.id, said(100, 400))
    trips.read.clear()
    await read(engine, chat)
    assert trips.read == [150]
    await engine.store.messages.append_many(chat.id, said(100, 500))
    await read(engine, chat)
    assert trips.read == [150]
    await compressed(chat)
    assert trips.compressed == [1_200]
    await engine.store.messages.append_many(chat.id, said(300, 600))
    await read(engine, chat)
    assert sum(trips.read) == 150 + 600


async def test_without_a_process_nothing_is_read_and_all_is_compressed(
    make: MakeEngine, trips: Trips, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "")
    engine = await make(window=WINDOW)
    chat = await grown(engine)
    await read(engine, chat)
    await read(engine, chat)
    assert trips.read == []
    assert (await compressed(chat)).extracts


async def test_where_little_is_covered_nothing_of_it_is_missing(make: MakeEngine, trips: Trips) -> None:
    """Seen failing: a thread was given only what the process had not read."""
    engine = await make(window=30_000)
    chat, other = await grown(engine, 210), await grown(engine, 210)
    assert (await chat.usage()).reading.tokens > LARGE
    await read(engine, chat)
    assert sum(trips.read) == 420
    made, whole = await compressed(chat, keep=0.5), await compressed(other, keep=0.5)
    assert made.tokens_before < LARGE
    assert made.messages == whole.messages > 100
    assert same(made, whole)


async def equal(engine: Engine, messages: int = 10) -> tuple[TipState, int]:
    """Give the state of a conversation of messages of one size, and that size; every mark is near."""
    chat = await engine.create()
    await engine.store.messages.append_many(chat.id, [user("It is so. " * 9)] * messages)
    state = await engine.state_of(chat.id)
    budget = replace(state.budget, soft=state.reading.cautious, prepare=None, snapshot=0, retained=0)
    return replace(state, budget=budget), state.size(state.recipe.branch[0])


async def test_a_trip_takes_so_many_messages_and_tokens(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, size = await equal(await make())
    branch = state.recipe.branch
    trips = [*_trips(state, branch, 2)]
    assert trips == [(2, 10)]
    monkeypatch.setattr("octavo.engine.read_ahead.MOST", 5)
    assert [*_trips(state, branch, 0)] == [(0, 5), (5, 10)]
    monkeypatch.setattr("octavo.engine.read_ahead.MOST_TOKENS", 3 * size)
    assert [*_trips(state, branch, 0)] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    monkeypatch.setattr("octavo.engine.read_ahead.MOST_TOKENS", 3 * size - 1)
    assert [*_trips(state, branch, 5)] == [(5, 7), (7, 9), (9, 10)]
    # One that is too large by itself goes alone.
    monkeypatch.setattr("octavo.engine.read_ahead.MOST_TOKENS", 1)
    assert [*_trips(state, branch, 8)] == [(8, 9), (9, 10)]
    assert [*_trips(state, branch, 10)] == []


async def test_all_but_what_would_be_retained_is_settled(make: MakeEngine) -> None:
    state, size = await equal(await make())
    room = state.budget.trigger - state.budget.overhead.total

    def settled(tokens: int) -> int:
        return _settled(replace(state, budget=replace(state.budget, retained=tokens)))

    # A quarter more may be retained, since whole turns are.
    assert [settled(0), settled(4 * size - 1), settled(4 * size)] == [10, 6, 5]
    assert settled(room - 1) == 0


async def test_what_is_new_is_worth_a_trip_when_there_is_enough_of_it_and_it_can_be_of_use(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing with: any one of the reasons against it left out."""
    engine = await make()
    state, size = await equal(engine)
    reading, branch = engine.reading, state.recipe.branch
    monkeypatch.setattr("octavo.engine.read_ahead.LARGE", state.history)
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST", 6)
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST_TOKENS", 100 * size)

    def worth(new: int, **changed: Any) -> bool:
        reading._read_to.put(state.conversation, branch[-1 - new].id if new < len(branch) else "")
        return reading._worth(replace(state, **changed))

    assert [worth(6), worth(7)] == [False, True]
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST_TOKENS", 4 * size)
    assert [worth(0), worth(3), worth(4), worth(10)] == [False, False, True, True]
    assert not worth(10, shortened=True)
    assert not worth(10, unloaded=Unloaded(above=0, stop=5, last="", tokens=1))
    assert not worth(10, budget=replace(state.budget, soft=3 * state.reading.cautious, hard=10**6))
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST_TOKENS", 100 * size)
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST", 10)
    assert not worth(10), "few messages of a new conversation"
    monkeypatch.setattr("octavo.engine.read_ahead.FEWEST", 6)
    reading._given_up.put(state.conversation, "")
    assert not worth(10)
    assert worth(10, serving="snapshot"), "it was given up before that was made"
    reading._given_up.put(state.conversation, "snapshot")
    assert not worth(10, serving="snapshot")
    assert worth(10)
    monkeypatch.setattr("octavo.engine.read_ahead.LARGE", state.history + 1)
    assert not worth(10)
    monkeypatch.setattr("octavo.engine.read_ahead.LARGE", 0)
    reading._lost = True
    assert not worth(10)


async def test_reading_is_begun_once_stopped_for_a_compression_and_given_up_at_the_end(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LARGE", "FEWEST"):
        monkeypatch.setattr(f"octavo.engine.read_ahead.{name}", 0)
    monkeypatch.setattr("octavo.engine.read_ahead.MOST", 2)
    engine = await make()
    state, _ = await equal(engine)
    begun, gate, asked = asyncio.Event(), asyncio.Event(), list[int]()

    async def slowly(task: ReadTask, key: object) -> None:  # noqa: ARG001
        asked.append(len(task.new))
        begun.set()
        await gate.wait()

    reading = engine.reading
    monkeypatch.setattr(engine._workers, "read", slowly)
    reading.begin(state)
    reading.begin(state)
    (task,) = reading._tasks.values()
    settling = asyncio.create_task(reading.settle(state.conversation))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    gate.set()
    await settling
    assert asked == [2], "what follows is left to the compression"
    assert (task.done(), reading._tasks) == (True, {})
    # Afterwards it goes on as ever.
    reading._read_to.pop(state.conversation)
    reading.begin(state)
    await reading.wait(state.conversation)
    assert asked == [2] * 6
    gate.clear()
    begun.clear()
    reading._read_to.pop(state.conversation)
    reading.begin(state)
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await reading.close()
    assert reading._tasks == {}

    async def lost(*_: object) -> None:
        raise WorkerLost("no process")

    monkeypatch.setattr(engine._workers, "read", lost)
    reading._read_to.pop(state.conversation)
    reading.begin(state)
    await reading.wait(state.conversation)
    assert reading._lost


@dataclass(frozen=True)
class Step:
    """What is done to a conversation, and where: so that it can be done to two of them."""

    act: str
    number: int
    depth: int
    keep: float

    async def take(self, engine: Engine, chat: Chat) -> Snapshot | None:
        branch = await chat.branch()
        node = branch[min(self.depth, len(branch) - 1)].id
        match self.act:
            case "say":
                await engine.store.messages.append_many(chat.id, said(4 + self.depth % 12, 100 * self.number))
            case "delete" if self.depth:
                await chat.delete_message(node)
            case "fork" if self.depth:
                more = said(2, 7_000 + self.number)
                await engine.store.messages.append_many(chat.id, more, parent=node)
            case "undo":
                with suppress(UsageError):
                    await chat.undo()
            case "compress":
                outcome = await chat.compress(keep=self.keep)
                return outcome.snapshot if isinstance(outcome, Compressed) else None
        return None


ACTS = ("say", "say", "say", "compress", "compress", "delete", "fork", "undo")
SMALL = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from octavo.core.extract import totals; "
    "from octavo.engine import worker_task; totals.BLOCK, worker_task.KEPT = 8, {kept}; "
    "worker_task.serve(sys.stdin.buffer, sys.stdout.buffer)"
)
"""A process that counts in small blocks and keeps little."""


@pytest.mark.parametrize("seed", range(4))
async def test_reading_ahead_changes_no_snapshot_of_any_branch(
    make: MakeEngine, trips: Trips, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Seen failing with what was known of a deleted message kept beside a branch that begins before it."""
    for name in ("worker.LARGE", "read_ahead.LARGE", "read_ahead.FEWEST"):
        monkeypatch.setattr(f"octavo.engine.{name}", 0)
    monkeypatch.setattr("octavo.engine.read_ahead.MOST", 7)
    monkeypatch.setattr(worker, "_PROGRAM", SMALL.format(kept=40_000 if seed % 2 else 400_000))
    dice, made = random.Random(seed), 0
    engine = await make(window=6_000)
    chat, other = await engine.create(), await engine.create()
    for one in (chat, other):
        await engine.store.messages.append_many(
            one.id, [Message(role="system", parts=(Text(text="Be brief."),))]
        )
    for number in range(50):
        step = Step(dice.choice(ACTS), number, dice.randrange(60), dice.choice((0, 0.1, 0.3, 0.6)))
        ahead, whole = [await step.take(engine, one) for one in (chat, other)]
        assert (ahead is None) == (whole is None)
        if ahead and whole:
            made += 1
            assert same(ahead, whole)
        if dice.random() < 0.7:
            await read(engine, chat)
    assert made
    assert sum(trips.read) > 0
