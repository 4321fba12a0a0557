"""What conversations cost: added up from the bills of answers and the receipts of compressions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from octavo.core.messages import assistant, user
from octavo.core.snapshot import Snapshot
from octavo.store.store import Store
from octavo.store.values import CACHED, BilledDay, CompressionBill, Entry
from tests.store.scenes import fold

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


async def test_the_newest_bills_tell_of_the_cache_the_oldest_first(memory: Store) -> None:
    made = await memory.conversations.create("Mine")
    nameless = replace(billed("", 300, 200, "2026-11-02"), model="")
    entries = [billed("m", 100, 40, "2026-11-01"), billed("m", 200, None, "2026-11-01"), nameless]
    await memory.messages.append_many(made.id, entries)
    assert await memory.costs.newest(made.id) == (("m", 100, 40), ("", 300, 200))


def compressed(snapshot: Snapshot, day: str, receipt: object) -> Snapshot:
    """Give a snapshot a day and the receipt of its compression."""
    text = receipt if isinstance(receipt, str) else json.dumps(receipt)
    return replace(snapshot, created=f"{day}T12:00:00.000+00:00", receipt=text)


async def test_what_compressions_cost_is_in_their_receipts(memory: Store) -> None:
    """A snapshot without a receipt cost nothing, and one that made its branch longer saved nothing."""
    made = await memory.conversations.create("Mine", owner="ann")
    other = await memory.conversations.create("Theirs", owner="bob")
    branch = await memory.messages.append_many(made.id, [user(f"m{n}") for n in range(6)])
    theirs = await memory.messages.append_many(other.id, [user("m")])
    paid = {"model": "m", "tokens": [900, 100], "summary": [2, 950, 80, 0.25]}
    longer = {"tokens": [50, 60]}
    stored = [
        await memory.snapshots.add(made.id, compressed(fold(branch, cut), "2026-11-01", receipt))
        for cut, receipt in ((2, paid), (3, ""), (4, "no receipt"), (5, longer))
    ]
    await memory.snapshots.undo(stored[3].id)
    bob = await memory.snapshots.add(other.id, compressed(fold(theirs, 1), "2026-11-02", {"model": "n"}))
    first = CompressionBill(
        id=stored[0].id,
        conversation=made.id,
        day="2026-11-01",
        model="m",
        requests=2,
        input=950,
        output=80,
        price=0.25,
        saved=800,
        created="2026-11-01T12:00:00.000+00:00",
        cutoff=branch[1].id,
        cutoff_depth=2,
    )
    free = replace(first, model="", requests=0, input=0, output=0, price=None, saved=0)
    second = replace(free, id=stored[3].id, cutoff=branch[4].id, cutoff_depth=5, active=False)
    third = replace(
        free,
        id=bob.id,
        conversation=other.id,
        day="2026-11-02",
        model="n",
        created="2026-11-02T12:00:00.000+00:00",
        cutoff=theirs[0].id,
        cutoff_depth=1,
    )
    assert await memory.costs.compressions() == (first, second, third)
    assert await memory.costs.compressions(owner="ann") == (first, second)
    assert await memory.costs.compressions(id=other.id) == (third,)


def bill(conversation: str, cutoff: str, depth: int, saved: int, *, active: bool = True) -> CompressionBill:
    """Make the bill of a compression on the first of November, at noon."""
    return CompressionBill(
        id="",
        conversation=conversation,
        day="2026-11-01",
        model="",
        requests=0,
        input=0,
        output=0,
        price=None,
        saved=saved,
        created="2026-11-01T12:00:00+00:00",
        cutoff=cutoff,
        cutoff_depth=depth,
        active=active,
    )


async def test_requests_after_a_compression_and_below_it_were_shorter(memory: Store) -> None:
    """Not one that was sent at the same moment, and not one for the last message that it covers."""
    made = await memory.conversations.create("Mine")
    days = ("2026-11-02", "2026-11-02", "2026-11-01", "2026-11-02", "2026-11-03")
    branch = await memory.messages.append_many(made.id, [billed("m", 10, None, day) for day in days])
    at = branch[1].id
    made_anew = [bill(made.id, at, 2, 999), bill(made.id, at, 2, 50), bill("0" * 32, at, 0, 7)]
    undone = bill(made.id, branch[0].id, 1, 300, active=False)
    found = {day.day: day for day in await memory.costs.bills(after=[*made_anew, undone])}
    assert [(found[day].requests, found[day].saved, found[day].shortened) for day in sorted(found)] == [
        (1, 0, 0),
        (3, 50, 1),
        (1, 50, 1),
    ]


async def test_where_a_conversation_forks_requests_on_other_branches_were_not_shorter(memory: Store) -> None:
    made = await memory.conversations.create("Mine")
    trunk = await memory.messages.append_many(made.id, [user(f"m{n}") for n in range(3)])
    for day in ("2026-11-02", "2026-11-03"):
        asked, answer = Entry(message=user("And then?")), billed("m", 10, None, day)
        said = [asked, answer, asked, answer]
        last = await memory.messages.append_many(made.id, said, parent=trunk[-1].id)
    bills = [bill(made.id, trunk[1].id, 2, 5), bill(made.id, last[2].id, 6, 70)]
    found = {day.day: (day.saved, day.shortened) for day in await memory.costs.bills(after=bills)}
    assert found == {"2026-11-02": (5 + 5, 2), "2026-11-03": (5 + 75, 2)}
