"""One event for every attempt to compress, with the tokens before and after and how it ended, failures included."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

import pytest

import octavo
from octavo.core.messages import assistant
from octavo.core.reply import Reply
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.attempt import Attempt
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed, CompressionEnded, CompressionStarted
from octavo.errors import ContextOverflow, ProviderError, StoreError
from tests.engine.conftest import MakeEngine
from tests.engine.test_compress import Gated, Writer, begun, filled

pytestmark = pytest.mark.anyio

LONG = "The quick brown fox jumps over the lazy dog near port 8080. " * 12


def watched(engine: Engine) -> list[Attempt]:
    seen: list[Attempt] = []
    engine.watchers.append(seen.append)
    return seen


async def tokens(chat: Chat) -> int:
    return (await chat.usage()).reading.tokens


async def test_one_that_works_is_told_with_its_sizes(make: MakeEngine) -> None:
    engine = await make(summariser=Writer("They deployed six builds."), window=128_000)
    seen, chat = watched(engine), await filled(engine)
    before, began = await tokens(chat), time.monotonic()
    await chat.compress()
    passed = time.monotonic() - began
    (attempt,) = seen
    assert (attempt.conversation, attempt.trigger) == (chat.id, "manual")
    assert (attempt.ending, attempt.why) == ("compressed", "")
    assert (attempt.before, attempt.after) == (before, await tokens(chat))
    assert attempt.after < attempt.before
    assert 0 < attempt.seconds <= passed
    assert attempt.unwritten is None


async def test_one_without_its_summary_says_so(make: MakeEngine) -> None:
    refusal = Reply(message=assistant("I cannot help with that."))
    engine = await make(lambda _: refusal, summariser="gpt-4o-mini", window=128_000)
    seen, chat = watched(engine), await filled(engine)
    await chat.compress()
    (attempt,) = seen
    assert (attempt.ending, attempt.why) == ("compressed", "refused")
    assert attempt.unwritten is not None
    assert (attempt.unwritten.model, attempt.unwritten.kind) == ("gpt-4o-mini", "refused")
    assert 0 <= attempt.unwritten.seconds <= attempt.seconds


async def test_failures_are_told_and_leave_the_size_as_it_was(make: MakeEngine) -> None:
    engine = await make(summariser=Writer(ProviderError("quota")), window=128_000)
    seen, chat = watched(engine), await filled(engine)
    before = await tokens(chat)
    await chat.compress()
    (attempt,) = seen
    assert (attempt.ending, attempt.why) == ("failed", "ProviderError")
    assert (attempt.before, attempt.after) == (before, before)
    assert attempt.unwritten is not None
    assert attempt.unwritten.noted == "quota"


async def test_what_is_rejected_is_told_with_the_size_it_would_have_had(make: MakeEngine) -> None:
    engine = await make(summariser=Writer("word " * 3_000), window=128_000)
    seen, chat = watched(engine), await filled(engine, 2)
    await chat.compress(keep=0)
    (attempt,) = seen
    assert (attempt.ending, attempt.why) == ("rejected", "not_smaller")
    assert attempt.after > attempt.before == await tokens(chat)


async def test_what_is_skipped_is_told_with_its_reason(make: MakeEngine) -> None:
    class Never:
        async def before(self, chat: Chat, order: object) -> bool:  # noqa: ARG002
            return False

        async def after(self, chat: Chat, outcome: object) -> None:
            """Nothing comes after."""

    engine = await make(hooks=[Never()])
    seen, chat = watched(engine), await filled(engine, 1)
    await chat.compress()
    plain = await make()
    seen_there, short = watched(plain), await plain.create()
    await short.add("Only this.")
    await short.compress()
    assert [(one.ending, one.why) for one in (*seen, *seen_there)] == [
        ("skipped", "vetoed"),
        ("skipped", "nothing"),
    ]


@pytest.mark.parametrize("how", ["cancelled", "closed"])
async def test_what_is_stopped_is_told_once(make: MakeEngine, how: str) -> None:
    engine = await make(summariser=Gated(), window=128_000)
    seen, chat = watched(engine), await filled(engine)
    if how == "closed":
        async with aclosing(chat.compressing()) as events:
            async for event in events:
                assert isinstance(event, CompressionStarted)
                break
    else:
        task = asyncio.create_task(chat.compress())
        await begun(engine, chat)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    (attempt,) = seen
    assert (attempt.ending, attempt.before) == ("cancelled", attempt.after)


async def test_an_error_of_the_store_is_told_and_raised(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(window=128_000)
    seen, chat = watched(engine), await filled(engine)

    async def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(engine.store.jobs, "finish", full)
    with pytest.raises(StoreError, match="the disk is full"):
        await chat.compress()
    (attempt,) = seen
    assert (attempt.ending, attempt.why) == ("failed", "error")
    (job,) = await engine.store.jobs.of_conversation(chat.id)
    assert (job.status, job.error) == ("failed", "the disk is full")


@pytest.mark.parametrize("fails", [False, True])
async def test_in_the_background_there_is_one_event_too(make: MakeEngine, fails: bool) -> None:
    engine = await make(summariser=Writer(*[ProviderError("down")] if fails else ["They spoke of foxes."]))
    seen, chat = watched(engine), await engine.create()
    while not seen:
        async for _ in chat.turn(f"Question. {LONG}"):
            pass
        await chat.wait_until_idle()
    (attempt,) = seen
    assert (attempt.trigger, attempt.ending) == ("soft", "failed" if fails else "compressed")
    assert attempt.before > 0


async def test_a_turn_that_has_to_compress_tells_of_it_once(make: MakeEngine) -> None:
    engine = await make(summariser=Writer())
    seen, chat = watched(engine), await engine.create()
    await chat.set(auto=False)
    while (await chat.usage()).level != "hard":
        await chat.add(f"Something else. {LONG}")
        await chat.add(f"Noted. {LONG}", role="assistant")
    async for _ in chat.turn("And now?"):
        pass
    assert [(one.trigger, one.ending) for one in seen] == [("hard", "compressed")]


def events_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "octavo.compression"]


async def test_each_is_one_line_of_the_log_without_a_word_of_the_conversation(
    make: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "octavo.compression")
    engine = await make(summariser=Writer("The secret is xylophone."), window=128_000)
    chat = await filled(engine)
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    (line,) = events_of(caplog)
    sizes = f"before={outcome.before} after={outcome.after} seconds="
    assert line.startswith(f"conversation={chat.id} trigger=manual outcome=compressed why=- {sizes}")
    assert "xylophone" not in line


def history(turns: int = 8) -> list[dict[str, Any]]:
    return [{"role": role, "content": f"{n}. {LONG}"} for n in range(turns) for role in ("user", "assistant")]


def test_a_plain_list_is_an_attempt_when_it_does_not_fit(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "octavo.compression")
    octavo.compress(history(), budget=100_000)
    assert events_of(caplog) == []
    began = time.monotonic()
    result = octavo.compress(history(), ratio=0.5)
    passed = time.monotonic() - began
    with pytest.raises(ContextOverflow):
        octavo.compress([*history(), {"role": "user", "content": LONG * 9}], budget=200)
    worked, failed = events_of(caplog)
    told = (
        f"conversation=- trigger=call outcome=compressed why=- before={result.before} after={result.after} "
    )
    assert worked.startswith(told)
    (seconds,) = re.findall(r"seconds=([\d.]+)$", worked)
    assert 0 <= float(seconds) <= passed + 0.001, "it is rounded"
    assert " outcome=failed why=error " in failed


async def test_a_plain_list_without_its_summary_says_so(caplog: pytest.LogCaptureFixture) -> None:
    class Silent:
        async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
            return Narrative()

    caplog.set_level(logging.INFO, "octavo.compression")
    await octavo.acompress(history(), ratio=0.5, summariser=Silent())
    (line,) = events_of(caplog)
    assert " outcome=compressed why=unwritten " in line


async def test_who_leaves_once_it_has_ended_is_not_told_of_it_again(make: MakeEngine) -> None:
    engine, told = await make(), list[Attempt]()
    engine.watchers.append(told.append)
    chat = await filled(engine)
    running = chat.compressing()
    async for event in running:
        if isinstance(event, CompressionEnded):
            break
    await running.aclose()
    assert [attempt.ending for attempt in told] == ["compressed"]
