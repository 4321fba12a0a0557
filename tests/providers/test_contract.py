"""All adapters, against a fake of their services that was written by somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.protocol import ANTHROPIC, COMPATIBLE, GEMINI, OPENAI
from octavo.core.reply import Chunk, Delta, Usage
from octavo.errors import ProviderError, RateLimited
from octavo.protocols import Provider
from octavo.providers.anthropic import open_anthropic
from octavo.providers.azure import open_azure
from octavo.providers.google import open_google
from octavo.providers.openai import open_openai
from octavo.providers.settings import ProviderAccount
from tests.providers.aimock import Aimock
from tests.providers.kit import HASTY, KEY, TIME, WEATHER, ask, collect

pytestmark = pytest.mark.anyio

GREETING = "Hello there, Zoë 🙂! All the rest of the greeting follows here."
OPENERS: dict[str, Callable[[str, dict[str, str]], Provider]] = {
    "openai": lambda url, headers: open_openai(
        ProviderAccount(key=KEY, base_url=f"{url}/v1", headers=headers), HASTY
    ),
    "azure": lambda url, headers: open_azure(
        ProviderAccount(key=KEY, base_url=url, api_version="2024-10-21", headers=headers), HASTY
    ),
    "anthropic": lambda url, headers: open_anthropic(
        ProviderAccount(key=KEY, base_url=url, headers=headers), HASTY
    ),
    "google": lambda url, headers: open_google(
        ProviderAccount(key=KEY, base_url=url, api_version="v1beta", headers=headers), HASTY
    ),
}


@pytest.fixture(params=OPENERS)
async def provider(
    peer: Aimock, request: pytest.FixtureRequest, test_id: str, anyio_backend: str
) -> AsyncIterator[Provider]:
    assert anyio_backend == "asyncio"
    opened = OPENERS[request.param](peer.url, {"X-Test-Id": test_id})
    yield opened
    await opened.close()


@pytest.fixture
def test_id(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).replace("[", "-").rstrip("]")


async def test_text_streams_and_the_reply_is_the_sum_of_its_deltas(provider: Provider) -> None:
    """The peer cuts the emoji in two: between the halves of a UTF-16 pair, as JavaScript counts."""
    answer = await collect(provider, ask("greet"))
    assert len(answer.deltas) > 1
    assert answer.text == answer.reply.message.text == GREETING
    assert GREETING.encode()
    assert answer.reply.finish == "stop"
    assert answer.reply.usage == Usage(input=12, output=7)
    assert answer.reply.model == "gpt-4o"


@pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason:UserWarning")
async def test_tool_calls_come_whole_with_ids_and_their_input(provider: Provider) -> None:
    request = ask("weather")
    answer = await collect(
        provider, type(request)(model="gpt-4o", messages=request.messages, tools=(WEATHER, TIME))
    )
    weather, time = answer.reply.message.calls
    assert (weather.name, time.name, time.input) == ("get_weather", "get_time", "{}")
    # OpenAI passes the model's text on; the peer, like Gemini, gives the others an object.
    spaced = provider.name in ("openai", "azure")
    assert weather.input == ('{"city": "Oslo", "days": 3}' if spaced else '{"city":"Oslo","days":3}')
    assert weather.id
    assert time.id
    assert weather.id != time.id
    assert answer.reply.finish == "tool_calls"
    assert answer.text == answer.reply.message.text == "I will look."


async def test_thinking_streams_apart_from_the_answer(provider: Provider) -> None:
    answer = await collect(provider, ask("ponder"))
    assert (answer.reasoning, answer.text) == ("six times seven", "42")
    assert answer.reply.message.text == "42"
    if provider.name == "anthropic":
        thinking = answer.reply.message.parts[0]
        assert thinking.wire is not None
        assert "c2lnbmVk" in thinking.wire.fields


async def test_an_answer_that_hits_the_limit_says_so(provider: Provider) -> None:
    assert (await collect(provider, ask("ramble"))).reply.finish == "length"


@pytest.mark.parametrize("provider", ["openai", "azure", "google"], indirect=True)
async def test_a_filtered_answer_is_a_refusal(provider: Provider) -> None:
    """Not Anthropic's: the peer has no refusal of its kind."""
    assert (await collect(provider, ask("something rude"))).reply.finish == "refusal"


async def test_a_broken_connection_in_the_middle_is_an_error_and_is_not_tried_again(
    provider: Provider, peer: Aimock, test_id: str
) -> None:
    seen: list[Chunk] = []

    async def read() -> None:
        async for chunk in provider.stream(ask("break off")):
            seen.append(chunk)

    with pytest.raises(ProviderError) as caught:
        await read()
    text = "".join(chunk.text for chunk in seen if isinstance(chunk, Delta))
    assert text
    assert "This answer breaks off somewhere".startswith(text)
    assert caught.value.retryable
    assert len(peer.journal(test_id)) == 1


async def test_slow_pieces_arrive_one_by_one(provider: Provider) -> None:
    answer = await collect(provider, ask("slowly"))
    assert len(answer.deltas) > 10
    assert answer.text.endswith("after a pause.")


async def test_closing_the_stream_early_leaves_the_provider_usable(provider: Provider) -> None:
    async with aclosing(cast(Any, provider.stream(ask("slowly")))) as stream:
        assert isinstance(await anext(stream), Delta)
    assert (await collect(provider, ask("greet"))).text == GREETING


async def test_cancelling_the_task_stops_the_stream(provider: Provider) -> None:
    started = asyncio.Event()

    async def read() -> None:
        async for _ in provider.stream(ask("slowly")):
            started.set()

    task = asyncio.ensure_future(read())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await collect(provider, ask("greet"))).text == GREETING


async def test_a_long_retry_after_is_reported_instead_of_waited_for(
    provider: Provider, peer: Aimock, test_id: str
) -> None:
    with pytest.raises(RateLimited, match="slow down") as caught:
        await collect(provider, ask("too often"))
    assert (caught.value.retry_after, caught.value.status) == (99.0, 429)
    assert len(peer.journal(test_id)) == 1


async def test_after_500_429_and_529_the_fourth_attempt_is_answered(
    provider: Provider, peer: Aimock, test_id: str
) -> None:
    assert (await collect(provider, ask("stumble"))).text == "Here I am."
    assert [_status(entry) for entry in peer.journal(test_id)] == [500, 429, 529, 200]


@pytest.mark.parametrize(
    ("rates", "status", "tries"),
    [
        ({"dropRate": 1.0}, 500, HASTY.attempts),
        ({"disconnectRate": 1.0}, None, HASTY.attempts),
        ({"malformedRate": 1.0}, None, 1),
    ],
    ids=["500", "disconnect", "garbage"],
)
async def test_patience_ends(
    provider: Provider, peer: Aimock, test_id: str, rates: dict[str, float], status: int | None, tries: int
) -> None:
    """What was received is not asked for again, whatever it was."""
    peer.chaos(test_id, **rates)
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask("greet"))
    assert caught.value.retryable
    assert caught.value.status == status
    assert len(peer.journal(test_id)) == tries


async def test_the_rules_are_those_of_the_service(provider: Provider) -> None:
    # Another host than OpenAI's own gets the strict rules that chat templates of open models need.
    expected = {"openai": COMPATIBLE, "azure": OPENAI, "anthropic": ANTHROPIC, "google": GEMINI}
    assert provider.rules == expected[provider.name]
    assert isinstance(provider, Provider)


def _status(entry: JsonObject) -> Json:
    response = entry["response"]
    assert isinstance(response, dict)
    return response["status"]
