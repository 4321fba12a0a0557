"""The Gemini adapter: what google-genai makes of our requests, signatures, and answers in all their pieces."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Image, Message, Text, ToolCall, ToolResult, system, user
from octavo.core.reply import Request, Usage
from octavo.errors import BadInput, BadReply, ProviderError, ProviderTimeout, RateLimited, WindowExceeded
from octavo.providers.google import GenerateContent, open_google
from octavo.providers.settings import ProviderAccount
from tests.providers.fake import Say, data
from tests.providers.kit import HASTY, KEY, WEATHER, Answer, ask, collect, served

pytestmark = pytest.mark.anyio
SIGNED = "c2lnbmVkPz8+"
"""Standard base64, with a character that the alphabet for addresses spells otherwise."""


def at(url: str) -> GenerateContent:
    return open_google(ProviderAccount(key=KEY, base_url=url), HASTY)


def said(*parts: JsonObject, finish: str | None = None, **more: Json) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": [*parts]}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-test", **more}


HI = Say(events=data(said({"text": "Hi"}, finish="STOP")))


async def answer_to(*responses: JsonObject) -> Answer:
    async with served(at, Say(events=data(*responses))) as (provider, _):
        return await collect(provider, ask("hi", model="gemini-test"))


async def sent(request: Request) -> Any:
    async with served(at, HI) as (provider, service):
        await collect(provider, request)
        return service.asked[0]


async def test_the_request_arrives_with_everything_in_its_place() -> None:
    call = ToolCall(id="call_1", name="get_weather", input='{"city": "Oslo"}')
    result = ToolResult(call_id="call_1", name="get_weather", content=(Text(text="rain"),))
    picture = Image(source="data:image/png;base64,iVBORw0KGgo+/w==", media_type="image/png")
    request = Request(
        model="gemini-test",
        messages=(
            system("Be brief."),
            Message(role="user", parts=(Text(text="How is it?"), picture)),
            Message(role="assistant", parts=(call,)),
            Message(role="tool", parts=(result,)),
        ),
        tools=(WEATHER,),
        max_output=100,
        temperature=0.5,
        options='{"topK": 5, "thinking_config": {"thinkingBudget": 0}}',
    )
    asked = await sent(request)
    assert asked.path == "/v1/models/gemini-test:streamGenerateContent?alt=sse"
    assert asked.headers["x-goog-api-key"] == KEY.reveal()
    assert "x-server-timeout" not in asked.headers
    assert asked.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert asked.body["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "How is it?"},
                # The library's own spelling; Gemini takes both, and both alphabets of base64.
                {"inlineData": {"mime_type": "image/png", "data": "iVBORw0KGgo-_w=="}},
            ],
        },
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "call_1", "name": "get_weather", "args": {"city": "Oslo"}}}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "call_1", "name": "get_weather", "response": {"output": "rain"}}}
            ],
        },
    ]
    assert asked.body["generationConfig"] == {
        "temperature": 0.5,
        "maxOutputTokens": 100,
        "topK": 5,
        "thinkingConfig": {"thinking_budget": 0},
    }
    [tools] = asked.body["tools"]
    assert tools["functionDeclarations"][0]["name"] == "get_weather"


async def test_the_version_of_the_interface_is_a_setting() -> None:
    def beta(url: str) -> GenerateContent:
        return open_google(ProviderAccount(key=KEY, base_url=url, api_version="v1beta"), HASTY)

    async with served(beta, HI) as (provider, service):
        await collect(provider, ask("hi", model="gemini-test"))
        assert service.asked[0].path.startswith("/v1beta/models/")


async def test_options_may_bring_tools_and_instructions_of_their_own() -> None:
    options = '{"tools": [{"googleSearch": {}}], "system_instruction": "Be long."}'
    asked = await sent(replace(ask("hi", model="gemini-test", options=options), tools=(WEATHER,)))
    assert asked.body["tools"] == [{"googleSearch": {}}]
    assert asked.body["systemInstruction"]["parts"] == [{"text": "Be long."}]


async def test_an_option_that_the_library_does_not_know_is_named() -> None:
    provider = open_google(ProviderAccount(key=KEY), HASTY)
    with pytest.raises(BadInput, match="options: not accepted by google-genai: nonsense"):
        provider.body(ask("hi", options='{"nonsense": 1}'))
    await provider.close()


async def test_signatures_come_back_byte_for_byte() -> None:
    answer = await answer_to(
        said({"text": "hm", "thought": True}),
        said({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": SIGNED}, finish="STOP"),
    )
    assert [type(part).__name__ for part in answer.reply.message.parts] == ["Reasoning", "ToolCall"]
    asked = await sent(Request(model="gemini-test", messages=(user("hi"), answer.reply.message)))
    part = asked.body["contents"][1]["parts"][1]
    # The library writes the alphabet for addresses; the bytes are the same.
    assert part["thoughtSignature"] == SIGNED.replace("+", "-")
    assert part["functionCall"]["id"] == answer.reply.message.calls[0].id


async def test_pieces_of_text_are_one_text_and_a_closing_signature_is_no_part_of_it() -> None:
    answer = await answer_to(
        said({"text": "Hel"}),
        said({"text": "lo"}),
        said({"text": "", "thoughtSignature": SIGNED}, finish="STOP"),
    )
    assert answer.text == answer.reply.message.text == "Hello"
    assert [type(part).__name__ for part in answer.reply.message.parts] == ["Text", "Opaque"]
    asked = await sent(Request(model="gemini-test", messages=(user("hi"), answer.reply.message)))
    assert asked.body["contents"][1]["parts"] == [
        {"text": "Hello"},
        {"text": "", "thoughtSignature": SIGNED.replace("+", "-")},
    ]


async def test_a_text_with_a_signature_stays_apart_from_its_neighbours() -> None:
    answer = await answer_to(
        said({"text": "A"}),
        said({"text": "B", "thoughtSignature": SIGNED}),
        said({"text": "C"}, finish="STOP"),
    )
    asked = await sent(Request(model="gemini-test", messages=(user("hi"), answer.reply.message)))
    assert asked.body["contents"][1]["parts"] == [
        {"text": "A"},
        {"text": "B", "thoughtSignature": SIGNED.replace("+", "-")},
        {"text": "C"},
    ]


async def test_calls_without_ids_get_different_ones() -> None:
    call: JsonObject = {"functionCall": {"name": "f", "args": {"x": 1}}}
    answer = await answer_to(said(call, call, finish="STOP"))
    one, other = answer.reply.message.calls
    assert one.input == other.input == '{"x":1}'
    assert one.id != other.id
    assert answer.reply.finish == "tool_calls"


async def test_usage_counts_thoughts_into_the_output() -> None:
    usage: JsonObject = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 10,
        "cachedContentTokenCount": 80,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 160,
    }
    answer = await answer_to(said({"text": "Hi"}, finish="STOP", usageMetadata=usage))
    assert answer.reply.usage == Usage(input=110, output=50, cached=80, reasoning=30)
    assert answer.reply.model == "gemini-test"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "refusal"), ("SPII", "refusal")],
)
async def test_every_reason_to_stop_has_its_finish(reason: str, finish: str) -> None:
    assert (await answer_to(said({"text": "Hi"}, finish=reason))).reply.finish == finish


async def test_a_prompt_that_is_blocked_is_a_refusal_without_words() -> None:
    answer = await answer_to(
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
    )
    assert answer.reply.finish == "refusal"
    assert answer.reply.message.parts == ()
    assert answer.reply.usage == Usage(input=9)


async def test_a_malformed_call_is_a_bad_reply_that_a_person_may_try_again() -> None:
    broken = Say(events=data(said(finish="MALFORMED_FUNCTION_CALL")))
    async with served(at, broken, HI) as (provider, service):
        with pytest.raises(BadReply, match="MALFORMED_FUNCTION_CALL") as caught:
            await collect(provider, ask("hi"))
        assert caught.value.retryable
        assert len(service.asked) == 1


async def test_a_stream_that_never_says_it_is_done_is_an_error() -> None:
    async with served(at, Say(events=data(said({"text": "Hal"})))) as (provider, service):
        with pytest.raises(ProviderError, match="ended early"):
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1


async def test_the_pause_that_the_service_asks_for_is_found_in_its_answer() -> None:
    details: list[Json] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}]
    error: JsonObject = {
        "error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": details}
    }
    async with served(at, Say(status=429, body=error)) as (provider, service):
        with pytest.raises(RateLimited, match="quota") as caught:
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1
    assert caught.value.retry_after == 3600


async def test_a_prompt_that_is_too_long_names_the_window() -> None:
    message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    error: JsonObject = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    async with served(at, Say(status=400, body=error)) as (provider, _):
        with pytest.raises(WindowExceeded) as caught:
            await collect(provider, ask("hi"))
    assert caught.value.window == 1_048_576


async def test_an_error_inside_the_stream_is_classified_like_any_other() -> None:
    error: JsonObject = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    async with served(at, Say(events=data(said({"text": "Hal"}), error))) as (provider, service):
        with pytest.raises(ProviderError, match="answered 503: overloaded") as caught:
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1
    assert caught.value.retryable


async def test_closing_the_stream_hangs_up_at_once() -> None:
    async with served(at, Say(events=data(said({"text": "Hi"})), then="hang")) as (provider, service):
        stream = cast(Any, provider.stream(ask("hi")))
        await anext(stream)
        await stream.aclose()
        await asyncio.wait_for(service.hung_up.wait(), 10)


async def test_a_silent_server_is_a_timeout() -> None:
    def hasty(url: str) -> GenerateContent:
        return open_google(ProviderAccount(key=KEY, base_url=url), replace(HASTY, attempts=1, silence=0.1))

    async with served(hasty, Say(events=("\n",), then="hang")) as (provider, _):
        with pytest.raises(ProviderTimeout):
            await collect(provider, ask("hi"))
