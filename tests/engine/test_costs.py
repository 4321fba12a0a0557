"""Costs of a conversation: what requests after a compression were shorter is added up with their bills."""

from __future__ import annotations

import pytest

from octavo.core.messages import assistant
from octavo.core.reply import Reply, Usage
from octavo.engine.costs import costs
from octavo.engine.outcome import Compressed
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio

FILLER = "We talked at length about the weather and other things. " * 8


async def test_requests_after_a_compression_save_what_it_took_off(make: MakeEngine) -> None:
    bill = Reply(message=assistant("Yes."), usage=Usage(input=1_000, output=5))
    engine = await make(lambda _: bill, window=128_000)
    chat = await engine.create()
    for n in range(6):
        await chat.add(f"Question {n}. {FILLER}")
        await chat.add(f"Answer {n}. {FILLER}", role="assistant")

    async def ask() -> None:
        async for _ in chat.turn("And now?"):
            pass

    await ask()
    (before,) = await costs(engine, by="conversation")
    assert (before.requests, before.sent, before.saved) == (1, 1_000, 0)
    outcome = await chat.compress(keep=0.2)
    assert isinstance(outcome, Compressed)
    paper = await chat.snapshots.receipt(outcome.snapshot.id)
    assert paper is not None
    await ask()
    await ask()
    (after,) = await costs(engine, by="conversation")
    assert (after.requests, after.sent) == (3, 3_000)
    assert after.saved == 2 * (paper.tokens_before - paper.tokens_after) > 0
