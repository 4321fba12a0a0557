"""`check` finds what does not add up, whoever did it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
import sqlalchemy as sa

from octavo.core.messages import assistant, user
from octavo.store import Store, StoreProblem, check, new_id
from octavo.store.connection import Connection
from octavo.store.parts import LARGE
from octavo.store.rows import snapshot_content
from octavo.store.schema import conversation, job, large_text, message, message_token, pin, snapshot
from tests.store.scenes import fold, long_talk, passage_of, talk

pytestmark = pytest.mark.anyio


async def tamper(store: Store, statement: sa.Executable) -> None:
    """Change a database behind the store's back."""

    async def change(connection: Connection) -> None:
        await connection.execute(statement)

    await store._database.write(change)


async def problem(store: Store) -> StoreProblem:
    found = await store.check()
    assert found
    return found[0]


async def test_a_healthy_store_has_no_problems(store: Store) -> None:
    made, branch = await long_talk(store, 1_200)
    await store.messages.append(made.id, user("big " * LARGE))
    await store.snapshots.add(made.id, fold(branch, 600, branch[700]))
    await store.messages.delete(branch[650].id)
    await store.pins.add(branch[3].id, 0, 4)
    await store.passages.add(made.id, branch[900].id, (passage_of(branch[1]), passage_of(branch[6], 2, 5)))
    assert await store.check() == ()


async def details(store: Store) -> list[str]:
    return [found.detail for found in await store.check()]


async def test_every_page_of_messages_is_looked_at_from_the_first_one_to_the_last(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "PAGE", 2)
    _, branch = await long_talk(memory, 5)
    wrong = [branch[0].id, branch[2].id, branch[4].id]
    await tamper(memory, sa.update(message).where(message.c.id.in_(wrong)).values(text="forged"))
    assert [(found.kind, found.id) for found in await memory.check()] == [("message", id) for id in wrong]


async def test_every_page_of_passages_is_looked_at_once(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "PAGE", 2)
    made, branch = await long_talk(memory, 6)
    for node in branch[1:]:
        await memory.passages.add(made.id, node.id, (replace(passage_of(branch[0]), text="never said"),))
    assert [found.id for found in await memory.check()] == [node.id for node in branch[1:]]


async def test_a_file_that_breaks_its_own_rules_is_found(memory: Store) -> None:
    made, branch = await long_talk(memory, 4)
    await memory.jobs.claim(made.id, anchor=branch[2].id, worker="w", seen=None)
    await tamper(memory, sa.text("PRAGMA ignore_check_constraints = ON"))
    await tamper(memory, sa.update(job).values(status="lost"))
    await tamper(memory, sa.text("PRAGMA ignore_check_constraints = OFF"))
    assert await memory.check() == (StoreProblem("file", "", "CHECK constraint failed in job"),)


async def test_changed_words_are_found(store: Store) -> None:
    _, branch = await long_talk(store, 6)
    await tamper(store, sa.update(message).where(message.c.id == branch[3].id).values(text="forged"))
    found = await problem(store)
    assert (found.kind, found.id, found.detail) == (
        "message",
        branch[3].id,
        "its digest is not that of its branch",
    )
    assert str(found) == f"message {branch[3].id}: its digest is not that of its branch"


async def test_a_wrong_depth_is_found(store: Store) -> None:
    _, branch = await long_talk(store, 6)
    await tamper(store, sa.update(message).where(message.c.id == branch[5].id).values(depth=9))
    assert "its depth is 9" in (await problem(store)).detail


async def test_a_wrong_parent_is_found(store: Store) -> None:
    _, branch = await long_talk(store, 6)
    _, other = await long_talk(store, 6)
    await tamper(store, sa.update(message).where(message.c.id == branch[5].id).values(parent_id=other[4].id))
    assert "another conversation" in (await problem(store)).detail


async def test_a_wrong_jump_is_found(store: Store) -> None:
    _, branch = await long_talk(store, 20)
    await tamper(store, sa.update(message).where(message.c.id == branch[14].id).values(jump_id=branch[3].id))
    assert "jump pointer" in (await problem(store)).detail


async def test_a_jump_to_the_right_depth_of_another_branch_is_found(memory: Store) -> None:
    made, branch = await long_talk(memory, 20)
    other = await memory.messages.append_many(made.id, [user(f"b{n}") for n in range(20)], parent=None)
    await tamper(memory, sa.update(message).where(message.c.id == branch[17].id).values(jump_id=other[14].id))
    assert await memory.check() == (
        StoreProblem(
            "message",
            branch[17].id,
            f"its jump pointer leads to {other[14].id} at depth 15, not to {branch[14].id} at 15",
        ),
    )


