"""Titles that nobody gave, and what better ones cost."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from octavo.store import Store
from octavo.store.connection import Connection
from octavo.store.rows import now, time_text
from octavo.store.schema import note, setting
from octavo.store.values import TitleBill

pytestmark = pytest.mark.anyio

BILL = TitleBill(model="gpt-4o-mini", requests=1, input=200, output=6, price=0.25)


async def test_a_provisional_title_gives_way_once(store: Store) -> None:
    made = await store.conversations.create("first words", provisional=True)
    assert await store.titles.is_provisional(made.id)
    assert not await store.titles.write(made.id, "", BILL)
    assert await store.titles.is_provisional(made.id)
    assert await store.titles.write(made.id, "Better", BILL)
    assert not await store.titles.write(made.id, "Better still", BILL)
    found = await store.conversations.get(made.id)
    assert (found.title, found.updated) == ("Better", made.updated)
    (bill,) = await store.titles.bills(id=made.id)
    assert (bill.conversation, bill.model, bill.requests, bill.input) == (made.id, "gpt-4o-mini", 3, 600)
    assert (bill.output, bill.price) == (18, 0.75)


async def test_a_title_that_nobody_paid_for_has_no_price_and_one_that_was_not_written_no_bill(
    memory: Store,
) -> None:
    made = await memory.conversations.create("first words", provisional=True)
    assert await memory.titles.bills() == ()
    free = replace(BILL, price=None)
    await memory.titles.write(made.id, "", free)
    (bill,) = await memory.titles.bills()
    assert (bill.requests, bill.price) == (1, None)
    await memory.titles.write(made.id, "Better", BILL)
    (bill,) = await memory.titles.bills()
    assert (bill.requests, bill.price, bill.day) == (2, BILL.price, time_text(now())[:10])


async def test_what_a_person_names_stays(store: Store) -> None:
    made = await store.conversations.create("first words", provisional=True)
    await store.conversations.rename(made.id, "Mine")
    assert not await store.titles.write(made.id, "Better", BILL)
    assert (await store.conversations.get(made.id)).title == "Mine"


async def test_a_conversation_made_twice_is_marked_once(store: Store) -> None:
    made = await store.conversations.create("first words", provisional=True)
    await store.conversations.rename(made.id, "Mine")
    await store.conversations.create("first words", id=made.id, provisional=True)
    assert not await store.titles.is_provisional(made.id)


async def test_bills_are_their_owners_and_go_with_the_conversation(store: Store) -> None:
    made = await store.conversations.create("first words", owner="ann", provisional=True)
    await store.titles.write(made.id, "Better", BILL)
    assert [bill.conversation for bill in await store.titles.bills(owner="ann")] == [made.id]
    assert await store.titles.bills(owner="bob") == ()
    await store.bin.delete(made.id)

    async def left(connection: Connection) -> int:
        kept = await connection.scalar(sa.select(sa.func.count()).where(note.c.key.startswith("title:")))
        listed = await connection.scalar(sa.select(sa.func.count()).where(setting.c.key.startswith("title:")))
        return int(kept or 0) + int(listed or 0)

    assert await store._database.read(left) == 0
