"""Compressing on purpose: cases 29-31, 41, 42, 47, 50-53, 56, 77-81, 84, 96-98, 105."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import Attachment, Message, Text, assistant, opens_turn
from octavo.core.policy import Compress
from octavo.core.receipt import Receipt
from octavo.core.reply import Reply, Request
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.compression import CompressionRequest
from octavo.engine.engine import Engine
from octavo.engine.outcome import (
    Compressed,
    CompressionEnded,
    CompressionStarted,
    Failed,
    Outcome,
    Rejected,
    Skipped,
    SummaryText,
)
from octavo.errors import BadInput, NotFound, ProviderError, UsageError
from octavo.store.values import Job
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio
FILLER = "We talked at length about the weather and other things. " * 8


class Writer:
    """A summariser that writes what it is told to, and remembers what it was asked."""

    def __init__(self, *texts: str | BaseException) -> None:
        self.texts = list(texts)
        self.jobs: list[SummaryJob] = []

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        self.jobs.append(job)
        text = self.texts.pop(0) if self.texts else f"Summary number {len(self.jobs)}."
        if isinstance(text, BaseException):
            raise text
        tell(text)
        return Narrative(text=text, model="writer", prompt="default@1")


class Gated(Writer):
    """One that begins when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        await self.gate.wait()
        return await super().summarise(job, tell)


