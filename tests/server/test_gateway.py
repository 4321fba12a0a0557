"""The gateway with the official libraries as clients and a provider that owes nothing to Octavo."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from fastapi import FastAPI

from octavo.engine.engine import Engine
from octavo.server.config import ServerSettings
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply, last_text
from tests.server.kit import KEY, gateway, until

pytestmark = pytest.mark.anyio

MODEL = "gpt-4-0613"
CLAUDE = "claude-3-haiku"
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CLAUDE_WEATHER: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}


class Setup:
    """A gateway and clients that know nothing of it."""

    def __init__(self, app: FastAPI, url: str, provider: Provider, engine: Engine) -> None:
        self.app, self.url, self.provider, self.engine = app, url, provider, engine
        self.openai = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        self.anthropic = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)
        self.http = httpx2.AsyncClient(base_url=url)

    async def ask(self, *messages: Any, **options: Any) -> tuple[Any, httpx2.Headers]:
        options = {"model": MODEL, **options}
        raw = await self.openai.chat.completions.with_raw_response.create(messages=list(messages), **options)
        return raw.parse(), raw.headers

    async def ask_claude(self, *messages: Any, **options: Any) -> tuple[Any, httpx2.Headers]:
        options = {"model": CLAUDE, "max_tokens": 200, **options}
        raw = await self.anthropic.messages.with_raw_response.create(messages=list(messages), **options)
        return await raw.parse(), raw.headers

    async def stored(self, headers: httpx2.Headers) -> list[tuple[str, str]]:
        """Role and words of the branch that a conversation shows."""
        conversation = await self.engine.store.conversation(headers["x-octavo-conversation"])
        assert conversation.tip
        return [(n.message.role, n.message.text) for n in await self.engine.store.branch(conversation.tip)]


@asynccontextmanager
async def setup(engine: Engine, provider: Provider, **settings: Any) -> AsyncIterator[Setup]:
    async with gateway(engine, provider.app, **settings) as (app, url):
        made = Setup(app, url, provider, engine)
        yield made
        await made.openai.close()
        await made.anthropic.close()
        await made.http.aclose()


@pytest.fixture
async def house(make_engine: MakeEngine) -> AsyncIterator[Setup]:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(window=4_096)) as made:
        yield made


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def said(text: str) -> Any:
    return {"role": "assistant", "content": text}


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def long(number: int) -> str:
    """A question of some 250 tokens with a fact in it."""
    return (
        f"Question {number}: the code of door {number} is D{number:03d}-{number * 37 % 1000:03d}. "
        + "Filler words. " * 75
    )


# What fits is passed on


async def test_a_request_that_fits_is_passed_on_byte_for_byte(house: Setup) -> None:
    body = (
        b'{ "model":"gpt-4-0613",  "messages":[{"role":"user","content":"Hi \\u00e9 \\ud83d\\ude42"}],'
        b'"unknown_field":{"kept":[1,2.50,null]}, "seed":1e2 , "user" :"me"}'
    )
    answer = await house.http.post(
        "/v1/chat/completions", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    assert house.provider.bodies == [body]
    assert answer.headers["x-octavo-compressed"] == "false"
    assert answer.headers["x-octavo-tokens-before"] == answer.headers["x-octavo-tokens-after"]
    assert answer.headers["x-request-id"] == "req_fake"
    assert answer.headers["openai-version"] == "2020-10-01"


async def test_the_answer_comes_back_byte_for_byte(house: Setup) -> None:
    body = {"model": MODEL, "messages": [user("Hi")]}
    for stream in (False, True):
        through = await house.http.post("/v1/chat/completions", json={**body, "stream": stream})
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(house.provider.app)) as straight:
            direct = await straight.post("http://x/v1/chat/completions", json={**body, "stream": stream})
        assert through.content == direct.content
        assert through.headers["content-type"] == direct.headers["content-type"]


async def test_a_conversation_becomes_a_stored_branch(house: Setup) -> None:
    first, headers = await house.ask(user("What is a zeppelin?"))
    answer = first.choices[0].message.content
    _, again = await house.ask(user("What is a zeppelin?"), said(answer), user("And a blimp?"))
    assert headers["x-octavo-conversation"] == again["x-octavo-conversation"]
    assert [role for role, _ in await house.stored(again)] == ["user", "assistant", "user", "assistant"]
    conversation = await house.engine.store.conversation(again["x-octavo-conversation"])
    assert conversation.title == "What is a zeppelin?"
    assert conversation.messages == 4
    assert (await house.engine.settings_of(conversation.id))["model"] == MODEL


async def test_streams_are_read_in_passing(house: Setup) -> None:
    house.provider.say = lambda _: Reply("A rather long answer, in many pieces. " * 5)
    stream = await house.openai.chat.completions.create(
        model=MODEL, messages=[user("Go on.")], stream=True, stream_options={"include_usage": True}
    )
    text, usage = "", None
    async for chunk in stream:
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        usage = chunk.usage or usage
    assert usage is not None
    _, headers = await house.ask(user("Go on."), said(text), user("More."))
    branch = await house.stored(headers)
    assert branch[1] == ("assistant", text)
    assert len(branch) == 4
    conversation = headers["x-octavo-conversation"]
    tree = [node async for node in house.engine.store.tree(conversation)]
    assert len(tree) == 4
    (details,) = await house.engine.store.details([tree[1].id])
    assert details.input_tokens == usage.prompt_tokens


async def test_what_a_client_saw_in_full_is_stored_by_then(house: Setup) -> None:
    """The last event is held back until the answer is stored: no second copy of it ever appears."""
    history: list[Any] = []
    for number in range(12):
        history.append(user(f"Question {number}"))
        stream = await house.openai.chat.completions.create(model=MODEL, messages=history, stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        history.append(said("".join(pieces)))
    (conversation,) = await house.engine.store.conversations()
    assert conversation.messages == 24


async def test_tools_go_there_and_back(house: Setup) -> None:
    def say(body: dict[str, Any]) -> Reply:
        if body["messages"][-1]["role"] == "tool":
            return Reply("It rains in Oslo.")
        return Reply("", [("call_1", "weather", {"city": "Oslo"}), ("call_2", "weather", {"city": "Bergen"})])

    house.provider.say = say
    for stream in (False, True):
        question = user(f"Weather? {stream}")
        if stream:
            async with house.openai.chat.completions.stream(
                model=MODEL, messages=[question], tools=[WEATHER]
            ) as run:
                reply: Any = (await run.get_final_completion()).choices[0].message
        else:
            reply = (await house.ask(question, tools=[WEATHER]))[0].choices[0].message
        results = [{"role": "tool", "tool_call_id": call.id, "content": "Rain."} for call in reply.tool_calls]
        answer, headers = await house.ask(
            question, reply.model_dump(exclude_none=True), *results, tools=[WEATHER]
        )
        assert answer.choices[0].message.content == "It rains in Oslo."
        tree = [n async for n in house.engine.store.tree(headers["x-octavo-conversation"])]
        assert [n.message.role for n in tree] == ["user", "assistant", "tool", "tool", "assistant"]
        assert [c.name for c in tree[1].message.calls] == ["weather", "weather"]


async def test_images_are_stored_and_passed_on(house: Setup) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}
    question: Any = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    _, headers = await house.ask(question, model="gpt-4o")
    assert house.provider.last["messages"] == [question]
    tree = [n async for n in house.engine.store.tree(headers["x-octavo-conversation"])]
    assert [type(part).__name__ for part in tree[0].message.parts] == ["Text", "Image"]


async def test_several_answers_are_siblings(house: Setup) -> None:
    answer, headers = await house.ask(user("Two, please."), n=2)
    first, second = (choice.message.content for choice in answer.choices)
    tree = [node async for node in house.engine.store.tree(headers["x-octavo-conversation"])]
    assert [(node.depth, node.message.text) for node in tree] == [
        (1, "Two, please."),
        (2, first),
        (2, second),
    ]
    _, again = await house.ask(user("Two, please."), said(second), user("More."))
    assert (await house.stored(again))[1] == ("assistant", second)


async def test_a_client_that_hangs_up_ends_the_request_and_what_came_is_kept(house: Setup) -> None:
    house.provider.say = lambda _: Reply("word " * 400)
    house.provider.pause = 0.01
    async with house.http.stream(
        "POST", "/v1/chat/completions", json={"model": MODEL, "messages": [user("Talk.")], "stream": True}
    ) as response:
        conversation = response.headers["x-octavo-conversation"]
        async for piece in response.aiter_text():
            if "word" in piece:
                break

    async def kept() -> bool:
        found = await house.engine.store.conversations()
        tree = [node async for node in house.engine.store.tree(conversation)] if found else []
        return [node.status for node in tree] == ["complete", "aborted"]

    await until(kept)

    async def hung_up() -> bool:
        return house.provider.hung_up == 1

    await until(hung_up)


# Branches and snapshots


async def test_an_edited_or_regenerated_message_is_a_branch(house: Setup) -> None:
    first, headers = await house.ask(user("One?"))
    one = said(first.choices[0].message.content)
    await house.ask(user("One?"), one, user("Two?"))
    await house.ask(user("One?"), one, user("Two, edited?"))
    house.provider.say = lambda _: Reply("Another answer.")
    await house.ask(user("One?"), one, user("Two?"))
    tree = [node async for node in house.engine.store.tree(headers["x-octavo-conversation"])]
    depths = sorted(node.depth for node in tree)
    assert depths == [1, 2, 3, 3, 4, 4, 4]
    assert len(await house.engine.store.conversations()) == 1


async def test_two_clients_with_the_same_beginning_share_its_storage(house: Setup) -> None:
    first, headers = await house.ask(user("The same question?"))
    answer = said(first.choices[0].message.content)
    other = openai.AsyncOpenAI(base_url=f"{house.url}/v1", api_key="other", max_retries=0)
    for client, more in ((house.openai, "Left?"), (other, "Right?")):
        await client.chat.completions.create(
            model=MODEL, messages=[user("The same question?"), answer, user(more)]
        )
    await other.close()
    conversation = await house.engine.store.conversation(headers["x-octavo-conversation"])
    assert conversation.messages == 6


async def test_a_system_prompt_alone_is_not_a_conversation_in_common(house: Setup) -> None:
    prompt: Any = {"role": "system", "content": "You are terse."}
    ids = {
        (await house.ask(prompt, user(text)))[1]["x-octavo-conversation"] for text in ("One?", "Two?", "One?")
    }
    assert len(ids) == 2


async def grown(house: Setup, turns: int) -> tuple[list[Any], httpx2.Headers]:
    """A conversation of that many long turns."""
    history: list[Any] = [{"role": "system", "content": "You guard the doors."}]
    headers = httpx2.Headers()
    for number in range(turns):
        history.append(user(long(number)))
        answer, headers = await house.ask(*history)
        history.append(said(answer.choices[0].message.content))
    return history, headers


async def test_a_conversation_that_outgrows_the_window_goes_on(house: Setup) -> None:
    history, headers = await grown(house, 24)
    assert house.provider.refused == 0
    assert headers["x-octavo-compressed"] == "true"
    before, after = int(headers["x-octavo-tokens-before"]), int(headers["x-octavo-tokens-after"])
    assert before > 4_096 > after
    sent = house.provider.last
    assert sent["messages"][0] == history[0]
    assert "<conversation_summary" in str(sent["messages"][1]["content"])
    assert "D000-000" in str(sent["messages"][1]["content"])
    assert sent["messages"][-1] == history[-2]
    assert await house.engine.store.check() == ()


async def test_editing_an_early_message_picks_the_snapshot_that_is_true_there(house: Setup) -> None:
    history, headers = await grown(house, 24)
    store, conversation = house.engine.store, headers["x-octavo-conversation"]
    tip = (await store.conversation(conversation)).tip
    assert tip
    serving = (await store.context(tip)).snapshot
    assert serving is not None

    # An answer in the middle of what is retained is regenerated: the same snapshot serves.
    await house.ask(*history[:-1])
    assert (await store.context((await store.conversation(conversation)).tip or "")).snapshot == serving

    # A message under the snapshot is edited: it must not speak of what never was said on this branch.
    early = [*history[:11], user("Never mind the doors: " + long(99)), *history[12:]]
    _, edited = await house.ask(*early[:-1])
    assert edited["x-octavo-conversation"] == conversation
    now = await store.context((await store.conversation(conversation)).tip or "")
    branch = {node.id for node in await store.branch((await store.conversation(conversation)).tip or "")}
    assert now.snapshot is None or now.snapshot.anchor in branch
    assert "D005-185" not in json.dumps(house.provider.last)
    assert house.provider.refused == 0


async def test_a_request_that_fits_is_not_touched_although_there_is_a_snapshot(house: Setup) -> None:
    history, _ = await grown(house, 24)
    body = json.dumps({"model": MODEL, "messages": [*history[:5], user("Short.")]}).encode()
    await house.http.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert house.provider.bodies[-1] == body


async def test_a_window_that_is_smaller_than_thought_is_learned_from_the_providers_error(
    house: Setup,
) -> None:
    house.provider.window = 2_000
    _, headers = await grown(house, 8)
    assert house.provider.refused == 1
    assert headers["x-octavo-compressed"] == "true"
    assert (await house.engine.models.meter(MODEL)).card.window == 2_000


async def test_what_cannot_fit_is_refused_in_the_providers_own_words_with_our_numbers(house: Setup) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await house.ask(user("word " * 6_000))
    assert refused.value.code == "context_length_exceeded"
    body: Any = refused.value.body
    assert body["octavo"]["numbers"]["needed"] > body["octavo"]["numbers"]["limit"]
    assert "maximum context length" in refused.value.message
    assert house.provider.bodies == []
    await house.engine.models.learn_window(CLAUDE, 4_096)
    with pytest.raises(anthropic.BadRequestError) as too_long:
        await house.ask_claude(user("word " * 6_000))
    assert "prompt is too long" in str(too_long.value)


async def test_tool_results_that_are_huge_are_shown_by_head_and_tail(house: Setup) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    huge = "first line\n" + "data " * 20_000 + "\nlast line"
    answer, headers = await house.ask(
        user("Look."),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": huge},
        tools=[WEATHER],
    )
    assert answer.choices[0].message.content
    sent = house.provider.last["messages"][-1]["content"]
    assert sent.startswith("first line")
    assert sent.endswith("last line")
    assert len(sent) < 10_000
    assert [m["role"] for m in house.provider.last["messages"]] == ["user", "assistant", "tool"]
    stored = await house.engine.store.node(
        (
            await house.engine.store.branch(
                (await house.engine.store.conversation(headers["x-octavo-conversation"])).tip or ""
            )
        )[2].id
    )
    assert stored.message.results[0].text == huge


# Errors


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


# Options


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
    assert await house.engine.store.conversations() == ()


async def test_a_conversation_can_be_named(house: Setup) -> None:
    made = (await house.http.post("/api/v1/conversations", json={"title": "Mine"})).json()["id"]
    _, headers = await house.ask(user("Hi"), extra_headers={"x-octavo-conversation": made})
    assert headers["x-octavo-conversation"] == made
    _, again = await house.ask(user("Something else."), extra_body={"octavo": {"conversation": made}})
    assert again["x-octavo-conversation"] == made
    tree = [node async for node in house.engine.store.tree(made)]
    assert [node.depth for node in tree] == [1, 1, 2, 2]
    assert "octavo" not in house.provider.last


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


async def test_a_model_may_look_into_what_was_folded_away_if_that_is_asked_for(house: Setup) -> None:
    history, headers = await grown(house, 20)
    asked: list[str] = []

    def say(body: dict[str, Any]) -> Reply:
        last = body["messages"][-1]
        if last["role"] == "tool":
            asked.append(str(last["content"]))
            return Reply(f"I looked: {'D002-074' in str(last['content'])}")
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        assert "octavo_recall" in names
        return Reply("", [("r1", "octavo_recall", {"query": "door 2"})])

    house.provider.say = say
    question = user("What was the code of door 2? " + long(60))
    for stream in (False, True):
        body = {
            "model": MODEL,
            "messages": [*history, question],
            "stream": stream,
            "octavo": {"recall": True},
        }
        answer = await house.http.post("/v1/chat/completions", json=body)
        assert answer.status_code == 200
        assert answer.headers["x-octavo-recalls"] == "1"
        assert stream or "I looked: True" in answer.text
        assert "octavo_recall" not in answer.text
    assert "D002-074" in asked[0]
    tree = [n async for n in house.engine.store.tree(headers["x-octavo-conversation"])]
    assert not any("octavo_recall" in str(node.message) for node in tree)
    house.provider.say = lambda _: Reply("Fine.")
    plain = await house.ask(*history, user("Without."))
    assert "tools" not in house.provider.last
    assert plain[0].choices[0].message


# Keys


async def test_the_servers_key_is_used_and_never_the_octavo_key(house: Setup) -> None:
    await house.ask(user("Hi"))
    assert house.provider.headers[-1]["authorization"] == f"Bearer {KEY.reveal()}"
    await house.ask_claude(user("Hi"))
    assert house.provider.headers[-1]["x-api-key"] == KEY.reveal()
    assert house.provider.headers[-1]["anthropic-version"]


async def test_the_clients_own_key_is_passed_on_when_it_is_meant_for_the_provider(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    engine = await make_engine(provider=None)
    _, secret = await engine.store.keys.create("ann", owner="ann", scopes=["write"])
    async with setup(engine, Provider(), require_key=True) as house:
        with pytest.raises(openai.AuthenticationError):
            await house.ask(user("Hi"))
        await house.ask(user("Hi"), extra_headers={"authorization": f"Bearer {secret}"})
        assert house.provider.headers[-1]["authorization"] == f"Bearer {KEY.reveal()}"
        await house.ask(
            user("Hi"), extra_headers={"authorization": "Bearer sk-anns-own", "x-octavo-key": secret}
        )
        assert house.provider.headers[-1]["authorization"] == "Bearer sk-anns-own"
        await house.ask_claude(user("Hi"), extra_headers={"x-api-key": "sk-ant", "x-octavo-key": secret})
        assert house.provider.headers[-1]["x-api-key"] == "sk-ant"
    assert all(secret not in json.dumps(headers) for headers in house.provider.headers)
    assert all("x-octavo-key" not in headers for headers in house.provider.headers)
    assert b"sk-anns-own" not in contents(tmp_path)


async def test_on_this_machine_the_client_may_be_preferred(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(), upstream_keys="client") as house:
        await house.ask(user("Hi"), extra_headers={"authorization": "Bearer sk-mine"})
        assert house.provider.headers[-1]["authorization"] == "Bearer sk-mine"


async def test_without_any_key_the_answer_says_what_to_do(make_engine: MakeEngine) -> None:
    from octavo.server.app import create_app
    from tests.server.kit import client_of

    async with client_of(create_app(await make_engine(provider=None), ServerSettings())) as client:
        answer = await client.post("/v1/chat/completions", json={"model": "gpt-4o", "messages": [user("Hi")]})
        assert answer.status_code == 401
        assert "OPENAI_API_KEY" in answer.json()["error"]["octavo"]["hint"]
        for model in ("local/x", "compatible/x"):
            missing = await client.post(
                "/v1/chat/completions", json={"model": model, "messages": [user("Hi")]}
            )
            assert missing.status_code == 404
        wrong = await client.post("/v1/messages", json={"model": "gpt-4o", "messages": [user("Hi")]})
        assert wrong.status_code == 404


async def test_a_prefixed_model_is_called_by_its_own_name_upstream(house: Setup) -> None:
    await house.ask(user("Hi"), model="compatible/some/model")
    assert house.provider.last["model"] == "some/model"


# Anthropic


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
    tree = [n async for n in house.engine.store.tree(headers["x-octavo-conversation"])]
    assert [n.message.role for n in tree] == ["system", "user", "assistant", "assistant"]


async def test_thinking_that_a_client_drops_or_sends_back_makes_no_branch(house: Setup) -> None:
    house.provider.say = lambda _: Reply("Fine.", thinking="Deep thoughts.")
    first, headers = await house.ask_claude(user("One?"))
    kept = [block.model_dump(exclude_none=True) for block in first.content]
    await house.ask_claude(user("One?"), {"role": "assistant", "content": kept}, user("Two?"))
    assert house.provider.last["messages"][1]["content"][0]["type"] == "thinking"
    await house.ask_claude(user("One?"), {"role": "assistant", "content": "Fine."}, user("Two?"))
    tree = [n async for n in house.engine.store.tree(headers["x-octavo-conversation"])]
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
    assert len([n async for n in house.engine.store.tree(again["x-octavo-conversation"])]) == 4
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
    assert json.dumps(house.provider.last).count("cache_control") == 2
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
