"""What an engine does beside turns: it looks after what is idle, tells what happens, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from octavo.core.messages import assistant
from octavo.core.protocol import ANTHROPIC, COMPATIBLE, OPENAI, Rules
from octavo.core.reply import Chunk, Reply, Request
from octavo.engine.attempt import Attempt
from octavo.engine.compression import CompressionRequest
from octavo.engine.engine import UNSET, Engine, database_url
from octavo.engine.outcome import (
    Cancelled,
    Compressed,
    CompressionEnded,
    CompressionStarted,
    Event,
    Failed,
    Preparing,
    Skipped,
    SummaryText,
)
from octavo.errors import NotFound, ProviderError, ReadOnly, StoreError, UnknownModel, UsageError
from octavo.meters.cards import find_card
from octavo.protocols import Provider
from tests.engine.conftest import MODEL, MakeEngine
from tests.engine.test_compress import Gated, Spy, Writer, filled

pytestmark = pytest.mark.anyio

PATIENCE = 60.0
"""Seconds after which what never happens has failed."""


@dataclass(slots=True)
class Closing:
    """A provider that notes when it is closed."""

    rules: Rules = OPENAI
    name: str = "closing"
    closed: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.asked.set()
        yield Reply(message=assistant("Fine."), model=request.model)

    async def count_request(self, request: Request) -> int:  # noqa: ARG002
        await asyncio.Event().wait()
        return 0

    async def close(self) -> None:
        self.closed += 1


async def test_closing_gives_up_what_is_under_way_and_gives_everything_back(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, provider, writer = asyncio.all_tasks(), Closing(), Gated()
    engine = await make(provider=provider, summariser=writer, window=8_192)
    chat = await filled(engine, 30)
    begun = asyncio.Event()

    async def never(*_: object, **__: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(engine.store.recall, "fill", never)
    monkeypatch.setattr(engine.store.titles, "is_provisional", never)
    state = await chat._state()
    engine.compress_in_background(state)
    engine.index_in_background(state.tip)
    short = await filled(engine, 1)
    async for _ in short.turn("Hello"):
        pass
    idle = await filled(engine, 18)
    engine.compress_in_background(await idle._state())
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        assert engine.is_compressing(chat.id)
        assert engine._waiting is not None
        await engine.close()
    assert asyncio.all_tasks() - before == set()
    assert provider.closed == 1
    assert writer.jobs == []
    with pytest.raises(Exception, match="closed"):
        await engine.create()


def heard(engine: Engine) -> list[tuple[str, Event]]:
    told: list[tuple[str, Event]] = []
    engine.listeners.append(lambda conversation, event: told.append((conversation, event)))
    return told


async def test_who_listens_is_told_of_a_compression_in_the_background(make: MakeEngine) -> None:
    engine = await make(summariser=Writer("They deployed builds."))
    told, chat = heard(engine), await filled(engine, 14)
    engine.compress_in_background(await chat._state())
    await chat.wait_until_idle()
    assert [type(event) for _, event in told] == [
        Preparing,
        CompressionStarted,
        SummaryText,
        CompressionEnded,
    ]
    assert {conversation for conversation, _ in told} == {chat.id}


async def test_who_listens_is_told_when_it_fails_or_is_stopped(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(summariser=Gated())
    told, chat = heard(engine), await filled(engine, 14)
    state = await chat._state()
    engine.compress_in_background(state)
    async with asyncio.timeout(PATIENCE):
        await engine.wait_until_idle(chat.id, 0.01)
    assert told[0] == (chat.id, Preparing("soft"))
    assert told[-1] == (chat.id, CompressionEnded(Cancelled()))
    assert not engine.is_compressing(chat.id)
    stopped = engine.record(chat.id).task
    assert stopped is not None
    assert stopped.cancelled()

    async def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(engine.store.jobs, "claim", full)
    engine.compress_in_background(state)
    await chat.wait_until_idle()
    assert told[-1] == (chat.id, CompressionEnded(Failed("the disk is full")))


async def test_a_conversation_is_compressed_behind_its_turns_once_a_mark_is_crossed(make: MakeEngine) -> None:
    """What must still fit below the mark counts as well."""
    engine = await make()
    chat = await filled(engine, 4)
    state = await chat._state()
    assert state.budget.soft is not None
    at = replace(state, reading=replace(state.reading, tokens=state.budget.soft, error_bound=0))
    at = replace(at, budget=replace(at.budget, prepare=None), policy=replace(at.policy, minimum=0))
    engine.compress_in_background(at)
    assert not engine.is_compressing(chat.id)
    for ahead, begins in ((0, False), (1, True)):
        engine.compress_in_background(at, ahead=ahead)
        assert engine.is_compressing(chat.id) is begins
    await chat.wait_until_idle()


def passing(monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], list[float]]:
    """Let time pass at once where the engine sleeps; give the time it is, and how long it slept each time."""
    now, slept = [1_000.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("octavo.engine.engine.asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    return now, slept


async def test_an_idle_conversation_is_looked_at_when_its_cache_is_cold(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that were left at different times; one that is gone by then holds up nobody."""
    now, slept = passing(monkeypatch)
    engine = await make(clock=lambda: now[0], window=8_192)
    chats = [await filled(engine, 18) for _ in range(3)]
    states = [await chat._state() for chat in chats]
    await engine.store.bin.delete(chats[0].id)
    lives = states[0].meter.card.cache_seconds
    for state in states:
        engine.compress_in_background(state)
        now[0] += 20
    assert engine._waiting is not None
    await asyncio.wait_for(engine._waiting, PATIENCE)
    assert slept == [lives - 60, 20, 20]
    for chat in chats[1:]:
        await chat.wait_until_idle()
        assert await chat.snapshots.serving() is not None
    assert engine._cooling == {}


