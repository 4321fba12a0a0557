"""Costs of a conversation: what requests after a compression were shorter is added up with their bills."""

from __future__ import annotations

import pytest

from octavo.core.budget import Price
from octavo.core.message_json import Json
from octavo.core.messages import assistant, user
from octavo.core.price_rule import dollars
from octavo.core.reply import Reply, Usage
from octavo.engine.chat import Chat
from octavo.engine.compression import cost
from octavo.engine.costs import CostLine, costs
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.store.values import Entry, TitleBill
from tests.engine.conftest import MODEL, MakeEngine

pytestmark = pytest.mark.anyio

FILLER = "We talked at length about the weather and other things. " * 8


async def filled(engine: Engine) -> Chat:
    chat = await engine.create()
    for n in range(6):
        await chat.add(f"Question {n}. {FILLER}")
        await chat.add(f"Answer {n}. {FILLER}", role="assistant")
    return chat


async def compressed(engine: Engine) -> tuple[Chat, str, str, Compressed]:
    """Make a conversation that was compressed; gives its tip as well, and a message far above the cutoff."""
    chat = await filled(engine)
    tip = (await engine.store.conversations.get(chat.id)).tip
    assert tip is not None
    fork = (await engine.store.tree.branch(tip))[1].id
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    return chat, tip, fork, outcome


async def test_requests_after_a_compression_save_what_it_took_off(make: MakeEngine) -> None:
    bill = Reply(message=assistant("Yes."), usage=Usage(input=1_000, output=5))
    engine = await make(lambda _: bill, window=128_000)
    chat = await filled(engine)

    async def ask() -> None:
        async for _ in chat.turn("And now?"):
            pass

    await ask()
    (before,) = await costs(engine, by="conversation")
    assert (before.requests, before.sent, before.saved) == (1, 1_000, 0)
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    paper = await chat.snapshots.receipt(outcome.snapshot.id)
    assert paper is not None
    await ask()
    await ask()
    (after,) = await costs(engine, by="conversation")
    assert (after.requests, after.sent) == (3, 3_000)
    so_far = await chat.snapshots.saved_so_far(outcome.snapshot.id)
    assert so_far is not None
    assert so_far.turns == 2
    assert so_far.saved == pytest.approx(after.saved * 1.25e-6)
    assert so_far.in_words.startswith("cost $0.00; saved $0.00")
    assert so_far.in_words.endswith(" so far over 2 turns")
    assert after.saved == 2 * (paper.tokens_before - paper.tokens_after) > 0