async def filled(engine: Engine, turns: int = 6) -> Chat:
    chat = await engine.create("kept title")
    for n in range(turns):
        await chat.add(f"Question {n}: deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"Yes, build-{n}00 runs on port {9000 + n}. {FILLER}", role="assistant")
    return chat


async def begun(engine: Engine, chat: Chat) -> None:
    """Wait until a compression has claimed its job."""
    jobs = engine.store.jobs
    async with asyncio.timeout(60):
        while all(job.status != "running" for job in await jobs.of_conversation(chat.id)):  # noqa: ASYNC110 - a row
            await asyncio.sleep(0.01)


async def test_a_manual_compression_covers_and_says_what_it_did(make: MakeEngine) -> None:
    """Cases 79 and 81: the preview's numbers are what happens; event, result and database agree."""
    engine = await make(summariser=Writer("They deployed six builds."), window=128_000)
    chat = await filled(engine)
    plan = await chat.plan()
    before = (await chat.usage()).reading.tokens
    seen = [event async for event in chat.compressing()]
    assert [type(event) for event in seen] == [CompressionStarted, SummaryText, CompressionEnded]
    outcome = seen[-1].outcome  # type: ignore[union-attr]
    assert isinstance(outcome, Compressed)
    assert outcome.before == before == plan.reading.tokens
    assert outcome.after == (await chat.usage()).reading.tokens
    assert outcome.after <= plan.after_cap
    stored = await chat.snapshots.serving()
    assert stored is not None
    assert stored == outcome.snapshot
    assert (stored.messages, stored.kind) == (plan.covered, "manual")
    assert (stored.model, stored.prompt) == ("writer", "default@1")
    assert plan.covered + plan.retained == 12
    assert isinstance(plan.decision, Compress)
    assert plan.decision.small is True
    paper = await chat.snapshots.receipt(stored.id)
    assert paper is not None
    assert (paper.tokens_before, paper.tokens_after) == (outcome.before, outcome.after)
    assert (await chat.info()).title == "kept title"


async def test_nothing_to_compress_makes_no_call_and_no_event(make: MakeEngine) -> None:
    """Case 77."""
    writer = Writer()
    chat = await (await make(summariser=writer)).create()
    await chat.add("Only this.")
    seen = [event async for event in chat.compressing()]
    assert [type(event) for event in seen] == [CompressionEnded]
    assert await chat.compress() == Skipped("nothing", "there is nothing to compress")
    assert writer.jobs == []
    assert "nothing to compress" in (await chat.plan()).reason


async def test_the_second_compression_is_given_the_first_summary_and_only_what_is_new(
    make: MakeEngine,
) -> None:
    """Cases 35, 94."""
    writer = Writer("First.", "Second.")
    engine = await make(summariser=writer, window=128_000)
    chat = await filled(engine)
    await chat.compress(keep=0)
    for n in range(6, 9):
        await chat.add(f"Question {n}: and build-{n}00? {FILLER}")
        await chat.add(f"Also on port {9000 + n}. {FILLER}", role="assistant")
    await chat.compress(keep=0)
    first, second = writer.jobs
    assert (first.previous, second.previous) == ("", "First.")
    assert [node.depth for node in first.covered] == list(range(1, 13))
    assert [node.depth for node in second.covered] == list(range(13, 19))
    serving = await chat.snapshots.serving()
    assert serving is not None
    assert (serving.summary, serving.messages) == ("Second.", 18)
    text = str((await chat.context()).messages[0]["content"])
    assert "build-000" in text


async def test_undo_restores_the_context_byte_for_byte_and_redo_brings_it_back(make: MakeEngine) -> None:
    """Case 98, also after later turns."""
    engine = await make(window=128_000)
    chat = await filled(engine)
    before = (await chat.context()).messages
    await chat.compress()
    after = (await chat.context()).messages
    assert after != before
    await chat.undo()
    assert (await chat.context()).messages == before
    await chat.add("One more.")
    await chat.redo()
    assert (await chat.context()).messages[: len(after)] == after
    await chat.undo()
    assert (await chat.context()).messages[: len(before)] == before
    with pytest.raises(UsageError, match="no compression to undo"):
        await chat.undo()
    await chat.redo()
    with pytest.raises(UsageError, match="no undone compression"):
        await chat.redo()


async def test_summaries_are_edited_regenerated_and_compared_as_versions(make: MakeEngine) -> None:
    writer = Writer("One.\nTwo.", "About ports.")
    engine = await make(summariser=writer, window=128_000)
    chat = await filled(engine)
    made = await chat.compress()
    assert isinstance(made, Compressed)
    edited = await chat.snapshots.edit(made.snapshot.id, "One.\nThree.")
    assert (edited.version, edited.kind, edited.cutoff) == (2, "edited", made.snapshot.cutoff)
    assert "-Two.\n+Three." in await chat.snapshots.diff(made.snapshot.id, edited.id)
    again = await chat.snapshots.regenerate(edited.id, focus="the ports")
    assert isinstance(again, Compressed)
    assert (again.snapshot.version, again.snapshot.kind) == (3, "regenerated")
    assert (again.snapshot.cutoff, again.snapshot.instructions) == (made.snapshot.cutoff, "the ports")
    assert "the ports" in writer.jobs[-1].focus
    assert [node.depth for node in writer.jobs[-1].covered] == [node.depth for node in writer.jobs[0].covered]
    assert (await chat.snapshots.serving()) == again.snapshot
    with pytest.raises(BadInput, match="empty summary"):
        await chat.snapshots.edit(edited.id, "  ")
    other = await engine.create()
    with pytest.raises(NotFound):
        await other.snapshots.get(edited.id)


async def test_a_summary_is_regenerated_from_the_originals_also_right_after_a_look_at_the_meter(
    make: MakeEngine,
) -> None:
    """Seen failing with: the cached state, in which the old summary stands for them."""
    writer = Writer("First.", "Second.")
    chat = await filled(await make(summariser=writer, window=128_000))
    made = await chat.compress()
    assert isinstance(made, Compressed)
    await chat.usage()
    again = await chat.snapshots.regenerate(made.snapshot.id)
    assert isinstance(again, Compressed)
    first, second = writer.jobs
    assert (second.previous, second.covered) == ("", first.covered)
    assert again.snapshot.summary == "Second."


async def test_the_originals_of_a_snapshot_can_be_had(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000))
    made = await chat.compress()
    assert isinstance(made, Compressed)
    originals = await chat.snapshots.expand(made.snapshot.id)
    assert len(originals) == made.snapshot.messages
    assert originals == (await chat.branch())[: len(originals)]
    assert [hit.node for hit in await chat.search("build-100")]


