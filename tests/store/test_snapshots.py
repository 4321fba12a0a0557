"""Snapshots: versions, states, and the places where they are refused."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from octavo.core.messages import assistant, user
from octavo.core.snapshot import export
from octavo.errors import BadInput, NotFound, NotOnBranch, UsageError
from octavo.store import Job, Store, new_id
from tests.store.scenes import beside, fold, long_talk, stamped, talk

pytestmark = pytest.mark.anyio


async def test_a_snapshot_comes_back_as_it_was_stored(store: Store) -> None:
    """FR-1.4.5, FR-4.2.1."""
    made, branch = await long_talk(store, 10)
    new = fold(branch, 6, branch[8], summary="what \x00 happened \ud800")
    stored = await store.snapshots.add(made.id, new)
    assert stored == stamped(new, stored)
    assert stored.version == 1
    assert stored.created.startswith("20")
    assert await store.snapshots.get(stored.id) == stored
    assert await store.snapshots.conversation_of(stored.id) == made.id
    assert (await store.snapshots.context(branch[-1].id)).snapshot == stored
    record = export(stored)
    assert record["messageRange"] == {"firstMessageId": branch[0].id, "lastMessageId": branch[5].id}
    assert (record["originalTokenCount"], record["summaryTokenCount"], record["messagesIncluded"]) == (
        1000,
        100,
        6,
    )


async def test_originals_stay_and_summaries_are_not_messages(store: Store) -> None:
    """FR-1.4.6; cases 30, 85."""
    made, branch = await long_talk(store, 10)
    await store.snapshots.add(made.id, fold(branch, 6, summary="unmistakable"))
    assert await store.tree.branch(branch[-1].id) == branch
    assert [node async for node in store.tree.whole(made.id)] == list(branch)
    assert await store.search.find("unmistakable") == ()
    assert len(await store.tree.siblings(branch[6].id)) == 1
    assert (await store.conversations.get(made.id)).title == ""


async def test_editing_adds_a_version_and_undoing_it_brings_back_the_one_before(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    first = await store.snapshots.add(made.id, fold(branch, 6))
    edited = await store.snapshots.edit(first.id, "better words", tokens_after=70)
    assert (edited.version, edited.kind, edited.summary, edited.tokens_after) == (
        2,
        "edited",
        "better words",
        70,
    )
    assert (edited.cutoff, edited.anchor, edited.extracts) == (first.cutoff, first.anchor, first.extracts)
    tip = branch[-1].id
    assert (await store.snapshots.context(tip)).snapshot == edited
    assert await store.snapshots.get(first.id) == first
    assert (await store.snapshots.undo(edited.id)).state == "undone"
    assert (await store.snapshots.context(tip)).snapshot == first
    await store.snapshots.undo(first.id)
    assert (await store.snapshots.context(tip)).snapshot is None
    await store.snapshots.use(edited.id, tip=tip)
    assert (await store.snapshots.context(tip)).snapshot == edited
    assert await store.snapshots.of_conversation(made.id) == (replace(first, state="undone"), edited)


async def test_regenerated_answers_share_the_snapshot_of_their_question(store: Store) -> None:
    """Cases 26, 27, 95."""
    made, branch = await talk(store, "u: a", "a: b", "u: c", "a: d", "u: e", "a: f")
    stored = await store.snapshots.add(made.id, fold(branch, 2, branch[4]))
    again = await beside(store, branch[5], assistant("g"))
    assert (await store.snapshots.context(again.id)).snapshot == stored
    edited = await beside(store, branch[4], user("e, rather"))
    assert (await store.snapshots.context(edited.id)).snapshot is None
    free = await store.snapshots.add(made.id, fold(branch, 2))
    assert (await store.snapshots.context(edited.id)).snapshot == free
    before = await beside(store, branch[1], assistant("b, rather"))
    assert (await store.snapshots.context(before.id)).snapshot is None


async def test_the_deepest_cutoff_wins_even_if_it_was_made_first(store: Store) -> None:
    """Case 28; also where the deeper cutoff hangs on the shallower anchor."""
    made, branch = await long_talk(store, 20)
    deep = await store.snapshots.add(made.id, fold(branch, 12, branch[12]))
    await store.snapshots.add(made.id, fold(branch, 6, branch[18]))
    found = await store.snapshots.context(branch[-1].id)
    assert (found.snapshot, found.retained) == (deep, branch[12:])


async def test_a_newer_version_anchored_at_the_cutoff_itself_wins(store: Store) -> None:
    made, branch = await long_talk(store, 20)
    await store.snapshots.add(made.id, fold(branch, 10, branch[15]))
    newer = await store.snapshots.add(made.id, fold(branch, 10, summary="newer"))
    assert newer.version == 2
    assert (await store.snapshots.context(branch[-1].id)).snapshot == newer


async def test_snapshots_of_a_branch_are_those_whose_anchor_is_on_it(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    low = await store.snapshots.add(made.id, fold(branch, 3))
    high = await store.snapshots.add(made.id, fold(branch, 5, branch[8]))
    side = await store.messages.append(made.id, user("aside"), parent=branch[6].id)
    assert await store.snapshots.of_branch(branch[-1].id) == (low, high)
    assert await store.snapshots.of_branch(side.id) == (low,)
    assert await store.snapshots.of_branch(branch[1].id) == ()


async def test_a_snapshot_is_refused_where_it_is_not_true(store: Store) -> None:
    """Case 53."""
    made, branch = await long_talk(store, 10)
    other, elsewhere = await long_talk(store, 10)
    side = await store.messages.append_many(
        made.id, [user(f"aside {i}") for i in range(5)], parent=branch[2].id
    )
    good = fold(branch, 5, branch[7])
    for wrong, error in (
        (replace(good, anchor=side[4].id), NotOnBranch),
        (replace(good, anchor=elsewhere[7].id), NotOnBranch),
        (replace(good, first=side[1].id, messages=1), NotOnBranch),
        (replace(good, cutoff=new_id()), NotFound),
        (replace(good, cutoff_depth=4), BadInput),
        (replace(good, messages=6), BadInput),
        (replace(good, messages=0), BadInput),
        (replace(good, digest=b"0" * 16), UsageError),
    ):
        with pytest.raises(error):
            await store.snapshots.add(made.id, wrong)
    with pytest.raises(NotOnBranch):
        await store.snapshots.add(other.id, good)
    with pytest.raises(NotFound):
        await store.snapshots.add(new_id(), good)
    assert await store.snapshots.of_conversation(made.id) == ()
    await store.snapshots.add(made.id, good)
    assert await store.check() == ()


async def test_a_snapshot_whose_messages_were_deleted_meanwhile_is_refused(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    made_before = fold(branch, 5)
    await store.messages.delete(branch[2].id)
    with pytest.raises(UsageError, match="have changed"):
        await store.snapshots.add(made.id, made_before)
    fresh = await store.tree.branch(branch[-1].id)
    stored = await store.snapshots.add(made.id, fold(fresh, 5))
    assert (await store.snapshots.context(branch[-1].id)).snapshot == stored
    assert await store.check() == ()


def dashed(id: str) -> str:
    return str(UUID(id)).upper()


async def test_ids_in_another_spelling_are_the_same_ids(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    new = fold(branch, 4, branch[6])
    spelled = replace(
        new, id=dashed(new.id), first=dashed(new.first), cutoff=dashed(new.cutoff), anchor=dashed(new.anchor)
    )
    stored = await store.snapshots.add(dashed(made.id), spelled)
    assert stored == stamped(new, stored)
    assert await store.snapshots.get(dashed(stored.id)) == stored
    job = await store.jobs.claim(
        dashed(made.id), anchor=dashed(branch[6].id), worker="w", seen=dashed(stored.id)
    )
    assert isinstance(job, Job)
    assert await store.check() == ()


async def test_what_was_made_lately_is_found_by_id(store: Store) -> None:
    made, branch = await long_talk(store, 10)
    other, elsewhere = await long_talk(store, 10)
    old = await store.snapshots.add(made.id, fold(branch, 3))
    since = new_id()
    new = await store.snapshots.add(made.id, fold(branch, 5))
    there = await store.snapshots.add(other.id, fold(elsewhere, 5))
    assert await store.snapshots.newer([made.id], since) == ((made.id, new),)
    assert await store.snapshots.newer([made.id, other.id], since) == ((made.id, new), (other.id, there))
    assert await store.snapshots.newer([made.id], "0" * 32) == ((made.id, old), (made.id, new))
    assert await store.snapshots.newer([], since) == ()


async def test_originals_are_wanted_from_an_undo_until_something_covers_as_much_again(store: Store) -> None:
    """Seen failing with: an undo that is remembered although a deeper compression is in use."""
    made, branch = await long_talk(store, 12)
    tip = branch[-1].id

    async def wanted() -> bool:
        return (await store.snapshots.context(tip)).originals_wanted

    assert not await wanted()
    small = await store.snapshots.add(made.id, fold(branch, 4))
    large = await store.snapshots.add(made.id, fold(branch, 8))
    assert not await wanted()
    await store.snapshots.undo(large.id)
    assert await wanted()
    await store.snapshots.use(large.id, tip=tip)
    assert not await wanted()
    await store.snapshots.undo(small.id)
    assert not await wanted()
    await store.snapshots.undo(large.id)
    assert await wanted()
    await store.snapshots.use(large.id, tip=tip)
    assert not await wanted()
    newer = await store.snapshots.add(made.id, fold(branch, 8))
    await store.snapshots.undo(newer.id)
    assert not await wanted(), "the version before it covers as much"


async def test_a_summary_that_is_retold_is_a_version_of_its_own_while_the_old_one_is_in_use(
    memory: Store,
) -> None:
    made, branch = await long_talk(memory, 8)
    first = await memory.snapshots.add(made.id, fold(branch, 4))
    told = await memory.snapshots.retell(replace(first, summary="better words", receipt='{"retold":1}'))
    assert told is not None
    assert (told.version, told.kind, told.summary, told.receipt) == (
        2,
        "regenerated",
        "better words",
        '{"retold":1}',
    )
    assert told.id != first.id
    assert (await memory.snapshots.context(branch[-1].id)).snapshot == told
    await memory.snapshots.undo(first.id)
    assert await memory.snapshots.retell(replace(first, summary="late")) is None
    assert len(await memory.snapshots.of_conversation(made.id)) == 2
    kept = await memory.snapshots.edit(told.id, "by hand")
    assert (kept.tokens_after, kept.receipt) == (told.tokens_after, "")


async def test_what_was_undone_last_comes_back_first(memory: Store) -> None:
    """Of several that were undone at once, those that cover less come back before those that cover more."""
    made, branch = await long_talk(memory, 12)
    tip = branch[-1].id
    low, middle, high = [await memory.snapshots.add(made.id, fold(branch, cut)) for cut in (3, 6, 9)]
    newer = await memory.snapshots.edit(high.id, "newer")
    snapshots = memory.snapshots

    async def states() -> list[str]:
        return [one.state for one in await snapshots.of_branch(tip)]

    assert await snapshots.undone_last(tip) is None
    assert await snapshots.use(newer.id, tip=tip) == newer
    assert await states() == ["active"] * 4, "it was in use before"
    await snapshots.use(low.id, tip=tip)
    assert await states() == ["active", "undone", "undone", "undone"]
    for expected in (middle, high, newer):
        found = await snapshots.undone_last(tip)
        assert found is not None
        assert found.id == expected.id
        await snapshots.use(found.id, tip=tip)
    assert await states() == ["active"] * 4
    await snapshots.undo(newer.id)
    await snapshots.undo(middle.id)
    found = await snapshots.undone_last(tip)
    assert found is not None
    assert found.id == newer.id, "the other would not be in use: one that covers more is"
    await snapshots.undo(high.id)
    await snapshots.undo(low.id)
    found = await snapshots.undone_last(tip)
    assert found is not None
    assert found.id == low.id


async def test_whatever_is_done_to_a_snapshot_is_seen_by_whoever_holds_its_conversation(
    memory: Store,
) -> None:
    made, branch = await long_talk(memory, 8)
    tip = branch[-1].id
    stored = await memory.snapshots.add(made.id, fold(branch, 4))
    seen = [(await memory.conversations.get(made.id)).revision]
    for change in (
        memory.snapshots.undo(stored.id),
        memory.snapshots.use(stored.id, tip=tip),
        memory.snapshots.edit(stored.id, "edited"),
        memory.snapshots.retell(stored),
    ):
        await change
        seen.append((await memory.conversations.get(made.id)).revision)
    assert made.revision < seen[0]
    assert seen == sorted(set(seen))


async def test_what_the_one_before_was_shown_must_be_on_the_branch_too(memory: Store) -> None:
    made, branch = await long_talk(memory, 8)
    side = await memory.messages.append(made.id, user("aside"), parent=branch[4].id)
    beside = await memory.snapshots.add(made.id, fold(await memory.tree.branch(side.id), 3, side))
    with pytest.raises(NotOnBranch, match="what the previous snapshot was shown"):
        await memory.snapshots.add(made.id, replace(fold(branch, 4, branch[6]), previous=beside.id))
    earlier, later = new_id(), new_id()
    with pytest.raises(NotFound, match=earlier):
        await memory.snapshots.add(made.id, replace(fold(branch, 4), first=later, cutoff=earlier))
    await memory.snapshots.add(made.id, replace(fold(branch, 4, branch[6]), previous=new_id()))


async def test_the_newest_is_not_newer_than_itself(memory: Store) -> None:
    made, branch = await long_talk(memory, 6)
    stored = await memory.snapshots.add(made.id, fold(branch, 3))
    assert await memory.snapshots.newer([made.id], stored.id) == ()
