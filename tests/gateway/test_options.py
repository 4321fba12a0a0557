"""What a client may tell the gateway besides its request."""

from __future__ import annotations

import json

import openai
import pytest

from tests.gateway.conftest import CLAUDE, MODEL, Setup, grown, long, said, user

pytestmark = pytest.mark.anyio


async def test_off_passes_everything_on_and_stores_nothing(house: Setup) -> None:
    for headers, body in (({"x-octavo-off": "1"}, {}), ({}, {"octavo": {"off": True}})):
        answer = await house.http.post(
            "/v1/chat/completions", json={"model": MODEL, "messages": [user("Hi")], **body}, headers=headers
        )
        assert answer.status_code == 200
        assert "x-octavo-conversation" not in answer.headers
    assert "octavo" not in house.provider.last
    too_large = await house.http.post(
        "/v1/chat/completions",
        json={"model": MODEL, "messages": [user("word " * 6_000)], "octavo": {"off": True}},
    )
    assert too_large.status_code == 400
    assert await house.engine.store.conversations.list() == ()


async def test_a_conversation_can_be_named(house: Setup) -> None:
    made = (await house.http.post("/api/v1/conversations", json={"title": "Mine"})).json()["id"]
    _, headers = await house.ask(user("Hi"), extra_headers={"x-octavo-conversation": made})
    assert headers["x-octavo-conversation"] == made
    _, again = await house.ask(user("Something else."), extra_body={"octavo": {"conversation": made}})
    assert again["x-octavo-conversation"] == made
    tree = [node async for node in house.engine.store.tree.whole(made)]
    assert [node.depth for node in tree] == [1, 1, 2, 2]
    assert "octavo" not in house.provider.last
    await house.http.delete(f"/api/v1/conversations/{made}", params={"undo": 60})
    with pytest.raises(openai.NotFoundError):
        await house.ask(user("Hi"), extra_headers={"x-octavo-conversation": made})


async def test_a_policy_and_a_focus_can_be_chosen(house: Setup) -> None:
    history, _ = await grown(house, 12)
    body = {"octavo": {"policy": "wave", "focus": "door 3"}}
    await house.ask(*history, user(long(50)), extra_body=body)
    roles = [(m["role"], str(m["content"])[:40]) for m in house.provider.last["messages"]]
    assert any("[Compressed Message Summary]" in text for _, text in roles), roles


async def test_what_happened_can_be_told_in_the_body_too(house: Setup) -> None:
    answer, headers = await house.ask(user("Hi"), extra_body={"octavo": {"usage": True}})
    told = answer.model_extra["octavo"]
    assert told["conversation"] == headers["x-octavo-conversation"]
    assert told["compressed"] is False
    stream = await house.openai.chat.completions.create(
        model=MODEL, messages=[user("Hi")], stream=True, extra_body={"octavo": {"usage": True}}
    )
    extras = [chunk.model_extra async for chunk in stream if not chunk.choices]
    assert extras
    assert extras[-1] is not None
    assert extras[-1]["octavo"]["tokens_before"] == told["tokens_before"]
    async with house.anthropic.messages.stream(
        model=CLAUDE, max_tokens=50, messages=[user("Hi")], extra_body={"octavo": {"usage": True}}
    ) as run:
        assert (await run.get_final_message()).content


async def test_the_settings_of_a_named_conversation_hold_from_its_first_request(house: Setup) -> None:
    made = await house.http.post(
        "/api/v1/conversations", json={"title": "Mine", "settings": {"policy": "wave"}}
    )
    await house.ask(
        *[message for number in range(16) for message in (user(long(number)), said("Noted."))],
        user("And now?"),
        extra_headers={"x-octavo-conversation": made.json()["id"]},
    )
    assert "[Compressed Message Summary]" in json.dumps(house.provider.last)
