"""Conversations that version 0.1.0 has stored are gone on with: answered, measured, compressed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, Compressed
from tests.engine.conftest import MODEL, answering

pytestmark = pytest.mark.anyio

OLD = Path(__file__).parents[1] / "store" / "data" / "octavo-0.1.0.db.gz"


async def test_an_old_conversation_is_answered_and_compressed(tmp_path: Path) -> None:
    path = tmp_path / "octavo.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    async with await Engine.open(
        path, model=MODEL, summariser="none", provider=answering(lambda _: "Yes.")
    ) as engine:
        ids = {one.title: one.id for one in await engine.conversations()}
        chat = await engine.chat(ids["Harbour"])
        before = await chat.snapshots.serving()
        assert before is not None
        assert (await chat.settings())["system"] == "Speak of the sea."
        events = [event async for event in chat.turn("Is the harbour open? " + "We have to know. " * 200)]
        assert isinstance(events[-1], Answered)
        sent = await chat.context()
        assert sent.usage.reading.tokens > 0
        assert sent.context.pinned
        outcome = await chat.compress(keep=0)
        assert isinstance(outcome, Compressed), outcome
        assert outcome.snapshot.previous == before.id
        assert len(await chat.branch()) == 37
        assert await engine.store.check() == ()
