"""The gateway in front of a fake that somebody else wrote, with the official libraries as clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import openai
import pytest

from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.providers.aimock import Aimock
from tests.server.conftest import MakeEngine
from tests.server.kit import accounts, listening

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def clients(
    engine: Engine, foreign: Aimock
) -> AsyncIterator[tuple[openai.AsyncOpenAI, anthropic.AsyncAnthropic]]:
    async with listening(create_app(engine, ServerSettings(providers=accounts(foreign.url)))) as url:
        one = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        other = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)
        yield one, other
        await one.close()
        await other.close()


async def test_both_libraries_talk_through_the_gateway_to_a_foreign_fake(
    make_engine: MakeEngine,
    peer: Aimock,
) -> None:
    engine = await make_engine(provider=None)
    async with clients(engine, peer) as (one, other):
        whole = await one.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "greet"}]
        )
        stream = await one.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "greet"}], stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        assert "".join(pieces) == whole.choices[0].message.content
        assert "Zoë 🙂" in "".join(pieces)
        async with other.messages.stream(
            model="claude-3-haiku", max_tokens=50, messages=[{"role": "user", "content": "greet"}]
        ) as run:
            assert "Zoë 🙂" in await run.get_final_text()
        texts = {
            node.message.text
            for conversation in await engine.store.conversations.list()
            for node in [n async for n in engine.store.tree.whole(conversation.id)]
            if node.message.role == "assistant"
        }
        assert texts == {"".join(pieces)}


async def test_tool_calls_of_a_foreign_fake_are_stored_as_calls(
    make_engine: MakeEngine,
    peer: Aimock,
) -> None:
    engine = await make_engine(provider=None)
    async with clients(engine, peer) as (one, other):
        async with one.chat.completions.stream(
            model="gpt-4o", messages=[{"role": "user", "content": "weather"}]
        ) as run:
            first = (await run.get_final_completion()).choices[0].message
        second = await other.messages.create(
            model="claude-3-haiku", max_tokens=50, messages=[{"role": "user", "content": "weather"}]
        )
        assert first.tool_calls
        calls = [
            [(call.name, call.id) for call in node.message.calls]
            for conversation in await engine.store.conversations.list()
            for node in [n async for n in engine.store.tree.whole(conversation.id)]
            if node.message.calls
        ]
        assert sorted(name for found in calls for name, _ in found) == ["get_time"] * 2 + ["get_weather"] * 2
        ids = {id for found in calls for _, id in found}
        assert ids == {call.id for call in first.tool_calls} | {
            b.id for b in second.content if b.type == "tool_use"
        }


async def test_errors_of_a_foreign_fake_pass_through(make_engine: MakeEngine, peer: Aimock) -> None:
    async with clients(await make_engine(provider=None), peer) as (one, _):
        with pytest.raises(openai.InternalServerError, match="out of order"):
            await one.chat.completions.create(
                model="gpt-4o",
                messages=[{"role": "user", "content": "stumble"}],
                extra_headers={"x-test-id": "gateway"},
            )


async def test_a_history_that_is_too_long_reaches_a_foreign_fake_compressed(
    make_engine: MakeEngine, peer: Aimock
) -> None:
    """It knows the question by its words, so an answer shows that the newest message came through as it was."""
    engine = await make_engine(provider=None)
    history = [
        {"role": role, "content": f"{role} {turn}: " + "Filler words. " * 75}
        for turn in range(20)
        for role in ("user", "assistant")
    ]
    messages: Any = [*history, {"role": "user", "content": "greet"}]
    for model in ("gpt-4o", "claude-3-haiku"):
        await engine.models.learn_window(model, 4_096)
    async with clients(engine, peer) as (one, other):
        first = await one.chat.completions.with_raw_response.create(model="gpt-4o", messages=messages)
        assert "Zoë 🙂" in (first.parse().choices[0].message.content or "")
        second = await other.messages.with_raw_response.create(
            model="claude-3-haiku", max_tokens=50, messages=messages
        )
        assert "Zoë 🙂" in str((await second.parse()).content)
        for headers in (first.headers, second.headers):
            assert headers["x-octavo-compressed"] == "true"
            assert int(headers["x-octavo-tokens-after"]) < 4_096 < int(headers["x-octavo-tokens-before"])
        assert first.headers["x-octavo-conversation"] == second.headers["x-octavo-conversation"]
