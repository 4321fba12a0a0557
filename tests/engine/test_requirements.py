"""The preset `requirements`, from a conversation's side: what its document demands of a compression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import (
    Answered,
    Compressed,
    CompressionEnded,
    CompressionStarted,
    ContextShrunk,
    Outcome,
    SummaryText,
)
from octavo.errors import ProviderError
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio

FILLER = "We talked at length about the weather and other things. " * 8


async def twenty(engine: Engine) -> Chat:
    chat = await engine.create()
    for n in range(10):
        await chat.add(f"Question {n}: deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"Yes, build-{n}00 runs on port {9000 + n}. {FILLER}", role="assistant")
    return chat


async def test_a_person_compresses_all_messages_by_default(make: MakeEngine) -> None:
    """FR-2.2.1 and FR-2.3.2; seen failing with: 1,000 tokens retained, as the program does."""
    chat = await twenty(await make(policy="requirements", window=128_000))
    plan = await chat.plan()
    assert (plan.messages, plan.covered, plan.retained) == (20, 20, 0)
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.messages == 20


async def test_a_person_may_say_how_much_stays(make: MakeEngine) -> None:
    """FR-2.2.2."""
    chat = await twenty(await make(policy="requirements", window=128_000))
    plan = await chat.plan(keep=1_000)
    assert 0 < plan.retained < 20
    assert plan.covered + plan.retained == 20
    outcome = await chat.compress(keep=1_000)
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.messages == plan.covered


async def test_a_question_that_waits_for_its_answer_is_not_compressed(make: MakeEngine) -> None:
    chat = await twenty(await make(policy="requirements", window=128_000))
    await chat.add("Which build is next?")
    plan = await chat.plan()
    assert (plan.covered, plan.retained) == (20, 1)


async def test_the_program_retains_a_thousand_tokens(make: MakeEngine) -> None:
    """Cut at messages, not at turns; and the last turn stays anyway."""
    chat = await full(await make(policy="requirements"))
    before = (await chat.plan()).messages
    outcome = await hard_turn(chat)
    assert isinstance(outcome, Compressed)
    assert before - outcome.snapshot.messages >= 2
    assert outcome.after < 2_000


@dataclass(slots=True)
class Wordy:
    """A summariser that writes so many words, whatever it is asked for; and so many when it is asked to be brief."""

    words: int
    brief: int
    jobs: list[SummaryJob] = field(default_factory=list)
    fails_at: int = 0

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        self.jobs.append(job)
        if len(self.jobs) == self.fails_at:
            raise ProviderError("down")
        text = "word " * (self.brief if job.style == "concise" else self.words)
        tell(text)
        return Narrative(text=text.strip(), model="wordy")


async def full(engine: Engine) -> Chat:
    """Fill a window of 4,096 tokens, of which 2,867 may be sent, beyond that."""
    chat = await engine.create()
    await chat.set(auto=False)
    n = 0
    while (await chat.usage()).reading.tokens < 3_500:
        n += 1
        await chat.add(f"Deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"It is deployed on port {9000 + n}. {FILLER}", role="assistant")
    return chat


async def hard_turn(chat: Chat) -> Outcome:
    made = [event async for event in chat.turn("And now?")]
    (outcome,) = [event.outcome for event in made if isinstance(event, CompressionEnded)]
    return outcome


async def test_what_still_does_not_fit_is_retained_less_first(make: MakeEngine) -> None:
    """FR-5.3.1, "Reduce retention count temporarily"; seen failing with: what was made first is kept."""
    wordy = Wordy(words=2_100, brief=10)
    chat = await full(await make(policy="requirements", summariser=wordy))
    seen = [event async for event in chat.turn("And now?")]
    (outcome,) = [event.outcome for event in seen if isinstance(event, CompressionEnded)]
    assert isinstance(outcome, Compressed)
    first, second = wordy.jobs
    assert len(second.covered) > len(first.covered)
    assert (first.style, second.style) == ("detailed", "detailed")
    assert second.cap == first.cap
    assert outcome.after <= (await chat.usage()).budget.hard
    assert [type(event) for event in seen].count(CompressionStarted) == 1
    told = [event.text for event in seen if isinstance(event, SummaryText)]
    assert told == ["word " * 2_100, "", "word " * 2_100]
    # For this time only: what is set stays as it was.
    assert (await chat.settings()).get("retained") is None


async def test_then_the_summary_is_made_again_and_harder(make: MakeEngine) -> None:
    """FR-5.3.1, "Re-summarize with higher compression ratio"."""
    wordy = Wordy(words=2_900, brief=100)
    chat = await full(await make(policy="requirements", summariser=wordy))
    outcome = await hard_turn(chat)
    assert isinstance(outcome, Compressed)
    first, second, third = wordy.jobs
    assert [job.style for job in wordy.jobs] == ["detailed", "detailed", "concise"]
    assert len(first.covered) < len(second.covered) == len(third.covered)
    assert third.cap == first.cap // 2
    assert outcome.snapshot.summary == ("word " * 100).strip()
    assert [problem.flaw for problem in outcome.problems] == []


async def test_then_there_is_a_warning_with_the_numbers(make: MakeEngine) -> None:
    """FR-5.3.1, "Warn user if context is critically limited"; the turn goes on with what fits."""
    wordy = Wordy(words=2_900, brief=2_800)
    chat = await full(await make(policy="requirements", summariser=wordy))
    budget = (await chat.usage()).budget
    seen = [event async for event in chat.turn("And now?")]
    (outcome,) = [event.outcome for event in seen if isinstance(event, CompressionEnded)]
    assert isinstance(outcome, Compressed)
    assert len(wordy.jobs) == 3
    assert outcome.after > budget.trigger
    (warning,) = outcome.problems
    assert warning.detail == f"{outcome.after:,} tokens, still above the mark of {budget.trigger:,}"
    (shrunk,) = [event for event in seen if isinstance(event, ContextShrunk)]
    assert shrunk.before == outcome.after
    assert shrunk.after <= budget.hard
    assert isinstance(seen[-1], Answered)


async def test_a_further_try_that_fails_leaves_what_there_is(make: MakeEngine) -> None:
    wordy = Wordy(words=2_100, brief=10, fails_at=2)
    chat = await full(await make(policy="requirements", summariser=wordy))
    outcome = await chat.compress(keep=1_000)
    assert isinstance(outcome, Compressed)
    assert len(wordy.jobs) == 2
    assert outcome.snapshot.summary == ("word " * 2_100).strip()
    paper = await chat.snapshots.receipt(outcome.snapshot.id)
    assert paper is not None
    assert (paper.model, paper.no_summary) == ("wordy", "")


async def test_exact_lines_alone_say_less_beside_a_long_question(make: MakeEngine) -> None:
    """Seen failing with: lines that fill their whole room, and then all of them dropped to make the request fit."""
    chat = await full(await make(policy="requirements"))
    seen = [event async for event in chat.turn("word " * 2_450)]
    (outcome,) = [event.outcome for event in seen if isinstance(event, CompressionEnded)]
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.extracts
    assert outcome.after <= (await chat.usage()).budget.hard
    assert not [event for event in seen if isinstance(event, ContextShrunk | SummaryText)]
