"""A turn costs what is new in it: the cached state goes along, and is dropped when anybody changed anything."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.messages import user
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.state import FEW
from octavo.engine.state_cache import TipStateCache
from octavo.store.values import StoredContext
from tests.engine.conftest import MODEL, MakeEngine

pytestmark = pytest.mark.anyio


def count_loads(engine: Engine) -> list[str]:
    """Note every time the context of a tip is read from the store."""
    loads: list[str] = []
    read = engine.store.snapshots.context

    async def context(tip: str, **asked: Any) -> StoredContext:
        loads.append(tip)
        return await read(tip, **asked)

    engine.store.snapshots.context = context  # type: ignore[method-assign]
    return loads


async def say(chat: Chat, *texts: str) -> None:
    for text in texts:
        async for _ in chat.turn(text):
            pass


async def test_after_the_first_look_turns_read_nothing_again(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    await say(chat, "one")
    loads = count_loads(engine)
    await say(chat, "two", "three", "four")
    await chat.usage()
    await chat.context()
    assert loads == []
    assert [node.message.text for node in await chat.branch()][::2] == ["one", "two", "three", "four"]


@pytest.mark.parametrize("look_every", [1, 7, 100])
async def test_a_scene_that_grew_is_the_one_that_is_loaded(make: MakeEngine, look_every: int) -> None:
    """Planted bugs seen here: what was added is taken up twice; ids of added messages are not noted as sent."""
    engine = await make()
    chat = await engine.create()
    await say(chat, *(f"question {n} about port {8000 + n}" for n in range(12)))
    await chat.compress(keep=0)
    await chat._state()
    loads = count_loads(engine)
    for n in range(2 * FEW + 3):
        await chat.add(f"note {n}", role="assistant" if n % 2 else "user")
        if n % look_every == 0:
            assert (await chat._state()).context.retained[-1].text == f"note {n}"
    held = await chat._state()
    assert loads == []
    engine.states = TipStateCache(engine.store, engine.models)
    fresh = await chat._state()
    assert (held.recipe, held.context, held.turn) == (fresh.recipe, fresh.context, fresh.turn)
    assert (held.reading, held.budget, held.survey) == (fresh.reading, fresh.budget, fresh.survey)


async def test_what_another_engine_changed_is_seen_at_the_next_turn(make: MakeEngine) -> None:
    engine, other = await make(), await make()
    chat = await engine.create()
    await say(chat, *(f"question {n} about port {8000 + n}" for n in range(12)))
    elsewhere = await other.chat(chat.id)
    loads = count_loads(engine)
    first = (await chat.branch())[0].id

    await elsewhere.pins.add(first)
    assert (await chat._state()).recipe.pins
    await elsewhere.pins.remove(first)
    assert not (await chat._state()).recipe.pins
    await elsewhere.compress(keep=0)
    folded = await chat._state()
    assert folded.serving
    assert folded.recipe.snapshot is not None
    await elsewhere.undo()
    assert (await chat._state()).serving is None
    await elsewhere.delete_message(first)
    assert (await chat._state()).recipe.branch[0].status == "deleted"
    assert len(loads) == 5


async def test_other_settings_models_and_tips_are_looked_at_anew(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    await say(chat, "one", "two")
    loads = count_loads(engine)
    await chat.set(system="Answer in verse.")
    assert (await chat.usage()).reading.breakdown[0][0] == "system"
    await chat.set(model="claude-sonnet-4-5")
    assert (await chat._state()).meter.card.name != MODEL
    await chat.set(model=MODEL)
    branch = await chat.branch()
    await chat.checkout(branch[0].id)
    await engine.store.conversations.move_tip(chat.id, branch[1].id, expected=branch[-1].id)
    assert (await chat._state()).tip == branch[1].id
    assert len(loads) == 3


async def test_only_so_many_conversations_are_remembered(make: MakeEngine) -> None:
    engine = await make()
    engine.states = TipStateCache(engine.store, engine.models, 2)
    chats = [await engine.create() for _ in range(3)]
    for chat in chats:
        await say(chat, "hello")
    loads = count_loads(engine)
    for chat in reversed(chats):
        await chat.usage()
    assert loads == [await chats[0]._tip()]


async def test_a_long_conversation_takes_the_place_of_several(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.engine.state_cache.PLACE", 5)
    engine = await make()
    engine.states = TipStateCache(engine.store, engine.models, 3)
    chats = [await engine.create() for _ in range(3)]
    for chat in chats:
        await say(chat, "hello")
    long = await engine.create()
    await engine.store.messages.append_many(long.id, [user(f"note {n}") for n in range(5)])
    await long.usage()
    loads = count_loads(engine)
    for chat in (long, chats[2], chats[1], chats[0]):
        await chat.usage()
    assert loads == [await chats[1]._tip(), await chats[0]._tip()]


async def test_what_was_learned_of_a_card_that_was_replaced_is_not_kept(make: MakeEngine) -> None:
    """Seen failing with: a meter that is looked for where it was taken away."""
    engine = await make()
    chat = await engine.create()
    await say(chat, "one", "two")
    del engine.models.meters[MODEL]
    await engine.models.save()
    assert (await chat.usage()).reading.tokens > 0
