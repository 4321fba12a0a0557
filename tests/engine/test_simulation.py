"""Long random lives of conversations: tools, failures, edits, forks, undo, deletions, restarts, two engines, one file.

Whatever happens: nothing overflows, nothing is lost or doubled, every request is valid, contexts are the same after a
restart, and no user turn is compressed twice without progress.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from octavo.core.context import coverage_problems
from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant
from octavo.core.protocol import OPENAI, check
from octavo.core.reply import Reply, Request, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, Compressed, CompressionEnded, Event, MessageStored
from octavo.engine.state_cache import TipStateCache
from octavo.errors import BadBudget, ContextOverflow, ProviderError, UsageError
from octavo.testing import ScriptedProvider
from tests.engine.conftest import METER, MODEL, billed

pytestmark = pytest.mark.anyio
WINDOW = 3_000
SEEDS = int(os.environ.get("OCTAVO_SIMULATED_LIVES", "8"))
"""20 for a thorough run."""
TURNS = int(os.environ.get("OCTAVO_SIMULATED_TURNS", "40"))
"""300 for a thorough run, which takes some minutes."""


TOO_LARGE = (ContextOverflow, BadBudget)


class Life:
    """One conversation and what has happened to it."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.random = path, Random(seed)
        self.stored: set[str] = set()
        self.deleted: set[str] = set()
        self.compressions: Counter[str] = Counter()
        self.calls = 0
        self.turn = ""
        self.now = 0.0

    def clock(self) -> float:
        """A minute passes whenever somebody looks."""
        self.now += 60.0
        return self.now

    def answer(self, request: Request) -> Reply | BaseException:
        """Answer as a model would that checks what it is sent, sometimes with tool calls, sometimes not at all."""
        assert check(request.messages, OPENAI) == ()
        tokens = billed(request)
        assert tokens <= WINDOW - WINDOW // 4, f"{tokens} tokens do not fit"
        dice = self.random.random()
        if dice < 0.05:
            return ProviderError("hiccup", retryable=True)
        if dice < 0.25:
            self.calls += 1
            call = ToolCall(id=f"c{self.calls}", name="look", input=f'{{"at":{self.calls}}}')
            message = Message(role="assistant", parts=(Text(text="Let me look."), call))
            return Reply(message=message, finish="tool_calls", usage=Usage(input=tokens, output=20))
        text = " ".join(f"item{self.random.randint(0, 999)}" for _ in range(self.random.randint(5, 40)))
        return Reply(message=assistant(text), usage=Usage(input=tokens, output=METER.count_text(text)))

    async def summarise(self, job: SummaryJob, tell: object) -> Narrative:  # noqa: ARG002
        dice = self.random.random()
        if dice < 0.2:
            raise ProviderError("summariser down", retryable=True)
        if dice < 0.4:
            return Narrative()
        return Narrative(text=f"So far {len(job.covered)} more messages.", model="fake")

    async def open(self) -> Engine:
        engine = await Engine.open(
            self.path,
            model=MODEL,
            provider=ScriptedProvider(self.answer),
            summariser=self,
            clock=self.clock,
        )
        await engine.models.learn_window(MODEL, WINDOW)
        return engine

    def note(self, event: Event) -> None:
        match event:
            case MessageStored(node):
                self.turn = node.id
                self.stored.add(node.id)
            case Answered(node):
                self.stored.add(node.id)
            case CompressionEnded(Compressed(before=before, after=after)) if after > before * 0.9:
                self.compressions[self.turn] += 1

    async def take_turn(self, chat: Chat) -> None:
        words = " ".join(f"word{self.random.randint(0, 99)}" for _ in range(self.random.randint(1, 60)))
        async for event in chat.turn(f"Please: {words}"):
            self.note(event)
        for _ in range(4):
            branch = await chat.branch()
            open_calls = branch[-1].message.calls if branch else ()
            if not open_calls:
                return
            for call in open_calls:
                size = self.random.choice((5, 50, 4_000))
                result = ToolResult(call_id=call.id, content=(Text(text="out " * size),))
                node = await chat.add(Message(role="tool", parts=(result,)))
                self.stored.add(node.id)
            async for event in chat.answer():
                self.note(event)

    async def meddle(self, chat: Chat) -> None:
        branch = await chat.branch()
        node = self.random.choice(branch)
        match self.random.randint(0, 6):
            case 0 if node.message.role == "user":
                self.stored.add((await chat.edit(node.id, "Edited question, quite different.")).id)
            case 1:
                await chat.checkout(node.id)
            case 2:
                await chat.compress(keep=self.random.choice((0, 200, 0.3)))
            case 3:
                await undo(chat)
            case 4 if any(s.state == "undone" for s in await chat.snapshots.list()):
                # What was undone may lie below a newer compression.
                with suppress(UsageError):
                    await chat.redo()
            case 5 if self.random.random() < 0.2 and node.message.role == "user":
                await chat.delete_message(node.id)
                self.deleted.add(node.id)
            case 6:
                await chat.pins.add(self.random.choice(branch[-6:]).id)
                for place in (await chat.pins.list())[:-2]:
                    await chat.pins.remove(place.node)


