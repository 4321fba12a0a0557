"""What was recalled for messages: said once, by whoever is first, and given back in order."""

from __future__ import annotations

import pytest

from octavo.store import Store, passages
from tests.store.scenes import long_talk, passage_of

pytestmark = pytest.mark.anyio


async def test_what_was_recalled_first_counts_and_the_revision_tells_of_it(memory: Store) -> None:
    made, branch = await long_talk(memory, 6)
    first = (passage_of(branch[1]), passage_of(branch[0], 2))
    found, revision = await memory.passages.add(made.id, branch[4].id, first)
    assert found == first
    assert (await memory.conversations.get(made.id)).revision == revision > made.revision
    for other in ((passage_of(branch[2]),), ()):
        assert await memory.passages.add(made.id, branch[4].id, other) == (first, revision)
    assert await memory.passages.add(made.id, branch[5].id, ()) == ((), revision)
    assert (await memory.conversations.get(made.id)).revision == revision


async def test_of_what_was_deleted_meanwhile_nothing_is_said(memory: Store) -> None:
    made, branch = await long_talk(memory, 6)
    await memory.messages.delete(branch[1].id)
    revision = (await memory.conversations.get(made.id)).revision
    gone, there = passage_of(branch[1]), passage_of(branch[2])
    assert await memory.passages.add(made.id, branch[4].id, (gone,)) == ((), revision)
    assert await memory.passages.add(made.id, branch[5].id, (gone, there)) == ((there,), revision + 1)


async def test_passages_are_given_in_the_order_of_the_messages_however_many(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "SOME", 2)
    made, branch = await long_talk(memory, 6)
    said = {node.id: (passage_of(branch[0]), passage_of(branch[0], 3)) for node in branch[1:]}
    for node in reversed(branch[1:]):
        await memory.passages.add(made.id, node.id, said[node.id])
    assert [*(await memory.passages.of_conversation(made.id)).items()] == [*said.items()]
    assert await memory.passages.of([node.id for node in branch]) == said
    assert await memory.passages.of([]) == {}
