"""A real small model, end to end: many turns in a small window, with undo and redo in the middle."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.core.context import coverage_problems
from octavo.core.protocol import OPENAI, check
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, AnswerFailed, Compressed, CompressionEnded
from octavo.providers.embedded import open_embedded
from octavo.providers.model_files import SMALLEST
from octavo.providers.settings import Local, WaitLimits
from tests.providers.real import real_model

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("real model")]
WINDOW = 1_024
TURNS = 36
TOPICS = ("harbour", "garden", "engine", "library", "bakery", "river")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_many_turns_in_a_small_window(tmp_path: Path) -> None:
    path = real_model(SMALLEST)
    provider = open_embedded(path, Local(cache=tmp_path, window=WINDOW, threads=1), WaitLimits())
    ended: list[CompressionEnded] = []

    def listen(_: str, event: object) -> None:
        if isinstance(event, CompressionEnded):
            ended.append(event)

    engine = await Engine.open(
        tmp_path / "real.db", model="local/smollm2-135m", provider=provider, summariser="none", listen=listen
    )
    await engine.models.learn_window("local/smollm2-135m", WINDOW)
    chat = await engine.create(system="Answer in one short sentence.")
    await chat.set(reply=24, minimum=0)
    for turn in range(TURNS):
        topic = TOPICS[turn % len(TOPICS)]
        question = (
            f"Note {turn}: the {topic} closes at {turn % 12 + 1}:{turn % 60:02d} and badge {4100 + turn} opens it; "
            "please keep that in mind when we plan the tour of the town on Saturday with the visitors. Right?"
        )
        async for event in chat.turn(question, temperature=0.0):
            assert not isinstance(event, AnswerFailed), event
            if isinstance(event, Answered):
                assert 0 < event.reply.usage.input <= WINDOW - 24
        await chat.wait_until_idle()
        sent = await chat.context()
        assert check(chat_messages := sent.context.messages, OPENAI) == ()
        assert chat_messages
        if turn == TURNS // 2:
            assert await chat.snapshots.serving() is not None
            before = sent.messages
            await chat.undo()
            assert coverage_problems(await chat.branch(), (await chat._state()).context) == ()
            await chat.redo()
            assert (await chat.context()).messages == before
    outcomes = [event.outcome for event in ended]
    assert sum(isinstance(outcome, Compressed) for outcome in outcomes) >= 3
    assert len(await chat.branch()) == 2 * TURNS
    assert (await chat.usage()).reading.basis == "calibrated"
    assert await engine.store.check() == ()
    await engine.close()
