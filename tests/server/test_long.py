"""Five hundred turns in a window of eight thousand tokens: the client never learns that there is a window."""

from __future__ import annotations

import random
from typing import Any

import openai
import pytest

from octavo.core.context import coverage_problems
from octavo.core.protocol import OPENAI, check
from octavo.engine.chat import Chat
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply, count
from tests.server.kit import gateway

pytestmark = pytest.mark.anyio

TURNS = 500
MODEL = "gpt-4-0613"
WORDS = [
    "meter",
    "branch",
    "anchor",
    "cutoff",
    "window",
    "budget",
    "summary",
    "extract",
    "pin",
    "turn",
    "node",
    "tip",
    "lease",
    "mark",
]


def speech(chance: random.Random, length: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(length))


async def test_a_conversation_of_500_turns_in_an_8k_window_never_sees_an_overflow(
    make_engine: MakeEngine,
) -> None:
    chance = random.Random(8_192)
    provider = Provider(
        window=8_192,
        say=lambda body: Reply(
            f"Entry {len(body['messages'])} noted. {speech(chance, chance.randint(5, 60))}"
        ),
    )
    engine = await make_engine(provider=None)
    engine.models.meters.clear()
    await engine.store.set_note(f"learned:{MODEL}", None)
    history: list[Any] = [{"role": "system", "content": "Keep the ledger."}]
    compressed = largest = 0
    async with gateway(engine, provider.app) as (app, url):
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        for turn in range(TURNS):
            history.append(
                {"role": "user", "content": f"Ledger line {turn}: account A{turn:04d}. {speech(chance, 20)}"}
            )
            # As a raw field: the library looks at every message of a list, which takes it longer than we do.
            raw = await client.chat.completions.with_raw_response.create(
                model=MODEL, messages=[], extra_body={"messages": history}
            )
            history.append({"role": "assistant", "content": raw.parse().choices[0].message.content})
            compressed += raw.headers["x-octavo-compressed"] == "true"
            largest = max(largest, count(provider.last))
            assert provider.last["messages"][-1] == history[-2]
            assert str(provider.last["messages"][0]["content"]) == "Keep the ledger."
        conversation = raw.headers["x-octavo-conversation"]
        await client.close()
        await app.state.hub.engine.settled(conversation)
    assert provider.refused == 0
    assert len(provider.bodies) == TURNS
    assert compressed > TURNS // 2
    assert largest < 8_192
    assert (await engine.store.conversation(conversation)).messages == 2 * TURNS + 1
    assert await engine.store.check() == ()
    tip = (await engine.store.conversation(conversation)).tip
    assert tip
    scene = await Chat(engine, conversation).scene(tip)
    assert scene.recipe.snapshot is not None
    assert coverage_problems(await engine.store.branch(tip), scene.context) == ()
    assert check(scene.sent(scene.context, OPENAI).messages, OPENAI) == ()
