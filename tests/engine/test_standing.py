"""What stands in a compression, as people see and steer it: listed, dropped, pinned."""

from __future__ import annotations

import asyncio

import pytest

from octavo.core.snapshot import Snapshot
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.errors import BadInput, NotFound
from tests.engine.conftest import MakeEngine
from tests.engine.test_compress import Gated, begun

pytestmark = pytest.mark.anyio
FILLER = "We talked at length about the weather and other things. " * 8
PUSH, NAME, DUE = "Never push to main.", "Call me Max.", "The report is due on 9 May at noon."


async def ruled(engine: Engine) -> Chat:
    chat = await engine.create()
    for said in (PUSH, f"**{NAME}**", "How was the lake?", DUE, "And the boats?"):
        await chat.add(f"{said} {FILLER}")
        await chat.add(f"Fine. {FILLER}", role="assistant")
    return chat


async def compressed(chat: Chat) -> Snapshot:
    made = await chat.compress(keep=0)
    assert isinstance(made, Compressed)
    return made.snapshot


async def rules(chat: Chat) -> list[str]:
    return [line.text for line in await chat.snapshots.standing()]


async def sent(chat: Chat) -> str:
    return str((await chat.context()).messages)


async def drop(chat: Chat, text: str) -> Snapshot:
    serving = await chat.snapshots.serving()
    assert serving is not None
    source = next(line.source for line in serving.extracts if line.text == text)
    return await chat.snapshots.drop(serving.id, source, text)


async def go_on(chat: Chat, *said: str) -> None:
    for text in (*said, "So it goes."):
        await chat.add(f"{text} {FILLER}")
        await chat.add(f"Right. {FILLER}", role="assistant")


async def test_what_stands_is_listed_with_its_source(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    assert await chat.snapshots.standing() == ()
    await compressed(chat)
    branch = {node.id: node.message.text for node in await chat.branch()}
    assert await rules(chat) == [PUSH, NAME, DUE]
    for line in await chat.snapshots.standing():
        assert line.text in branch[line.source]


async def test_a_dropped_line_stays_dropped_and_undo_brings_it_back(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    first = await compressed(chat)
    made = await drop(chat, PUSH)
    assert (made.version, made.kind, made.messages) == (first.version + 1, "edited", first.messages)
    assert made.tokens_after < first.tokens_after
    assert await rules(chat) == [NAME, DUE]
    assert PUSH not in await sent(chat)
    for _ in range(2):
        await go_on(chat)
        last = await compressed(chat)
        assert await rules(chat) == [NAME, DUE]
        assert PUSH not in await sent(chat)
        paper = await chat.snapshots.receipt(last.id)
        assert paper is not None
        assert (paper.standing.kept_count, paper.standing.count) == (2, 2)
    again = await chat.snapshots.regenerate(last.id)
    assert isinstance(again, Compressed)
    assert await rules(chat) == [NAME, DUE]
    await chat.snapshots.use(first.id)
    assert await rules(chat) == [PUSH, NAME, DUE]
    await go_on(chat)
    await compressed(chat)
    assert await rules(chat) == [PUSH, NAME, DUE]


async def test_what_is_said_again_after_it_was_dropped_stands_again(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    await compressed(chat)
    await drop(chat, PUSH)
    await go_on(chat, PUSH)
    await compressed(chat)
    assert await rules(chat) == [NAME, DUE, PUSH]


async def test_a_dropped_line_leaves_the_receipt_true(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    before = await chat.snapshots.receipt((await compressed(chat)).id)
    after = await chat.snapshots.receipt((await drop(chat, DUE)).id)
    assert before is not None
    assert after is not None
    assert (before.standing.kept_count, after.standing.kept_count) == (3, 2)
    assert DUE not in [line.text for line in after.standing.kept]
    assert [tally.count for tally in after.tallies] == [tally.count for tally in before.tallies]
    assert "9 May" in [fact.text for fact in after.tally("date").lost]
    back = await chat.snapshots.restore((await rules_of(chat)).id, "9 May")
    assert back.dropped == ()
    assert DUE in await sent(chat)


async def rules_of(chat: Chat) -> Snapshot:
    serving = await chat.snapshots.serving()
    assert serving is not None
    return serving


async def test_only_a_line_that_is_there_is_dropped_and_never_the_last(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    made = await compressed(chat)
    with pytest.raises(NotFound, match="has no exact line 'Always push'"):
        await chat.snapshots.drop(made.id, made.extracts[0].source, "Always push")
    left = made.extracts
    for line in left[:-1]:
        made = await chat.snapshots.drop(made.id, line.source, line.text)
    with pytest.raises(BadInput, match="says nothing else"):
        await chat.snapshots.drop(made.id, left[-1].source, left[-1].text)


async def test_a_fork_takes_along_what_was_dropped(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    await compressed(chat)
    await drop(chat, PUSH)
    fork = await chat.fork()
    await go_on(fork)
    await compressed(fork)
    assert await rules(fork) == [NAME, DUE]


async def test_a_compression_under_way_does_not_bring_back_what_is_dropped(make: MakeEngine) -> None:
    writer = Gated()
    writer.gate.set()
    engine = await make(window=8_000, summariser=writer)
    chat = await ruled(engine)
    await compressed(chat)
    writer.gate.clear()
    soft = (await chat.usage()).budget.soft
    assert soft is not None
    while (await chat.usage()).reading.tokens <= soft:
        await go_on(chat)
    async for _ in chat.answer((await chat.add("And then?")).id):
        pass
    waiting = asyncio.create_task(chat.wait_until_idle())
    await begun(engine, chat)
    await drop(chat, PUSH)
    writer.gate.set()
    await waiting
    assert PUSH not in await rules(chat)


async def test_a_rule_is_pinned_as_it_stands_in_its_message(make: MakeEngine) -> None:
    chat = await ruled(await make(window=32_000))
    await chat.add("Mind this: never deploy\non Fridays, **whatever** happens.")
    node = (await chat.branch())[-1]
    await compressed(chat)
    line = next(one for one in await chat.snapshots.standing() if one.text == NAME)
    await chat.pins.add(line.source, line.text)
    await chat.pins.add(node.id, "never deploy on Fridays, whatever happens.")
    texts = {one.id: one.message.text for one in await chat.branch()}
    pinned = [texts[pin.node][pin.start : pin.stop] for pin in await chat.pins.list()]
    assert pinned == [NAME, "never deploy\non Fridays, **whatever** happens."]
    with pytest.raises(BadInput, match="does not contain this text"):
        await chat.pins.add(node.id, "on Mondays")