async def test_few_idle_conversations_are_remembered_and_none_that_is_compressed(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.engine.engine.REMEMBERED", 2)
    engine = await make(window=8_192)
    chats = [await filled(engine, 18) for _ in range(3)]
    states = [await chat._state() for chat in chats]
    for state in states:
        engine.compress_in_background(state)
    assert list(engine._cooling) == [chat.id for chat in chats[1:]]
    engine.compress_in_background(states[1], cold=True)
    assert engine.is_compressing(chats[1].id)
    assert list(engine._cooling) == [chats[2].id]
    await chats[1].wait_until_idle()


async def test_what_is_remembered_of_conversations_is_bounded_but_for_the_busy(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.engine.engine.REMEMBERED", 3)
    engine = await make(summariser=Gated())
    chat = await filled(engine, 14)
    first = engine.record("first")
    engine.record("second")
    engine.record("third")
    assert engine.record("first") is first
    engine.record("fourth")
    assert list(engine._records) == ["third", "first", "fourth"]
    engine.compress_in_background(await chat._state())
    for name in ("fifth", "sixth", "seventh"):
        engine.record(name)
    assert list(engine._records) == [chat.id, "fifth", "sixth", "seventh"]
    assert engine.is_compressing(chat.id)


async def test_only_words_of_a_hook_are_instructions(make: MakeEngine) -> None:
    writer = Writer()
    hooks = (Spy(None), Spy("Keep ports."), Spy(""), Spy(7), Spy("Keep hosts."))
    chat = await filled(await make(summariser=writer, hooks=hooks, window=128_000))
    assert isinstance(await chat.compress(), Compressed)
    assert writer.jobs[0].focus == "Keep ports.\nKeep hosts."


async def test_a_failure_is_held_against_what_is_automatic_and_a_success_forgives_it(
    make: MakeEngine,
) -> None:
    """What a person asked for neither counts as a failure nor as what was done last."""
    now = [50.0]
    engine = await make(summariser=Writer(ProviderError("down"), ProviderError("down")), clock=lambda: now[0])
    chat = await filled(engine, 14)
    state = await chat._state()
    record = engine.record(chat.id)

    async def run(urgency: str) -> None:
        request = CompressionRequest(urgency=urgency)  # type: ignore[arg-type]
        async for _ in engine.run_compression(state, request):
            pass

    await run("manual")
    assert record.trouble.failures == 0
    await run("soft")
    trouble = record.trouble
    assert (trouble.failures, trouble.model, trouble.at) == (1, MODEL, 50.0)
    assert trouble.tokens == state.reading.cautious
    await run("manual")
    assert (record.trouble.failures, record.pace.turn) == (0, "")
    await chat.undo()
    state = await chat._state()
    await run("soft")
    assert (record.pace.turn, record.pace.progressed) == (state.turn, True)
    inputs = engine.decision_inputs(state)
    assert (inputs.turn, inputs.pace, inputs.cold) == (state.turn, record.pace, False)


async def test_every_watcher_is_told_of_every_attempt_once(make: MakeEngine) -> None:
    engine = await make(summariser=Writer())
    seen: list[list[Attempt]] = [[], []]
    engine.watchers += [seen[0].append, seen[1].append]
    chat = await filled(engine)
    await chat.compress()
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1


async def test_where_nothing_can_be_written_nothing_is_resumed_or_indexed(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A process that can write does it."""
    engine = await make()

    async def refused(*_: object, **__: object) -> None:
        raise ReadOnly("this database is opened for reading")

    monkeypatch.setattr(engine.store.jobs, "close_abandoned", refused)
    monkeypatch.setattr(engine.store.recall, "fill", refused)
    assert await engine.resume_abandoned() == 0
    chat = await filled(engine, 1)
    assert (await engine.chat(chat.id)).id == chat.id
    tip = await chat._tip()
    assert tip
    engine.index_in_background(tip)
    await engine.wait_until_idle(chat.id)
    assert engine._indexing == {}
    assert caplog.messages == []


async def test_what_is_covered_is_indexed_once_at_a_time(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make()
    filling: list[str] = []

    async def fill(cutoff: str) -> None:
        filling.append(cutoff)
        await asyncio.sleep(0)

    monkeypatch.setattr(engine.store.recall, "fill", fill)
    for _ in range(2):
        engine.index_in_background("cutoff")
    await engine.wait_until_idle("nobody")
    assert filling == ["cutoff"]
    engine.index_in_background("cutoff")
    await engine.wait_until_idle("nobody")
    assert filling == ["cutoff"] * 2


async def test_a_message_of_another_conversation_is_no_tip_here(make: MakeEngine) -> None:
    engine = await make()
    here, there = await filled(engine, 2), await filled(engine, 1)
    branch = await here.branch()
    assert (await engine.state_of(here.id, branch[1].id)).tip == branch[1].id
    with pytest.raises(NotFound, match="there is no message"):
        await engine.state_of(here.id, (await there.branch())[0].id)
    with pytest.raises(NotFound, match="empty"):
        await engine.state_of((await engine.create()).id)
    tried = await engine.state_of(here.id, override={"system": "Be brief."})
    assert tried.settings["system"] == "Be brief."
    assert (await here._state()).settings.get("system") is None


def test_a_path_is_a_sqlite_file_and_a_url_stays_what_it_is() -> None:
    assert database_url("chats.db") == "sqlite:///chats.db"
    assert database_url(Path("/data/chats.db")) == "sqlite:////data/chats.db"
    assert database_url("postgresql://db/chats") == "postgresql://db/chats"


async def test_what_is_never_cheaper_to_compress_when_it_is_idle_is_not_waited_for(make: MakeEngine) -> None:
    """A provider whose cache has no price of its own keeps nothing that could be forgotten."""
    engine = await make()
    await engine.models.define("uncached", {"window": 8_192, "price": [4.0, 20.0]})
    await engine.models.define("cached", {"window": 8_192, "price": [4.0, 20.0, 0.4]})
    for model, waits in (("uncached", False), ("cached", True)):
        chat = await filled(engine, 18)
        await chat.set(model=model, auto=True)
        state = await chat._state()
        assert engine.cools(state) is waits
        engine.compress_in_background(state)
        assert (chat.id in engine._cooling) is waits


async def test_closing_gives_up_what_is_being_read_ahead(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, before = await make(), asyncio.all_tasks()
    chat = await filled(engine, 12)
    begun, given_up = asyncio.Event(), asyncio.Event()

    async def never(*_: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    monkeypatch.setattr(engine.reading, "_read", never)
    monkeypatch.setattr(engine.reading, "_worth", lambda _: True)
    engine.reading.begin(await chat._state())
    closed, close = list[bool](), engine._workers.close

    async def noted() -> None:
        closed.append(given_up.is_set())
        await close()

    monkeypatch.setattr(engine._workers, "close", noted)
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        await engine.close()
    assert closed == [True], "the workers are closed once nobody needs them any more"
    assert asyncio.all_tasks() == before


async def test_a_compression_waits_for_what_is_being_read_ahead(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the two would read the same at once."""
    engine = await make(window=128_000)
    chat, settled = await filled(engine), list[str]()

    async def noted(conversation: str) -> None:
        assert await chat.snapshots.list() == ()
        settled.append(conversation)

    monkeypatch.setattr(engine.reading, "settle", noted)
    assert isinstance(await chat.compress(), Compressed)
    assert settled == [chat.id]


async def test_what_is_half_way_to_its_mark_is_read_ahead_and_what_is_compressed_is_not(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(window=8_192)
    begun = list[str]()
    monkeypatch.setattr(engine.reading, "begin", lambda state: begun.append(state.conversation))
    short, half, full = [await filled(engine, turns) for turns in (2, 16, 34)]
    for chat in (short, half, full):
        engine.compress_in_background(await chat._state())
    assert engine.is_compressing(full.id)
    assert begun == [half.id]
    await full.wait_until_idle()


async def test_an_option_that_an_engine_does_not_have_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(UsageError, match=r"Engine\.open\(\) has no option 'modle': did you mean 'model'\?"):
        await Engine.open(modle=MODEL)  # type: ignore[call-arg]


async def test_hooks_are_told_of_what_began_only(make: MakeEngine) -> None:
    hook = Spy(None)
    engine = await make(hooks=(hook,), window=128_000)
    chat = await engine.create()
    await chat.add("Hello")
    assert isinstance(await chat.compress(), Skipped)
    assert hook.after_calls == []
    assert isinstance(await (await filled(engine)).compress(), Compressed)
    assert [type(outcome) for outcome in hook.after_calls] == [Compressed]


async def test_what_was_compressed_is_indexed_behind_it_and_what_was_not_is_not(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, begun = await make(window=128_000), list[str]()
    monkeypatch.setattr(engine, "index_in_background", begun.append)
    chat = await engine.create()
    await chat.add("Hello")
    await chat.compress()
    assert begun == []
    outcome = await (await filled(engine)).compress()
    assert isinstance(outcome, Compressed)
    assert begun == [outcome.snapshot.cutoff]


async def test_who_writes_a_summary_is_who_was_asked_then_who_is_set_then_the_cheap_model(
    make: MakeEngine,
) -> None:
    engine = await make(summariser=None)
    await engine.models.define("alone", {"window": 9_000})
    chat, alone = await filled(engine, 1), await filled(engine, 1)
    await alone.set(model="alone")
    found = await engine.summary_writer(await chat._state())
    assert (found.name, found.price, found.free) == ("gpt-4o-mini", find_card("gpt-4o-mini").price, False)
    assert (await engine.summary_writer(await alone._state())).unasked == UNSET
    await chat.set(summariser="same")
    assert (await engine.summary_writer(await chat._state())).name == MODEL
    assert (await engine.summary_writer(await chat._state(), asked="gpt-4")).name == "gpt-4"
    here = await engine.summary_writer(await chat._state(), asked="local/qwen2.5-coder-0.5b")
    assert (here.name, here.free) == ("local/qwen2.5-coder-0.5b", True)
    await chat.set(summariser="none")
    nobody = await engine.summary_writer(await chat._state())
    assert (nobody.summariser, nobody.unasked) == (None, "no model was asked: the setting summariser is none")


async def test_a_summariser_without_a_key_is_missed_only_where_somebody_named_it(make: MakeEngine) -> None:
    engine = await make(summariser=None)
    chat = await filled(engine, 1)

    def without_key(model: str) -> tuple[Provider, str]:
        raise UsageError(f"there is no key\nfor {model}")

    engine.models.opened.clear()
    engine.models.open = without_key
    found = await engine.summary_writer(await chat._state())
    assert (found.summariser, found.unasked) == (None, "no model was asked: there is no key for gpt-4o-mini")
    await chat.set(summariser="gpt-4o-mini")
    with pytest.raises(UsageError, match="no key"):
        await engine.summary_writer(await chat._state())


async def test_the_rules_of_a_service_that_nobody_knows_are_the_usual_ones(make: MakeEngine) -> None:
    engine = await make(provider=None)
    assert engine.rules_of("nobody-knows-this-one") is OPENAI
    assert engine.rules_of("ollama/llama3.2") is COMPATIBLE
    with pytest.raises(UnknownModel):
        engine.rules_of("")
    given = await make(provider=Closing(rules=ANTHROPIC))
    assert given.rules_of("gpt-4") is ANTHROPIC
    assert given.format_of("gpt-4") == "anthropic"


async def test_of_two_summaries_that_are_written_behind_the_later_one_goes_on(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, gate = await make(window=128_000), asyncio.Event()
    chat = await filled(engine)
    outcome, state = await chat.compress(), await chat._state()
    assert isinstance(outcome, Compressed)

    async def slowly(*_: object) -> None:
        await gate.wait()

    monkeypatch.setattr("octavo.engine.engine.retell", slowly)
    tasks = []
    for _ in range(2):
        engine.retell_in_background(state, outcome.snapshot)
        tasks.append(engine._retelling[chat.id])
        await asyncio.sleep(0)
    await asyncio.wait(tasks[:1])
    await asyncio.sleep(0)
    assert tasks[0].cancelled()
    assert engine._retelling == {chat.id: tasks[1]}
    gate.set()
    await engine.wait_until_retold(chat.id)
    assert tasks[1].done()
    await asyncio.sleep(0)
    assert engine._retelling == {}


async def test_what_is_done_behind_is_forgotten_once_it_is_done_and_a_short_wait_is_not_for_it(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, gate = await make(), asyncio.Event()
    chat = await engine.create("Hello", provisional=True)

    async def slowly(*_: object) -> bool:
        await gate.wait()
        return False

    monkeypatch.setattr(engine.store.titles, "is_provisional", slowly)
    async for _ in chat.turn("Hello"):
        pass
    engine.title_in_background(await chat._state())
    (task,) = engine._titling.values()
    async with asyncio.timeout(PATIENCE):
        await engine.wait_until_idle(chat.id, 0.01)
        assert not task.done()
        gate.set()
        await engine.wait_until_idle(chat.id)
    assert task.done()
    assert engine._titling == {}


async def test_what_is_imported_keeps_its_ids_and_is_counted_behind(make: MakeEngine, tmp_path: Path) -> None:
    engine = await make()
    chat = await filled(engine, 2)
    file = tmp_path / "chat.jsonl"
    await engine.store.export(file, [chat.id])
    async with await Engine.open(tmp_path / "other.db", model=MODEL, provider=Closing()) as other:
        read = list[str]()
        other.reading.begin = lambda state: read.append(state.conversation)  # type: ignore[method-assign]
        (made,) = await other.import_file(file)
        assert made.id == chat.id
        await other.wait_until_idle(made.id)
        assert read == [made.id]
        await asyncio.sleep(0)
        assert other._indexing == {}
        (copied,) = await other.import_file(file, new_ids=True)
        assert copied.id != chat.id


async def test_a_title_is_begun_once_at_the_beginning_and_where_titles_are_wanted(make: MakeEngine) -> None:
    engine = await make(window=128_000)
    chat = await filled(engine, 1)
    await chat._state()
    await chat.add("And port 9001?")
    await chat.add(assistant("That, too."))
    state = await chat._state()
    assert len(state.added) == 2
    engine.title_in_background(replace(state, policy=replace(state.policy, titles=False)))
    assert engine._titling == {}
    engine.title_in_background(state)
    (task,) = engine._titling.values()
    engine.title_in_background(state)
    assert [*engine._titling.values()] == [task]
    await chat.wait_until_idle()
    await chat.add("And port 9002?")
    engine.title_in_background(await chat._state())
    assert engine._titling == {}


async def test_the_next_idle_conversation_is_waited_for_when_nothing_is_waited_for_any_more(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, slept = passing(monkeypatch)
    engine = await make(clock=lambda: now[0], window=8_192)
    for times in (1, 2):
        chat = await filled(engine, 18)
        engine.compress_in_background(await chat._state())
        assert engine._waiting is not None
        await asyncio.wait_for(engine._waiting, PATIENCE)
        assert len(slept) == times
        await chat.wait_until_idle()
        assert await chat.snapshots.serving() is not None
