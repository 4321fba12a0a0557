"""What conversations cost: added up from the bills of answers and the receipts of compressions."""

from __future__ import annotations

import pytest

from octavo.core.messages import assistant, user
from octavo.store.costs import CACHED, BilledDay
from octavo.store.store import Store
from octavo.store.values import Entry

pytestmark = pytest.mark.anyio


def billed(model: str, sent: int, cached: int | None, day: str) -> Entry:
    return Entry(
        message=assistant("Yes."),
        counts={} if cached is None else {CACHED: cached},
        input_tokens=sent,
        output_tokens=10,
        model=model,
        created=f"{day}T12:00:00+00:00",
    )


async def test_bills_add_up_by_conversation_model_and_day(store: Store) -> None:
    mine = await store.conversations.create("Mine", owner="ann")
    theirs = await store.conversations.create("Theirs", owner="bob")
    said = Entry(message=user("Well?"))
    entries = [
        said,
        billed("m", 100, 40, "2026-11-01"),
        said,
        billed("m", 200, 150, "2026-11-01"),
        said,
        billed("m", 300, None, "2026-11-02"),
        said,
        billed("n", 50, 0, "2026-11-02"),
    ]
    await store.messages.append_many(mine.id, entries, parent=None)
    await store.messages.append_many(theirs.id, [said, billed("m", 7, 7, "2026-11-02")], parent=None)
    found = await store.costs.bills(owner="ann")
    assert set(found) == {
        BilledDay(
            conversation=mine.id, model="m", day="2026-11-01", requests=2, input=300, cached=190, output=20
        ),
        BilledDay(conversation=mine.id, model="m", day="2026-11-02", requests=1, input=300, output=10),
        BilledDay(conversation=mine.id, model="n", day="2026-11-02", requests=1, input=50, output=10),
    }
    assert [day.input for day in await store.costs.bills(id=theirs.id)] == [7]
    assert len(await store.costs.bills()) == 4
    assert await store.costs.sent(mine.id) == (650, 190, 350)
    assert await store.costs.compressions() == ()


async def test_where_nothing_was_billed_everything_is_nothing(store: Store) -> None:
    made = await store.conversations.create("Silent")
    assert await store.costs.sent(made.id) == (0, 0, 0)
    await store.messages.append(made.id, user("Well?"), parent=None)
    assert await store.costs.sent(made.id) == (0, 0, 0)
    assert [*await store.costs.bills(id=made.id)] == []
    short = Entry(message=assistant("Yes."), input_tokens=5, model="m", created="2026-11-01T12:00:00+00:00")
    await store.messages.append_many(made.id, [short])
    (day,) = await store.costs.bills(id=made.id)
    assert day == BilledDay(conversation=made.id, model="m", day="2026-11-01", requests=1, input=5)
