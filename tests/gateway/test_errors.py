"""Errors: the provider's pass through, ours have the provider's shape."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.gateway.conftest import MODEL, Setup, setup, user
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider

pytestmark = pytest.mark.anyio


async def test_errors_of_the_provider_pass_through(house: Setup) -> None:
    error = {
        "error": {"message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
    }
    house.provider.fail = [(429, error)]
    with pytest.raises(openai.RateLimitError) as slow:
        await house.ask(user("Hi"))
    assert slow.value.body == error["error"]
    assert slow.value.response.headers["retry-after"] == "7"
    assert slow.value.request_id == "req_fake"
    house.provider.fail = [(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}})]
    with pytest.raises(anthropic.APIStatusError) as busy:
        await house.ask_claude(user("Hi"))
    assert busy.value.status_code == 529
    _, headers = await house.ask(user("Hi"))
    assert [role for role, _ in await house.stored(headers)] == ["user", "assistant"]


async def test_a_provider_that_cannot_be_reached_is_told_from_one_that_refuses(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(), private_upstreams=True) as house:
        await house.http.put("/api/v1/upstreams/gone", json={"base_url": "http://127.0.0.1:9/v1"})
        with pytest.raises(openai.InternalServerError) as gone:
            await house.ask(user("Hi"), model="gone")
        assert gone.value.status_code == 503
        assert "connection failed" in gone.value.message


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"messages": [user("Hi")]}, "model"),
        ({"model": MODEL}, "messages"),
        ({"model": MODEL, "messages": []}, "messages"),
        ({"model": MODEL, "messages": [{"role": "boss", "content": "Hi"}]}, "messages[0].role"),
        (
            {"model": MODEL, "messages": [user("Hi"), {"role": "tool", "content": "x"}]},
            "messages[1].tool_call_id",
        ),
        ({"model": MODEL, "messages": [user("Hi")], "stream": "yes"}, "stream"),
        ({"model": MODEL, "messages": [user("Hi")], "max_tokens": 0}, "max_tokens"),
        ({"model": MODEL, "messages": [user("Hi")], "octavo": {"sleep": 1}}, "octavo.sleep"),
        ({"model": MODEL, "messages": [user("Hi")], "octavo": {"policy": "none"}}, "policy"),
    ],
    ids=str,
)
async def test_a_malformed_request_names_the_place(house: Setup, body: dict[str, Any], where: str) -> None:
    answer = await house.http.post("/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == where
    assert answer.json()["error"]["type"] == "invalid_request_error"
