"""Forks and copies: new ids everywhere, and nothing points back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.messages import Attachment, Message, Text, user
from octavo.core.recall.render import render
from octavo.core.receipt import Fact, Receipt, Tally
from octavo.store import Entry, ForConversation, Store
from octavo.store.parts import LARGE
from tests.store.scenes import fold, long_talk, passage_of, texts

pytestmark = pytest.mark.anyio


async def test_a_fork_is_the_branch_in_a_new_conversation(store: Store) -> None:
    """Case 33: cutoff and anchor are redirected."""
    made, branch = await long_talk(store, 12)
    side = await store.messages.append(made.id, user("aside"), parent=branch[3].id, select=False)
    first = await store.snapshots.add(made.id, fold(branch, 3))
    second = await store.snapshots.add(
        made.id, replace(fold(branch, 5, branch[7], summary="kept"), previous=first.id)
    )
    await store.snapshots.add(made.id, fold(branch, 6, branch[10], summary="too deep"))
    await store.snapshots.add(made.id, fold(await store.tree.branch(side.id), 5, summary="elsewhere"))
    await store.snapshots.undo(first.id)
    await store.pins.add(branch[1].id, 0, 3)
    await store.pins.add(side.id)
    await store.messages.set_counts("words", {branch[0].id: 2})
    await store.settings.put(ForConversation(made.id), "auto", False)

    fork = await store.conversations.fork(branch[8].id, title="Fork")
    assert (fork.title, fork.messages, fork.revision) == ("Fork", 9, 0)
    assert fork.tip is not None
    copied = await store.tree.branch(fork.tip, tokenizer="words")
    assert texts(copied) == texts(branch[:9])
    assert copied[0].counts == {"words": 2}
    assert not {node.id for node in copied} & {node.id for node in branch}

    snapshots = await store.snapshots.of_conversation(fork.id)
    assert [(one.summary, one.state) for one in snapshots] == [("a summary", "undone"), ("kept", "active")]
    assert (snapshots[1].first, snapshots[1].cutoff, snapshots[1].anchor) == tuple(
        copied[i].id for i in (0, 4, 7)
    )
    assert snapshots[1].extracts[0].source == copied[0].id
    assert snapshots[1].id != second.id
    assert [one.previous for one in snapshots] == [None, snapshots[0].id]
    assert (await store.snapshots.context(fork.tip)).retained == copied[5:]
    assert [pin.selection for pin in await store.pins.of_branch(fork.tip)] == ["mes"]
    assert await store.settings.of_scope(ForConversation(fork.id)) == {"auto": False}
    assert await store.check() == ()

    await store.bin.delete(made.id)
    assert texts(await store.tree.branch(fork.tip)) == texts(branch[:9])
    assert await store.check() == ()


async def test_a_copy_is_the_whole_tree(store: Store) -> None:
    made, branch = await long_talk(store, 1_500)
    await store.messages.append(
        made.id, Message(role="user", parts=(Text(text="x " * LARGE), Attachment(name="a.txt")))
    )
    await store.messages.append_many(
        made.id, [user("aside"), user("more")], parent=branch[700].id, select=False
    )
    await store.messages.delete(branch[5].id)
    copy = await store.conversations.copy(made.id)
    assert (copy.messages, copy.title) == (1_503, "")
    before = [node async for node in store.tree.whole(made.id)]
    after = [node async for node in store.tree.whole(copy.id)]
    assert [(node.message, node.depth, node.status) for node in after] == [
        (node.message, node.depth, node.status) for node in before
    ]
    assert [file.attachment.name for file in await store.tree.files(copy.id)] == ["a.txt"]
    assert await store.check() == ()


async def test_the_time_a_message_was_written_is_copied(store: Store) -> None:
    """Also of one that was written long before it was stored."""
    made, _ = await long_talk(store, 2)
    older = Entry(message=user("long ago"), created="2020-02-02T02:02:02.000+00:00")
    branch = await store.tree.branch((await store.messages.append_many(made.id, [older]))[0].id)
    copy = await store.conversations.copy(made.id)
    assert copy.tip
    times = [
        [known.created for known in await store.tree.details([node.id for node in nodes])]
        for nodes in (branch, await store.tree.branch(copy.tip))
    ]
    assert times[0] == times[1]
    assert times[1][2] == older.created


async def test_an_empty_conversation_can_be_copied(store: Store) -> None:
    made = await store.conversations.create("empty")
    assert (await store.conversations.copy(made.id)).tip is None


@pytest.mark.parametrize("whole", [False, True])
async def test_what_was_recalled_is_copied_and_reads_the_same(store: Store, whole: bool) -> None:
    """A copy of a copy, too; its sources are its own, so that deleting one takes its passages along."""
    made, branch = await long_talk(store, 12)
    recalled, _ = await store.passages.add(
        made.id, branch[10].id, (passage_of(branch[1], 3), passage_of(branch[4]))
    )
    await store.snapshots.add(made.id, fold(branch, 6))
    tip: str | None = branch[-1].id
    conversation = made.id
    for _ in range(2):
        assert tip is not None
        copy = await (store.conversations.copy(conversation) if whole else store.conversations.fork(tip))
        conversation, tip = copy.id, copy.tip
        assert tip is not None
        nodes = await store.tree.branch(tip)
        found = (await store.passages.of([nodes[10].id]))[nodes[10].id]
        assert [passage.source for passage in found] == [nodes[1].id, nodes[4].id]
        assert render(found) == render(recalled)
        assert await store.check() == ()
    await store.messages.delete(nodes[1].id)
    assert len((await store.passages.of([nodes[10].id]))[nodes[10].id]) == 1
    assert len((await store.passages.of([branch[10].id]))[branch[10].id]) == 2


async def test_the_receipt_of_a_copy_names_the_copies(store: Store) -> None:
    """Else no lost fact of a copy, or of an imported conversation, could be shown or added back."""
    made, branch = await long_talk(store, 6)
    receipt = Receipt(tallies=(Tally(kind="path", lost=(Fact("path", "a/b", branch[1].id),), lost_count=1),))
    await store.snapshots.add(made.id, replace(fold(branch, 3), receipt=receipt.to_json()))
    await store.snapshots.add(made.id, replace(fold(branch, 4), receipt="no receipt"))
    copy = await store.conversations.copy(made.id)
    assert copy.tip is not None
    copied = await store.tree.branch(copy.tip)
    first, second = await store.snapshots.of_conversation(copy.id)
    assert Receipt.from_json(first.receipt).lost[0].source == copied[1].id
    assert second.receipt == "no receipt"
