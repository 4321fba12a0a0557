"""A summary that was not written: logged in one line, counted once, and its reason is kept where people look."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import octavo
from octavo.core.messages import assistant
from octavo.core.receipt import Receipt
from octavo.core.reply import Reply, Request, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Problem
from octavo.engine.chat import Chat
from octavo.engine.compression import FOR_LINES
from octavo.engine.engine import UNSET, Engine
from octavo.engine.outcome import REASON_LENGTH, Compressed, Failed, Rejected, one_line
from octavo.errors import ProviderError, UsageError
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio

FILLER = "We talked at length about the weather and other things. " * 8
BILL = Usage(input=5_000, output=40)


async def filled(engine: Engine, turns: int = 6) -> Chat:
    chat = await engine.create()
    for n in range(turns):
        await chat.add(f"Question {n}: deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"Yes, build-{n}00 runs on port {9000 + n}. {FILLER}", role="assistant")
    return chat


async def receipt_of_compressing(chat: Chat) -> Receipt:
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    paper = await chat.snapshots.receipt(outcome.snapshot.id)
    assert paper is not None
    return paper


def refusing(_: Request) -> Reply:
    """An answer that is billed and is no summary."""
    return Reply(message=assistant("I cannot help with that."), usage=BILL, model="gpt-4o-mini-2024-07-18")


@dataclass(slots=True)
class Silent:
    """A summariser whose model answered and whose answer was of no use."""

    problems: tuple[Problem, ...] = (
        Problem("truncated", "cut off"),
        Problem("loop", "it repeats\nitself"),
        Problem("loop", "it repeats\nitself"),
    )
    jobs: list[SummaryJob] = field(default_factory=list)

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
        self.jobs.append(job)
        return Narrative(model="silent-1", usage=BILL, problems=self.problems)


class Broken:
    """A summariser of somebody's own, with a bug in it."""

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
        raise ZeroDivisionError("division by zero")


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def test_a_receipt_names_no_model_and_no_price_that_contributed_nothing(make: MakeEngine) -> None:
    """Seen failing with: the model that answered, and what its refusals cost."""
    engine = await make(refusing, summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    paper = await receipt_of_compressing(chat)
    assert (paper.model, paper.price) == ("", None)
    assert paper.no_summary == "the summary was refused by the model"
    (bill,) = await engine.store.costs.compressions()
    assert bill.price == paper.summary_price
    assert bill.price, "what was spent in vain is added up all the same"


async def test_a_receipt_with_a_summary_names_its_model_and_its_price(make: MakeEngine) -> None:
    told = "They deployed build-000 to host0.example.org on port 9000, and build-100 to port 9001."
    reply = Reply(message=assistant(told), usage=BILL, model="gpt-4o-mini-2024-07-18")
    engine = await make(lambda _: reply, summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    paper = await receipt_of_compressing(chat)
    assert (paper.model, paper.no_summary) == ("gpt-4o-mini-2024-07-18", "")
    assert paper.price is not None
    assert paper.price > 0


async def test_the_failure_is_logged_in_one_line(make: MakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    engine = await make(summariser=Silent(), window=128_000)
    chat = await filled(engine)
    assert isinstance(await chat.compress(), Compressed)
    (line,) = lines_of(caplog)
    assert line.startswith(f"no summary of {chat.id} by silent-1: truncated, loop (")
    assert line.endswith(" s)")


async def test_what_is_logged_holds_no_word_of_a_conversation(
    make: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make(refusing, summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    await chat.compress()
    (line,) = lines_of(caplog)
    assert line.startswith(f"no summary of {chat.id} by gpt-4o-mini-2024-07-18: refused (")
    assert "cannot help" not in caplog.text


async def test_a_service_that_fails_is_logged_and_the_job_keeps_its_reason(
    make: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make(lambda _: ProviderError("quota used up"), summariser="gpt-4o-mini", window=128_000)
    chat = await filled(engine)
    assert await chat.compress() == Failed("quota used up", retryable=False)
    (line,) = lines_of(caplog)
    assert line.startswith(f"no summary of {chat.id} by gpt-4o-mini: quota used up (")
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert (job.status, job.error) == ("failed", "quota used up")


async def test_a_bug_in_a_summariser_is_a_failure_like_any_other(
    make: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing with: the exception raised through the turn, and a job whose reason is `stopped`."""
    engine = await make(summariser=Broken(), window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress()
    reason = "the summariser failed: ZeroDivisionError: division by zero"
    assert outcome == Failed(reason, retryable=False)
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert (job.status, job.error) == ("failed", reason)
    assert [line.partition(" (")[0] for line in lines_of(caplog)] == [
        f"no summary of {chat.id} by Broken: {reason}"
    ]


async def test_a_rejected_compression_leaves_its_reason_with_the_job(make: MakeEngine) -> None:
    """Seen failing with: a job that runs until its lease is over."""

    class Wordy:
        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
            return Narrative(text="word " * 3_000, model="wordy")

    engine = await make(summariser=Wordy(), window=128_000)
    chat = await filled(engine, 2)
    outcome = await chat.compress(keep=0)
    assert isinstance(outcome, Rejected)
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert (job.status, job.error) == ("failed", outcome.problems[0].detail)


async def test_a_late_summary_leaves_its_reason_in_the_receipt(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    class Mute:
        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
            await asyncio.Event().wait()
            return Narrative()

    monkeypatch.setattr("octavo.engine.compression.NOT_WAITED_FOR", FOR_LINES + 0.3)
    engine = await make(summariser=Mute(), window=128_000)
    chat = await filled(engine)
    paper = await receipt_of_compressing(chat)
    assert paper.no_summary == "it was not finished in the 5.3 seconds a compression may take"


@pytest.mark.parametrize(
    ("options", "settings", "reason"),
    [
        ({"summariser": "none"}, {}, "no model was asked: the setting summariser is none"),
        ({}, {"summariser": "none"}, "no model was asked: the setting summariser is none"),
    ],
)
async def test_where_nobody_was_asked_the_receipt_says_why(
    make: MakeEngine, options: dict[str, Any], settings: dict[str, Any], reason: str
) -> None:
    chat = await filled(await make(window=128_000, **options))
    await chat.set(**settings)
    paper = await receipt_of_compressing(chat)
    assert paper.no_summary == reason


async def test_without_a_key_for_the_cheap_model_the_receipt_says_so(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    engine = await make(window=128_000, provider=None, summariser=None)
    chat = await filled(engine)
    paper = await receipt_of_compressing(chat)
    assert paper.no_summary.startswith("no model was asked: ")
    assert "OPENAI_API_KEY" in paper.no_summary


async def test_where_no_summariser_is_known_the_receipt_says_so(make: MakeEngine) -> None:
    engine = await make(window=128_000, summariser=None)
    await engine.models.define("plain", {"window": 128_000})
    chat = await filled(engine)
    await chat.set(model="plain")
    paper = await receipt_of_compressing(chat)
    assert paper.no_summary == UNSET


async def test_a_summariser_that_was_chosen_and_cannot_be_asked_is_an_error(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact lines instead would hide that a key is missing."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    engine = await make(window=128_000, provider=None)
    chat = await filled(engine)
    await chat.set(summariser="gpt-4o-mini")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        await chat.compress()
    assert await chat.snapshots.list() == ()


def history() -> list[dict[str, Any]]:
    said = ((f"Deploy build-{n}00? {FILLER}", f"It runs on port {9000 + n}. {FILLER}") for n in range(8))
    return [
        {"role": role, "content": text}
        for pair in said
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


async def test_plain_lists_name_no_model_that_wrote_nothing() -> None:
    """Seen failing with: the model of an empty narrative in the snapshot and in the receipt."""
    result = await octavo.acompress(history(), ratio=0.4, summariser=Silent())
    assert result.snapshot is not None
    assert result.receipt is not None
    assert (result.snapshot.model, result.snapshot.prompt) == ("", "")
    assert result.receipt.model == ""
    assert result.receipt.no_summary == "the summary was cut off before its end and repeated itself"


async def test_plain_lists_keep_the_earlier_summary_when_the_next_one_fails() -> None:
    """Seen failing with: an empty narrative in the place of what was known."""
    first = await octavo.acompress(history(), ratio=0.4, summariser=lambda *_: "Eight builds went out.")
    grown = [*first.messages, *history()]
    second = await octavo.acompress(grown, ratio=0.4, summariser=Silent(), previous=first)
    assert second.snapshot is not None
    assert second.snapshot.summary == "Eight builds went out."
    assert second.receipt is not None
    assert second.receipt.no_summary == "the summary was cut off before its end and repeated itself"


def test_a_receipt_of_an_older_version_is_read() -> None:
    old = json.loads(Receipt(no_summary="late").to_json())
    del old["no_summary"]
    assert Receipt.from_json(json.dumps(old)).no_summary == ""
    assert Receipt.from_json(Receipt(no_summary="late").to_json()).no_summary == "late"


@pytest.mark.parametrize("length", [REASON_LENGTH - 1, REASON_LENGTH, REASON_LENGTH + 1, 5 * REASON_LENGTH])
def test_a_reason_is_cut_where_it_is_longer_than_what_is_shown(length: int) -> None:
    told = one_line("x" * length)
    assert told == ("x" * length if length <= REASON_LENGTH else "x" * (REASON_LENGTH - 1) + "…")
    assert len(one_line(f"two\n\tlines {'x' * length}")) == min(length + 10, REASON_LENGTH)
