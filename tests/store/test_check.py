"""`check` finds what does not add up, whoever did it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from octavo.core.messages import user
from octavo.store import Store, StoreProblem, new_id
from octavo.store.connection import Connection
from octavo.store.parts import LARGE
from octavo.store.schema import conversation, large_text, message, message_token, pin, snapshot
from tests.store.scenes import fold, long_talk, passage_of

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
    ):
        await store.passages.add(made.id, node.id, (passage,))
    found = {one.id: str(one) for one in await store.check()}
    assert found == {
        branch[4].id: f"recalled {branch[4].id}: what was recalled for it does not stand in {branch[1].id}, "
        "word for word",
        branch[5].id: f"recalled {branch[5].id}: what was recalled for it comes from {side.id}, "
        "which is on another branch",
    }
