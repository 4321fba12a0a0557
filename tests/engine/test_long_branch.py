"""A branch that is too long to be held is compressed all the same: block by block, and nothing of it is passed over."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from octavo.core.compose import compose
from octavo.core.context import coverage_problems
from octavo.core.extract.units import analyse_all
from octavo.core.messages import Branch, Message, assistant, digest, system, user
from octavo.core.receipt import Receipt, Remains, gather, verbatim_text
from octavo.core.snapshot import DroppedLine, Snapshot, draft
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.long_branch import (
    LongBranch,
    PassedFacts,
    _calls,
    _days,
    _keys,
    _newest_standing,
    _newest_values,
)
from octavo.engine.outcome import Answered, Compressed, ContextShrunk
from octavo.engine.state import TipState, load_state
from octavo.engine.worker import Child, WorkerLost
from octavo.errors import BadInput
from octavo.store.values import Entry
from octavo.testing import talk
from tests.engine.conftest import METER, MODEL, MakeEngine
from tests.engine.test_worker import branch, count, task

pytestmark = pytest.mark.anyio

LONG, LAST, BLOCK = 60, 10, 50
MESSAGES = 400
PLANTED = {
    30: "The vault code is K7731-204.",
    120: "We decided: the harbour closes on 2026-03-14.",
    210: "Never restart the crane while a ship is moored.",
    300: "The invoice number is INV-88123.",
}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call long what is short."""
    set_long(monkeypatch, LONG)
    monkeypatch.setattr("octavo.engine.state.BEFORE_CUT", LAST)
    monkeypatch.setattr("octavo.engine.compression.LAST", LAST)
    monkeypatch.setattr("octavo.engine.worker.BLOCK", BLOCK)


def set_long(monkeypatch: pytest.MonkeyPatch, messages: int) -> None:
    monkeypatch.setattr("octavo.engine.state.LONG", messages)
    monkeypatch.setattr("octavo.engine.compression.LONG", messages)
    monkeypatch.setattr("octavo.engine.chat_snapshots.LONG", messages)


def said(number: int) -> Message:
    if number in PLANTED:
        return user(PLANTED[number])
    idle = (
        "nothing else was said of it while the others looked at the sea and went on with what they were doing"
    )
    return (assistant if number % 2 else user)(f"The weather was fair again, and {idle}.")


async def long_chat(engine: Engine, *first: Message) -> Chat:
    chat = await engine.create()
    entries = [Entry(message=message) for message in (*first, *map(said, range(MESSAGES)))]
    await engine.store.messages.append_many(chat.id, entries)
    return chat


async def look(engine: Engine, chat: Chat) -> TipState:
    tip = (await chat.info()).tip
    return await load_state(
        engine.store,
        engine.models,
        conversation=chat.id,
        tip=tip,
        model=MODEL,
        settings=await engine.settings.of(chat.id),
    )


async def compressed(chat: Chat) -> Compressed:
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed), outcome
    return outcome


def lines(made: Compressed) -> str:
    return "\n".join(extract.text for extract in made.snapshot.extracts)


def facts(made: Compressed) -> int:
    return sum(tally.count for tally in Receipt.from_json(made.snapshot.receipt).tallies)


async def originals(chat: Chat, made: Compressed) -> Branch:
    return tuple(node for node in await chat.branch() if node.depth <= made.snapshot.cutoff_depth)


