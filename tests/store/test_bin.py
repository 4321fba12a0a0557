"""The bin: what was deleted is found by nobody, comes back as it was, and is removed when its time is over."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from octavo.core.messages import assistant, user
from octavo.errors import NotFound, UsageError
from octavo.store import ForConversation, Store
from octavo.store.connection import Connection
from octavo.store.schema import conversation
from tests.store.scenes import digests, talk

pytestmark = pytest.mark.anyio

LONG = 3_600.0
"""Seconds: nothing is due within a test."""


async def make_due(store: Store, id: str) -> None:
    """Let the time of a deleted conversation be over."""

    async def work(connection: Connection) -> None:
        await connection.execute(sa.update(conversation).where(conversation.c.id == id).values(due=1))

    await store._database.write(work)


async def listed(store: Store, **wanted: bool | None) -> list[str]:
    return [one.id for one in await store.conversations.list(**wanted)]  # type: ignore[arg-type]


async def test_what_was_deleted_is_found_by_nobody(store: Store) -> None:
    kept, _ = await talk(store, "u: the word is xylophone", title="Kept", owner="ann")
    gone, branch = await talk(
        store, "u: the other word is xylophone", "a: zither " + "z " * 40_000, title="Gone", owner="ann"
    )
    await store.bin.delete(gone.id, undo=LONG)
    for archived in (False, True, None):
        assert gone.id not in await listed(store, archived=archived)
    assert await store.conversations.list(title="Gone", archived=None) == ()
    assert [hit.conversation for hit in await store.search.find("xylophone")] == [kept.id]
    assert [hit.conversation for hit in await store.search.find("xylophone", owner="ann")] == [kept.id]
    for words in ("zither", "ither", "z z z"):
        assert await store.search.find(words) == ()
    assert await store.search.find("xylophone", conversation=gone.id) == ()
    said = digests([node.message for node in branch])
    assert await store.tree.find_prefix(said, owner="ann") is None
    assert await store.tree.find_prefix(said, owner="ann", conversation=gone.id) is None
    assert await listed(store, deleted=True) == [gone.id]
    assert await listed(store, deleted=None) == [gone.id, kept.id]
    assert (await store.conversations.get(gone.id)).deleted
    assert await store.check() == ()

    back = await store.bin.restore(gone.id)
    assert (back.deleted, back.archived, back.title) == (False, False, "Gone")
    assert await listed(store) == [gone.id, kept.id]
    assert len(await store.search.find("xylophone")) == 2
    assert await store.tree.find_prefix(said, owner="ann") == branch[-1]


async def test_pages_are_full_although_the_newest_hits_were_deleted(store: Store) -> None:
    kept = [(await talk(store, f"u: harbour {i}"))[0].id for i in range(4)]
    for i in range(6):
        gone, _ = await talk(store, f"u: harbour {i} again", "a: harbour " + "z " * 40_000)
        await store.bin.delete(gone.id, undo=LONG)
    first = await store.search.find("harbour", limit=3)
    assert [hit.conversation for hit in first] == kept[:0:-1]
    rest = await store.search.find("harbour", limit=3, before=first[-1].node)
    assert [hit.conversation for hit in rest] == kept[:1]
    assert await listed(store, archived=None) == kept[::-1]
    assert [one.id for one in await store.conversations.list(limit=2, offset=2)] == kept[1::-1]


async def test_notes_of_a_conversation_go_with_it_and_no_others(store: Store) -> None:
    (kept, _), (gone, _), (late, _) = [await talk(store, f"u: {word}") for word in ("one", "two", "three")]
    many = {f"response:{number}": number for number in range(500)}
    await store.notes.put_all(many, conversation=gone.id)
    await store.notes.put_all({"response:late": 1}, conversation=late.id)
    await store.notes.put_all({"response:kept": 1}, conversation=kept.id)
    await store.notes.put("learned:model", 1)
    await store.bin.delete(late.id, undo=LONG)
    assert await store.notes.get("response:late") == 1, "it can still be restored"
    await store.bin.delete(gone.id)
    assert sorted(await store.notes.starting("response:")) == ["kept", "late"]
    await make_due(store, late.id)
    await store.bin.remove_due()
    assert await store.notes.starting("response:") == {"kept": 1}
    assert await store.notes.get("learned:model") == 1
    assert await store.settings.of_scope(ForConversation(kept.id)) == {}
    with pytest.raises(NotFound):
        await store.notes.put_all({"response:more": 1}, conversation=gone.id)
    assert await store.notes.get("response:more") is None


async def test_it_comes_back_to_where_it_was(store: Store) -> None:
    made, _ = await talk(store, "u: hi")
    await store.conversations.archive(made.id)
    for _ in range(2):
        await store.bin.delete(made.id, undo=LONG)
    assert await listed(store, archived=True) == []
    assert (await store.bin.restore(made.id)).archived
    assert await listed(store, archived=True) == [made.id]
    with pytest.raises(UsageError, match="was not deleted"):
        await store.bin.restore(made.id)
    with pytest.raises(NotFound):
        await store.bin.restore("0" * 32)
    with pytest.raises(NotFound):
        await store.bin.delete("0" * 32, undo=LONG)


async def test_taking_it_out_of_the_archive_does_not_bring_a_deleted_conversation_back(store: Store) -> None:
    """And what is not listed may go; what is listed never does."""
    made, _ = await talk(store, "u: hi")
    await store.conversations.archive(made.id)
    await store.bin.delete(made.id, undo=LONG)
    changed = await store.conversations.archive(made.id, archived=False)
    assert (changed.archived, changed.deleted) == (False, True)
    assert await listed(store, archived=None) == []
    assert not (await store.bin.restore(made.id)).archived
    assert await store.bin.remove_due() == ()
    assert await listed(store) == [made.id]


async def test_what_is_due_is_removed_and_nothing_else(store: Store) -> None:
    kept, _ = await talk(store, "u: kept")
    waiting, _ = await talk(store, "u: waiting")
    over, _ = await talk(store, "u: over", "a: and out")
    await store.settings.put(ForConversation(over.id), "auto", False)
    for one in (waiting, over):
        await store.bin.delete(one.id, undo=LONG)
    assert await store.bin.remove_due() == ()
    await make_due(store, over.id)
    assert await store.bin.remove_due() == (over.id,)
    assert await store.bin.remove_due() == ()
    with pytest.raises(NotFound):
        await store.conversations.get(over.id)
    with pytest.raises(NotFound):
        await store.bin.restore(over.id)
    assert await store.settings.of_scope(ForConversation(over.id)) == {}
    assert await listed(store, deleted=None) == [waiting.id, kept.id]
    assert await store.check() == ()


async def test_what_was_taken_back_in_the_last_moment_is_not_removed(store: Store) -> None:
    """The list of what is due was read before: each is looked at again when it is removed."""
    made, _ = await talk(store, "u: hi")
    await store.bin.delete(made.id, undo=LONG)
    await make_due(store, made.id)
    await store.bin.restore(made.id)
    assert await store.bin.remove_due() == ()
    assert await listed(store) == [made.id]


async def test_what_somebody_goes_on_with_comes_back(store: Store) -> None:
    made, _ = await talk(store, "u: hi", "a: hello")
    await store.bin.delete(made.id, undo=LONG)
    await store.messages.append(made.id, user("I am still here."))
    assert await listed(store) == [made.id]
    await make_due(store, made.id)
    assert await store.bin.remove_due() == ()
    assert (await store.conversations.get(made.id)).messages == 3
    await store.bin.delete(made.id, undo=LONG)
    await store.messages.append_many(made.id, [user("Once more."), assistant("Of course.")])
    assert await listed(store) == [made.id]


async def test_an_answer_that_was_on_its_way_does_not_bring_it_back(store: Store) -> None:
    made, _ = await talk(store, "u: hi")
    await store.bin.delete(made.id, undo=LONG)
    await store.messages.append(made.id, assistant("Hello."))
    assert await listed(store, archived=None) == []
    assert (await store.bin.restore(made.id)).messages == 2


async def test_the_id_of_a_deleted_conversation_is_not_given_again(store: Store) -> None:
    made, _ = await talk(store, "u: hi", owner="ann")
    await store.bin.delete(made.id, undo=LONG)
    with pytest.raises(UsageError, match="is taken"):
        await store.conversations.create("Again", owner="ann", id=made.id)
    with pytest.raises(UsageError, match="is taken"):
        await store.messages.record(made.id, [user("hi")], owner="ann")
    await store.bin.delete(made.id)
    assert (await store.conversations.create("Again", owner="ann", id=made.id)).id == made.id


async def test_nobody_takes_over_the_compression_of_a_deleted_conversation(store: Store) -> None:
    made, branch = await talk(store, "u: hi", "a: hello", "u: and now?")
    await store.jobs.claim(made.id, anchor=branch[-1].id, worker="dead", seen=None, lease=-1)
    await store.bin.delete(made.id, undo=LONG)
    assert await store.jobs.abandoned() == ()
    await store.bin.restore(made.id)
    assert len(await store.jobs.abandoned()) == 1


@dataclass
class Model:
    """What a conversation should be."""

    archived: bool = False
    deleted: bool = False
    due: bool = False
    gone: bool = False

    @property
    def listed(self) -> bool:
        return not (self.deleted or self.gone)


STEPS = ("archive", "unarchive", "delete", "delete", "undelete", "say", "time", "time")


async def change(store: Store, id: str, model: Model, step: str) -> None:
    """Do something to a conversation, and to the model of it."""
    match step:
        case "archive" | "unarchive":
            model.archived = step == "archive"
            await store.conversations.archive(id, archived=model.archived)
        case "delete":
            model.deleted, model.due = True, False
            await store.bin.delete(id, undo=LONG)
        case "undelete" if model.deleted:
            model.deleted = model.due = False
            await store.bin.restore(id)
        case "undelete":
            with pytest.raises(UsageError):
                await store.bin.restore(id)
        case "say":
            model.deleted = model.due = False
            await store.messages.append(id, user("more about trees"))
        case "time" if model.deleted:
            model.due = True
            await make_due(store, id)


async def test_any_order_of_changes_is_a_walk_through_the_states(store: Store) -> None:
    """Archive, delete, bring back, say something, let time pass, remove: 150 steps over 16 conversations.

    Seen failing with: an archiving that lists what is deleted; a removal that looks at the time only.
    """
    dice = random.Random(19)
    models = {(await talk(store, f"u: tree {i}"))[0].id: Model() for i in range(16)}
    for _ in range(150):
        id, step = dice.choice(list(models)), dice.choice([*STEPS, "remove"])
        if step == "remove":
            due = {id for id, model in models.items() if model.due and not model.gone}
            assert set(await store.bin.remove_due()) == due
            for one in due:
                models[one].gone = True
        elif models[id].gone:
            with pytest.raises(NotFound):
                await store.conversations.get(id)
        else:
            await change(store, id, models[id], step)
        for archived in (False, True):
            expected = {i for i, m in models.items() if m.listed and m.archived is archived}
            assert set(await listed(store, archived=archived)) == expected
        found = {hit.conversation for hit in await store.search.find("tree", limit=1_000)}
        assert found == {i for i, m in models.items() if m.listed}
    assert len({model.gone for model in models.values()}) == 2