async def test_what_a_model_without_a_price_saved_is_not_told_in_money(make: MakeEngine) -> None:
    bill = Reply(
        message=assistant("Yes."), usage=Usage(input=1_000, output=5), model="nobody-knows-its-price"
    )
    engine = await make(lambda _: bill, window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    so_far = await chat.snapshots.saved_so_far(outcome.snapshot.id)
    assert so_far is not None
    assert (so_far.turns, so_far.cost, so_far.saved, so_far.in_words) == (0, None, None, "")
    async for _ in chat.turn("And now?"):
        pass
    so_far = await chat.snapshots.saved_so_far(outcome.snapshot.id)
    assert so_far is not None
    assert (so_far.turns, so_far.saved) == (1, None)


async def test_what_was_undone_saves_nothing(make: MakeEngine) -> None:
    """Seen failing with: every compression that ever was counted for all later requests."""
    bill = Reply(message=assistant("Yes."), usage=Usage(input=1_000, output=5))
    engine = await make(lambda _: bill, window=128_000)
    chat, tip, fork, outcome = await compressed(engine)
    answer = Entry(message=assistant("Yes."), input_tokens=1_000, model=MODEL)
    await engine.store.messages.append_many(chat.id, [user("And now?"), answer], parent=fork)
    (elsewhere,) = await costs(engine, by="conversation")
    assert (elsewhere.requests, elsewhere.saved) == (1, 0), "a branch above the cutoff is not shorter"
    await engine.store.snapshots.undo(outcome.snapshot.id)
    await engine.store.messages.append_many(chat.id, [user("And now?"), answer], parent=tip)
    (undone,) = await costs(engine, by="conversation")
    assert (undone.requests, undone.saved) == (2, 0)


@pytest.mark.parametrize("deeper", [1, 20])
async def test_a_branch_that_parts_above_the_cutoff_saves_nothing(make: MakeEngine, deeper: int) -> None:
    """Seen failing with: a branch that is longer than what was covered on another one."""
    engine = await make(window=128_000)
    chat, tip, fork, outcome = await compressed(engine)
    paper = await chat.snapshots.receipt(outcome.snapshot.id)
    assert paper is not None
    answer = Entry(message=assistant("Yes."), input_tokens=1_000, model=MODEL)
    await engine.store.messages.append_many(chat.id, [user("And now?"), answer] * deeper, parent=fork)
    (elsewhere,) = await costs(engine, by="conversation")
    assert (elsewhere.requests, elsewhere.saved) == (deeper, 0)
    await engine.store.messages.append_many(chat.id, [user("And now?"), answer], parent=tip)
    (both,) = await costs(engine, by="conversation")
    assert both.saved == paper.tokens_before - paper.tokens_after > 0


async def test_what_is_written_to_a_cache_costs_more(make: MakeEngine) -> None:
    usage = Usage(input=1_000, output=10, cached=400)
    engine = await make(lambda _: Reply(message=assistant("Yes."), usage=usage, model="writes-dear"))
    card: dict[str, Json] = {"window": 20_000, "price": [4.0, 20.0, 0.4], "cache_write": 1.25}
    await engine.models.define("writes-dear", card)
    chat = await engine.create(model="writes-dear")
    async for _ in chat.turn("And now?"):
        pass
    (line,) = await costs(engine, by="conversation")
    assert line.dollars == pytest.approx((600 * 1.25 * 4 + 400 * 0.4 + 10 * 20) / 1e6)


async def test_what_a_model_wrote_beside_the_answers_is_a_line_of_its_own(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    bill = TitleBill(model="small-writer", requests=1, input=300, output=12, price=0.002)
    await engine.store.titles.write(chat.id, "", bill)
    (line,) = await costs(engine, by="model")
    assert (line.model, line.requests, line.summaries, line.summary_tokens) == ("small-writer", 0, 1, 312)
    assert line.summary_dollars == pytest.approx(0.002)


def test_lines_of_one_kind_are_added_up_and_a_price_nobody_knows_is_no_price() -> None:
    first = CostLine(
        day="2026-03-01",
        requests=1,
        sent=20,
        cached=300,
        answered=4_000,
        saved=50_000,
        summaries=6,
        summary_tokens=70,
        summary_dollars=0.25,
    )
    both = first.plus(CostLine(day="2026-03-01", requests=2, sent=1, cached=3, saved=5, dollars=0.5))
    assert both == CostLine(
        day="2026-03-01",
        requests=3,
        sent=21,
        cached=303,
        answered=4_000,
        saved=50_005,
        summaries=6,
        summary_tokens=70,
        dollars=0.5,
        summary_dollars=0.25,
    )
    twice = both.plus(both)
    assert (twice.requests, twice.cached, twice.answered, twice.saved) == (6, 606, 8_000, 100_010)
    assert (twice.summaries, twice.summary_tokens) == (12, 140)
    assert (twice.dollars, twice.summary_dollars) == (1.0, 0.5)
    assert CostLine().plus(CostLine()).dollars is None


async def test_what_came_from_a_cache_is_added_up_as_it_was_billed(make: MakeEngine) -> None:
    usage = Usage(input=1_000, output=10, cached=400)
    engine = await make(lambda _: Reply(message=assistant("Yes."), usage=usage), window=20_000)
    chat = await engine.create()
    for _ in range(2):
        async for _event in chat.turn("And now?"):
            pass
    (line,) = await costs(engine, by="model")
    assert (line.model, line.sent, line.cached, line.answered) == (MODEL, 2_000, 800, 20)


@pytest.mark.parametrize(
    ("usage", "price", "write", "dollars"),
    [
        (Usage(input=1_000_000, output=1_000_000), Price(input=3, output=15), 1.0, 18.0),
        (Usage(input=1_000_000, output=0), Price(input=3, output=15), 1.0, 3.0),
        (Usage(input=0, output=1_000_000), Price(input=3, output=15), 1.0, 15.0),
        (Usage(input=1_000_000, cached=600_000), Price(input=3, output=15, cached=0.5), 1.0, 1.5),
        (Usage(input=1_000_000, cached=600_000), Price(input=3, output=15), 1.0, 3.0),
        (Usage(input=1_000_000, cached=600_000), Price(input=3, output=15, cached=0.0), 1.25, 1.5),
        (Usage(), Price(input=3, output=15), 1.0, None),
        (Usage(input=5), None, 1.0, None),
    ],
)
async def test_a_request_costs_what_was_read_cached_and_written(
    usage: Usage, price: Price | None, write: float, dollars: float | None
) -> None:
    assert cost(usage, price, write) == (None if dollars is None else pytest.approx(dollars))
    if write == 1.0:
        assert cost(usage, price) == cost(usage, price, 1.0)


async def test_what_a_compression_cost_is_known_before_it_has_saved_anything(make: MakeEngine) -> None:
    engine = await make(lambda _: "They talked.", summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    so_far = await chat.snapshots.saved_so_far(outcome.snapshot.id)
    assert so_far is not None
    assert so_far.cost
    assert (so_far.turns, so_far.saved) == (0, 0.0)
    assert so_far.in_words == f"cost {dollars(so_far.cost)}"
    tip = (await chat.info()).tip
    # Who answered was not told: nobody knows what the tokens would have cost.
    unknown = Entry(message=assistant("Yes."), input_tokens=500)
    await engine.store.messages.append_many(chat.id, [user("And now?"), unknown], parent=tip)
    so_far = await chat.snapshots.saved_so_far(outcome.snapshot.id)
    assert so_far is not None
    assert (so_far.turns, so_far.saved, so_far.in_words) == (1, None, "")


async def test_each_compression_saves_from_when_it_was_made_until_it_is_undone(make: MakeEngine) -> None:
    """At the price of a token, where no cache makes it cheaper."""
    bill = Reply(message=assistant("Yes."), usage=Usage(input=1_000, output=5))
    engine = await make(lambda _: bill)
    await engine.models.define("uncached", {"window": 128_000, "price": [4.0, 20.0]})
    chat = await filled(engine)
    await chat.set(model="uncached")
    first = await chat.compress(up_to=(await chat.branch())[3].id)
    async for _ in chat.turn("And now?"):
        pass
    second = await chat.compress(keep=0.2)
    async for _ in chat.turn("And then?"):
        pass
    assert isinstance(first, Compressed)
    assert isinstance(second, Compressed)
    seen = [await chat.snapshots.saved_so_far(made.snapshot.id) for made in (first, second)]
    assert [one.turns for one in seen if one] == [2, 1]
    paper = await chat.snapshots.receipt(second.snapshot.id)
    assert paper is not None
    taken_off = paper.tokens_before - paper.tokens_after
    assert seen[1] is not None
    assert seen[1].saved == pytest.approx(taken_off * 4e-6, rel=1e-9)
    await chat.undo()
    undone = await chat.snapshots.saved_so_far(second.snapshot.id)
    assert undone is not None
    assert undone.turns == 0


@pytest.mark.parametrize(("cached", "price"), [(0, 1_000 * 4 + 10 * 20), (1, 999 * 1.25 * 4 + 0.4 + 10 * 20)])
async def test_where_no_cache_was_used_nothing_was_written_to_it(
    make: MakeEngine, cached: int, price: float
) -> None:
    usage = Usage(input=1_000, output=10, cached=cached)
    engine = await make(lambda _: Reply(message=assistant("Yes."), usage=usage, model="writes-dear"))
    card: dict[str, Json] = {"window": 20_000, "price": [4.0, 20.0, 0.4], "cache_write": 1.25}
    await engine.models.define("writes-dear", card)
    chat = await engine.create(model="writes-dear")
    async for _ in chat.turn("And now?"):
        pass
    (line,) = await costs(engine, by="conversation")
    assert line.dollars == pytest.approx(price / 1e6)
