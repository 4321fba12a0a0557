"""Deleting: the words are gone, the tree keeps its shape, and nothing derived survives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import asyncpg  # type: ignore[import-untyped]
import pytest
import sqlalchemy as sa

from octavo.core.messages import Attachment, Message, Text, assistant, user
from octavo.errors import NotFound, UsageError
from octavo.store import ForConversation, Job, Store, deletion
from octavo.store.connection import Connection
from octavo.store.parts import LARGE
from octavo.store.schema import metadata
from tests.store.scenes import fold, long_talk, talk, texts, until

pytestmark = pytest.mark.anyio


async def rows_with(store: Store, ids: Sequence[str]) -> dict[str, int]:
    """Count rows that mention any of the ids, in every table and every column."""

    async def count(connection: Connection) -> dict[str, int]:
        found: dict[str, int] = {}
        for table in metadata.sorted_tables:
            for row in await connection.execute(sa.select(table)):
                if any(id in str(value) for value in row for id in ids):
                    found[table.name] = found.get(table.name, 0) + 1
        return found

    return await store._database.read(count)


async def test_a_deleted_message_leaves_an_empty_place(store: Store) -> None:
    made, branch = await talk(store, "u: public", "a: my secret", "u: go on", "a: yes")
    await store.messages.set_counts("words", {node.id: 2 for node in branch})
    await store.messages.delete(branch[1].id)
    assert (await store.conversations.get(made.id)).revision > made.revision
    emptied = await store.tree.node(branch[1].id, tokenizer="words")
    assert (emptied.status, emptied.message, emptied.counts) == (
        "deleted",
        Message(role="assistant", parts=()),
        {},
    )
    assert (emptied.parent, emptied.depth) == (branch[0].id, 2)
    assert texts(await store.tree.branch(branch[3].id)) == ["public", "", "go on", "yes"]
    assert await store.search.find("secret") == ()
    assert (await store.conversations.get(made.id)).messages == 4
    assert await store.check() == ()
    await store.messages.delete(branch[1].id)
    assert await store.check() == ()


async def test_large_texts_files_counts_and_pins_go_with_their_message(store: Store) -> None:
    made = await store.conversations.create()
    said = Message(role="user", parts=(Text(text="big " * LARGE), Attachment(name="private.pdf", size=3)))
    node = await store.messages.append(made.id, said, counts={"words": 5}, input_tokens=7)
    await store.pins.add(node.id)
    await store.messages.delete(node.id)
    assert await store.tree.files(made.id) == ()
    assert await store.pins.of_conversation(made.id) == ()
    assert (await store.tree.details([node.id]))[0].input_tokens is None
    assert await store.search.find("private") == ()
    assert await rows_with(store, [node.id]) == {"conversation": 1, "message": 1}
    with pytest.raises(UsageError, match="nothing to pin"):
        await store.pins.add(node.id)


@pytest.mark.parametrize("at", [0, 3, 4, 6, 7])
async def test_every_snapshot_that_was_shown_a_deleted_message_is_retired_and_emptied(
    store: Store, at: int
) -> None:
    """Cases 29, 97: the cutoff (4), the anchor (7), in the covered part, and between the two."""
    made, branch = await long_talk(store, 12)
    stored = await store.snapshots.add(made.id, fold(branch, 5, branch[7], summary="it tells all"))
    await store.messages.delete(branch[at].id)
    retired = await store.snapshots.get(stored.id)
    assert retired.state == "retired"
    assert (retired.summary, retired.extracts, retired.receipt, retired.instructions, retired.files) == (
        "",
        (),
        "",
        "",
        (),
    )
    assert (retired.cutoff, retired.anchor) == (stored.cutoff, stored.anchor)
    assert len((await store.snapshots.context(branch[-1].id)).retained) == 12
    with pytest.raises(UsageError, match="retired"):
        await store.snapshots.use(stored.id, tip=branch[-1].id)
    with pytest.raises(UsageError, match="retired"):
        await store.snapshots.undo(stored.id)
    with pytest.raises(UsageError, match="retired"):
        await store.snapshots.edit(stored.id, "again")
    assert await store.check() == ()


async def test_snapshots_that_never_saw_the_message_stay(store: Store) -> None:
    made, branch = await long_talk(store, 12)
    above = await store.snapshots.add(made.id, fold(branch, 5, branch[7]))
    side = await store.messages.append_many(made.id, [user("x"), user("y")], parent=branch[3].id)
    beside = await store.snapshots.add(made.id, fold(await store.tree.branch(side[-1].id), 5))
    await store.messages.delete(branch[8].id)
    assert await store.snapshots.get(above.id) == above
    assert await store.snapshots.get(beside.id) == beside
    undone = await store.snapshots.undo(beside.id)
    await store.messages.delete(side[0].id)
    assert (await store.snapshots.get(undone.id)).state == "retired"


async def test_a_subtree_goes_with_all_that_hangs_on_it(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    side = await store.messages.append_many(made.id, [user("x"), assistant("y")], parent=branch[5].id)
    low = await store.snapshots.add(made.id, fold(branch, 3))
    high = await store.snapshots.add(made.id, fold(branch, 3, branch[7]))
    await store.pins.add(branch[6].id)
    before = (await store.conversations.get(made.id)).revision
    await store.messages.delete(branch[4].id, subtree=True)
    after = await store.conversations.get(made.id)
    assert (after.messages, after.tip, after.revision > before) == (4, branch[3].id, True)
    assert [node.id async for node in store.tree.whole(made.id)] == [node.id for node in branch[:4]]
    assert await store.snapshots.of_conversation(made.id) == (low,)
    gone = [node.id for node in (*branch[4:], *side)] + [high.id]
    assert await rows_with(store, gone) == {}
    assert await store.check() == ()
    with pytest.raises(NotFound):
        await store.tree.node(side[0].id)


async def test_deleting_the_last_root_leaves_an_empty_conversation(store: Store) -> None:
    made, branch = await long_talk(store, 3)
    await store.messages.delete(branch[0].id, subtree=True)
    after = await store.conversations.get(made.id)
    assert (after.messages, after.tip) == (0, None)
    assert (await store.messages.append(made.id, user("afresh"))).depth == 1


async def test_a_deleted_conversation_leaves_no_row_anywhere(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    kept, _ = await long_talk(store, 3)
    await store.messages.set_counts("words", {node.id: 2 for node in branch})
    big = await store.messages.append(
        made.id, Message(role="user", parts=(Text(text="x" * (LARGE + 1)), Attachment(name="a")))
    )
    await store.pins.add(branch[1].id)
    await store.settings.put(ForConversation(made.id), "auto", False)
    await store.labels.put(made.id, ["work"])
    snapshot = await store.snapshots.add(made.id, fold(branch, 4))
    job = await store.jobs.claim(made.id, anchor=branch[5].id, worker="w", seen=snapshot.id)
    assert isinstance(job, Job)
    ids = [made.id, snapshot.id, job.id, big.id, *(node.id for node in branch)]
    assert set(await rows_with(store, ids)) == {
        "conversation",
        "message",
        "large_text",
        "attachment",
        "message_token",
        "pin",
        "snapshot",
        "job",
        "setting",
    }
    await store.bin.delete(made.id)
    assert await rows_with(store, ids) == {}
    assert [one.id for one in await store.conversations.list()] == [kept.id]
    assert await store.check() == ()


async def delete_secrets(path: Path) -> None:
    async with await Store.open(f"sqlite:///{path}") as store:
        made, branch = await talk(store, *(f"u: ordinary words number {i}" for i in range(50)))
        secret = await store.messages.append(made.id, user("xyzzyplugh " + "frobnicate " * LARGE))
        short = await store.messages.append(made.id, user("quuxsecret"))
        await store.snapshots.add(made.id, fold([*branch, secret], 51, summary="about zyxwvsummary"))
        await store.messages.delete(secret.id)
        await store.messages.delete(short.id)


@pytest.mark.parametrize("pages", [1, deletion.MERGE_PAGES])
def test_deleted_words_are_gone_from_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    """Also from the search index, which only marks rows as gone, and from the journal."""
    monkeypatch.setattr(deletion, "MERGE_PAGES", pages)
    path = tmp_path / "octavo.db"
    asyncio.run(delete_secrets(path))
    data = path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    assert b"ordinary" in data
    for word in (b"xyzzyplugh", b"frobnicate", b"quuxsecret", b"zyxwvsummary"):
        assert word not in data


@pytest.mark.parametrize("what", ["fork", "pin", "empty", "remove"])
async def test_a_message_that_was_removed_while_its_conversation_was_waited_for_is_not_there(
    postgres_url: str, what: str
) -> None:
    async with await Store.open(postgres_url) as store:
        _, branch = await long_talk(store, 3)
        last = branch[-1].id
        other = await asyncpg.connect(postgres_url)
        try:
            async with other.transaction():
                await other.execute("SELECT * FROM conversation FOR UPDATE")
                work: dict[str, Awaitable[object]] = {
                    "fork": store.conversations.fork(last),
                    "pin": store.pins.add(last),
                    "empty": store.messages.delete(last),
                    "remove": store.messages.delete(last, subtree=True),
                }
                asked = asyncio.ensure_future(work.pop(what))
                for unused in work.values():
                    cast("Coroutine[Any, Any, object]", unused).close()
                await until(
                    lambda: other.fetchval(
                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
                    )
                )
                await other.execute("DELETE FROM message WHERE id = $1", UUID(last))
            with pytest.raises(NotFound, match=last):
                await asked
        finally:
            await other.close()


async def test_a_message_appended_while_another_is_deleted_is_not_recognised_by_lost_words(
    store: Store,
) -> None:
    made, branch = await long_talk(store, 5)
    await asyncio.gather(
        *(store.messages.append(made.id, user(f"m{i}"), parent=branch[4].id) for i in range(5)),
        store.messages.delete(branch[1].id),
        *(store.messages.append(made.id, user(f"n{i}"), parent=branch[4].id) for i in range(5)),
    )
    assert await store.check() == ()
