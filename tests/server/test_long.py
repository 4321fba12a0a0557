"""Five hundred turns in a window of eight thousand tokens: the client never learns that there is a window.

The provider counts with a tokenizer of its own and refuses what is too large or torn.
"""

from __future__ import annotations

import os
import random
from typing import Any

import anthropic
import openai
import pytest

from octavo.core.context import coverage_problems
from octavo.core.protocol import ANTHROPIC, OPENAI, Rules, check
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply, count
from tests.server.kit import gateway

pytestmark = pytest.mark.anyio

TURNS = 500
TOOLED_TURNS = int(os.environ.get("OCTAVO_LONG_TURNS", "150"))
"""The same with tools; 500 for a thorough run."""
WINDOW = 8_192
GPT, CLAUDE = "gpt-4-0613", "claude-3-haiku"
PROMPT = "Keep the ledger."
TOOLED = 10
"""Every tenth question makes Claude call a tool first."""
LEDGER: Any = {"name": "ledger", "input_schema": {"type": "object", "properties": {}}}
WORDS = (
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
)


def speech(chance: random.Random, least: int, most: int) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))


async def check_outcome(engine: Engine, provider: Provider, conversation: str, rules: Rules) -> None:
    """What is stored is sound, and what would be sent next covers all of it."""
    assert provider.refused == 0
    assert provider.torn == []
    assert await engine.store.check() == ()
    tip = (await engine.store.conversations.get(conversation)).tip
    assert tip
    state = await Chat(engine, conversation)._state(tip)
    assert state.recipe.snapshot is not None
    assert coverage_problems(await engine.store.tree.branch(tip), state.context) == ()
    assert check(state.sent(state.context, rules).messages, rules) == ()


async def test_500_turns_of_openais_library_never_see_an_overflow(make_engine: MakeEngine) -> None:
    chance = random.Random(8_192)
    provider = Provider(window=WINDOW, say=lambda _: Reply(f"Noted. {speech(chance, 5, 60)}"))
    engine = await make_engine(provider=None)
    engine.models.meters.clear()
    await engine.store.notes.put(f"learned:{GPT}", None)
    history: list[Any] = [{"role": "system", "content": PROMPT}]
    compressed = largest = 0
    async with gateway(engine, provider.app) as (_, url):
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        for turn in range(TURNS):
            history.append({"role": "user", "content": f"Line {turn}: A{turn:04d}. {speech(chance, 20, 20)}"})
            # As a raw field: the library looks at every message of a list, which takes it longer than we do.
            raw = await client.chat.completions.with_raw_response.create(
                model=GPT, messages=[], extra_body={"messages": history}
            )
            history.append({"role": "assistant", "content": raw.parse().choices[0].message.content})
            compressed += raw.headers["x-octavo-compressed"] == "true"
            sent = provider.last
            largest = max(largest, count(sent))
            assert sent["messages"][0] == history[0]
            assert sent["messages"][-1]["content"].endswith(history[-2]["content"])
        conversation = raw.headers["x-octavo-conversation"]
        await client.close()
        await engine.wait_until_idle(conversation)
    assert len(provider.bodies) == TURNS
    assert compressed > TURNS // 2
    assert largest < WINDOW
    assert (await engine.store.conversations.get(conversation)).messages == 2 * TURNS
    await check_outcome(engine, provider, conversation, OPENAI)


async def test_many_turns_of_anthropics_library_with_tools_never_see_an_overflow(
    make_engine: MakeEngine,
) -> None:
    chance = random.Random(8_192)

    def say(body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        number = len(provider.bodies)
        if isinstance(asked, str) and asked.rpartition("</recalled>")[2].strip().startswith("Look up"):
            return Reply("", [(f"t{number}a", "ledger", {"line": number}), (f"t{number}b", "ledger", {})])
        return Reply(f"Noted. {speech(chance, 5, 60)}")

    provider = Provider(window=WINDOW, say=say)
    engine = await make_engine(provider=None)
    await engine.models.learn_window(CLAUDE, WINDOW)
    history: list[Any] = []
    compressed = largest = 0
    async with gateway(engine, provider.app) as (_, url):
        client = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)

        async def ask(content: Any) -> tuple[Any, Any]:
            history.append({"role": "user", "content": content})
            raw = await client.messages.with_raw_response.create(
                model=CLAUDE,
                max_tokens=300,
                system=PROMPT,
                tools=[LEDGER],
                messages=[],
                extra_body={"messages": history},
            )
            assert str(provider.last["messages"][-1]["content"]).endswith(str(history[-1]["content"]))
            assert provider.last["system"] == PROMPT
            reply = await raw.parse()
            blocks = [block.model_dump(exclude_none=True) for block in reply.content]
            words = blocks[0]["text"] if reply.stop_reason == "end_turn" else blocks
            history.append({"role": "assistant", "content": words})
            return reply, raw.headers

        for turn in range(TOOLED_TURNS):
            verb = "Look up" if turn % TOOLED == 0 else "Note"
            reply, headers = await ask(f"{verb} line {turn}: A{turn:04d}. {speech(chance, 20, 20)}")
            if reply.stop_reason == "tool_use":
                found = [
                    {"type": "tool_result", "tool_use_id": b.id, "content": speech(chance, 20, 80)}
                    for b in reply.content
                ]
                reply, headers = await ask(found)
            assert reply.stop_reason == "end_turn"
            compressed += headers["x-octavo-compressed"] == "true"
            largest = max(largest, count(provider.last))
        conversation = headers["x-octavo-conversation"]
        await client.close()
        await engine.wait_until_idle(conversation)
    assert compressed > TOOLED_TURNS // 3
    assert largest < WINDOW
    assert (await engine.store.conversations.get(conversation)).messages == 2 * (
        TOOLED_TURNS + TOOLED_TURNS // TOOLED
    )
    await check_outcome(engine, provider, conversation, ANTHROPIC)
