"""Settings at three levels, notes, API keys and pins."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from octavo.core.json_values import Json
from octavo.errors import BadInput, NotFound
from octavo.store import Everywhere, ForConversation, ForModel, PinPlace, Store, new_id
from octavo.store.connection import Connection
from octavo.store.rows import now, time_text
from octavo.store.schema import api_key
from tests.store.scenes import long_talk, talk

pytestmark = pytest.mark.anyio


async def test_the_nearest_level_wins(store: Store) -> None:
    """FR-3.1; cases 13, 82, 83."""
    made, _ = await talk(store, "u: hi")
    other, _ = await talk(store, "u: ho")
    await store.settings.put(Everywhere(), "auto", True)
    await store.settings.put(Everywhere(), "retained", 1000)
    await store.settings.put(ForModel("p/m"), "retained", 2000)
    await store.settings.put(ForConversation(made.id), "retained", None)
    await store.settings.put(ForConversation(made.id), "policy", {"name": "onyx", "marks": [0.5]})
    assert await store.settings.resolve(model="p/m", conversation=made.id) == {
        "auto": True,
        "retained": None,
        "policy": {"name": "onyx", "marks": [0.5]},
    }
    assert await store.settings.resolve(model="p/m", conversation=other.id) == {
        "auto": True,
        "retained": 2000,
    }
    assert await store.settings.resolve() == {"auto": True, "retained": 1000}
    assert await store.settings.remove(ForConversation(made.id), "retained")
    assert not await store.settings.remove(ForConversation(made.id), "retained")
    assert (await store.settings.resolve(model="p/m", conversation=made.id))["retained"] == 2000
    assert list(await store.settings.of_scope(ForConversation(made.id))) == ["policy"]


async def test_settings_survive_a_restart(store: Store, url: str) -> None:
    await store.settings.put(Everywhere(), "auto", False)
    await store.settings.put(Everywhere(), "auto", True)
    async with await Store.open(url) as again:
        assert await again.settings.resolve() == {"auto": True}


async def test_settings_belong_to_conversations_that_exist(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.settings.put(ForConversation(new_id()), "auto", True)


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1, None, "\x00\ud800"]}, 1.5, True])
async def test_notes_hold_any_json(store: Store, value: Json) -> None:
    assert await store.notes.get("meter:x") is None
    await store.notes.put("meter:x", "first")
    await store.notes.put("meter:x", value)
    assert await store.notes.get("meter:x") == value


async def test_a_note_is_read_together_with_settings_and_with_other_notes(store: Store) -> None:
    here, there = Everywhere(), ForModel("note")
    assert await store.settings.with_note("cards", here, there) == (None, ({}, {}))
    await store.notes.put_all({"item:a": 1, "meter:x": "third"})
    assert await store.notes.named("item:a", "meter:x") == {"item:a": 1, "meter:x": "third"}
    await store.notes.put("cards", {"m": {"window": 9}})
    await store.notes.put("other", [1])
    await store.settings.put(here, "auto", True)
    await store.settings.put(there, "cards", "a setting of that name")
    assert await store.settings.with_note("cards", here, there) == (
        {"m": {"window": 9}},
        ({"auto": True}, {"cards": "a setting of that name"}),
    )
    assert await store.notes.named("other", "none", "cards") == {
        "other": [1],
        "none": None,
        "cards": {"m": {"window": 9}},
    }


async def test_an_api_key_is_shown_once_and_stored_hashed(store: Store) -> None:
    key, secret = await store.keys.create("laptop", owner="ann", scopes=["read", "write"])
    assert (key.name, key.owner, key.scopes, key.revoked, key.used) == (
        "laptop",
        "ann",
        ("read", "write"),
        False,
        None,
    )
    assert secret.startswith(key.prefix)
    assert len(secret) - len(key.prefix) > 32
    found = await store.keys.find(secret)
    assert found == key
    assert (await store.keys.every(owner="ann"))[0].used is not None
    assert await store.keys.every(owner="bob") == ()
    assert await store.keys.find(secret + "x") is None
    assert await store.keys.find(key.prefix) is None
    (row,) = await store._database.read(stored_keys)
    assert row.sha256 == hashlib.sha256(secret.encode()).digest()
    assert secret not in str(row)


async def test_the_use_of_a_key_is_noted_once_a_minute(memory: Store) -> None:
    """Requests must not turn into writes."""
    key, secret = await memory.keys.create("laptop")

    async def use(seconds_ago: int) -> bool:
        """Use the key some time after it was used before; tell whether that was noted."""
        before = now() - seconds_ago * 1_000
        changed = sa.update(api_key).where(api_key.c.id == key.id).values(used=before)
        await memory._database.write(lambda c: c.execute(changed))
        assert await memory.keys.find(secret) is not None
        (found,) = await memory.keys.every()
        return found.used != time_text(before)

    assert [await use(ago) for ago in (0, 30, 59, 61, 3_600)] == [False, False, False, True, True]


async def stored_keys(connection: Connection) -> Sequence[sa.Row[Any]]:
    return (await connection.execute(sa.select(api_key))).all()


async def test_a_revoked_key_opens_nothing(store: Store) -> None:
    key, secret = await store.keys.create("old")
    assert (await store.keys.revoke(key.id)).revoked
    assert await store.keys.find(secret) is None
    assert (await store.keys.every())[0].revoked
    with pytest.raises(NotFound):
        await store.keys.revoke(new_id())


async def test_a_key_may_read_and_write_unless_told_otherwise(store: Store) -> None:
    key, _ = await store.keys.create("laptop")
    assert key.scopes == ("read", "write")


@pytest.mark.parametrize(
    ("name", "scopes", "problem"),
    [
        ("", ["read"], "name"),
        (" \t", ["read"], "name"),
        ("laptop", [], "scope"),
        ("laptop", ["wirte"], "'wirte'"),
    ],
)
async def test_a_key_without_a_name_or_a_right_is_refused(
    store: Store, name: str, scopes: list[str], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        await store.keys.create(name, scopes=scopes)
    assert await store.keys.every() == ()


async def test_keys_differ(store: Store) -> None:
    made = [await store.keys.create("same") for _ in range(5)]
    assert len({secret for _, secret in made}) == 5


async def test_messages_and_selections_are_pinned_and_unpinned(store: Store) -> None:
    made, branch = await talk(store, "u: keep this number: 42", "a: noted", "u: thanks")
    await store.pins.add(branch[2].id)
    await store.pins.add(branch[0].id, 18, 20)
    await store.pins.add(branch[0].id, 18, 20)
    assert await store.pins.of_conversation(made.id) == (
        PinPlace(node=branch[0].id, start=18, stop=20),
        PinPlace(node=branch[2].id),
    )
    first, second = await store.pins.of_branch(branch[2].id)
    assert (first.node, first.selection, second.node, second.selection) == (branch[0], "42", branch[2], "")
    assert await store.pins.remove(branch[2].id)
    assert not await store.pins.remove(branch[2].id)
    assert len(await store.pins.of_conversation(made.id)) == 1


async def test_only_pins_on_the_branch_count(store: Store) -> None:
    made, branch = await long_talk(store, 40)
    side = await store.messages.append(made.id, branch[0].message, parent=branch[20].id)
    for node in (branch[0], branch[19], branch[20], branch[21], branch[39], side):
        await store.pins.add(node.id)
    assert [pin.node for pin in await store.pins.of_branch(branch[39].id)] == [
        branch[0],
        branch[19],
        branch[20],
        branch[21],
        branch[39],
    ]
    assert [pin.node for pin in await store.pins.of_branch(side.id)] == [
        branch[0],
        branch[19],
        branch[20],
        side,
    ]
    assert [pin.node for pin in await store.pins.of_branch(branch[5].id)] == [branch[0]]


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 2), (3, 1), (0, 99), (5, 0)])
async def test_a_selection_lies_inside_its_text(store: Store, start: int, stop: int) -> None:
    _, (node,) = await talk(store, "u: short")
    with pytest.raises(BadInput, match="no part of a text"):
        await store.pins.add(node.id, start, stop)


async def test_notes_are_found_by_how_their_keys_begin_and_forgotten(store: Store) -> None:
    for key in ("wish_:a", "wish_:b%", "wishx:c"):
        await store.notes.put(key, key)
    assert await store.notes.starting("wish_:") == {"a": "wish_:a", "b%": "wish_:b%"}
    assert await store.notes.remove("wish_:a") is True
    assert await store.notes.remove("wish_:a") is False
    assert await store.notes.starting("wish_:") == {"b%": "wish_:b%"}