async def undo(chat: Chat) -> None:
    """Undo what serves; if nothing does, that is said, unless a compression in the background ends in between."""
    serving = await chat.snapshots.serving()
    try:
        await chat.undo()
    except UsageError:
        assert serving is None
    else:
        assert any(snapshot.state == "undone" for snapshot in await chat.snapshots.list())


async def look_at(chat: Chat) -> list[object]:
    """Check the promises on the branch as it stands."""
    sent = await chat.context()
    assert coverage_problems(await chat.branch(), sent.context) == ()
    assert sent.usage.left >= 0
    return list(sent.messages)


async def compare_with_the_store(engine: Engine, chat: Chat) -> None:
    """What is at hand from the turns before is what the store would give.

    Found when planted: a revision that does not grow with a pin, with an undo, or with a deletion; a state that grows
    by a long tool output; an anchor that is not taken over.
    """
    while True:
        revision = (await chat.info()).revision
        held = await chat._state()
        remembered, engine.states = engine.states, TipStateCache(engine.store, engine.models)
        fresh = await chat._state()
        engine.states = remembered
        if (await chat.info()).revision == revision:
            break  # else a compression in the background ended in between: look again
    assert (held.context, held.budget, held.reading) == (fresh.context, fresh.budget, fresh.reading)
    assert (held.recipe, held.serving, held.shortened) == (fresh.recipe, fresh.serving, fresh.shortened)


async def look_if_it_fits(chat: Chat) -> list[object] | None:
    """Look, unless pins and one huge turn are more than the window holds: that is said, the same way each time."""
    try:
        return await look_at(chat)
    except TOO_LARGE:
        return None


async def look_at_rest(chat: Chat, engines: Sequence[Engine]) -> list[object] | None:
    """Look when nobody compresses, and nobody began to because somebody looked."""
    while True:
        for engine in engines:
            await engine.wait_until_idle(chat.id)
        revision = (await chat.info()).revision
        seen = await look_if_it_fits(chat)
        for engine in engines:
            await engine.wait_until_idle(chat.id)
        if (await chat.info()).revision == revision:
            return seen


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_a_long_life_keeps_every_promise(tmp_path: Path, seed: int) -> None:
    life = Life(tmp_path / "life.db", seed)
    one, two = await life.open(), await life.open()
    chat = await one.create()
    for turn in range(TURNS):
        chat = Chat(life.random.choice((one, two)), chat.id)
        try:
            await life.take_turn(chat)
            if life.random.random() < 0.2:
                await life.meddle(chat)
        except TOO_LARGE:
            # Pins and one huge turn may be more than the window holds: said with numbers, and the chat can be moved.
            for place in await chat.pins.list():
                await chat.pins.remove(place.node)
            await chat.checkout((await chat.branch())[0].id)
        await compare_with_the_store(chat._engine, chat)
        if turn % 20 == 19:
            before = await look_at_rest(Chat(one, chat.id), (one, two))
            await one.close()
            one = await life.open()
            assert await look_if_it_fits(Chat(one, chat.id)) == before
    for engine in (one, two):
        await engine.wait_until_idle(chat.id)
    assert await one.store.check() == ()
    there = {node.id async for node in one.store.tree.whole(chat.id)}
    assert life.stored <= there
    assert max(life.compressions.values(), default=0) <= 1
    assert len(await one.store.snapshots.of_conversation(chat.id)) > 0
    await one.close()
    await two.close()
