"""Anthropic's interface, with its own library."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import anthropic
import httpx2
import pytest

from tests.gateway.conftest import CLAUDE, CLAUDE_WEATHER, Setup, long, said, user
from tests.server.fake import Reply, last_text

pytestmark = pytest.mark.anyio


async def test_anthropics_library_streams_and_counts(house: Setup) -> None:
    house.provider.say = lambda _: Reply("Hello from Claude. " * 4, thinking="Let me think about that.")
    async with house.anthropic.messages.stream(
        model=CLAUDE, max_tokens=200, system="Be kind.", messages=[user("Hi")]
    ) as run:
        message = await run.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    whole, headers = await house.ask_claude(user("Hi"), system="Be kind.")
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert [block.model_dump(exclude_none=True) for block in whole.content] == [
        block.model_dump(exclude_none=True) for block in message.content
    ]
    counted = await house.anthropic.messages.count_tokens(
        model=CLAUDE, system="Be kind.", messages=[user("Hi")]
    )
    assert counted.input_tokens == whole.usage.input_tokens
    house.provider.counts = False
    own = await house.anthropic.messages.count_tokens(model=CLAUDE, messages=[user("Hi there, how are you?")])
    assert 5 < own.input_tokens < 40
    tree = [n async for n in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    assert [n.message.role for n in tree] == ["user", "assistant", "assistant"]


async def test_what_stands_behind_the_address_is_meant_for_the_provider(house: Setup) -> None:
    beta: Any = {"betas": ["context-1m-2025-08-07"], "extra_query": {"beta": "true"}}
    asked: Any = {"model": CLAUDE, "messages": [user("Hi")]}
    await house.anthropic.beta.messages.create(max_tokens=200, **asked, **beta)
    await house.anthropic.beta.messages.count_tokens(**asked, **beta)
    assert house.provider.queries == ["beta=true", "beta=true"]
    assert house.provider.headers[0]["anthropic-beta"] == "context-1m-2025-08-07"


async def test_thinking_that_a_client_drops_or_sends_back_makes_no_branch(house: Setup) -> None:
    house.provider.say = lambda _: Reply("Fine.", thinking="Deep thoughts.")
    first, headers = await house.ask_claude(user("One?"))
    kept = [block.model_dump(exclude_none=True) for block in first.content]
    await house.ask_claude(user("One?"), {"role": "assistant", "content": kept}, user("Two?"))
    assert house.provider.last["messages"][1]["content"][0]["type"] == "thinking"
    await house.ask_claude(user("One?"), {"role": "assistant", "content": "Fine."}, user("Two?"))
    tree = [n async for n in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    assert [n.depth for n in tree] == [1, 2, 3, 4, 4]
    assert "Deep thoughts." in str(tree[1].message)


async def test_anthropics_tools_and_errors(house: Setup) -> None:
    house.provider.say = lambda body: (
        Reply("Rain.")
        if "tool_result" in json.dumps(body["messages"][-1])
        else Reply("", [("t1", "weather", {"city": "Oslo"})])
    )
    first, headers = await house.ask_claude(user("Weather?"), tools=[CLAUDE_WEATHER])
    call = first.content[0]
    assert (call.type, call.input) == ("tool_use", {"city": "Oslo"})
    result: Any = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "Wet"}],
    }
    back = {"role": "assistant", "content": [call.model_dump()]}
    second, again = await house.ask_claude(user("Weather?"), back, result, tools=[CLAUDE_WEATHER])
    assert second.content[0].text == "Rain."
    assert headers["x-octavo-conversation"] == again["x-octavo-conversation"]
    assert len([n async for n in house.engine.store.tree.whole(again["x-octavo-conversation"])]) == 4
    with pytest.raises(anthropic.BadRequestError) as wrong:
        await house.ask_claude({"role": "boss", "content": "x"})
    assert "messages[0].role" in str(wrong.value)


async def test_a_long_conversation_with_claude_keeps_the_clients_own_cache_markers(house: Setup) -> None:
    """Only the markers of this very request are sent: those of earlier ones would be too many."""
    await house.engine.models.learn_window(CLAUDE, 4_096)
    history: list[Any] = []
    headers = httpx2.Headers()
    for number in range(20):
        marked: Any = {
            "role": "user",
            "content": [{"type": "text", "text": long(number), "cache_control": {"type": "ephemeral"}}],
        }
        plain = [
            {**m, "content": [{"type": "text", "text": m["content"][0]["text"]}]}
            if m["role"] == "user"
            else m
            for m in history
        ]
        system: Any = [{"type": "text", "text": "Guard.", "cache_control": {"type": "ephemeral"}}]
        answer, headers = await house.ask_claude(*plain, marked, system=system)
        history += [marked, said(answer.content[0].text)]
    assert house.provider.refused == 0
    assert headers["x-octavo-compressed"] == "true"
    # the system prompt, the end of the snapshot, the newest message
    assert json.dumps(house.provider.last).count("cache_control") == 3
    assert house.provider.last["system"] == system
    roles = [m["role"] for m in house.provider.last["messages"]]
    assert all(a != b for a, b in pairwise(roles))


async def test_models_are_listed_in_the_shape_of_whoever_asks(house: Setup) -> None:
    ours = [model.id async for model in await house.openai.models.list()]
    assert "gpt-4o" in ours
    theirs = [model.id async for model in await house.anthropic.models.list()]
    assert sorted(theirs) == sorted(ours)
    assert (await house.openai.models.retrieve("gpt-4o")).owned_by == "openai"
    assert (await house.anthropic.models.retrieve(CLAUDE)).type == "model"


def test_the_fake_provider_reads_the_last_words() -> None:
    assert (
        last_text({"messages": [user("a"), {"role": "user", "content": [{"type": "text", "text": "b"}]}]})
        == "b"
    )


async def test_pictures_of_claude_are_stored_and_passed_on(house: Setup) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    question: Any = {
        "role": "user",
        "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}],
    }
    _, headers = await house.ask_claude(question)
    assert house.provider.last["messages"] == [question]
    tree = await house.tree(headers)
    assert [type(part).__name__ for part in tree[0].message.parts] == ["Text", "Image"]


async def test_a_count_is_asked_for_under_the_models_own_name_and_errors_pass(house: Setup) -> None:
    counted = await house.anthropic.messages.count_tokens(model=f"anthropic/{CLAUDE}", messages=[user("Hi")])
    assert counted.input_tokens > 0
    assert house.provider.last["model"] == CLAUDE
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}
    house.provider.fail = [(429, error)]
    with pytest.raises(anthropic.RateLimitError) as slow:
        await house.anthropic.messages.count_tokens(model=CLAUDE, messages=[user("Hi")])
    assert slow.value.response.headers["retry-after"] == "7"
    assert slow.value.body == error


async def test_bills_of_a_model_that_thinks_in_every_step_teach(house: Setup) -> None:
    """What was sent back of its thinking is taken off the bill."""
    house.provider.factor, house.provider.window = 1.4, 100_000
    house.provider.say = lambda body: Reply(
        "", [(f"t{len(body['messages'])}", "weather", {"city": "Oslo"})], thinking="Rain, I think."
    )
    history: list[Any] = [user("Weather everywhere? " + long(1))]
    for number in range(6):
        answer, _ = await house.ask_claude(*history, tools=[CLAUDE_WEATHER])
        blocks = [block.model_dump(exclude_none=True) for block in answer.content]
        called = next(block for block in blocks if block["type"] == "tool_use")
        result = {"type": "tool_result", "tool_use_id": called["id"], "content": long(number)}
        history += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
    learned = (await house.engine.models.meter(CLAUDE)).calibration
    assert len(learned.anchors) > 1