async def test_a_lost_fact_can_be_added_back(make: MakeEngine) -> None:
    engine = await make(window=2_048)
    chat = await filled(engine, 40)
    made = await chat.compress(keep=0)
    assert isinstance(made, Compressed)
    paper = await chat.snapshots.receipt(made.snapshot.id)
    assert paper is not None
    lost = [fact for tally in paper.tallies for fact in tally.lost]
    assert lost
    better = await chat.snapshots.restore(made.snapshot.id, lost[0].text)
    assert better.version == made.snapshot.version + 1
    assert lost[0].text in str((await chat.context()).messages[0]["content"])
    with pytest.raises(NotFound, match="is no fact that this snapshot left out"):
        await chat.snapshots.restore(made.snapshot.id, "never said")


async def test_a_lost_fact_that_no_list_names_can_be_added_back_too(make: MakeEngine) -> None:
    engine = await make(window=2_048)
    chat = await filled(engine, 60)
    made = await chat.compress(keep=0)
    assert isinstance(made, Compressed)
    paper = await chat.snapshots.receipt(made.snapshot.id)
    assert paper is not None
    listed = {fact.text for fact in paper.lost}
    sent = str((await chat.context()).messages)
    port = next(
        str(9000 + n) for n in range(60) if str(9000 + n) not in {*listed} and f"{9000 + n}" not in sent
    )
    better = await chat.snapshots.restore(made.snapshot.id, port)
    assert port in str((await chat.context()).messages[0]["content"])
    after = await chat.snapshots.receipt(better.id)
    assert after is not None
    for kind in ("number", "identifier"):
        assert after.tally(kind).count == paper.tally(kind).count
    assert after.tally("number").lost_count < paper.tally("number").lost_count
    assert port in after.tally("number").verbatim


async def test_what_a_compression_stores_does_not_grow_with_the_conversation(
    make: MakeEngine, tmp_path: Path
) -> None:
    """Fifty of them: a receipt that lists every fact ever said is soon larger than what was said."""
    rounds, some = 50, 10
    chat = await filled(await make(), 4)
    for n in range(rounds):
        for k in range(2):
            said = f"Round {n}.{k}: see src/module_{n}_{k}.py at host{n}{k}.example.org, port {8000 + 10 * n + k}."
            text = Text(text=f"{said} We decided to use build-{n}{k}00. {FILLER}")
            await chat.add(Message(role="user", parts=(text, Attachment(name=f"plan-{n}-{k}.pdf"))))
            await chat.add(
                f"It is fine, version {n}.{k}.0 costs {17 * n + k} EUR. {FILLER}", role="assistant"
            )
        assert isinstance(await chat.compress(), Compressed)
    with closing(sqlite3.connect(tmp_path / "chats.db")) as database:
        rows = database.execute(
            "SELECT length(content), content ->> 'receipt' FROM snapshot ORDER BY cutoff_depth"
        )
        sizes, papers = zip(*rows, strict=True)
    assert len(sizes) == rounds
    assert sum(sizes[-some:]) < 2 * sum(sizes[:some])
    assert sum(map(len, papers[-some:])) < 2 * sum(map(len, papers[:some]))
    paper = Receipt.from_json(papers[-1])
    assert paper.tally("path").count > rounds, "what is not listed is counted"


async def test_a_larger_result_is_rejected_and_nothing_is_stored(make: MakeEngine) -> None:
    """Case 41."""
    engine = await make(summariser=Writer("word " * 3_000), window=128_000)
    chat = await filled(engine, 2)
    before = (await chat.context()).messages
    outcome = await chat.compress(keep=0)
    assert isinstance(outcome, Rejected)
    assert [problem.flaw for problem in outcome.problems] == ["not_smaller"]
    assert await chat.snapshots.list() == ()
    assert (await chat.context()).messages == before


