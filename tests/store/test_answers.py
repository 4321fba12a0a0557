"""Answers that are being written: kept as far as they came, closed when their writers die, written by one only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from octavo.core.messages import assistant, user
from octavo.errors import UsageError
from octavo.store import Entry, Store, answers, messages
from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.rows import Row
from octavo.store.schema import conversation
from octavo.store.values import Job
from tests.store.scenes import fold, long_talk, talk

pytestmark = pytest.mark.anyio

OVER = -1.0
"""A lease that has run out as soon as it is given."""


def said(text: str) -> Entry:
    return Entry(message=assistant(text), model="m")


async def test_an_answer_grows_beside_the_tip_and_becomes_it_when_it_is_whole(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    before = await store.conversations.get(made.id)
    held = await store.answers.begin(made.id, said("One"), parent=question.id, worker="w")
    node = await store.tree.node(held.anchor)
    assert (node.message.text, node.status, node.parent) == ("One", "streaming", question.id)
    assert (await store.conversations.get(made.id)).tip == question.id
    assert await store.tree.newest_below(question.id) == question.id
    for more in ("One, two", "One, two, " + "three " * 20_000):
        assert await store.answers.go_on(held, said(more))
        assert (await store.tree.node(held.anchor)).message.text == more
        assert await store.check() == ()
    with pytest.raises(UsageError, match="still being written"):
        await store.messages.append(made.id, user("impatient"), parent=held.anchor)
    whole = Entry(message=assistant("One, two, three."), counts={"words": 3}, output_tokens=3)
    added = await store.answers.finish(held, whole)
    assert added is not None
    assert await store.tree.node(held.anchor, tokenizer="words") == added.nodes[0]
    after = await store.conversations.get(made.id)
    # What was known of the question still holds, so the revision is the same.
    assert (after.tip, after.messages, after.revision) == (held.anchor, 2, before.revision)
    assert added.revision == before.revision
    assert await store.answers.being_written() == ()
    assert await store.jobs.of_conversation(made.id) == ()
    assert await store.check() == ()


async def test_an_undone_or_edited_snapshot_stops_automatic_compressions_and_no_answer(store: Store) -> None:
    made, branch = await long_talk(store, 9)
    snapshot = await store.snapshots.add(made.id, fold(branch, 4))
    held = await store.answers.begin(made.id, said("One"), parent=branch[-1].id, worker="w")
    edited = replace(fold(branch, 4), kind="edited")
    changes: list[Callable[[], Awaitable[object]]] = [
        lambda: store.snapshots.edit(snapshot.id, "edited"),
        lambda: store.snapshots.add(made.id, edited),
        lambda: store.snapshots.undo(edited.id),
    ]
    for change in changes:
        serving = (await store.snapshots.context(branch[-1].id)).snapshot
        assert serving is not None
        job = await store.jobs.claim(
            made.id, anchor=branch[6].id, worker="w", trigger="soft", seen=serving.id, tip=branch[-1].id
        )
        assert isinstance(job, Job)
        await change()
        assert (await store.jobs.get(job.id)).status == "cancelled"
        assert await store.answers.go_on(held, said("One, two"))


async def test_one_that_is_not_chosen_leaves_the_tip_alone(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    held = await store.answers.begin(made.id, said("One"), parent=question.id, worker="w")
    assert await store.answers.finish(held, said("One."), select=False)
    assert (await store.conversations.get(made.id)).tip == question.id


async def test_what_a_dead_writer_left_is_closed_and_becomes_the_tip(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    left = await store.answers.begin(made.id, said("Half of"), parent=question.id, worker="dead", lease=OVER)
    alive = await store.answers.begin(made.id, said("Other"), parent=question.id, worker="alive")
    assert [job.anchor for job in await store.answers.being_written(made.id)] == [left.anchor, alive.anchor]
    revision = (await store.conversations.get(made.id)).revision
    assert await store.answers.close() == (left.anchor,)
    node = await store.tree.node(left.anchor)
    assert (node.message.text, node.status) == ("Half of", "aborted")
    now = await store.conversations.get(made.id)
    assert now.tip == left.anchor
    assert now.revision > revision
    assert await store.answers.close() == ()
    assert (await store.tree.node(alive.anchor)).status == "streaming"
    await store.messages.append(made.id, user("go on"), parent=left.anchor)
    assert await store.check() == ()


async def test_a_lease_further_ahead_than_one_can_last_has_run_out(store: Store) -> None:
    """The clock was set back by an hour."""
    made, (question,) = await talk(store, "u: question")
    left = await store.answers.begin(made.id, said("Half"), parent=question.id, worker="dead", lease=3_600)
    assert await store.answers.close(made.id) == (left.anchor,)


async def test_the_tip_stays_where_somebody_put_it_meanwhile(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    left = await store.answers.begin(made.id, said("Half"), parent=question.id, worker="dead", lease=OVER)
    other = await store.messages.append(made.id, assistant("another answer"), parent=question.id)
    assert await store.answers.close() == (left.anchor,)
    assert (await store.conversations.get(made.id)).tip == other.id


async def test_a_writer_that_comes_back_finds_that_it_is_not_its_own_any_more(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    held = await store.answers.begin(made.id, said("Half"), parent=question.id, worker="slow", lease=OVER)
    await store.answers.close()
    assert not await store.answers.go_on(held, said("Half and more"))
    assert await store.answers.finish(held, said("Half and more.")) is None
    node = await store.tree.node(held.anchor)
    assert (node.message.text, node.status) == ("Half", "aborted")


async def test_who_renews_in_time_is_not_closed(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    held = await store.answers.begin(made.id, said("Half"), parent=question.id, worker="slow", lease=OVER)
    assert await store.answers.go_on(held, said("Half and more"))
    assert await store.answers.close() == ()


async def test_two_that_close_at_the_same_time_do_it_once(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    left = await store.answers.begin(made.id, said("Half"), parent=question.id, worker="dead", lease=OVER)
    found = await asyncio.gather(*(store.answers.close() for _ in range(6)))
    assert sorted(found) == [(), (), (), (), (), (left.anchor,)]


@pytest.mark.parametrize("what", ["conversation", "question", "answer"])
async def test_what_is_deleted_while_it_is_written_stays_deleted(store: Store, what: str) -> None:
    made, (question,) = await talk(store, "u: question")
    held = await store.answers.begin(made.id, said("secret"), parent=question.id, worker="w")
    if what == "conversation":
        await store.bin.delete(made.id)
    else:
        await store.messages.delete(
            question.id if what == "question" else held.anchor, subtree=what == "question"
        )
    assert not await store.answers.go_on(held, said("secret and more"))
    assert await store.answers.finish(held, said("secret and more.")) is None
    assert await store.search.find("secret") == ()
    assert await store.answers.close() == ()
    assert await store.check() == ()


async def test_copies_and_files_hold_it_as_one_that_broke_off(store: Store, tmp_path: Path) -> None:
    made, (question,) = await talk(store, "u: question")
    await store.answers.begin(made.id, said("Half"), parent=question.id, worker="w")
    copy = await store.conversations.copy(made.id)
    statuses = [node.status async for node in store.tree.whole(copy.id)]
    assert statuses == ["complete", "aborted"]
    await store.export(tmp_path / "out.jsonl", [made.id])
    (back,) = await store.import_file(tmp_path / "out.jsonl", new_ids=True)
    assert [node.status async for node in store.tree.whole(back.id)] == ["complete", "aborted"]


async def test_what_is_being_written_is_no_compression(store: Store) -> None:
    made, (question,) = await talk(store, "u: question")
    await store.answers.begin(made.id, said("Half"), parent=question.id, worker="w", lease=OVER)
    assert await store.jobs.of_conversation(made.id) == ()
    assert await store.jobs.abandoned() == ()


async def test_a_conversation_is_locked_once_for_an_answer_that_begins(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, (question,) = await talk(store, "u: question")
    locked: list[str] = []

    async def noted(connection: Connection, id: str) -> Row:
        locked.append(id)
        return await lock(connection, id)

    for module in (answers, messages):
        monkeypatch.setattr(module, "lock", noted)
    await store.answers.begin(made.id, said("One"), parent=question.id, worker="w")
    assert locked == [made.id]


async def test_an_answer_that_is_the_tip_already_is_seen_to_have_changed(memory: Store) -> None:
    """Somebody looked at it while it was written, so what is known of this tip is out of date."""
    made, (question,) = await talk(memory, "u: question")
    held = await memory.answers.begin(made.id, said("One"), parent=question.id, worker="w")
    assert await memory.conversations.move_tip(made.id, held.anchor, expected=question.id)
    before = (await memory.conversations.get(made.id)).revision
    assert await memory.answers.finish(held, said("One."))
    after = await memory.conversations.get(made.id)
    assert (after.tip, after.revision > before) == (held.anchor, True)


async def test_where_nobody_can_close_it_an_answer_whose_writer_is_gone_is_not_listed(
    sqlite_url: str,
) -> None:
    async with await Store.open(sqlite_url) as store:
        made, (question,) = await talk(store, "u: question")
        await store.answers.begin(made.id, said("Half"), parent=question.id, worker="dead", lease=OVER)
        alive = await store.answers.begin(made.id, said("Other"), parent=question.id, worker="alive")
    async with await Store.open(f"{sqlite_url}?mode=ro") as reader:
        assert [job.anchor for job in await reader.answers.being_written()] == [alive.anchor]
        assert await reader.answers.close() == ()


async def test_an_answer_goes_with_the_conversation_that_is_being_removed(memory: Store) -> None:
    made, (question,) = await talk(memory, "u: question")
    left = await memory.answers.begin(made.id, said("Half"), parent=question.id, worker="dead", lease=OVER)
    removing = sa.update(conversation).values(hidden="removing")

    async def remove(connection: Connection) -> None:
        await connection.execute(removing)

    await memory._database.write(remove)
    assert await memory.answers.close() == ()
    assert not await memory.answers.go_on(left, said("Half and more"))
    assert await memory.answers.finish(left, said("Half and more.")) is None