async def test_what_is_not_loaded_counts_all_the_same(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(window=1_200)
    chat = await long_chat(engine, system("Answer briefly."))
    part = await look(engine, chat)
    plan = await chat.plan()
    set_long(monkeypatch, 2 * MESSAGES)
    whole = await look(engine, chat)
    assert whole.unloaded is None
    assert part.unloaded is not None
    assert len(part.recipe.branch) + part.unloaded.messages == len(whole.recipe.branch) == MESSAGES + 1
    assert part.recipe.leading == whole.recipe.leading != ()
    # The one notes that something is left out, the other has it.
    assert 0 <= part.reading.tokens - whole.reading.tokens < 40
    assert plan.messages == MESSAGES
    assert plan.covered + plan.retained == MESSAGES


async def test_more_is_loaded_than_the_window_takes(make: MakeEngine) -> None:
    engine = await make(window=4_096)
    state = await look(engine, await long_chat(engine))
    assert len(state.recipe.branch) > LONG
    assert sum(map(state.size, state.recipe.branch)) > 4_096


async def test_twice_as_much_is_loaded_until_it_is_more_than_the_window_takes(make: MakeEngine) -> None:
    engine = await make()
    chat = await long_chat(engine)
    newest = sum(METER.count_message(said(number)) for number in range(MESSAGES - LONG, MESSAGES))
    for window, loaded in ((newest, 2 * LONG), (newest - 1, LONG)):
        await engine.models.learn_window(MODEL, window)
        assert len((await look(engine, chat)).recipe.branch) == loaded


async def test_a_planted_fact_is_kept_wherever_it_was_said(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine, system("Answer briefly."))
    made = await compressed(chat)
    for line in PLANTED.values():
        assert line in lines(made)
    covered = await originals(chat, made)
    assert made.snapshot.digest == digest(node.message for node in covered)
    assert made.snapshot.messages == len(covered) - 1
    assert made.snapshot.first == covered[1].id
    assert made.snapshot.previous is None
    assert list(await engine.store.check()) == []
    state = await chat._state()
    assert state.unloaded is None
    assert coverage_problems(await chat.branch(), state.context) == ()


async def test_the_receipt_counts_the_facts_of_all_blocks_once(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await engine.create()
    talk = [user(f"The code of vault {n % 150} is K{n % 150}-{7_000 + n % 150}.") for n in range(MESSAGES)]
    await engine.store.messages.append_many(chat.id, [Entry(message=message) for message in talk])
    receipt = Receipt.from_json((await compressed(chat)).snapshot.receipt)
    tally = receipt.tally("number")
    assert tally.count == 150
    assert 0 < tally.verbatim_count < 150


async def test_the_next_compression_continues_from_what_was_kept(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    first = await compressed(chat)
    await engine.store.messages.append_many(
        chat.id, [user("The pilot is called Ines Faro."), *map(said, range(1, 60))]
    )
    second = await compressed(chat)
    assert second.snapshot.previous == first.snapshot.id
    covered = await originals(chat, second)
    assert second.snapshot.digest == digest(node.message for node in covered)
    assert second.snapshot.messages == len(covered)
    assert "K7731-204" in lines(second)
    assert facts(second) >= facts(first)


async def test_a_process_that_forgot_is_sent_the_long_branch_again(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    first = await compressed(chat)
    await engine.store.messages.append_many(chat.id, list(map(said, range(1, 60))))
    await engine._workers.close()
    second = await compressed(chat)
    assert second.snapshot.previous == first.snapshot.id
    covered = await originals(chat, second)
    assert second.snapshot.digest == digest(node.message for node in covered)
    assert second.snapshot.messages == len(covered)
    for line in PLANTED.values():
        assert line in lines(second)


async def test_without_another_process_a_thread_reads_the_blocks(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    made = await compressed(chat)
    (await engine.store.snapshots.undo(made.snapshot.id))

    def start() -> Child:
        raise WorkerLost("no room")

    await engine._workers.close()
    monkeypatch.setattr("octavo.engine.worker._start", start)
    with caplog.at_level(logging.ERROR):
        again = await compressed(chat)
    assert again.snapshot.extracts == made.snapshot.extracts


async def test_a_turn_that_cannot_wait_leaves_out_what_is_not_loaded_and_says_so(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    state = await chat._state()
    small, usage = state.shrunk()
    assert usage.reading.cautious <= state.budget.hard
    left_out = MESSAGES - len(small.context.sent)
    assert f"[{left_out:,} older messages are left out here" in small.context.messages[0].text


async def test_a_rule_that_was_lifted_in_a_later_block_does_not_come_back(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await engine.create()
    talk = [said(number) for number in range(MESSAGES) if number not in PLANTED]
    talk[20] = user("We decided to use port 8081 for the gateway.")
    talk[250] = user("We decided to use port 9090 for the gateway instead.")
    await engine.store.messages.append_many(chat.id, [Entry(message=message) for message in talk])
    told = lines(await compressed(chat))
    assert "9090" in told
    assert "8081" not in told


async def test_no_turn_waits_for_a_very_long_branch(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    events = [event async for event in chat.turn("What is the vault code?")]
    assert any(isinstance(event, ContextShrunk) for event in events)
    assert isinstance(events[-1], Answered)
    await chat.wait_until_idle()
    events = [event async for event in chat.turn("And now?")]
    assert not any(isinstance(event, ContextShrunk) for event in events)
    state = await chat._state()
    assert state.loaded.snapshot is not None
    assert "K7731-204" in state.context.summary[0].text


async def test_a_cut_so_far_up_that_nothing_is_loaded_there_is_refused(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    early = (await chat.branch())[20].id
    with pytest.raises(BadInput, match="compress without it first"):
        await chat.plan(up_to=early)


async def test_another_version_of_a_snapshot_of_a_long_branch_covers_what_it_covers(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await long_chat(engine)
    made = await compressed(chat)
    again = await chat.snapshots.regenerate(made.snapshot.id, focus="the weather")
    assert isinstance(again, Compressed), again
    assert again.snapshot.cutoff == made.snapshot.cutoff
    assert again.snapshot.digest == made.snapshot.digest
    assert again.snapshot.messages == made.snapshot.messages


async def test_a_fact_of_any_block_can_be_added_back(make: MakeEngine) -> None:
    engine = await make(window=1_600)
    chat = await engine.create()
    talk = [user(f"The code of vault {n} is K{n}-{7_000 + n}.") for n in range(MESSAGES)]
    await engine.store.messages.append_many(chat.id, [Entry(message=message) for message in talk])
    made = await compressed(chat)
    # Blocks of this size are gone through, and the receipt lists few of so many.
    again = await chat.snapshots.restore(made.snapshot.id, "7083")
    assert "K83-7083" in "\n".join(extract.text for extract in again.extracts)


async def test_of_what_is_not_loaded_only_what_was_never_counted_is_and_only_what_is_sent(
    make: MakeEngine,
) -> None:
    engine = await make(window=1_200)
    chat = await engine.create()
    entries = [Entry(message=said(n), status="error" if n == 31 else "complete") for n in range(MESSAGES)]
    nodes = await engine.store.messages.append_many(chat.id, entries)
    known = {node.id: METER.count_message(node.message) for node in nodes[5:60]}
    await engine.store.messages.set_counts(METER.unit.name, known)
    part = await look(engine, chat)
    assert part.unloaded is not None
    unsent = METER.count_message(nodes[31].message)
    loaded = sum(map(part.size, part.recipe.branch))
    assert part.unloaded.tokens == sum(METER.count_message(node.message) for node in nodes) - loaded - unsent
    again = await look(engine, chat)
    assert again.unloaded == part.unloaded


def test_a_message_stays_if_anything_in_it_stands() -> None:
    nodes = talk("u: The weather was fair. Never restart the crane while a ship is moored.", "u: It rained.")
    assert _newest_standing(nodes, analyse_all(nodes)) == {"m1"}


def test_what_answers_a_call_brings_that_with_it_and_what_was_said_the_day_of_it() -> None:
    nodes = talk("u: Look at both.", "c: look {}", "c: read {}", "r: two cranes", "r: berth 47", "a: Done.")
    analyses = analyse_all(nodes)
    assert _calls(nodes, analyses, {"m4"}) == _calls(nodes, analyses, {"m3"}) == {"m2"}
    assert _calls(nodes, analyses, {"m5"}) == set()
    dated = talk(
        "u: [9:05 am on 12 March, 2023] We came.",
        "a: Fine.",
        "u: [9:05 am on 13 March, 2023] We left.",
        "a: Well.",
        "u: Bye.",
    )
    analyses = analyse_all(dated)
    assert [_days(dated, analyses, {f"m{n}"}) for n in range(1, 6)] == [{"m1"}] * 2 + [{"m3"}] * 3
    assert _days(dated[1:2], analyses, {"m2"}) == set()


def test_of_a_block_that_ends_one_message_further_that_is_new() -> None:
    nodes = branch(50)
    before = draft(nodes, 40, id="before", summary="They talked.")
    long = LongBranch(replace(task(nodes, 100), previous=before, after=()), count)
    long.add(nodes[:41])
    drafted = long.finished(replace(task(nodes, 100), whole=nodes[41:])).previous
    assert drafted is not None
    assert (drafted.cutoff_depth, drafted.messages) == (41, 41)
    # One message may be all that is left for the last block.
    long.add(nodes[41:42])
    drafted = long.finished(replace(task(nodes, 100), whole=nodes[42:])).previous
    assert drafted is not None
    assert (drafted.cutoff_depth, drafted.messages) == (42, 42)


def test_a_block_is_chosen_from_with_more_room_than_the_snapshot_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And again from all that was kept, once that is too much."""
    rooms, sizes = list[int](), list[int]()

    def noted(place: Snapshot, covered: Branch, *, cap: int, **more: Any) -> Snapshot:
        rooms.append(cap)
        sizes.append(len(covered))
        return compose(place, covered, cap=cap, **more)

    monkeypatch.setattr("octavo.engine.long_branch.compose", noted)
    nodes = branch(50)
    long = LongBranch(task(nodes, 100), count)
    long.add(nodes[:40])
    assert (rooms, sizes) == ([750], [40])
    kept = len(long.finished(replace(task(nodes, 100), whole=())).whole)
    monkeypatch.setattr("octavo.engine.long_branch.KEPT", kept)
    again = LongBranch(task(nodes, 100), count)
    again.add(nodes[:40])
    assert sizes == [40, 40]
    monkeypatch.setattr("octavo.engine.long_branch.KEPT", kept - 1)
    LongBranch(task(nodes, 100), count).add(nodes[:40])
    assert sizes == [40, 40, 40, kept]


def test_what_was_dropped_from_a_snapshot_is_chosen_from_no_block_of_its_next_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places: list[Snapshot] = []

    def noted(place: Snapshot, covered: Branch, **more: Any) -> Snapshot:
        places.append(place)
        return compose(place, covered, **more)

    monkeypatch.setattr("octavo.engine.long_branch.compose", noted)
    nodes = branch(50)
    before = replace(draft(nodes, 20, id="before", summary=""), dropped=(DroppedLine("A port.", 20),))
    for work in (replace(task(nodes, 100), replaces=before), replace(task(nodes, 100), previous=before)):
        LongBranch(work, count).add(nodes[:40])
    assert [place.dropped for place in places] == [before.dropped] * 2


def test_of_what_was_set_several_times_the_newest_value_is_kept_whatever_else_is() -> None:
    nodes = talk(
        "u: gateway_port=8081",
        "u: gateway_port=8082",
        "u: retry_limit=5",
        "u: gateway_port=8081",
        "u: Thanks.",
    )
    analyses = analyse_all(nodes)
    keys = _keys(analyses[node.id] for node in nodes[:1])
    assert len(keys) == 1
    assert _newest_values(nodes, analyses, keys) == {"m4"}
    assert _newest_values(nodes[:3], analyses, keys) == {"m2"}
    assert _newest_values(nodes[:3], analyses, keys | _keys([analyses["m3"]])) == {"m2", "m3"}
    assert _newest_values(nodes, analyses, set()) == set()


def test_facts_of_what_passed_are_counted_once_however_often_they_are_gone_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not again what the receipt has counted; each by what became of it."""
    nodes = talk(*(f"u: The code of vault {n % 13} is K{n % 13}-{7_000 + n % 13}." for n in range(26)))
    analyses = analyse_all(nodes)
    remains = Remains(verbatim_text([user("K3-7003"), user("K5-7005")], ()), "The code K4-7004 was told.")
    told = {(fact.kind, fact.text) for fact, _ in gather(nodes[:2], analyses)}
    fates = {
        (fact.kind, fact.text): remains.fate(fact, words)
        for fact, words in gather(nodes, analyses)
        if (fact.kind, fact.text) not in told
    }
    assert {*fates.values()} == {"lost", "told", "verbatim"}
    for passes in (250_000, 3):
        monkeypatch.setattr("octavo.engine.long_branch.PASS", passes)
        facts = PassedFacts(remains)
        for block in (nodes[:9], nodes[9:]):
            facts.add(block, analyses)
        receipt = facts.added_to(Receipt(), nodes[:2], analyses)
        for tally in receipt.tallies:
            counted = (tally.lost_count, tally.told_count, tally.verbatim_count)
            kinds = [fate for (kind, _), fate in fates.items() if kind == tally.kind]
            assert counted == (kinds.count("lost"), kinds.count("told"), kinds.count("verbatim"))
        assert {tally.kind for tally in receipt.tallies} == {kind for kind, _ in fates}


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_question_whose_answer_opens_the_next_block_is_none_that_waits(cut: int) -> None:
    nodes = talk(
        "u: The code of vault 3 is K3-7003.",
        "a: Noted.",
        "u: Which harbour has the blue crane?",
        "c: look {}",
        "r: two cranes",
        "a: The blue crane stands in Gdansk harbour.",
        "u: Who painted the lighthouse of Hel?",
        "a: Shall I bring the ladder for it tomorrow?",
    )
    analyses = analyse_all(nodes)
    waiting = [fact.source for fact, _ in gather(nodes, analyses) if fact.kind == "question"]
    assert waiting == ["m8", "m7"]
    for last in (8, 7, 5, 3):
        facts = PassedFacts(Remains(""))
        for block in filter(None, (nodes[:cut], nodes[cut:last])):
            facts.add(block, analyses)
        read = max(cut, last)
        counted = facts.added_to(Receipt(), nodes[read:], analyses)
        assert counted.tally("question").lost_count == sum(node.id in waiting for node in nodes[:read])


def test_only_the_newest_messages_wait_for_what_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("octavo.engine.long_branch.WAITING", 4)
    nodes = talk(
        "u: Look at all vaults.", *(f"a: The code of vault {n} is K{n}-{7_000 + n}." for n in range(20))
    )
    analyses = analyse_all(nodes)
    facts = PassedFacts(Remains(""))
    for start in range(0, 20, 5):
        facts.add(nodes[start : start + 5], analyses)
        assert len(facts._waiting) == len(facts._known) == 4
    facts.add(nodes[20:], analyses)
    found = [fact.kind for fact, _ in gather(nodes, analyses)]
    assert len(found) >= 20
    counted = facts.added_to(Receipt(), (), analyses)
    assert {tally.kind: tally.lost_count for tally in counted.tallies} == Counter(found)


def test_a_block_that_ends_where_the_snapshot_before_did_is_read_for_its_lines_alone() -> None:
    """Seen failing with: an error, because nothing of it is new; what the author of the summary saw is kept."""
    nodes = branch(50)
    before = draft(nodes, 40, id="before", summary="They talked.", shown=nodes[40:90])
    assert before.anchor_depth == 90
    work = replace(task(nodes, 100), previous=before, after=(), cap=60)
    long = LongBranch(work, count)
    for block in (nodes[:40], nodes[40:80]):
        long.add(block)
    rest = long.finished(replace(work, whole=nodes[80:]))
    drafted = rest.previous
    assert drafted is not None
    assert (drafted.cutoff_depth, drafted.messages) == (80, 80)
    assert drafted.digest == digest(node.message for node in nodes[:80])
    assert (drafted.anchor, drafted.anchor_depth) == (before.anchor, 90)
    early = replace(work, previous=replace(before, anchor=nodes[59].id, anchor_depth=60))
    other = LongBranch(early, count)
    for block in (nodes[:40], nodes[40:80]):
        other.add(block)
    drafted = other.finished(replace(early, whole=nodes[80:])).previous
    assert drafted is not None
    assert drafted.anchor_depth == 80
    assert rest.whole[-20:] == nodes[80:]
    kept = rest.whole[:-20]
    assert nodes[38] in kept, "the question of the turn that may go on"
    assert list(kept) == sorted(kept, key=lambda node: node.depth)
    assert len(kept) < 80