async def test_a_failing_service_changes_nothing(make: MakeEngine) -> None:
    """Case 48; a manual failure is reported and leaves the breaker alone."""
    engine = await make(summariser=Writer(ProviderError("quota", retryable=True)), window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress()
    assert outcome == Failed("quota", retryable=True)
    assert await chat.snapshots.list() == ()
    assert engine.record(chat.id).trouble.failures == 0
    assert isinstance(await chat.compress(), Compressed)


async def test_two_requests_to_compress_one_chat_make_one_snapshot(make: MakeEngine) -> None:
    """Cases 50 and 78."""
    writer = Gated()
    engine = await make(summariser=writer, window=128_000)
    chat = await filled(engine)
    first = asyncio.create_task(chat.compress())
    await begun(engine, chat)
    assert await chat.compress() == Skipped("busy", "this branch is being compressed already")
    writer.gate.set()
    assert isinstance(await first, Compressed)
    assert len(await chat.snapshots.list()) == 1


async def test_a_cancelled_compression_leaves_nothing_behind(make: MakeEngine) -> None:
    """Case 56: neither failure nor success."""

    class Endless(Writer):
        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
            await asyncio.Event().wait()
            raise AssertionError

    engine = await make(summariser=Endless(), window=128_000)
    chat = await filled(engine)
    task = asyncio.create_task(chat.compress())
    await begun(engine, chat)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.record(chat.id).trouble.failures == 0
    assert await chat.snapshots.list() == ()
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert job.status != "running"


@pytest.mark.parametrize("what", ["covered message", "conversation"])
@pytest.mark.parametrize("earlier", [False, True], ids=["first", "second"])
async def test_deleting_while_compressing_stores_nothing(make: MakeEngine, what: str, earlier: bool) -> None:
    """Cases 52, 53 and 97; also where a snapshot was there before, so that the originals are read again."""
    writer = Gated()
    engine = await make(summariser=writer, window=128_000)
    chat = await filled(engine)
    if earlier:
        writer.gate.set()
        assert isinstance(await chat.compress(keep=0.5), Compressed)
        writer.gate.clear()
    before = await chat.snapshots.list()
    task = asyncio.create_task(chat.compress())
    await begun(engine, chat)
    if what == "conversation":
        await engine.store.bin.delete(chat.id)
    else:
        await chat.delete_message((await chat.branch())[2].id)
    writer.gate.set()
    assert isinstance(await task, Failed)
    if what != "conversation":
        assert {snapshot.id for snapshot in await chat.snapshots.list()} <= {
            snapshot.id for snapshot in before
        }


async def test_what_is_sent_while_compressing_is_delivered_once_and_in_order(make: MakeEngine) -> None:
    """Case 57."""
    provider = ScriptedProvider(lambda request: f"Answer to {request.messages[-1].text}")
    writer = Gated()
    engine = await make(provider=provider, summariser=writer, window=128_000)
    chat = await filled(engine)
    task = asyncio.create_task(chat.compress())
    await begun(engine, chat)
    for n in range(3):
        async for _ in chat.turn(f"meanwhile {n}"):
            pass
    await asyncio.gather(*(chat.add(f"note {n}") for n in range(3)))
    writer.gate.set()
    assert isinstance(await task, Compressed)
    async for _ in chat.turn("afterwards"):
        pass
    expected = [text for n in range(3) for text in (f"meanwhile {n}", f"Answer to meanwhile {n}")]
    stored = [node.message.text for node in await chat.branch()]
    assert stored[12:18] == expected
    assert sorted(stored[18:21]) == ["note 0", "note 1", "note 2"]
    assert stored[21] == "afterwards"
    sent = "\n".join(message.text for message in provider.requests[-1].messages)
    assert [sent.count(text) for text in stored[12:21]] == [2, 1, 2, 1, 2, 1, 1, 1, 1]
    assert sent.index("meanwhile 0") < sent.index("meanwhile 1") < sent.index("meanwhile 2")


async def test_a_branch_switched_while_compressing_keeps_the_snapshot_where_it_belongs(
    make: MakeEngine,
) -> None:
    """Case 52 and the anchor rule."""
    writer = Gated()
    engine = await make(summariser=writer, window=128_000)
    chat = await filled(engine)
    old = await chat._tip()
    task = asyncio.create_task(chat.compress())
    await begun(engine, chat)
    first_question = (await chat.branch())[0]
    await chat.edit(first_question.id, "Something else entirely")
    writer.gate.set()
    assert isinstance(await task, Compressed)
    assert await chat.snapshots.serving() is None
    assert old is not None
    await chat.checkout(old)
    assert await chat.snapshots.serving() is not None


async def test_pins_are_byte_identical_after_ten_compressions(make: MakeEngine) -> None:
    """Case 105."""
    rule = "NEVER deploy on Fridays!\r\n\u200b<b>Ask Ana first.</b>"
    engine = await make(window=128_000)
    chat = await engine.create()
    pinned = await chat.add(rule)
    await chat.add("Understood.", role="assistant")
    part = await chat.add(f"The code word is 'aubergine'. {FILLER}")
    await chat.add("Noted.", role="assistant")
    await chat.pins.add(pinned.id)
    await chat.pins.add(part.id, "The code word is 'aubergine'.")
    with pytest.raises(BadInput, match="does not contain"):
        await chat.pins.add(part.id, "not there")
    for n in range(10):
        for k in range(3):
            await chat.add(f"Round {n}.{k}: {FILLER}")
            await chat.add(f"Done {n}.{k}. {FILLER}", role="assistant")
        assert isinstance(await chat.compress(), Compressed)
        sent = "\n".join(message.text for message in (await chat.context()).context.pins)
        assert rule in sent
        assert "The code word is 'aubergine'." in sent
    assert len(await chat.snapshots.list()) == 10
    assert await chat.pins.remove(pinned.id)
    assert not await chat.pins.remove(pinned.id)


async def test_regenerated_answers_and_edits_pick_the_right_snapshot(make: MakeEngine) -> None:
    """Cases 26, 27 and 31 through the engine."""
    engine = await make(lambda _: "Another answer.", window=128_000)
    chat = await filled(engine)
    made = await chat.compress()
    assert isinstance(made, Compressed)
    async for _ in chat.regenerate():
        pass
    assert (await chat.snapshots.serving()) == made.snapshot
    assert len(await chat.branches()) == 2
    branch = await chat.branch()
    early = next(node for node in branch if opens_turn(node.message))
    await chat.edit(early.id, "A different start")
    assert await chat.snapshots.serving() is None
    copy = await chat.fork(branch[-1].id, title="copy")
    theirs = await copy.snapshots.serving()
    assert theirs is not None
    assert theirs.summary == made.snapshot.summary
    assert theirs.id != made.snapshot.id
    assert await engine.store.check() == ()


async def test_compressing_up_to_a_message_covers_that_and_no_more(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000))
    target = (await chat.branch())[3]
    made = await chat.compress(up_to=target.id)
    assert isinstance(made, Compressed)
    assert made.snapshot.cutoff == target.id
    assert isinstance(await chat.compress(up_to=target.id), Skipped)


