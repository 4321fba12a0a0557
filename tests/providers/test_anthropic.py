"""The Messages adapter: cache markers, thinking and its signature, input as it was written, errors in mid-stream."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import ValidationError

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    assistant,
    system,
    user,
)
from octavo.core.reply import Request, Usage
from octavo.errors import ProviderError, WindowExceeded
from octavo.providers.anthropic import MAX_OUTPUT, AnthropicMessages, open_anthropic
from octavo.providers.settings import ProviderAccount
from tests.providers.fake import Say, named
from tests.providers.kit import HASTY, KEY, WEATHER, Answer, ask, check_type, collect, served

pytestmark = pytest.mark.anyio
MARK: JsonObject = {"cache_control": {"type": "ephemeral"}}


def at(url: str) -> AnthropicMessages:
    return open_anthropic(ProviderAccount(key=KEY, base_url=url), HASTY)


def body_of(request: Request) -> Any:
    return open_anthropic(ProviderAccount(key=KEY), HASTY).body(request)


def start(**usage: Json) -> JsonObject:
    said: JsonObject = {"input_tokens": 10, "output_tokens": 1, **usage}
    message: JsonObject = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-test",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": said,
    }
    return {"type": "message_start", "message": message}


def block(index: int, content: JsonObject, *deltas: JsonObject) -> tuple[JsonObject, ...]:
    middle: list[JsonObject] = [
        {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
    ]
    return (
        {"type": "content_block_start", "index": index, "content_block": content},
        *middle,
        {"type": "content_block_stop", "index": index},
    )


def text(index: int, *pieces: str) -> tuple[JsonObject, ...]:
    deltas: list[JsonObject] = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def stop(reason: str = "end_turn", **usage: Json) -> tuple[JsonObject, ...]:
    delta: JsonObject = {"stop_reason": reason, "stop_sequence": None}
    said: JsonObject = {"output_tokens": 5, **usage}
    return {"type": "message_delta", "delta": delta, "usage": said}, {"type": "message_stop"}


async def answer_to(*events: JsonObject) -> Answer:
    async with served(at, Say(events=named(*events))) as (provider, _):
        return await collect(provider, ask("hi", model="claude-test"))


CALL = ToolCall(id="toolu_1", name="get_weather", input='{"city": "Oslo"}')
THOUGHT = Reasoning(text="hm", wire=Wire("anthropic", '{"added":{"signature":"c2ln"}}'))
CONVERSATION = (
    system("Be brief."),
    user("How is the weather?"),
    Message(role="assistant", parts=(THOUGHT, Text(text="Let me see."), CALL, replace(CALL, id="toolu_2"))),
    Message(role="tool", parts=(ToolResult(call_id="toolu_1", content=(Text(text="rain"),)),)),
    Message(role="tool", parts=(ToolResult(call_id="toolu_2", content=(Text(text="sun"),)),)),
    assistant("Mixed."),
    user("Thanks."),
)


def test_what_is_sent_is_what_the_library_s_types_describe() -> None:
    request = Request(
        model="claude-test",
        messages=CONVERSATION,
        tools=(WEATHER,),
        max_output=100,
        temperature=0.5,
        stable=6,
        options='{"top_k": 5}',
    )
    body = body_of(request)
    check_type(MessageCreateParamsStreaming, body)
    with pytest.raises(ValidationError):
        check_type(MessageCreateParamsStreaming, body | {"messages": [{"role": "user"}]})
    assert (body["max_tokens"], body["temperature"], body["top_k"], body["stream"]) == (100, 0.5, 5, True)
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def test_there_is_always_a_limit() -> None:
    assert body_of(ask("hi"))["max_tokens"] == MAX_OUTPUT


def test_the_system_prompt_and_the_stable_messages_end_with_a_cache_marker() -> None:
    body = body_of(Request(model="m", messages=CONVERSATION, stable=6))
    assert body["system"] == [{"type": "text", "text": "Be brief.", **MARK}]
    assert body["messages"][3] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Mixed.", **MARK}],
    }
    assert str(body).count("cache_control") == 2


def test_the_end_of_the_snapshot_is_marked_too() -> None:
    body = body_of(Request(model="m", messages=CONVERSATION, snapshot=2, stable=6))
    assert "cache_control" in str(body["messages"][0])
    assert "cache_control" in str(body["messages"][3])
    assert str(body).count("cache_control") == 3
    once = body_of(Request(model="m", messages=CONVERSATION, snapshot=6, stable=6))
    assert str(once).count("cache_control") == 2


def test_a_marker_between_two_results_of_one_message_stands_between_them() -> None:
    body = body_of(Request(model="m", messages=CONVERSATION, stable=4))
    first, second = body["messages"][2]["content"]
    assert (first["tool_use_id"], second["tool_use_id"]) == ("toolu_1", "toolu_2")
    assert "cache_control" in first
    assert "cache_control" not in second


def test_thinking_carries_no_marker() -> None:
    messages = (user("hi"), Message(role="assistant", parts=(Text(text="So."), THOUGHT)))
    content = body_of(Request(model="m", messages=messages, stable=2))["messages"][1]["content"]
    assert "cache_control" in content[0]
    assert "cache_control" not in content[1]


def test_a_request_without_stable_messages_or_system_prompt_is_not_marked() -> None:
    assert "cache_control" not in str(body_of(Request(model="m", messages=(user("hi"),))))


@pytest.mark.parametrize("where", ["message", "options"])
def test_markers_of_the_caller_s_own_are_left_alone(where: str) -> None:
    """Anthropic takes four at most; somebody who sets any has a plan."""
    marked = Text(
        text="hi", wire=Wire("anthropic", '{"added":{"cache_control":{"type":"ephemeral","ttl":"1h"}}}')
    )
    first = Message(role="user", parts=(marked,)) if where == "message" else user("hi")
    options = '{"cache_control": {"type": "ephemeral"}}' if where == "options" else "{}"
    body = body_of(Request(model="m", messages=(system("s"), first), stable=2, options=options))
    assert str(body).count("cache_control") == 1


async def test_thinking_keeps_its_signature_and_goes_back_with_it() -> None:
    answer = await answer_to(
        start(),
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "six times "},
            {"type": "thinking_delta", "thinking": "seven"},
            {"type": "signature_delta", "signature": "c2lnbmVk"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "b3BhcXVl"}),
        *text(2, "42"),
        *stop(),
    )
    assert (answer.reasoning, answer.text) == ("six times seven", "42")
    body = body_of(Request(model="m", messages=(user("hi"), answer.reply.message, user("why?"))))
    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "six times seven", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "42"},
    ]


async def test_a_tool_s_input_is_the_text_that_the_model_wrote() -> None:
    answer = await answer_to(
        start(),
        *text(0, "Let me see."),
        *block(
            1,
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"city": "Os'},
            {"type": "input_json_delta", "partial_json": 'lo",  "days": 3}'},
        ),
        *block(2, {"type": "tool_use", "id": "toolu_2", "name": "get_time", "input": {}}),
        *stop("tool_use"),
    )
    weather, time = answer.reply.message.calls
    assert weather == ToolCall(id="toolu_1", name="get_weather", input='{"city": "Oslo",  "days": 3}')
    assert time.input == "{}"
    assert answer.reply.finish == "tool_calls"


async def test_input_that_was_cut_off_is_kept_as_far_as_it_came() -> None:
    answer = await answer_to(
        start(),
        *block(
            0,
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"city": "Os'},
        ),
        *stop("max_tokens"),
    )
    assert answer.reply.message.calls[0].input == '{"city": "Os'
    assert answer.reply.finish == "length"


async def test_usage_counts_the_whole_prompt_cached_or_not() -> None:
    answer = await answer_to(
        start(cache_creation_input_tokens=200, cache_read_input_tokens=3000),
        *text(0, "Hi"),
        *stop(output_tokens_details={"thinking_tokens": 2}),
    )
    assert answer.reply.usage == Usage(input=3210, output=5, cached=3000, reasoning=2)
    assert answer.reply.model == "claude-test"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("something_new", "stop"),
    ],
)
async def test_every_reason_to_stop_has_its_finish(reason: str, finish: str) -> None:
    assert (await answer_to(start(), *text(0, "Hi"), *stop(reason))).reply.finish == finish


async def test_a_block_of_the_service_s_own_goes_back_as_it_came() -> None:
    search: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = await answer_to(
        start(),
        *block(0, search, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}),
        *text(1, "Found.", ""),
        *text(2),
        *stop(),
    )
    assert [type(part).__name__ for part in answer.reply.message.parts] == ["Opaque", "Text"]
    body = body_of(Request(model="m", messages=(user("hi"), answer.reply.message)))
    assert body["messages"][1]["content"][0] == search | {"input": {"query": "x"}}


async def test_citations_come_with_their_text() -> None:
    cited: JsonObject = {
        "type": "char_location",
        "cited_text": "x",
        "document_index": 0,
        "start_char_index": 0,
        "end_char_index": 1,
    }
    answer = await answer_to(
        start(),
        *block(
            0,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "It is x."},
            {"type": "citations_delta", "citation": cited},
        ),
        *stop(),
    )
    [part] = answer.reply.message.parts
    assert part.wire is not None
    assert "char_location" in part.wire.fields


async def test_an_overloaded_service_is_tried_again_even_when_it_began_with_200() -> None:
    overloaded: JsonObject = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    whole = Say(events=named(start(), *text(0, "Hi"), *stop()))
    async with served(at, Say(events=named(overloaded)), whole) as (provider, service):
        assert (await collect(provider, ask("hi"))).text == "Hi"
        assert len(service.asked) == 2
        assert service.asked[0].headers["authorization"] == f"Bearer {KEY.reveal()}"
    # But not when it had begun to answer.
    async with served(at, Say(events=named(start(), overloaded)), whole) as (provider, service):
        with pytest.raises(ProviderError, match="Overloaded"):
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1


@pytest.mark.parametrize(
    "words",
    [
        "`temperature` is deprecated for this model.",
        "`temperature` may only be set to 1 when thinking is enabled.",
    ],
)
async def test_a_temperature_that_a_model_refuses_is_left_out_from_then_on(words: str) -> None:
    error: JsonObject = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    whole = Say(events=named(start(), *text(0, "Hi"), *stop()))
    request = replace(ask("hi"), temperature=0.0)
    async with served(at, Say(status=400, body=error), whole) as (provider, service):
        await collect(provider, request)
        await collect(provider, request)
        assert [asked.body.get("temperature") for asked in service.asked] == [0.0, None, None]
    async with served(at, Say(status=400, body=error)) as (provider, service):
        with pytest.raises(ProviderError, match="temperature"):
            await collect(provider, replace(request, options='{"temperature": 2}'))
        assert len(service.asked) == 2


@pytest.mark.parametrize("events", [(start(), *text(0, "Hal")), (start(), *text(0, "Hal"), stop()[0])])
async def test_a_stream_without_its_end_is_an_error(events: tuple[JsonObject, ...]) -> None:
    async with served(at, Say(events=named(*events))) as (provider, service):
        with pytest.raises(ProviderError, match="ended early"):
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1


async def test_a_prompt_that_is_too_long_names_the_window() -> None:
    error: JsonObject = {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 215000 tokens > 200000 maximum",
        },
    }
    async with served(at, Say(status=400, body=error)) as (provider, _):
        with pytest.raises(WindowExceeded, match="215000") as caught:
            await collect(provider, ask("hi"))
    assert caught.value.window == 200_000


async def test_closing_the_stream_hangs_up_at_once() -> None:
    events = named(start(), text(0, "Hi")[0], text(0, "Hi")[1])
    async with served(at, Say(events=events, then="hang")) as (provider, service):
        stream = cast(Any, provider.stream(ask("hi")))
        await anext(stream)
        await stream.aclose()
        await asyncio.wait_for(service.hung_up.wait(), 10)
