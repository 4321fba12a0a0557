"""Labels of conversations: on both databases, for their owner only, copied and removed with the conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.errors import BadInput, NotFound
from octavo.store import Store, new_id
from octavo.store.labels import LONGEST, MOST, Label
from tests.store.scenes import talk

pytestmark = pytest.mark.anyio


async def test_conversations_are_listed_by_label(store: Store) -> None:
    first, second = [await store.conversations.create(title, owner="ann") for title in ("one", "two")]
    await store.labels.put(first.id, ["work", "  two  words ", "work"])
    await store.labels.put(second.id, ["work"])
    assert await store.labels.of(first.id, second.id) == {
        first.id: ("two words", "work"),
        second.id: ("work",),
    }
    found = await store.conversations.list(label="two words")
    assert [one.id for one in found] == [first.id]
    assert len(await store.conversations.list(label="work", owner="ann")) == 2
    assert await store.conversations.list(label="work", owner="bob") == ()
    assert await store.conversations.list(label="wor") == ()
    await store.labels.put(first.id, [])
    assert await store.labels.of(first.id) == {first.id: ()}


async def test_a_label_is_renamed_for_its_owner_only(store: Store) -> None:
    """Planted: `rename` without its owner."""
    mine = await store.conversations.create("mine", owner="ann")
    both = await store.conversations.create("both", owner="ann")
    theirs = await store.conversations.create("theirs", owner="bob")
    await store.labels.put(mine.id, ["work"])
    await store.labels.put(both.id, ["work", "office"])
    await store.labels.put(theirs.id, ["work"])
    assert await store.labels.rename("work", "office", owner="ann") == 2
    assert await store.labels.list(owner="ann") == (Label(name="office", conversations=2),)
    assert await store.labels.list(owner="bob") == (Label(name="work", conversations=1),)
    assert await store.labels.rename("office", None, owner="ann") == 2
    assert await store.labels.list() == (Label(name="work", conversations=1),)


async def test_labels_go_with_copies_and_with_the_conversation(store: Store) -> None:
    made, nodes = await talk(store, "u: hi", "a: ho")
    await store.labels.put(made.id, ["work"])
    copied = await store.conversations.copy(made.id)
    forked = await store.conversations.fork(nodes[0].id)
    assert await store.labels.of(copied.id, forked.id) == {copied.id: ("work",), forked.id: ("work",)}
    for id in (copied.id, forked.id):
        await store.bin.delete(id)
    assert await store.labels.list() == (Label(name="work", conversations=1),)
    await store.bin.delete(made.id, undo=60)
    assert await store.labels.list() == ()
    await store.bin.restore(made.id)
    assert await store.labels.of(made.id) == {made.id: ("work",)}


async def test_what_is_no_label_is_refused(store: Store) -> None:
    made = await store.conversations.create("one")
    most = ["x" * LONGEST, *(str(n) for n in range(MOST - 1))]
    await store.labels.put(made.id, most)
    assert sorted((await store.labels.of(made.id))[made.id]) == sorted(most)
    for wrong in (["  "], ["x" * (LONGEST + 1)], [str(n) for n in range(MOST + 1)]):
        with pytest.raises(BadInput):
            await store.labels.put(made.id, wrong)
    with pytest.raises(NotFound):
        await store.labels.put(new_id(), ["work"])


async def test_labels_come_in_the_order_of_the_alphabet(memory: Store) -> None:
    made = await memory.conversations.create("one")
    await memory.labels.put(made.id, ["b", "C", "a", "A"])
    assert (await memory.labels.of(made.id))[made.id] == ("A", "a", "b", "C")
    assert [label.name for label in await memory.labels.list()] == ["A", "a", "b", "C"]


async def test_labels_go_with_a_file(store: Store, tmp_path: Path) -> None:
    made, _ = await talk(store, "u: hello")
    await store.labels.put(made.id, ["work", "two words"])
    path = tmp_path / "one.jsonl"
    await store.export(path, [made.id])
    (copy,) = await store.import_file(path, new_ids=True)
    assert (await store.labels.of(copy.id))[copy.id] == ("two words", "work")
    lines = path.read_text("utf-8")
    path.write_text(lines.replace('"two words"', f'"{"x" * (LONGEST + 1)}"'), "utf-8")
    with pytest.raises(BadInput, match=r"labels: expected 1 to 40 characters, got 41"):
        await store.import_file(path, new_ids=True)