@pytest.mark.parametrize("keep", [-1, True, 1.5])
async def test_a_bad_keep_is_refused(make: MakeEngine, keep: float) -> None:
    chat = await filled(await make(), 1)
    with pytest.raises(BadInput, match=r"keep|retained"):
        await chat.compress(keep=keep)


class Spy:
    """A hook that adds instructions, vetoes, or breaks."""

    def __init__(self, answer: object = None) -> None:
        self.answer, self.after_calls = answer, list[Outcome]()

    async def before(self, chat: Chat, order: CompressionRequest) -> object:  # noqa: ARG002
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    async def after(self, chat: Chat, outcome: Outcome) -> None:  # noqa: ARG002
        self.after_calls.append(outcome)
        if isinstance(self.answer, BaseException):
            raise self.answer


async def test_hooks_add_instructions_veto_and_never_break_a_turn(make: MakeEngine) -> None:
    """Case 80."""
    writer, adds, breaks = Writer(), Spy("Keep the ports."), Spy(RuntimeError("hook"))
    engine = await make(summariser=writer, hooks=(adds, breaks), window=128_000)
    chat = await filled(engine)
    assert isinstance(await chat.compress(focus="hosts"), Compressed)
    assert writer.jobs[0].focus == "hosts\nKeep the ports."
    assert len(adds.after_calls) == len(breaks.after_calls) == 1
    assert isinstance(await chat.compress(), Skipped)
    assert len(adds.after_calls) == 1
    vetoed = await make(summariser=writer, hooks=(Spy(False),), window=128_000)
    assert await (await filled(vetoed)).compress() == Skipped("vetoed", "a hook refused")


