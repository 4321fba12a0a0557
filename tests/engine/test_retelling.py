"""The embedded model retells in the background what was compressed to exact lines, where it is good enough."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from octavo.core.messages import assistant
from octavo.core.protocol import COMPATIBLE, Rules
from octavo.core.reply import Chunk, Reply, Request, Usage
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.engine.retelling import LARGEST, retell
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MODEL, MakeEngine
from tests.engine.test_compress import Writer

pytestmark = pytest.mark.anyio

LOCAL = "local/qwen2.5-coder-0.5b"
FILLER = "We talked at length about the weather and other things. " * 8


async def filled(engine: Engine, model: str = LOCAL) -> Chat:
    chat = await engine.create()
    await chat.set(model=model)
    await grow(chat, 6, start=0)
    return chat


async def grow(chat: Chat, turns: int, start: int) -> None:
    for n in range(start, start + turns):
        await chat.add(f"Question {n}: deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"Yes, build-{n}00 runs on port {9000 + n}. {FILLER}", role="assistant")


def copying(request: Request) -> Reply:
    """A small model that lists what its part says, and makes one thing up."""
    ports = re.findall(r"Yes, (build-\d+ runs on port \d+)", request.messages[-1].text)
    lines = [*(f"- {port}" for port in ports[:2]), "- The admin's password is 77123."]
    return Reply(message=assistant("\n".join(lines)), usage=Usage(input=400, output=40), model="qwen")


def inventing(_: Request) -> Reply:
    return Reply(message=assistant("- The port is 77123.\n- The host is db_north_7."), model="qwen")


@dataclass(slots=True)
class Held:
    """The same model, which answers once it is let."""

    copying: ScriptedProvider = field(default_factory=lambda: ScriptedProvider(copying))
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = "held"
    rules: Rules = COMPATIBLE

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.asked.set()
        await self.go_on.wait()
        async for chunk in self.copying.stream(request):
            yield chunk

    async def close(self) -> None:
        await self.copying.close()


async def compressed(chat: Chat) -> Compressed:
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    return outcome


async def test_exact_lines_are_there_at_once_and_bullets_come_on_top_of_them(make: MakeEngine) -> None:
    engine = await make(copying, summariser=None)
    chat = await filled(engine)
    made = (await compressed(chat)).snapshot
    first = await chat.snapshots.receipt(made.id)
    assert first is not None
    assert (made.summary, made.model) == ("", "")
    assert (
        first.no_summary
        == "no model retells these messages at once (the embedded one tries in the background)"
    )

    await engine.wait_until_retold(chat.id)
    told = await chat.snapshots.serving()
    assert told is not None
    assert "- build-000 runs on port 9000" in told.summary
    assert "77123" not in told.summary
    assert (told.version, told.kind, told.model) == (made.version + 1, "regenerated", "qwen")
    assert told.extracts == made.extracts, "no exact line gives way"
    paper = await chat.snapshots.receipt(told.id)
    assert paper is not None
    assert (paper.no_summary, paper.model) == ("", "qwen")
    assert paper.taken_out == ("The admin's password is 77123.",)
    assert paper.summary_requests > 1
    assert told.tokens_after > made.tokens_after
    assert paper.tokens_after - first.tokens_after == told.tokens_after - made.tokens_after


async def test_the_next_compression_carries_the_bullets_on_and_only_what_is_new_is_read(
    make: MakeEngine,
) -> None:
    read: list[str] = []

    def noting(request: Request) -> Reply:
        read.append(request.messages[-1].text)
        return copying(request)

    engine = await make(noting, summariser=None)
    chat = await filled(engine)
    await compressed(chat)
    await engine.wait_until_retold(chat.id)
    read.clear()
    await grow(chat, 6, start=6)
    await compressed(chat)
    await engine.wait_until_retold(chat.id)
    told = await chat.snapshots.serving()
    assert told is not None
    assert "- build-000 runs on port 9000" in told.summary
    assert "- build-900 runs on port 9009" in told.summary
    assert not any("build-000" in text for text in read)


async def test_system_messages_at_the_beginning_are_not_retold(make: MakeEngine) -> None:
    read: list[str] = []

    def noting(request: Request) -> Reply:
        read.append(request.messages[-1].text)
        return copying(request)

    engine = await make(noting, summariser=None)
    chat = await engine.create(model=LOCAL)
    await chat.add("The harbour master is called Ines Faro.", role="system")
    await grow(chat, 6, start=0)
    await compressed(chat)
    await engine.wait_until_retold(chat.id)
    assert any("build-000" in text for text in read)
    assert not any("Ines Faro" in text for text in read)


async def test_what_does_not_pass_the_checks_leaves_the_exact_lines_alone(make: MakeEngine) -> None:
    engine = await make(inventing, summariser=None)
    chat = await filled(engine)
    made = (await compressed(chat)).snapshot
    await engine.wait_until_retold(chat.id)
    assert await chat.snapshots.serving() == made


async def test_what_was_undone_meanwhile_is_not_brought_back(make: MakeEngine) -> None:
    """Seen failing with: a version that is put into use whatever became of the one it was made from."""
    provider = Held()
    engine = await make(provider=provider, summariser=None)
    chat = await filled(engine)
    await compressed(chat)
    await provider.asked.wait()
    await chat.undo()
    provider.go_on.set()
    await engine.wait_until_retold(chat.id)
    assert await chat.snapshots.serving() is None


async def test_a_summary_that_the_next_compression_overtakes_is_given_up(make: MakeEngine) -> None:
    provider = Held()
    engine = await make(provider=provider, summariser=None)
    chat = await filled(engine)
    await compressed(chat)
    await asyncio.wait_for(provider.asked.wait(), 60)
    overtaken = engine._retelling[chat.id]
    await grow(chat, 6, start=6)
    second = (await compressed(chat)).snapshot
    assert engine._retelling[chat.id] is not overtaken
    await asyncio.wait([overtaken], timeout=60)
    assert overtaken.cancelled()
    assert chat.id in engine._retelling, "the end of the one is not the end of the other"
    provider.go_on.set()
    await engine.wait_until_retold(chat.id)
    told = await chat.snapshots.serving()
    assert told is not None
    assert (told.cutoff, told.version) == (second.cutoff, 2)
    assert engine._retelling == {}


@pytest.mark.parametrize(
    ("model", "summariser"), [(LOCAL, "none"), ("gpt-4o", "none"), ("gpt-4o", LOCAL)], ids=str
)
async def test_who_chose_a_summariser_or_another_model_is_not_retold_to(
    make: MakeEngine, model: str, summariser: str
) -> None:
    engine = await make(copying, summariser=summariser)
    chat = await filled(engine, model)
    made = (await compressed(chat)).snapshot
    await engine.wait_until_retold(chat.id)
    assert [one.id for one in await chat.snapshots.list()] == [made.id]


async def test_what_is_retold_gets_the_room_that_lines_leave_up_to_half_of_a_snapshot(
    make: MakeEngine,
) -> None:
    """Together they take at most three quarters of what they cover."""
    engine = await make(summariser=(writer := Writer("", *[""] * 9)), window=128_000)
    chat = await filled(engine, MODEL)
    made = (await compressed(chat)).snapshot
    state = await chat._state()
    lines = (await chat.snapshots.size(made.id, " ")).tokens

    async def cap(covered: int, snapshot: int) -> int | None:
        asked, wide = (
            len(writer.jobs),
            replace(state.budget, prepare=None, soft=None, hard=state.budget.limit),
        )
        budget = replace(wide, snapshot=snapshot)
        await retell(engine, replace(state, budget=budget), replace(made, tokens_before=covered))
        return writer.jobs[-1].cap if len(writer.jobs) > asked else None

    assert await cap(2 * lines, 10_000) == int(LARGEST * 2 * lines) - lines
    assert await cap(2 * lines, 100) == 50
    assert writer.jobs[-1].covered == (await chat.branch())[: made.messages]
    least = next(covered for covered in range(lines, 2 * lines) if int(LARGEST * covered) > lines)
    assert [await cap(covered, 300) for covered in (least - 1, least)] == [None, 1]
    room = (await chat.snapshots.size(made.id, " ")).room
    assert await cap(2 * room, 2 * room + 100) == room - lines


async def test_only_what_the_summary_before_does_not_tell_is_read_and_of_very_many_the_last(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make(summariser=(writer := Writer("", "", "First.", "")), window=128_000)
    chat = await engine.create()
    await chat.add("Answer in one sentence.", role="system")
    await grow(chat, 6, start=0)
    branch = await chat.branch()

    async def read(up_to: int) -> list[int]:
        outcome = await chat.compress(up_to=branch[up_to - 1].id)
        assert isinstance(outcome, Compressed)
        await retell(engine, await chat._state(), outcome.snapshot)
        return [node.depth for node in writer.jobs[-1].covered]

    assert await read(5) == [2, 3, 4, 5]
    assert await read(9) == [6, 7, 8, 9]
    monkeypatch.setattr("octavo.engine.retelling.LONG", 3)
    assert await read(13) == [11, 12, 13]


async def test_a_summary_that_says_nothing_new_or_is_too_long_is_left_out(make: MakeEngine) -> None:
    same, long = "They deployed builds.", "word " * 200_000
    engine = await make(summariser=Writer(same, same, long, "They deployed six builds."), window=128_000)
    chat = await filled(engine, MODEL)
    made = (await compressed(chat)).snapshot
    for told in (same, same, "They deployed six builds."):
        await retell(engine, await chat._state(), replace(made, tokens_before=10_000))
        serving = await chat.snapshots.serving()
        assert serving is not None
        assert serving.summary == told
        assert serving.version == made.version + (told != same)


async def test_without_anybody_who_writes_nothing_is_retold(make: MakeEngine) -> None:
    engine = await make(window=128_000)
    chat = await filled(engine, MODEL)
    made = (await compressed(chat)).snapshot
    state = replace(await chat._state(), model="none")
    await retell(engine, state, replace(made, tokens_before=10_000))
    assert await chat.snapshots.serving() == made
