"""The services' own counts: all of a request is counted, and what goes wrong is told in our words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Attachment, Image, Message, Text, ToolCall, ToolResult, system, user
from octavo.core.reply import Request
from octavo.core.tools import Tool
from octavo.errors import BadReply, ProviderError, RateLimited
from octavo.protocols import Counting, Provider
from octavo.providers.anthropic import open_anthropic
from octavo.providers.azure import open_azure
from octavo.providers.google import open_google
from octavo.providers.openai import open_openai
from octavo.providers.settings import ProviderAccount
from tests.meters.test_images import png, url
from tests.providers.fake import Asked, Say
from tests.providers.kit import HASTY, KEY, served

pytestmark = pytest.mark.anyio

REQUEST = Request(
    model="some-model",
    tools=(Tool(name="read_file", description="Read a file.", schema='{"type":"object","properties":{}}'),),
    messages=(
        system("Be brief."),
        user("What is in it?"),
        Message(
            role="assistant",
            parts=(Text(text="Let me see."), ToolCall(id="c1", name="read_file", input="{}")),
        ),
        Message(
            role="tool", parts=(ToolResult(call_id="c1", name="read_file", content=(Text(text="hello"),)),)
        ),
        Message(
            role="user",
            parts=(
                Text(text="And this?"),
                Image(source=url(png(20, 20))),
                Attachment(
                    name="a.pdf", media_type="application/pdf", source="data:application/pdf;base64,JVBERg=="
                ),
            ),
        ),
    ),
    max_output=100,
    temperature=0.5,
    stable=4,
)


def openai(url: str) -> Provider:
    """OpenAI itself, at another address."""
    return replace(open_openai(ProviderAccount(key=KEY, base_url=f"{url}/v1"), HASTY), official=True)


def anthropic(url: str) -> Provider:
    return open_anthropic(ProviderAccount(key=KEY, base_url=url), HASTY)


def google(url: str) -> Provider:
    return open_google(ProviderAccount(key=KEY, base_url=url), HASTY)


Opener = Callable[[str], Provider]
ANSWERS: dict[Opener, JsonObject] = {
    openai: {"object": "response.input_tokens", "input_tokens": 321},
    anthropic: {"input_tokens": 321},
    google: {"totalTokens": 321},
}
every = pytest.mark.parametrize("opener", ANSWERS)


async def counted(opener: Opener, body: Json, status: int = 200) -> tuple[int | None, list[Asked]]:
    async with served(opener, Say(status=status, body=body)) as (provider, service):
        assert isinstance(provider, Counting)
        return await provider.count_request(REQUEST), service.asked


async def asked_of(opener: Opener) -> Asked:
    tokens, asked = await counted(opener, ANSWERS[opener])
    assert (tokens, len(asked)) == (321, 1)
    return asked[0]


async def test_openai_is_asked_for_everything_that_would_be_sent() -> None:
    asked = await asked_of(openai)
    assert asked.path == "/v1/responses/input_tokens"
    assert asked.body["model"] == "some-model"
    items: Any = asked.body["input"]
    kinds = ["message", "message", "message", "function_call", "function_call_output", "message"]
    assert [item["type"] for item in items] == kinds
    call = {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{}"}
    assert items[3] == call
    pieces = ["input_text", "input_image", "input_file"]
    assert [piece["type"] for piece in items[5]["content"]] == pieces
    tools: Any = asked.body["tools"]
    assert tools[0]["name"] == "read_file"


async def test_anthropic_is_asked_for_everything_that_would_be_sent_and_for_no_answer() -> None:
    asked = await asked_of(anthropic)
    assert asked.path == "/v1/messages/count_tokens"
    assert asked.body.keys() == {"model", "system", "messages", "tools"}
    messages: Any = asked.body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    tools: Any = asked.body["tools"]
    assert tools[0]["input_schema"] == {"type": "object", "properties": {}}


async def test_google_is_asked_for_everything_that_would_be_sent() -> None:
    asked = await asked_of(google)
    assert asked.path == "/v1beta/models/some-model:countTokens"
    assert asked.headers["x-goog-api-key"] == KEY.reveal()
    assert asked.body.keys() == {"generateContentRequest"}
    whole: Any = asked.body["generateContentRequest"]
    assert whole["model"] == "models/some-model"
    assert whole["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert len(whole["contents"]) == 4
    assert whole["tools"][0]["functionDeclarations"][0]["name"] == "read_file"


@every
@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (429, RateLimited, True),
        (401, ProviderError, False),
        (404, ProviderError, False),
        (503, ProviderError, True),
    ],
)
async def test_what_goes_wrong_is_told_in_our_words_and_not_tried_again(
    opener: Opener, status: int, kind: type[ProviderError], again: bool
) -> None:
    said: JsonObject = {
        "error": {"message": f"no: {KEY.reveal()}", "type": "x", "code": status, "status": "X"}
    }
    async with served(opener, Say(status=status, body=said)) as (provider, service):
        assert isinstance(provider, Counting)
        with pytest.raises(kind) as caught:
            await provider.count_request(REQUEST)
        assert len(service.asked) == 1
    assert (caught.value.status, caught.value.retryable) == (status, again)
    assert KEY.reveal() not in str(caught.value)


@every
@pytest.mark.parametrize(
    "said", [{"totally": "unexpected"}, [], "321", {"input_tokens": -1, "totalTokens": True}]
)
async def test_an_answer_without_a_number_is_a_bad_reply(opener: Opener, said: Json) -> None:
    with pytest.raises(BadReply):
        await counted(opener, said)


@every
async def test_a_provider_that_cannot_be_reached_is_told_so(opener: Opener) -> None:
    provider = opener("http://127.0.0.1:9")
    assert isinstance(provider, Counting)
    with pytest.raises(ProviderError, match="connection failed") as caught:
        await provider.count_request(REQUEST)
    assert caught.value.retryable
    await provider.close()


@pytest.mark.parametrize(
    "opener",
    [
        lambda url: open_openai(ProviderAccount(key=KEY, base_url=f"{url}/v1"), HASTY),
        lambda url: open_openai(ProviderAccount(base_url=f"{url}/v1"), HASTY, name="ollama"),
        lambda url: open_azure(ProviderAccount(key=KEY, base_url=url, api_version="2024-10-21"), HASTY),
    ],
)
async def test_a_service_that_only_speaks_as_openai_does_is_not_asked(opener: Opener) -> None:
    assert await counted(opener, {"input_tokens": 5}) == (None, [])