async def test_jobs_of_a_dead_worker_are_taken_over(make: MakeEngine) -> None:
    """Case 54: the job row outlives its worker."""
    engine = await make()
    chat = await filled(engine, 14)
    state = await chat._state()
    anchor = next(node for node in reversed(state.recipe.retained) if opens_turn(node.message))
    await engine.store.jobs.claim(
        chat.id, anchor=anchor.id, worker="dead", seen=None, tip=state.tip, lease=-1.0
    )
    assert await engine.resume_abandoned() == 1
    await chat.wait_until_idle()
    assert await chat.snapshots.serving() is not None
    assert await engine.resume_abandoned() == 0


async def test_opening_a_conversation_closes_what_broke_off_there(make: MakeEngine) -> None:
    engine = await make()
    chat = await filled(engine, 14)
    tip = await chat._tip()
    assert tip
    dead = await engine.store.jobs.claim(chat.id, anchor=tip, worker="dead", seen=None, lease=-1.0)
    assert isinstance(dead, Job)
    await engine.chat(chat.id)
    assert await engine.store.jobs.abandoned() == ()
    assert (await engine.store.jobs.get(dead.id)).error == "the process that ran it ended before it was done"


async def test_twenty_rounds_stay_bounded_and_keep_an_early_fact_and_constraint(make: MakeEngine) -> None:
    """Case 47, without any model."""
    engine = await make()
    chat = await engine.create()
    await chat.add("Important: the API key rotates every 37 days, and we must never log request bodies.")
    await chat.add("Understood: rotation every 37 days, never log request bodies.", role="assistant")
    sizes: list[int] = []
    for n in range(20):
        for k in range(6):
            await chat.add(f"Round {n}.{k}: what about module_{n}_{k}.py? {FILLER}")
            await chat.add(f"It is fine, version {n}.{k}.0. {FILLER}", role="assistant")
        outcome = await chat.compress()
        assert isinstance(outcome, Compressed)
        sizes.append(outcome.snapshot.tokens_after)
    budget = (await chat.usage()).budget
    assert max(sizes) <= budget.snapshot
    text = str((await chat.context()).messages[0]["content"])
    assert "37 days" in text
    assert "never log request bodies" in text