async def test_a_parent_that_is_gone_is_found(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as store:
        _, branch = await long_talk(store, 4)
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("DELETE FROM message WHERE depth = 3")
    async with await Store.open(sqlite_url) as store:
        found = [one.detail for one in await store.check() if one.id == branch[3].id]
    assert found[:2] == [f"its parent {branch[2].id} does not exist", "its depth is 4, its parent's 0"]


async def test_content_that_cannot_be_read_is_found(store: Store) -> None:
    _, branch = await long_talk(store, 6)
    await tamper(store, sa.update(message).where(message.c.id == branch[2].id).values(parts="{broken"))
    assert "cannot be read" in (await problem(store)).detail


async def test_a_missing_large_text_is_found(store: Store) -> None:
    made, _ = await long_talk(store, 2)
    node = await store.messages.append(made.id, user("big " * LARGE))
    await tamper(store, sa.delete(large_text).where(large_text.c.chunk == 0))
    found = await problem(store)
    assert (found.id, "cannot be read" in found.detail) == (node.id, True)


async def test_a_large_text_that_nothing_refers_to_is_found(memory: Store) -> None:
    made, _ = await long_talk(memory, 2)
    node = await memory.messages.append(made.id, user("big " * LARGE))
    values = {"id": new_id(), "message_id": node.id, "conversation_id": made.id, "piece": 1, "chunk": 0}
    await tamper(memory, sa.insert(large_text).values(**values, text="more"))
    assert await memory.check() == (StoreProblem("message", node.id, "it has 2 large texts, 1 were stored"),)


async def test_a_wrong_number_of_messages_is_found(store: Store) -> None:
    made, _ = await long_talk(store, 3)
    await tamper(store, sa.update(conversation).values(messages=4))
    assert await store.check() == (
        StoreProblem("conversation", made.id, "it is said to have 4 messages, and has 3"),
    )


async def test_a_tip_that_is_not_there_is_found(store: Store) -> None:
    await long_talk(store, 3)
    await tamper(store, sa.update(conversation).values(tip_id=new_id()))
    assert "its tip" in (await problem(store)).detail


async def test_a_tip_of_another_conversation_is_found(memory: Store) -> None:
    made, _ = await long_talk(memory, 3)
    _, other = await long_talk(memory, 3)
    await memory.conversations.create("without any message")
    moved = sa.update(conversation).where(conversation.c.id == made.id)
    await tamper(memory, moved.values(tip_id=other[2].id))
    assert await memory.check() == (
        StoreProblem("conversation", made.id, f"its tip {other[2].id} is not one of its messages"),
    )


@pytest.mark.parametrize(
    ("values", "detail"),
    [
        ({"cutoff_depth": 3}, "depths"),
        ({"digest": b"0" * 16}, "not those it was made from"),
        ({"state": "retired"}, "yet its content is there"),
        ({"anchor_id": "0" * 32}, "do not exist"),
        ({"content": {"summaryText": "?"}}, "cannot be read"),
    ],
)
async def test_a_snapshot_that_does_not_fit_is_found(
    store: Store, values: dict[str, object], detail: str
) -> None:
    made, branch = await long_talk(store, 10)
    await store.snapshots.add(made.id, fold(branch, 5, branch[7]))
    await tamper(store, sa.update(snapshot).values(**values))
    found = await problem(store)
    assert (found.kind, detail in found.detail) == ("snapshot", True)


async def test_a_snapshot_on_two_branches_is_found(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    side = await store.messages.append_many(made.id, [user(f"s{i}") for i in range(5)], parent=branch[2].id)
    await store.snapshots.add(made.id, fold(branch, 5, branch[7]))
    await tamper(store, sa.update(snapshot).values(anchor_id=side[4].id))
    assert "do not lie on one branch" in (await problem(store)).detail


@pytest.mark.parametrize(
    ("messages", "found"),
    [(0, "0 messages where there are 5"), (1, None), (5, None), (6, "6 messages where there are 5")],
)
async def test_a_snapshot_covers_one_message_at_least_and_all_down_to_its_cutoff_at_most(
    memory: Store, messages: int, found: str | None
) -> None:
    made, branch = await long_talk(memory, 10)
    stored = await memory.snapshots.add(made.id, fold(branch, 5, branch[7]))
    content = snapshot_content(replace(stored, messages=messages))
    await tamper(memory, sa.update(snapshot).values(content=content))
    assert await details(memory) == ([f"it is said to cover {found}"] if found else [])


async def test_all_that_is_wrong_with_a_snapshot_is_said(memory: Store) -> None:
    made, branch = await long_talk(memory, 10)
    _, other = await long_talk(memory, 10)
    await memory.snapshots.add(made.id, fold(branch, 5, branch[7]))
    await tamper(memory, sa.update(snapshot).values(first_id=other[1].id, cutoff_depth=4))
    content = snapshot_content(replace(fold(branch, 5, branch[7]), first=other[1].id))
    await tamper(memory, sa.update(snapshot).values(content=content))
    assert await details(memory) == [
        "it names messages of another conversation",
        "its depths are not those of its cutoff and anchor",
        "it is said to cover 5 messages where there are 3",
        "its cutoff and anchor do not lie on one branch",
    ]


async def test_a_snapshot_that_was_continued_from_another_branch_is_found(memory: Store) -> None:
    made, branch = await long_talk(memory, 10)
    side = await memory.messages.append_many(made.id, [user(f"s{i}") for i in range(5)], parent=branch[2].id)
    first = await memory.snapshots.add(made.id, fold(branch, 3, branch[4]))
    beside = await memory.snapshots.add(made.id, fold(await memory.tree.branch(side[-1].id), 5))
    second = await memory.snapshots.add(made.id, replace(fold(branch, 6, branch[8]), previous=first.id))
    assert await memory.check() == ()
    which = sa.update(snapshot).where(snapshot.c.id == second.id)
    for previous, found in (
        (new_id(), []),
        (beside.id, [f"it was continued from {beside.id}, which belongs to another branch"]),
    ):
        content = snapshot_content(replace(second, previous=previous))
        await tamper(memory, which.values(previous_id=previous, content=content))
        assert await details(memory) == found


async def test_a_selection_may_reach_to_the_very_end_of_its_text(memory: Store) -> None:
    made, branch = await talk(memory, "u: Lyon!")
    empty = await memory.messages.append(made.id, assistant(""))
    await memory.pins.add(branch[0].id, 0, 5)
    await memory.pins.add(branch[0].id)
    await memory.pins.add(empty.id)
    assert await memory.check() == ()
    values = {"message_id": empty.id, "start": 0, "stop": 1, "conversation_id": made.id}
    await tamper(memory, sa.insert(pin).values(**values))
    assert await memory.check() == (
        StoreProblem("pin", empty.id, "the selection 0:1 is longer than the text"),
    )


async def test_a_deleted_message_with_content_is_found(store: Store) -> None:
    _, branch = await long_talk(store, 3)
    await tamper(store, sa.update(message).where(message.c.id == branch[2].id).values(status="deleted"))
    details = [found.detail for found in await store.check()]
    assert "it was deleted, yet its content is there" in details


async def test_leftovers_of_deleted_messages_are_found(store: Store) -> None:
    made, branch = await long_talk(store, 3)
    await store.messages.delete(branch[2].id)
    await tamper(store, sa.insert(message_token).values(message_id=branch[2].id, tokenizer="words", tokens=2))
    assert await problem(store) == StoreProblem("message_token", branch[2].id, "its message is gone")
    await tamper(store, sa.delete(message_token))
    await tamper(
        store, sa.insert(pin).values(message_id=branch[1].id, start=0, stop=999, conversation_id=made.id)
    )
    assert "longer than the text" in (await problem(store)).detail


async def test_a_search_index_that_went_astray_is_found(sqlite_url: str) -> None:
    async with await Store.open(sqlite_url) as store:
        await long_talk(store, 3)
        await tamper(store, sa.text("INSERT INTO message_fts(message_fts) VALUES ('delete-all')"))
        assert (await problem(store)).kind == "search"


async def test_a_passage_that_does_not_stand_in_its_source_is_found(store: Store) -> None:
    made, branch = await long_talk(store, 6)
    side = await store.messages.append(made.id, user("message 2"), parent=branch[0].id)
    for node, passage in (
        (branch[4], replace(passage_of(branch[1]), text="message 22")),
        (branch[5], replace(passage_of(side), source=side.id)),
        (branch[3], replace(passage_of(branch[1]), part=1)),
        (branch[2], passage_of(branch[1], 3, 6)),
    ):
        await store.passages.add(made.id, node.id, (passage,))
    found = {one.id: str(one) for one in await store.check()}
    assert found == {
        branch[3].id: f"recalled {branch[3].id}: what was recalled for it does not stand in {branch[1].id}, "
        "word for word",
        branch[4].id: f"recalled {branch[4].id}: what was recalled for it does not stand in {branch[1].id}, "
        "word for word",
        branch[5].id: f"recalled {branch[5].id}: what was recalled for it comes from {side.id}, "
        "which is on another branch",
    }
