"""Any model behind any interface: the client's library on one side, another provider's format on the other."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.gateway.conftest import CLAUDE, CLAUDE_WEATHER, MODEL, WEATHER, Setup, long, said, setup, user
from tests.gateway.test_streams import LOST, chunk, serving, streaming
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply

pytestmark = pytest.mark.anyio

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def sent(house: Setup) -> dict[str, Any]:
    return house.provider.last


async def test_claudes_library_talks_to_a_model_of_openai(house: Setup) -> None:
    house.provider.say = lambda _: Reply("Sunny.", [("call_9", "weather", {"city": "Oslo"})])
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    question: Any = {"role": "user", "content": [{"type": "text", "text": "Weather?"}, picture]}
    answer, headers = await house.ask_claude(
        question,
        model="gpt-4o",
        system="Be brief.",
        tools=[CLAUDE_WEATHER],
        tool_choice={"type": "any"},
        stop_sequences=["END"],
        extra_body={"temperature": 0.5},
        extra_headers={"anthropic-beta": "some-beta-2025-01-01"},
    )
    assert [block.type for block in answer.content] == ["text", "tool_use"]
    assert (answer.content[1].id, answer.content[1].input) == ("call_9", {"city": "Oslo"})
    assert (answer.stop_reason, answer.model) == ("tool_use", "gpt-4o")
    assert answer.usage.input_tokens > 0
    body = sent(house)
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["messages"][1]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert body["tools"][0]["function"]["name"] == "weather"
    assert (body["tool_choice"], body["max_tokens"], body["temperature"], body["stop"]) == (
        "required",
        200,
        0.5,
        ["END"],
    )
    assert not [name for name in house.provider.headers[-1] if name.startswith("anthropic-")]
    assert headers["x-octavo-provider-format"] == "openai"
    back = {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}
    result: Any = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "call_9", "content": "Wet", "is_error": False}],
    }
    house.provider.say = lambda _: Reply("Rain, then.")
    second, again = await house.ask_claude(question, back, result, model="gpt-4o", tools=[CLAUDE_WEATHER])
    assert second.content[0].text == "Rain, then."
    assert again["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert sent(house)["messages"][-1] == {"role": "tool", "tool_call_id": "call_9", "content": "Wet"}
    assert len(await house.tree(again)) == 4


async def test_claudes_library_streams_a_model_of_openai(house: Setup) -> None:
    house.provider.say = lambda _: Reply(
        "Sunny in the north. " * 5, [("call_9", "weather", {"city": "Oslo"})]
    )
    async with house.anthropic.messages.stream(
        model="gpt-4o", max_tokens=200, messages=[user("Weather?")], tools=[CLAUDE_WEATHER]
    ) as run:
        pieces = [text async for text in run.text_stream]
        message = await run.get_final_message()
    assert len(pieces) > 3
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.content[1].model_dump()["input"] == {"city": "Oslo"}
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens > 0


async def test_openais_library_talks_to_claude(house: Setup) -> None:
    house.provider.say = lambda _: Reply(
        "Sunny.", [("toolu_9", "weather", {"city": "Oslo"})], thinking="I wonder."
    )
    answer, headers = await house.ask(
        {"role": "system", "content": "Be brief."},
        user("Weather?"),
        model=CLAUDE,
        tools=[WEATHER],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        parallel_tool_calls=False,
        max_completion_tokens=300,
        stop="END",
        temperature=1.5,
    )
    message = answer.choices[0].message
    assert (message.content, message.tool_calls[0].id) == ("Sunny.", "toolu_9")
    assert json.loads(message.tool_calls[0].function.arguments) == {"city": "Oslo"}
    assert answer.choices[0].finish_reason == "tool_calls"
    assert message.reasoning_content == "I wonder."
    body = sent(house)
    assert (body["system"], body["max_tokens"], body["temperature"]) == ("Be brief.", 300, 1.0)
    assert body["stop_sequences"] == ["END"]
    assert body["tool_choice"] == {"type": "tool", "name": "weather", "disable_parallel_tool_use": True}
    assert house.provider.headers[-1]["x-api-key"]
    assert house.provider.headers[-1]["anthropic-version"]
    assert [node.message.role for node in await house.tree(headers)] == ["user", "assistant"]


async def test_openais_library_streams_claude(house: Setup) -> None:
    house.provider.say = lambda _: Reply("Sunny. " * 9, [("toolu_9", "weather", {"city": "Oslo"})], "Hm.")
    run = await house.openai.chat.completions.create(
        model=CLAUDE,
        messages=[user("Weather?")],
        tools=[WEATHER],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in run]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == "Sunny. " * 9
    calls = [c for chunk in chunks if chunk.choices for c in chunk.choices[0].delta.tool_calls or []]
    assert [(c.id, c.function and c.function.arguments) for c in calls] == [("toolu_9", '{"city": "Oslo"}')]
    assert chunks[-1].usage
    assert chunks[-1].usage.prompt_tokens > 0
    assert {c.choices[0].finish_reason for c in chunks if c.choices} == {None, "tool_calls"}


@pytest.mark.parametrize("model", [CLAUDE, "compatible/mistral"])
async def test_responses_talk_to_any_model(house: Setup, model: str) -> None:
    house.provider.say = lambda _: Reply("Sunny. " * 9, [("call_9", "weather", {"city": "Oslo"})])
    tools: Any = [
        {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}},
        {"type": "custom", "name": "patch", "description": "Apply a patch."},
        {"type": "web_search"},
    ]
    raw = await house.openai.responses.with_raw_response.create(
        model=model, input="Weather?", instructions="Be brief.", tools=tools, max_output_tokens=300
    )
    answer, headers = raw.parse(), raw.headers
    assert answer.output_text == "Sunny. " * 9
    assert [item.type for item in answer.output] == ["message", "function_call"]
    assert headers["x-octavo-left-out"] == "web_search"
    assert answer.usage
    assert answer.usage.input_tokens > 0
    # The next request names the answer; the provider has never heard of it.
    house.provider.say = lambda _: Reply("", [("call_10", "patch", {"input": "*** Begin"})])
    output: Any = {"type": "function_call_output", "call_id": "call_9", "output": "Wet"}
    async with house.openai.responses.stream(
        model=model, previous_response_id=answer.id, input=[output], tools=tools, instructions="Be brief."
    ) as run:
        events = [event async for event in run]
        final = await run.get_final_response()
    assert [item.type for item in final.output] == ["custom_tool_call"]
    assert final.output[0].model_dump()["input"] == "*** Begin"
    assert [event.sequence_number for event in events if hasattr(event, "sequence_number")][:3] == [0, 1, 2]
    roles = [message["role"] for message in sent(house)["messages"] if message["role"] != "system"]
    assert len(roles) == 3
    # And the call of plain text goes back as a field.
    house.provider.say = lambda _: Reply("Done.")
    call: Any = {"type": "custom_tool_call", "call_id": "call_10", "name": "patch", "input": "*** Begin"}
    done: Any = {"type": "custom_tool_call_output", "call_id": "call_10", "output": "ok"}
    whole: list[Any] = [user("Weather?"), *answer.output, output, call, done]
    last = await house.openai.responses.create(
        model=model, input=whole, tools=tools, instructions="Be brief."
    )
    assert last.output_text == "Done."
    assert "*** Begin" in json.dumps(sent(house)["messages"])
    assert len(await house.tree(headers)) == 6


@pytest.mark.parametrize("model", [CLAUDE, "compatible/mistral"])
async def test_responses_stream_the_calls_of_any_model(house: Setup, model: str) -> None:
    house.provider.say = lambda _: Reply("Looking.", [("call_9", "weather", {"city": "Oslo"})])
    tools: Any = [{"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}]
    async with house.openai.responses.stream(model=model, input="Weather?", tools=tools) as run:
        events = [event async for event in run]
        final = await run.get_final_response()
    assert [item.type for item in final.output] == ["message", "function_call"]
    (done,) = [event for event in events if event.type == "response.function_call_arguments.done"]
    assert done.model_dump()["name"] == "weather"
    assert done.arguments == '{"city": "Oslo"}'


async def test_a_translated_conversation_is_compressed_like_any_other(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(window=4_096)) as house:
        await engine.models.learn_window("compatible/mistral", 4_096)
        history: list[Any] = []
        headers: Any = {}
        for number in range(25):
            history.append(user(long(number)))
            answer, headers = await house.ask_claude(*history, model="compatible/mistral", system="Guard.")
            history.append(said(answer.content[0].text))
        assert headers["x-octavo-compressed"] == "true"
        assert house.provider.refused == 0
        assert "D003-111" in json.dumps(sent(house))
        assert len(await house.tree(headers)) == 50


async def test_what_cannot_be_translated_is_refused_by_its_name(house: Setup) -> None:
    with pytest.raises(openai.BadRequestError) as several:
        await house.ask(user("Hi"), model=CLAUDE, n=2)
    assert several.value.param == "n"
    with pytest.raises(openai.BadRequestError) as plain:
        await house.ask(user("Hi"), model=CLAUDE, response_format={"type": "json_object"})
    assert plain.value.param == "response_format"
    with pytest.raises(anthropic.BadRequestError) as servers:
        await house.ask_claude(
            user("Hi"), model="gpt-4o", extra_body={"mcp_servers": [{"type": "url", "url": "https://x"}]}
        )
    assert "mcp_servers" in str(servers.value)
    assert house.provider.bodies == []


async def test_a_parameter_of_the_wrong_kind_is_refused_by_its_name(house: Setup) -> None:
    with pytest.raises(anthropic.BadRequestError, match="temperature: expected a number, got 'hot'"):
        await house.ask_claude(user("Hi"), model=MODEL, extra_body={"temperature": "hot"})
    with pytest.raises(openai.BadRequestError, match="top_p: expected a number"):
        await house.ask(user("Hi"), model=CLAUDE, extra_body={"top_p": "many"})
    assert house.provider.bodies == []


async def test_a_providers_error_reaches_the_client_in_its_own_shape(house: Setup) -> None:
    house.provider.fail = [(429, {"error": {"message": "Slow down.", "type": "requests"}})]
    with pytest.raises(anthropic.RateLimitError) as slow:
        await house.ask_claude(user("Hi"), model="gpt-4o")
    assert "Slow down." in str(slow.value)
    assert slow.value.response.headers["retry-after"] == "7"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "No such thing."}}
    house.provider.fail = [(400, error)]
    with pytest.raises(openai.BadRequestError) as wrong:
        await house.ask(user("Hi"), model=CLAUDE)
    assert "No such thing." in str(wrong.value)


async def test_a_request_that_is_not_stored_is_translated_too(house: Setup) -> None:
    off = {"x-octavo-off": "1"}
    answer, headers = await house.ask_claude(user("Hi"), model="gpt-4o", extra_headers=off)
    assert answer.content[0].text == "Answer to: Hi"
    assert "x-octavo-conversation" not in headers
    run = await house.openai.chat.completions.create(
        model=CLAUDE, messages=[user("Hi")], stream=True, extra_headers=off
    )
    assert "".join([c.choices[0].delta.content or "" async for c in run]) == "Answer to: Hi"
    assert await house.engine.store.conversations.list() == ()


@pytest.mark.parametrize("lost", [LOST, None])
async def test_a_stream_that_breaks_off_is_told_in_the_clients_shape(
    make_engine: MakeEngine, lost: httpx2.RemoteProtocolError | None
) -> None:
    """Cut off by the network, or by an error of the provider in the middle."""
    engine = await make_engine(provider=None)
    error = b'data: {"error": {"message": "connection failed at our side"}}\n\n'
    pieces = [chunk(role="assistant", content="So far"), chunk(content=" so good"), error]
    async with serving(engine, streaming(pieces[:2] if lost else pieces, lost)) as (_, url):
        client = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)
        with pytest.raises(anthropic.APIError, match="connection failed"):
            async with client.messages.stream(model=MODEL, max_tokens=50, messages=[user("Well?")]) as stream:
                await stream.get_final_message()
        await client.close()
        (conversation,) = await engine.store.conversations.list()
        tree = [node async for node in engine.store.tree.whole(conversation.id)]
        assert [(node.message.text, node.status) for node in tree] == [
            ("Well?", "complete"),
            ("So far so good", "aborted"),
        ]


async def test_an_upstream_says_which_interface_it_speaks(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(), private_upstreams=True) as house:
        url = house.app.state.gateway.providers.openai.base_url
        put = await house.http.put(
            "/api/v1/upstreams/my-model", json={"base_url": url, "account": "openai", "format": "openai"}
        )
        assert put.json()["format"] == "openai"
        answer, _ = await house.ask_claude(user("Hi"), model="my-model")
        assert answer.content[0].text == "Answer to: Hi"
        assert sent(house)["model"] == "my-model"
        listed = (await house.http.get("/api/v1/upstreams")).json()["upstreams"]
        assert listed[0]["format"] == "openai"


async def test_an_alias_answers_for_another_model_in_every_interface(house: Setup) -> None:
    alias = "claude-sonnet-of-ours"
    made = await house.http.patch(f"/api/v1/settings/models/{alias}", json={"alias": "openai/gpt-4o"})
    assert made.status_code == 200, made.text
    answer, headers = await house.ask_claude(user("Hi"), model=alias)
    assert (answer.content[0].text, answer.model) == ("Answer to: Hi", alias)
    assert sent(house)["model"] == "gpt-4o"
    assert headers["x-octavo-model"] == "openai/gpt-4o"
    plain, _ = await house.ask(user("Hi"), model=alias)
    assert plain.choices[0].message.content == "Answer to: Hi"
    assert sent(house)["model"] == "gpt-4o"
    assert alias in [model.id async for model in await house.openai.models.list()]
    one: Any = await house.openai.models.retrieve(alias)
    assert one.context_window == 128_000