async def test_the_cheap_model_writes_the_summary_by_default_and_bad_output_falls_back(
    make: MakeEngine,
) -> None:
    """Cases 38 and 109: an empty answer is never stored as a summary; the exact lines speak alone."""
    provider = ScriptedProvider(["", "   "])
    engine = await make(provider=provider, summariser="same", window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.summary == ""
    assert outcome.snapshot.model == ""
    assert outcome.snapshot.extracts
    assert [problem.flaw for problem in outcome.problems] == ["empty", "empty"]


@pytest.mark.parametrize("better", [False, True])
async def test_a_summary_that_was_cut_off_is_never_stored(make: MakeEngine, better: bool) -> None:
    """It is asked for once more, shorter; if that is cut off too, exact lines stand in."""
    asked: list[Request] = []
    half = "They deployed build-000 to host0.example.org on port 9000, and then they"
    whole = "They deployed build-000 to host0.example.org on port 9000, and build-100 to port 9001."

    def say(request: Request) -> Reply:
        asked.append(request)
        if better and len(asked) == 2:
            return Reply(message=assistant(whole))
        return Reply(message=assistant(half), finish="length")

    engine = await make(say, summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.summary == (whole if better else "")
    assert outcome.snapshot.extracts
    assert [problem.flaw for problem in outcome.problems].count("truncated") == (1 if better else 2)
    assert "cut off" in asked[1].messages[-1].text
    assert half not in str((await chat.context()).messages)
    assert len(asked) == 2


async def test_the_chat_model_as_summariser_is_asked_at_the_end_of_what_it_was_sent(make: MakeEngine) -> None:
    """Case 40: the request begins as the last one did, so the provider's cache is hit; the answer is not shown."""
    provider = ScriptedProvider(lambda _: "They deployed builds.")
    engine = await make(provider=provider, summariser="same", window=128_000)
    chat = await filled(engine)
    async for _ in chat.turn("And what is next?"):
        pass
    await chat.wait_until_idle()
    sent = provider.requests[-1].messages
    before = len(provider.requests)
    await chat.compress()
    asked = provider.requests[before]
    last = len(sent) - 1
    assert asked.messages[:last] == sent[:last]
    assert len(asked.messages) == last + 1
    assert "And what is next?" not in asked.messages[last].text
    assert asked.stable >= last
    assert "They deployed builds." not in "".join(message.text for message in asked.messages)


async def test_another_model_as_summariser_is_given_a_transcript(make: MakeEngine) -> None:
    provider = ScriptedProvider(lambda _: "- They deployed builds.")
    engine = await make(provider=provider, summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    await chat.compress()
    assert provider.requests[-1].messages[0].role == "system"
    assert provider.requests[-1].messages[0].text.startswith("You write the summary")


async def test_a_setting_beats_the_summariser_the_engine_was_opened_with(make: MakeEngine) -> None:
    """Seen failing with: the engine's own choice asked first."""
    asked: list[str] = []

    def say(request: Request) -> str:
        asked.append(request.model)
        return "They looked at ships and their berths."

    engine = await make(say, summariser="none", window=128_000)
    chat = await engine.create()
    for n in range(30):
        await chat.add(f"Ship {n} lies at berth {n}, and its papers are in order. " * 8)
        await chat.add("Noted.", role="assistant")
    await chat.compress(keep=200)
    assert asked == []
    await chat.undo()
    await chat.set(summariser="gpt-4o-mini")
    await chat.compress(keep=200)
    assert asked
    assert set(asked) == {"gpt-4o-mini"}


PICTURES = [
    {"type": "text", "text": "Two plans, and the list of berths."},
    {"type": "image_url", "image_url": {"url": "https://example.org/plans/harbour.png"}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    {"type": "file", "file": {"filename": "berths.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
]


@pytest.mark.parametrize("summariser", ["none", Writer(*[ProviderError("down")] * 9)])
async def test_covered_pictures_and_files_leave_their_names_where_the_summary_failed(
    make: MakeEngine, summariser: Any
) -> None:
    """Whether nobody was asked, or somebody who failed while the turn had to go on."""
    chat = await (await make(summariser=summariser)).create()
    await chat.add({"role": "user", "content": PICTURES})
    await chat.add({"role": "assistant", "content": "Seen."})
    while (await chat.usage()).level != "hard":
        await chat.add("Something else. " + FILLER)
        await chat.add({"role": "assistant", "content": "Noted. " + FILLER})
    await chat.add("Where is the plan?")
    sent = await chat.context()
    said = str(sent.messages)
    assert "harbour.png" in said
    assert "1 unnamed image" in said
    assert "berths.pdf" in said
    assert "base64" not in said


async def test_of_a_history_far_above_the_mark_as_much_stays_as_would_at_the_mark(make: MakeEngine) -> None:
    """Seen failing with: nothing but the last turn. A person who asks for more gets what fits beside a snapshot."""
    chat = await filled(await make(window=8_192), 90)
    usual, much = await chat.plan(), await chat.plan(keep=0.9)
    budget = usual.budget
    assert usual.reading.tokens > 2 * budget.window
    assert budget.retained // 2 < usual.retained_tokens <= budget.retained
    most = budget.hard - budget.overhead.total - budget.snapshot
    assert usual.retained_tokens < most // 2 < much.retained_tokens <= most


async def test_what_every_request_carries_is_overhead(make: MakeEngine) -> None:
    """All that is not the conversation; seen failing with: the frame taken off the system prompt."""
    chat = await filled(await make(window=128_000), 2)
    await chat.set(system="Answer in one sentence. " * 5)
    usage = await chat.usage()
    sections = dict(usage.reading.breakdown)
    assert sections["frame"] > 0
    assert sections["system"] > 20
    assert usage.budget.overhead.total == usage.reading.tokens - sections["retained"]


async def test_the_summary_in_use_has_the_room_up_to_the_mark_and_an_older_one_all_of_it(
    make: MakeEngine,
) -> None:
    """Seen failing with: all that is available for either."""
    chat = await filled(await make(window=16_384), 12)
    older = await chat.compress(up_to=(await chat.branch())[5].id)
    newer = await chat.compress()
    assert isinstance(older, Compressed)
    assert isinstance(newer, Compressed)
    usage = await chat.usage()
    size = await chat.snapshots.size(newer.snapshot.id, newer.snapshot.summary)
    assert size.room == size.tokens + usage.budget.trigger - usage.reading.cautious
    assert (await chat.snapshots.size(older.snapshot.id, "Short.")).room == usage.budget.available


async def test_a_snapshot_is_made_of_an_output_as_it_was_and_not_as_it_is_shown(make: MakeEngine) -> None:
    """Its digest proves the originals; seen failing with: those that were shortened for the context."""
    chat = await (await make()).create()
    await chat.add("Read the log.")
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    await chat.add({"role": "assistant", "tool_calls": [call]})
    log = "\n".join(f"line {n}: host{n}.example.org" for n in range(150))
    await chat.add({"role": "tool", "tool_call_id": "c1", "content": log})
    await chat.add("It is read.", role="assistant")
    await chat.add("And now?")
    await chat.add("Nothing.", role="assistant")
    assert "whole text: message" in str((await chat.context()).messages)
    assert isinstance(await chat.compress(), Compressed)


async def test_a_summariser_reads_what_is_new_and_no_system_message(make: MakeEngine) -> None:
    writer = Writer("They deployed six builds.")
    engine = await make(summariser=writer, window=128_000)
    chat = await engine.create()
    await chat.add("Answer in English.", role="system")
    cutoff = 1
    for start in (0, 6):
        for n in range(start, start + 6):
            await chat.add(f"Question {n}: deploy build-{n}00? {FILLER}")
            await chat.add(f"Yes, build-{n}00 it is. {FILLER}", role="assistant")
        outcome = await chat.compress()
        assert isinstance(outcome, Compressed)
        read = [node.depth for node in writer.jobs[-1].covered]
        assert read == [*range(cutoff + 1, outcome.snapshot.cutoff_depth + 1)]
        cutoff = outcome.snapshot.cutoff_depth
