"""Compressing when it pays: tool loops, idle conversations, what summaries may cost, and what is said of money."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from octavo.core.message_json import Json
from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant
from octavo.core.policy import budget_for
from octavo.core.price_rule import Payback
from octavo.core.reply import Reply, Request, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.compression import CompressionRequest
from octavo.engine.costs import CostLine, costs
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, Cancelled, Compressed, CompressionEnded, Rejected, Unwritten
from octavo.engine.spending import FAILURES_BORNE, Spending
from octavo.engine.turn import PreparedRequest, prepare
from octavo.errors import BadInput
from octavo.store.values import Entry
from tests.engine.conftest import MODEL, MakeEngine, answering, billed
from tests.engine.test_compress import Writer, filled

pytestmark = pytest.mark.anyio


class Costly(Writer):
    """A summariser that says what it costs; without a text its answers fail the checks."""

    def __init__(self, text: str = "", reads: int = 1_000) -> None:
        super().__init__()
        self.text, self.reads = text, reads

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        self.jobs.append(job)
        tell(self.text)
        return Narrative(
            text=self.text, model="writer", usage=Usage(input=self.reads, output=100), requests=2
        )


async def step(engine: Engine, chat: Chat, number: int, bill: int = 2_500) -> tuple[Message, ...]:
    """Take a step of a tool loop; gives what is sent then."""
    call = ToolCall(id=f"c{number}", name="read", input=f'{{"page": {number}}}')
    text = f"Page {number} of the ledger says {number * 37}. " + "Rows and more rows of it follow here. " * 12
    result = ToolResult(call_id=call.id, content=(Text(text=text),), name="read")
    await engine.store.messages.append_many(
        chat.id,
        [
            Entry(message=Message(role="assistant", parts=(call,)), input_tokens=bill, model=MODEL),
            Entry(message=Message(role="tool", parts=(result,))),
        ],
    )
    tip = (await engine.store.conversations.get(chat.id)).tip
    async for event in prepare(engine, chat.id, tip):
        if isinstance(event, PreparedRequest):
            assert event.usage.reading.cautious <= event.usage.budget.hard
            return event.messages
    raise AssertionError("nothing was prepared")


async def test_a_turn_of_many_steps_changes_its_front_rarely(make: MakeEngine) -> None:
    """Between two compressions every request begins with the one before."""
    engine = await make()
    chat = await engine.create()
    await chat.add("Read the whole ledger and add it up.")
    before: tuple[Message, ...] = ()
    breaks = 0
    for number in range(60):
        sent = await step(engine, chat, number)
        breaks += sent[: len(before)] != before
        before = sent
    assert 3 <= breaks <= 60 // 5


async def test_a_summariser_that_fails_its_checks_is_not_asked_for_ever(make: MakeEngine) -> None:
    writer = Costly()
    engine = await make(summariser=writer)
    chat = await engine.create()
    await chat.add("Read the whole ledger and add it up.")
    for number in range(60):
        await step(engine, chat, number, bill=10_000)
    assert len(writer.jobs) == FAILURES_BORNE
    assert all(job.most == 3 for job in writer.jobs)
    serving = await chat.snapshots.serving()
    assert serving is not None
    paper = await chat.snapshots.receipt(serving.id)
    assert paper is not None
    assert "failed the checks of the last 2 summaries" in paper.no_summary
    # Another process knows it, too.
    again = await make(summariser=writer)
    for number in range(60, 80):
        await step(again, await again.chat(chat.id), number, bill=10_000)
    assert len(writer.jobs) == FAILURES_BORNE
    await chat.set(instructions="Keep every figure.")
    for number in range(80, 100):
        await step(engine, chat, number, bill=10_000)
    assert len(writer.jobs) > FAILURES_BORNE


async def test_summaries_take_no_more_than_their_share(make: MakeEngine) -> None:
    writer = Costly("The ledger is being read.", reads=5_000)
    engine = await make(summariser=writer)
    chat = await engine.create()
    await chat.add("Read the whole ledger and add it up.")
    for number in range(80):
        await step(engine, chat, number)
    sent, _, _ = await engine.store.costs.sent(chat.id)
    spent = sum(bill.input + bill.output for bill in await engine.store.costs.compressions(id=chat.id))
    assert len(writer.jobs) > 1
    assert spent <= 0.1 * sent
    serving = await chat.snapshots.serving()
    assert serving is not None
    paper = await chat.snapshots.receipt(serving.id)
    assert paper is not None
    assert "more than 10%" in paper.no_summary
    # Another process knows by the receipts what was spent.
    again = await make(summariser=writer)
    record = await again._spending(chat.id)
    assert record.tokens == spent


def test_the_first_summary_is_always_allowed() -> None:
    asked = ("writer", "default", "")
    assert Spending().refuses(asked, covered=10**6, sent=10, share=0.1) == ""
    assert "10%" in Spending(lost=1).refuses(asked, covered=10**6, sent=10, share=0.1)
    assert Spending(billed=1).refuses(asked, covered=10**6, sent=0, share=0.1) == ""


@pytest.mark.parametrize(
    ("name", "value"), [("summary_share", 0), ("summary_share", 1.5), ("summary_requests", 0)]
)
async def test_limits_that_make_no_sense_are_refused(make: MakeEngine, name: str, value: Json) -> None:
    engine = await make()
    chat = await engine.create()
    with pytest.raises(BadInput):
        await chat.set(**{name: value})


async def test_what_was_idle_for_longer_than_the_cache_lives_is_compressed(make: MakeEngine) -> None:
    now = [1_000.0]
    engine = await make(clock=lambda: now[0], window=8_192)
    chat = await filled(engine, 18)
    state = await engine.state_of(chat.id)
    assert state.budget.middle < state.reading.cautious < state.budget.trigger
    engine.compress_in_background(state)
    assert not engine.is_compressing(chat.id)
    now[0] += state.meter.card.cache_seconds - 1
    await engine.compress_idle()
    await chat.wait_until_idle()
    assert await chat.snapshots.serving() is None
    now[0] += 2
    await engine.compress_idle()
    await chat.wait_until_idle()
    assert await chat.snapshots.serving() is not None


async def test_an_idle_conversation_below_the_middle_is_left_alone(make: MakeEngine) -> None:
    now = [1_000.0]
    engine = await make(clock=lambda: now[0])
    chat = await filled(engine, 3)
    engine.compress_in_background(await engine.state_of(chat.id))
    now[0] += 10_000
    await engine.compress_idle()
    await chat.wait_until_idle()
    assert await chat.snapshots.serving() is None


async def test_a_plan_speaks_of_money(make: MakeEngine) -> None:
    engine = await make()
    plan = await (await filled(engine)).plan()
    assert plan.payback is not None
    assert plan.payback.cost > 0
    assert plan.money.startswith("costs about $0.00")
    assert f"pays back after {plan.payback.requests} turns" in plan.money
    await engine.models.define("nobody/knows", {"window": 8_000})
    free = await engine.create(model="nobody/knows")
    for n in range(4):
        await free.add(f"Question {n}")
        await free.add("Answer", role="assistant")
    assert (await free.plan()).money == ""


async def test_costs_add_up(make: MakeEngine) -> None:
    def say(request: Request) -> Reply:
        usage = Usage(input=billed(request), output=5, cached=billed(request) // 2)
        return Reply(message=assistant("Fine."), usage=usage, model=request.model)

    engine = await make(provider=answering(say), summariser=Costly("It was deployed."))
    chat = await filled(engine)
    outcome = None
    async for event in engine.run_compression(
        await engine.state_of(chat.id), CompressionRequest(urgency="manual")
    ):
        outcome = event.outcome if isinstance(event, CompressionEnded) else outcome
    assert isinstance(outcome, Compressed)
    (answer,) = [event.reply async for event in chat.turn("And now?") if isinstance(event, Answered)]
    (line,) = await costs(engine, conversation=chat.id, by="conversation")
    assert (line.requests, line.sent, line.cached) == (1, answer.usage.input, answer.usage.input // 2)
    assert (line.summaries, line.summary_tokens) == (2, 1_100)
    assert line.saved == outcome.before - outcome.after
    assert line.dollars == pytest.approx(
        (line.sent - line.cached) * 2.5e-6 + line.cached * 1.25e-6 + line.answered * 1e-5
    )
    assert {each.model for each in await costs(engine, by="model")} == {MODEL, "writer"}
    assert sum(each.sent for each in await costs(engine, by="day")) == line.sent
    assert CostLine().plus(line).sent == line.sent


CACHING = "claude-like"
CARD: dict[str, Json] = {
    "window": 200_000,
    "max_output": 4_096,
    "tokenizer": "o200k",
    "price": [4.0, 20.0, 0.4],
    "cache_write": 1.25,
}


@pytest.mark.parametrize("found", [1.0, 0.25])
async def test_what_the_cache_did_not_have_moves_the_marks(make: MakeEngine, found: float) -> None:
    """Seen failing with: a miss rate that is never learned."""

    def say(request: Request) -> Reply:
        before, last[0] = last[0], billed(request)
        usage = Usage(input=last[0], output=5, cached=int(before * found))
        return Reply(message=assistant("Fine."), usage=usage, model=CACHING)

    last = [0]
    engine = await make(provider=answering(say))
    await engine.models.define(CACHING, CARD)
    chat = await engine.create(model=CACHING)
    for n in range(6):
        async for _ in chat.turn(f"Question {n}. {'The pump was deployed to section seven. ' * 200}"):
            pass
    state = await engine.state_of(chat.id)
    assert state.habits.misses == pytest.approx(1 - found, abs=0.01)
    assert state.budget.soft is not None
    again = await make(provider=answering(say))
    await again.models.define(CACHING, CARD)
    stored = await again.state_of(chat.id)
    assert stored.habits.misses == state.habits.misses, "the stored bills say the same"
    assert stored.budget.soft == state.budget.soft
    known = budget_for(
        state.policy,
        state.meter.card,
        overhead=state.budget.overhead,
        habits=replace(state.habits, misses=0.0),
        writer=state.writer,
    )
    assert known.soft is not None
    assert (state.budget.soft < known.soft) == (found < 1.0)


ASKED = ("writer", "usual prompt")


@pytest.mark.parametrize(
    ("spending", "sent", "refused"),
    [
        (Spending(billed=1_000), 50_000, False),  # 1,000 + 1,500 + 2,500 are a tenth of what was sent
        (Spending(billed=1_000), 49_999, True),
        (Spending(billed=900, lost=101), 50_000, True),
        (Spending(), 100, False),  # the first one is always allowed
        (Spending(billed=1_000), 0, False),  # no bill came: nobody knows
    ],
)
def test_summaries_may_take_a_tenth_of_what_the_requests_took(
    spending: Spending, sent: int, *, refused: bool
) -> None:
    why = spending.refuses(ASKED, covered=1_500, sent=sent, share=0.1)
    assert bool(why) == refused
    if refused:
        assert "more than 10% of the" in why


def test_who_failed_twice_in_a_row_is_not_asked_again_until_it_is_asked_otherwise() -> None:
    spending = Spending()
    usage = Usage(input=900, output=100)
    flawed = Unwritten(model="writer", kind="refused", reason="no", noted="no")
    failed = CompressionEnded(Cancelled(), unwritten=flawed, spent=usage)
    good = CompressionEnded(Cancelled(), spent=usage)

    def refused(asked: tuple[str, ...] = ASKED) -> bool:
        return bool(spending.refuses(asked, covered=0, sent=0, share=0.1))

    spending.ended(failed, ASKED, stored=True)
    assert not refused()
    spending.ended(good, ASKED, stored=True)
    spending.ended(failed, ASKED, stored=True)
    assert not refused(), "they were not in a row"
    spending.ended(failed, ASKED, stored=True)
    assert refused()
    assert not refused(("writer", "another prompt"))
    spending.ended(failed, ("another writer",), stored=True)
    assert (spending.failures, spending.lost) == (1, 0)
    spending.ended(failed, ("another writer",), stored=False)
    assert (spending.failures, spending.lost) == (2, 1_000), "no receipt tells of these"


def test_what_was_spent_is_known_again_from_its_note() -> None:
    spending = Spending(billed=7, lost=20, failures=2, asked=ASKED)
    assert Spending.of_note(spending.note(), 7) == spending
    assert Spending.of_note(None, 7) == Spending(billed=7)
    assert Spending.of_note({"lost": "much", "failures": None, "asked": 3}, 7) == Spending(billed=7)
    assert spending.tokens == 27


async def test_what_was_spent_in_vain_is_noted_however_it_was_divided(make: MakeEngine) -> None:
    """Seen failing with: as much written as read, which was taken for nothing."""

    class Even(Costly):
        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
            return replace(await super().summarise(job, tell), usage=Usage(input=500, output=500))

    engine = await make(summariser=Even("word " * 3_000), window=128_000)
    chat = await filled(engine, 2)
    assert isinstance(await chat.compress(keep=0), Rejected)
    assert (await engine._spending(chat.id)).lost == 1_000


async def test_a_plan_says_that_the_window_demands_it_only_above_the_hard_mark(make: MakeEngine) -> None:
    plan = await (await filled(await make())).plan()
    plan = replace(plan, payback=Payback(cost=1.0, saved=1e-6))
    hard = plan.budget.hard
    for tokens, needed in ((hard, False), (hard + 1, True)):
        there = replace(plan, reading=replace(plan.reading, tokens=tokens, error_bound=0))
        assert ("the window does not demand it" in there.money) is not needed
