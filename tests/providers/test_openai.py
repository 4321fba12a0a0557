"""The Chat Completions adapter: what it sends, and what it makes of the many ways in which servers answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any, cast

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import ValidationError

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import (
    Image,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    user,
)
from octavo.core.reply import Request, Usage
from octavo.errors import BadInput, BadReply, ProviderError, ProviderTimeout, UsageError, WindowExceeded
from octavo.providers.azure import open_azure
from octavo.providers.openai import ChatCompletions, open_openai
from octavo.providers.settings import ProviderAccount, WaitLimits
from tests.providers.fake import DONE, Say, data
from tests.providers.kit import HASTY, KEY, WEATHER, ask, check_type, collect, served

pytestmark = pytest.mark.anyio
ONCE = replace(HASTY, attempts=1)


def at(url: str, waits: WaitLimits = HASTY) -> ChatCompletions:
    return open_openai(ProviderAccount(key=KEY, base_url=f"{url}/v1", headers={"X-Title": "tests"}), waits)


def piece(delta: JsonObject | None = None, finish: str | None = None, **more: Json) -> JsonObject:
    choice: JsonObject = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **more,
    }


def call(arguments: str = "", **more: Json) -> JsonObject:
    function: JsonObject = {"arguments": arguments}
    if isinstance(name := more.pop("name", None), str):
        function["name"] = name
    return {"tool_calls": [{"type": "function", "function": function, **more}]}


async def answer_to(*pieces: JsonObject) -> Any:
    async with served(at, Say(events=(*data(*pieces), DONE))) as (provider, _):
        return await collect(provider, ask("hi"))


HI = Say(events=(*data(piece({"content": "Hi"}), piece(finish="stop")), DONE))
CONVERSATION = (
    system("Be brief."),
    user("Look at this."),
    Message(role="user", parts=(Text(text="What is it?"), Image(source="https://example.org/a.png"))),
    Message(
        role="assistant",
        parts=(Text(text="Let me see."), ToolCall(id="call_1", name="get_weather", input='{"city": "Oslo"}')),
    ),
    Message(role="tool", parts=(ToolResult(call_id="call_1", content=(Text(text="rain"),)),)),
    assistant("It rains."),
    user("Thanks."),
)


def test_what_is_sent_is_what_the_library_s_types_describe() -> None:
    request = Request(
        model="gpt-4o", messages=CONVERSATION, tools=(WEATHER,), max_output=100, temperature=0.5
    )
    body = open_openai(ProviderAccount(key=KEY), HASTY).body(request)
    check_type(CompletionCreateParamsStreaming, body)
    with pytest.raises(ValidationError):
        check_type(CompletionCreateParamsStreaming, body | {"messages": [{"role": "user"}]})
    assert body["max_completion_tokens"] == 100
    assert body["temperature"] == 0.5
    assert body["stream"] is True
    assert "max_tokens" not in body


def test_other_servers_are_told_the_limit_under_its_old_name() -> None:
    other = open_openai(ProviderAccount(base_url="http://127.0.0.1:9/v1"), HASTY, name="ollama")
    body = other.body(Request(model="m", messages=(user("hi"),), max_output=5))
    assert body["max_tokens"] == 5
    assert "max_completion_tokens" not in body


def test_options_win_over_everything_but_the_streaming() -> None:
    request = Request(
        model="gpt-4o",
        messages=(user("hi"),),
        temperature=0.5,
        options='{"temperature": 1, "seed": 7, "stream": false, "stream_options": {}}',
    )
    body = open_openai(ProviderAccount(key=KEY), HASTY).body(request)
    assert (body["temperature"], body["seed"], body["stream"], body["stream_options"]) == (1, 7, True, {})


@pytest.mark.parametrize("options", ["", "[]", "{", '{"a": NaN}'])
def test_options_that_are_no_object_are_refused(options: str) -> None:
    with pytest.raises(BadInput, match="options"):
        open_openai(ProviderAccount(key=KEY), HASTY).body(ask("hi", options=options))


async def test_the_request_arrives_signed_at_the_address_that_was_set() -> None:
    async with served(at, HI) as (provider, service):
        await collect(provider, ask("hi"))
        [asked] = service.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY.reveal()}"
    assert asked.headers["x-title"] == "tests"
    assert asked.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
    ]


async def test_azure_finds_the_deployment_in_the_path_and_the_key_in_its_own_header() -> None:
    def azure_at(url: str) -> ChatCompletions:
        return open_azure(ProviderAccount(key=KEY, base_url=url, api_version="2024-10-21"), HASTY)

    async with served(azure_at, HI) as (provider, service):
        await collect(provider, ask("hi", model="my-deployment"))
        [asked] = service.asked
    assert asked.path == "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY.reveal()


def test_azure_without_an_address_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="AZURE_OPENAI_ENDPOINT"):
        open_azure(ProviderAccount(key=KEY), HASTY)


async def test_usage_counts_what_was_cached_and_what_was_thought() -> None:
    usage: JsonObject = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    after = piece(usage=usage)
    after["choices"] = []
    answer = await answer_to(piece({"content": "Hi"}), piece(finish="stop"), after)
    assert answer.reply.usage == Usage(input=100, output=50, cached=80, reasoning=30)
    assert answer.reply.model == "m"


async def test_an_answer_without_usage_is_complete() -> None:
    answer = await answer_to(piece({"content": "Hi"}), piece(finish="stop"))
    assert answer.reply.usage == Usage()


@pytest.mark.parametrize(
    "pieces",
    [
        [
            call(index=0, id="a", name="f"),
            call('{"x"', index=0),
            call(":1}", index=0),
            call("{}", index=1, id="b", name="g"),
        ],
        [call('{"x":1}', index=0, id="a", name="f"), call("{}", index=0, id="b", name="g")],
        [call('{"x":1}', id="a", name="f"), call("{}", id="b", name="g")],
        [call('{"x"', id="a", name="f"), call(":1}"), call("{}", id="b", name="g")],
    ],
    ids=["in shreds", "all numbered 0", "without numbers", "in shreds without numbers"],
)
async def test_tool_calls_are_put_together_however_they_are_cut(pieces: list[JsonObject]) -> None:
    answer = await answer_to(*(piece(delta) for delta in pieces), piece(finish="tool_calls"))
    assert [(call.id, call.name, call.input) for call in answer.reply.message.calls] == [
        ("a", "f", '{"x":1}'),
        ("b", "g", "{}"),
    ]
    assert answer.reply.finish == "tool_calls"


async def test_a_call_without_an_id_gets_one_and_is_a_tool_call_even_if_the_server_says_stop() -> None:
    answer = await answer_to(piece(call("{}", index=0, id="", name="f")), piece(finish="stop"))
    [made] = answer.reply.message.calls
    assert made.id.startswith("call_")
    assert answer.reply.finish == "tool_calls"


async def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them() -> None:
    answer = await answer_to(piece(call('{"city": "Os', index=0, id="a", name="f")), piece(finish="length"))
    assert answer.reply.message.calls[0].input == '{"city": "Os'
    assert answer.reply.finish == "length"


@pytest.mark.parametrize(
    "delta",
    [{"reasoning_content": "hm"}, {"reasoning": "hm"}, {"reasoning_content": "hm", "reasoning": "hm"}],
)
async def test_thinking_is_found_under_either_name_and_counted_once(delta: JsonObject) -> None:
    answer = await answer_to(piece(delta), piece({"content": "Yes"}), piece(finish="stop"))
    assert (answer.reasoning, answer.text) == ("hm", "Yes")
    assert [type(part) for part in answer.reply.message.parts] == [Reasoning, Text]


async def test_a_refusal_is_text_that_streams_and_a_finish_of_its_own() -> None:
    answer = await answer_to(piece({"refusal": "I "}), piece({"refusal": "won't."}), piece(finish="stop"))
    assert answer.text == answer.reply.message.text == "I won't."
    assert answer.reply.finish == "refusal"


async def test_a_second_choice_is_ignored() -> None:
    other = piece({"content": "No"})
    cast(Any, other)["choices"][0]["index"] = 1
    answer = await answer_to(piece({"content": "Yes"}), other, piece(finish="stop"))
    assert answer.text == "Yes"


async def test_a_stream_that_never_says_it_is_done_is_an_error() -> None:
    async with served(at, Say(events=(*data(piece({"content": "Hal"})), DONE))) as (provider, service):
        with pytest.raises(ProviderError, match="ended early") as caught:
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1
    assert caught.value.retryable


async def test_what_came_without_an_answer_in_it_is_not_tried_again() -> None:
    for nothing in (DONE, "<html>please log in</html>", '"hello"\n\n'):
        async with served(at, Say(events=(nothing,)), HI) as (provider, service):
            with pytest.raises(BadReply, match="no event of the service's format"):
                await collect(provider, ask("hi"))
            assert len(service.asked) == 1


async def test_an_error_inside_the_stream_is_classified_like_any_other() -> None:
    error: JsonObject = {
        "error": {
            "code": 400,
            "message": "request (6031 tokens) exceeds the available context size (2048 tokens)",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 6031,
            "n_ctx": 2048,
        }
    }
    async with served(at, Say(events=data(error))) as (provider, service):
        with pytest.raises(WindowExceeded) as caught:
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1
    assert caught.value.window == 2048


async def test_a_temperature_that_a_model_refuses_is_left_out_from_then_on() -> None:
    refusal = Say(
        status=400,
        body={"error": {"message": "no", "code": "unsupported_value", "param": "temperature", "type": "x"}},
    )
    request = replace(ask("hi", model="o3"), temperature=0.0)
    async with served(at, refusal, HI) as (provider, service):
        await collect(provider, request)
        await collect(provider, request)
        sent = [asked.body.get("temperature") for asked in service.asked]
    assert sent == [0.0, None, None]


async def test_a_limit_that_a_model_knows_under_another_name_is_renamed() -> None:
    refusal = Say(
        status=400, body={"error": {"message": "no", "code": "unsupported_parameter", "param": "max_tokens"}}
    )
    async with served(at, refusal, HI) as (provider, service):
        await collect(provider, replace(ask("hi"), max_output=9))
        assert "max_tokens" not in service.asked[1].body
        assert service.asked[1].body["max_completion_tokens"] == 9


async def test_a_parameter_from_the_options_is_never_dropped() -> None:
    refusal = Say(
        status=400, body={"error": {"message": "no", "code": "unsupported_value", "param": "temperature"}}
    )
    async with served(at, refusal) as (provider, service):
        with pytest.raises(ProviderError, match="answered 400") as caught:
            await collect(provider, ask("hi", options='{"temperature": 2}'))
        assert len(service.asked) == 2
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "events", [data(piece({"content": "Hi"})), (": nothing yet\n\n",)], ids=["after", "before"]
)
async def test_closing_or_cancelling_hangs_up_at_once(events: tuple[str, ...]) -> None:
    """After the first byte the stream is closed; before it the task that waits is cancelled."""
    async with served(at, Say(events=events, then="hang")) as (provider, service):
        stream = cast(Any, provider.stream(ask("hi")))
        waiting = asyncio.ensure_future(anext(stream))
        if events[0].startswith("data"):
            await waiting
            await stream.aclose()
        else:
            await service.called.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await asyncio.wait_for(service.hung_up.wait(), 10)
        assert len(service.asked) == 1


async def test_a_server_on_this_machine_is_not_looked_for_behind_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    async with served(at, HI) as (provider, _):
        assert (await collect(provider, ask("hi"))).text == "Hi"


async def test_a_silent_server_is_a_timeout() -> None:
    def hasty(url: str) -> ChatCompletions:
        return at(url, replace(ONCE, silence=0.1))

    async with served(hasty, Say(events=(": nothing yet\n\n",), then="hang")) as (provider, _):
        with pytest.raises(ProviderTimeout):
            await collect(provider, ask("hi"))


async def test_an_address_where_nobody_listens_is_said_in_words() -> None:
    provider = at("http://127.0.0.1:9", ONCE)
    with pytest.raises(ProviderError, match="openai: the connection failed") as caught:
        await collect(provider, ask("hi"))
    assert caught.value.retryable


async def test_garbage_in_the_stream_is_a_bad_reply_in_words() -> None:
    async with served(at, Say(events=("data: {nonsense\n\n",))) as (provider, service):
        with pytest.raises(BadReply, match="cannot be read"):
            await collect(provider, ask("hi"))
        assert len(service.asked) == 1


def test_a_reply_goes_back_as_it_came() -> None:
    """What was read from the stream is written into the next request without loss."""
    wire = {"role": "assistant", "content": "Let me see.", "tool_calls": [_tool_call()]}
    message = CONVERSATION[3]
    body = open_openai(ProviderAccount(key=KEY), HASTY).body(Request(model="m", messages=(message,)))
    assert json.loads(json.dumps(body["messages"])) == [wire]


def _tool_call() -> JsonObject:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
    }
