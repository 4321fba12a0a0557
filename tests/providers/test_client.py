"""What services may do to us, through every adapter: hang, trickle, never end, redirect, talk nonsense."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from octavo.core.json_values import JsonObject
from octavo.core.reply import Reply, Retrying
from octavo.errors import BadReply, ProviderError, ProviderTimeout, ReplyTooLarge
from octavo.protocols import Provider
from octavo.providers.anthropic import open_anthropic
from octavo.providers.azure import open_azure
from octavo.providers.client import LONGEST_ANSWER, LONGEST_ERROR, LONGEST_LINE, MIB
from octavo.providers.google import open_google
from octavo.providers.openai import open_openai
from octavo.providers.settings import ProviderAccount, WaitLimits
from tests.gateway.test_streams import anthropic_stream, openai_stream, spoiled
from tests.providers.fake import Say, data, fake_service, named
from tests.providers.kit import HASTY, KEY, Answer, ask, collect, served

pytestmark = pytest.mark.anyio

Open = Callable[[str, WaitLimits], Provider]
OPENERS: dict[str, Open] = {
    "openai": lambda url, waits: open_openai(ProviderAccount(key=KEY, base_url=f"{url}/v1"), waits),
    "azure": lambda url, waits: open_azure(ProviderAccount(key=KEY, base_url=url, api_version="1"), waits),
    "anthropic": lambda url, waits: open_anthropic(ProviderAccount(key=KEY, base_url=url), waits),
    "google": lambda url, waits: open_google(ProviderAccount(key=KEY, base_url=url), waits),
}
ENDLESS = b"x" * (64 << 10)
IN_FLIGHT = 16 * MIB
"""Bytes that a service may have written before it notices that nobody reads them."""


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest) -> Open:
    return OPENERS[request.param]


async def test_a_service_that_never_answers_is_asked_once_and_given_up(opener: Open) -> None:
    """It was asked four times, five minutes each."""
    waits = replace(HASTY, first_byte=0.2)
    async with fake_service(Say()) as service:
        service.mute = True
        provider = opener(service.url, waits)
        with pytest.raises(ProviderTimeout, match=r"no answer within 0\.2 seconds"):
            await collect(provider, ask("hi"))
        await provider.close()
        assert len(service.asked) == 1


async def test_a_service_that_falls_silent_is_given_up(opener: Open) -> None:
    waits = replace(HASTY, silence=0.2)
    async with served(lambda url: opener(url, waits), Say(events=("\n\n",), then="hang")) as (
        provider,
        service,
    ):
        with pytest.raises(ProviderTimeout, match=r"nothing came for 0\.2 seconds"):
            await collect(provider, ask("hi"))
        await service.hung_up.wait()
        assert len(service.asked) == 1


async def test_a_service_that_trickles_for_ever_is_given_up(opener: Open) -> None:
    waits = replace(HASTY, answer=0.3)
    trickle = Say(events=("\n\n",), then="repeat", pause=0.01)
    async with served(lambda url: opener(url, waits), trickle) as (provider, service):
        with pytest.raises(ProviderTimeout, match=r"took more than 0\.3 seconds"):
            await collect(provider, ask("hi"))
        await service.hung_up.wait()
        assert len(service.asked) == 1


async def test_a_line_without_an_end_is_given_up(opener: Open) -> None:
    """It grew until the memory was full."""
    async with served(lambda url: opener(url, HASTY), Say(events=(b"data: ", ENDLESS), then="repeat")) as (
        provider,
        service,
    ):
        with pytest.raises(ReplyTooLarge, match="a line of the answer has more than 16 MiB"):
            await collect(provider, ask("hi"))
        await service.hung_up.wait()
        assert LONGEST_LINE <= service.written < LONGEST_LINE + IN_FLIGHT
        assert len(service.asked) == 1


async def test_an_answer_without_an_end_is_given_up(opener: Open) -> None:
    many = data({"id": "x" * len(ENDLESS), "choices": [], "candidates": []})[0]
    async with served(lambda url: opener(url, HASTY), Say(events=(many,), then="repeat")) as (
        provider,
        service,
    ):
        with pytest.raises(ReplyTooLarge, match="the answer has more than 64 MiB"):
            await collect(provider, ask("hi"))
        await service.hung_up.wait()
        assert LONGEST_ANSWER <= service.written < LONGEST_ANSWER + IN_FLIGHT


async def test_an_error_without_an_end_is_still_that_error(opener: Open) -> None:
    waits = replace(HASTY, attempts=1)
    async with served(lambda url: opener(url, waits), Say(status=401, events=(ENDLESS,), then="repeat")) as (
        provider,
        service,
    ):
        with pytest.raises(ProviderError, match="answered 401") as caught:
            await collect(provider, ask("hi"))
        assert caught.value.status == 401
        assert len(str(caught.value)) < 1_000
        assert service.written < LONGEST_ERROR + IN_FLIGHT


async def test_a_few_packed_bytes_do_not_become_any_number(opener: Open) -> None:
    """We ask for plain answers; not every service listens."""
    bomb = gzip.compress(b"data: " + bytes(LONGEST_LINE + MIB), 9)
    packed = Say(headers={"content-encoding": "gzip"}, events=(bomb,))
    async with served(lambda url: opener(url, HASTY), packed) as (provider, service):
        with pytest.raises(ReplyTooLarge):
            await collect(provider, ask("hi"))
        assert service.asked[0].headers["accept-encoding"] == "identity"
        assert service.written < MIB
    other = Say(headers={"content-encoding": "br"}, events=(b"whatever",))
    async with served(lambda url: opener(url, HASTY), other) as (provider, _):
        with pytest.raises(ProviderError, match=r"the answer is packed \(br\)"):
            await collect(provider, ask("hi"))


async def test_redirects_are_not_followed(opener: Open) -> None:
    """The key would go to an address that nobody chose."""
    async with fake_service(Say(events=data({}))) as elsewhere:
        to = Say(status=307, headers={"location": f"{elsewhere.url}/stolen"})
        async with served(lambda url: opener(url, HASTY), to) as (provider, service):
            with pytest.raises(ProviderError, match=r"answered 307: it redirects to http.*/stolen") as caught:
                await collect(provider, ask("hi"))
            assert (caught.value.status, caught.value.retryable) == (307, False)
            assert len(service.asked) == 1
        assert not elsewhere.asked


GEMINI: tuple[JsonObject, ...] = (
    {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
    {"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1}},
)
NO_JSON = (
    b"\xff\xfe\x00",
    b"<html>please log in</html>",
    b"data: \xff\n\n",
    b"data: {\n\n",
)
ODD = (
    *NO_JSON,
    b"5",
    b"{}",
    b"data: 5\n\n",
    b"data: []\n\n",
    b"data: null\n\n",
    b"data: " + b"[" * 100_000 + b"\n\n",
    b'data: {"choices": 5}\n\n',
    b'data: {"candidates": 5}\n\n',
    b'data: {"error": 5}\n\n',
    b"event: message_start\ndata: 5\n\n",
    b"event: message_start\ndata: \xff\n\n",
    b"event: error\ndata: 5\n\n",
    b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 3, "delta": {}}\n\n',
)


def spoil(stream: bytes, chance: random.Random) -> bytes:
    """The stream with something else in some place of its events."""
    lines = stream.split(b"\n")
    return b"\n".join(
        b"data: " + json.dumps(spoiled(json.loads(line[6:]), chance)).encode()
        if line.startswith(b"data: {")
        else line
        for line in lines
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
async def test_whatever_a_service_answers_is_an_answer_or_an_error_with_a_name(name: str) -> None:
    """A 200 with bytes that are no JSON was an error inside the program."""
    whole = {
        "openai": openai_stream("Hi there"),
        "anthropic": anthropic_stream("Hi there"),
        "google": "".join(data(*GEMINI)).encode(),
    }[name]
    bodies = [*ODD, *(spoil(whole, random.Random(seed)) for seed in range(150))]
    waits = replace(HASTY, attempts=1)
    read = 0
    async with served(lambda url: OPENERS[name](url, waits), *(Say(events=(body,)) for body in bodies)) as (
        provider,
        _,
    ):
        for body in bodies:
            (reply,) = await asyncio.gather(collect(provider, ask("hi")), return_exceptions=True)
            if isinstance(reply, Answer):
                read += 1
                usage = reply.reply.usage
                assert all(type(n) is int for n in (usage.input, usage.output, usage.cached, usage.reasoning))
                assert isinstance(reply.reply.model, str)
                assert body not in ODD
            else:
                assert isinstance(reply, BadReply if body in NO_JSON else ProviderError), (body, reply)
    assert read > 2


async def test_every_further_try_is_told(opener: Open) -> None:
    down = Say(status=503, body={"error": {"message": "come back later"}})
    async with served(lambda url: opener(url, HASTY), down) as (provider, service):
        stream = aiter(provider.stream(ask("hi")))
        for attempt in (2, 3, 4):
            told = await anext(stream)
            assert isinstance(told, Retrying)
            assert (told.attempt, told.attempts) == (attempt, 4)
            assert "answered 503" in told.reason
        with pytest.raises(ProviderError, match="come back later"):
            await anext(stream)
        assert len(service.asked) == 4


async def test_a_slow_answer_that_goes_on_is_waited_for() -> None:
    """The limits are for silence and for the whole, not for the time between two words that are shown."""
    start: JsonObject = {
        "type": "message_start",
        "message": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "c",
            "content": [],
            "usage": {},
        },
    }
    waits = replace(HASTY, silence=0.3)
    rest = anthropic_stream("Hi").decode().split("\n\n")[1:]
    pings = [": still here\n\n"] * 20
    events = (*named(start), *pings, *(f"{event}\n\n" for event in rest if event))
    async with served(lambda url: OPENERS["anthropic"](url, waits), Say(events=events)) as (provider, _):
        answer = await collect(provider, ask("hi"))
        assert isinstance(answer.reply, Reply)
        assert answer.text == "Hi"
