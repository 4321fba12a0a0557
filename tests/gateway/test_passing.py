"""What fits is passed on as it is, and its answer comes back as it is and is stored."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import MODEL, WEATHER, Setup, said, user
from tests.server.fake import Reply
from tests.server.kit import accounts, listening, until

pytestmark = pytest.mark.anyio


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
    conversation = await house.engine.store.conversations.get(again["x-octavo-conversation"])
    assert conversation.title == "What is a zeppelin?"
    assert conversation.messages == 4
    assert (await house.engine.settings.of(conversation.id))["model"] == MODEL


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
    tree = [node async for node in house.engine.store.tree.whole(conversation)]
    assert len(tree) == 4
    (details,) = await house.engine.store.tree.details([tree[1].id])
    assert details.input_tokens == usage.prompt_tokens


async def test_what_a_client_saw_in_full_is_stored_by_then(house: Setup) -> None:
    """The last event is held back until the answer is stored: no second copy of it ever appears."""
    history: list[Any] = []
    for number in range(12):
        history.append(user(f"Question {number}"))
        stream = await house.openai.chat.completions.create(model=MODEL, messages=history, stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        history.append(said("".join(pieces)))
    (conversation,) = await house.engine.store.conversations.list()
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
        tree = [n async for n in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
        assert [n.message.role for n in tree] == ["user", "assistant", "tool", "tool", "assistant"]
        assert [c.name for c in tree[1].message.calls] == ["weather", "weather"]


async def test_images_are_stored_and_passed_on(house: Setup) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}
    question: Any = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    _, headers = await house.ask(question, model="gpt-4o")
    assert house.provider.last["messages"] == [question]
    tree = [n async for n in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    assert [type(part).__name__ for part in tree[0].message.parts] == ["Text", "Image"]


async def test_several_answers_are_siblings(house: Setup) -> None:
    answer, headers = await house.ask(user("Two, please."), n=2)
    first, second = (choice.message.content for choice in answer.choices)
    tree = [node async for node in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    assert [(node.depth, node.message.text) for node in tree] == [
        (1, "Two, please."),
        (2, first),
        (2, second),
    ]
    _, again = await house.ask(user("Two, please."), said(second), user("More."))
    assert (await house.stored(again))[1] == ("assistant", second)


async def test_a_client_that_hangs_up_ends_the_request_and_what_came_is_kept(house: Setup) -> None:
    house.provider.say = lambda _: Reply("word " * 4_000)
    house.provider.pause = 0.01
    async with house.http.stream(
        "POST", "/v1/chat/completions", json={"model": MODEL, "messages": [user("Talk.")], "stream": True}
    ) as response:
        conversation = response.headers["x-octavo-conversation"]
        async for piece in response.aiter_text():
            if "word" in piece:
                break

    async def kept() -> bool:
        found = await house.engine.store.conversations.list()
        tree = [node async for node in house.engine.store.tree.whole(conversation)] if found else []
        return [node.status for node in tree] == ["complete", "aborted"]

    await until(kept)

    async def hung_up() -> bool:
        return house.provider.hung_up == 1

    await until(hung_up)


async def test_an_answer_that_nobody_waits_for_any_more_is_stored(house: Setup) -> None:
    """One that is not streamed is paid for whether or not the client stays: it is there when it comes back."""
    asked, free = asyncio.Event(), asyncio.Event()

    async def slowly(request: Request) -> Response:
        asked.set()
        await free.wait()
        return await house.provider.chat(request)

    async with listening(Starlette(routes=[Route("/v1/chat/completions", slowly, methods=["POST"])])) as url:
        app = create_app(house.engine, ServerSettings(providers=accounts(url)))
        async with listening(app) as ours, httpx2.AsyncClient(base_url=ours) as client:
            body = {"model": MODEL, "messages": [user("Take your time.")]}
            impatient = asyncio.create_task(client.post("/v1/chat/completions", json=body))
            await asked.wait()
            impatient.cancel()
            await asyncio.gather(impatient, return_exceptions=True)
            free.set()

            async def stored() -> bool:
                found = await house.engine.store.conversations.list()
                return [one.messages for one in found] == [2]

            await until(stored)
