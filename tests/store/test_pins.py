"""Pins: of a whole message or of a selection of its text, once each, and only of what is there."""

from __future__ import annotations

import pytest

from octavo.core.messages import user
from octavo.errors import BadInput, NotFound, UsageError
from octavo.store import Store, new_id
from tests.store.scenes import long_talk

pytestmark = pytest.mark.anyio


async def pinned(store: Store, conversation: str) -> list[tuple[str, int, int]]:
    return [(pin.node, pin.start, pin.stop) for pin in await store.pins.of_conversation(conversation)]


async def revision(store: Store, conversation: str) -> int:
    return (await store.conversations.get(conversation)).revision


async def test_a_message_is_pinned_once_and_unpinned_once(store: Store) -> None:
    made, branch = await long_talk(store, 4)
    before = await revision(store, made.id)
    await store.pins.add(branch[1].id)
    assert await pinned(store, made.id) == [(branch[1].id, 0, 0)]
    once = await revision(store, made.id)
    assert once > before, "whoever holds the state of the conversation has to see it"
    await store.pins.add(branch[1].id)
    assert await pinned(store, made.id) == [(branch[1].id, 0, 0)]
    assert await revision(store, made.id) == once
    assert not await store.pins.remove(branch[1].id, 0, 1)
    assert await revision(store, made.id) == once
    assert await store.pins.remove(branch[1].id)
    assert await pinned(store, made.id) == []
    assert await revision(store, made.id) > once
    assert not await store.pins.remove(branch[1].id)


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 5), (4, 5)])
async def test_any_part_of_a_text_can_be_pinned(store: Store, start: int, stop: int) -> None:
    made, _ = await long_talk(store, 1)
    node = await store.messages.append(made.id, user("Lyon!"))
    await store.pins.add(node.id, start, stop)
    assert await pinned(store, made.id) == [(node.id, start, stop)]


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (5, 5), (5, 6), (3, 2), (-1, 2), (1, 0)])
async def test_what_is_no_part_of_a_text_is_refused_with_its_size(
    store: Store, start: int, stop: int
) -> None:
    made, _ = await long_talk(store, 1)
    node = await store.messages.append(made.id, user("Lyon!"))
    with pytest.raises(BadInput, match=f"{start}:{stop} is no part of a text of 5 characters"):
        await store.pins.add(node.id, start, stop)
    assert await pinned(store, made.id) == []


async def test_what_is_not_there_cannot_be_pinned(store: Store) -> None:
    made, branch = await long_talk(store, 4)
    missing = new_id()
    with pytest.raises(NotFound, match=missing):
        await store.pins.add(missing)
    assert not await store.pins.remove(missing)
    await store.messages.delete(branch[1].id)
    with pytest.raises(UsageError, match="was deleted"):
        await store.pins.add(branch[1].id)
    assert await pinned(store, made.id) == []
