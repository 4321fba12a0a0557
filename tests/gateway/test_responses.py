"""OpenAI's Responses through the gateway: its own library as the client, and a provider that refuses what OpenAI does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai
import pytest

from octavo.engine.engine import Engine
from tests.gateway.conftest import MODEL, Setup, long
from tests.gateway.strict_responses import Output, StrictResponses, last_user, text_of
from tests.server.conftest import MakeEngine
from tests.server.kit import gateway

pytestmark = pytest.mark.anyio
LOOK: Any = {
    "type": "function",
    "name": "look",
    "description": "Looks at a door.",
    "parameters": {"type": "object", "properties": {"door": {"type": "integer"}}},
    "strict": False,
}
ENCRYPTED: Any = ["reasoning.encrypted_content"]


class House:
    """A gateway and a client that knows nothing of it."""

    def __init__(self, setup: Setup, provider: StrictResponses) -> None:
        self.setup, self.provider, self.engine, self.url = setup, provider, setup.engine, setup.url
        self.client = setup.openai

    async def ask(self, items: Any, **options: Any) -> tuple[Any, httpx2.Headers]:
        options = {"model": MODEL, **options}
        raw = await self.client.responses.with_raw_response.create(input=items, **options)
        return raw.parse(), raw.headers

    async def branch(self, headers: httpx2.Headers) -> list[tuple[str, str]]:
        return await self.setup.stored(headers)

    async def conversations(self) -> int:
        return len(await self.engine.store.conversations.list(archived=None))


@asynccontextmanager
async def open_house(engine: Engine, provider: StrictResponses, **settings: Any) -> AsyncIterator[House]:
    async with gateway(engine, provider.app, **settings) as (app, url):
        setup = Setup(app, url, provider, engine)  # type: ignore[arg-type]
        yield House(setup, provider)
        await setup.openai.close()
        await setup.anthropic.close()
        await setup.http.aclose()
    assert provider.torn == []


@pytest.fixture
async def house(make_engine: MakeEngine) -> AsyncIterator[House]:
    async with open_house(await make_engine(provider=None), StrictResponses()) as made:
        yield made


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def items(response: Any) -> list[Any]:
    """The items of an answer as a client sends them back."""
    return [item.model_dump(exclude_unset=True) for item in response.output]


async def test_a_request_that_fits_goes_on_as_it_came_and_is_stored(house: House) -> None:
    answer, headers = await house.ask("What is in the safe?", instructions="Be brief.", store=False)
    assert answer.output_text == "Answer to: What is in the safe?"
    sent = house.provider.last
    assert sent["input"] == "What is in the safe?"
    assert sent["instructions"] == "Be brief."
    assert await house.branch(headers) == [
        ("user", "What is in the safe?"),
        ("assistant", "Answer to: What is in the safe?"),
    ]


async def test_the_same_words_are_the_same_branch_in_chat_completions(house: House) -> None:
    answer, first = await house.ask([user("Hello, guard.")])
    history = [user("Hello, guard."), *items(answer), user("Who goes there?")]
    _, second = await house.ask(history)
    assert second["x-octavo-conversation"] == first["x-octavo-conversation"]
    said = [user("Hello, guard."), {"role": "assistant", "content": answer.output_text}, user("Nobody.")]
    with pytest.raises(
        openai.APIStatusError
    ):  # this provider has no Chat Completions, but the branch is found
        await house.setup.ask(*said)
    assert await house.conversations() == 1


async def test_a_stream_is_stored_before_its_last_event(house: House) -> None:
    kinds = []
    stream = await house.client.responses.create(model=MODEL, input="Count the doors.", stream=True)
    async for event in stream:
        kinds.append(event.type)
        if event.type == "response.completed":
            assert event.response.output_text == "Answer to: Count the doors."
            found = await house.engine.store.search.find("doors")
            assert {hit.role for hit in found} == {"user", "assistant"}
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    async with house.client.responses.stream(model=MODEL, input="And the windows?") as manager:
        final = await manager.get_final_response()
    assert final.output_text == "Answer to: And the windows?"


async def test_a_stream_that_breaks_off_is_an_error_and_its_words_are_kept(house: House) -> None:
    house.provider.cut = 8
    seen = ""
    with pytest.raises(openai.APIError):
        stream = await house.client.responses.create(model=MODEL, input="Tell me a tale.", stream=True)
        async for event in stream:
            seen += event.delta if event.type == "response.output_text.delta" else ""
    assert seen
    (conversation,) = await house.engine.store.conversations.list(archived=None)
    assert conversation.tip
    branch = await house.engine.store.tree.branch(conversation.tip)
    assert [(node.message.role, node.status) for node in branch] == [
        ("user", "complete"),
        ("assistant", "aborted"),
    ]
    assert branch[1].message.text
    assert seen.startswith(branch[1].message.text[:8])


class Agent:
    """A client with a tool loop that sends its whole history each time."""

    def __init__(self, house: House, *, stream: bool = False, **options: Any) -> None:
        self.house, self.history, self.stream = house, [], stream
        self.options = {"model": MODEL, "tools": [LOOK], "max_output_tokens": 500, **options}
        self.requests = 0
        self.conversations: set[str] = set()
        self.compressed = 0

    history: list[Any]

    async def request(self) -> Any:
        self.requests += 1
        if self.stream and self.requests % 2:
            async with self.house.client.responses.stream(input=self.history, **self.options) as manager:
                return await manager.get_final_response()
        answer, headers = await self.house.ask(self.history, **self.options)
        self.conversations.add(headers["x-octavo-conversation"])
        self.compressed += headers["x-octavo-compressed"] == "true"
        return answer

    async def turn(self, text: str) -> Any:
        self.history.append(user(text))
        return await self.go_on()

    async def go_on(self) -> Any:
        while True:
            answer = await self.request()
            self.history += items(answer)
            calls = [item for item in answer.output if item.type in ("function_call", "custom_tool_call")]
            if not calls:
                return answer
            for call in calls:
                self.history.append(
                    {
                        "type": f"{call.type}_output",
                        "call_id": call.call_id,
                        "output": f"Door {self.requests} is shut. " + "It is made of oak. " * 12,
                    }
                )


def worker(steps: int) -> Any:
    """A model that looks at so many doors in each turn, says something now and then, and answers."""

    def say(items: list[Any]) -> Output:
        turn = items[last_user(items) :]
        done = sum(item.get("type", "").endswith("_output") for item in turn)
        if done >= steps:
            return Output(f"Done with: {text_of(turn[0])[:30]}")
        words = "I look at the next one." if done % 3 == 0 else ""
        if done % 4 == 3:
            return Output(words, custom=("peek", f"door {done}"))
        return Output(words, call=("look", json.dumps({"door": done})))

    return say


async def test_two_hundred_requests_of_tool_loops_in_a_small_window(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    provider = StrictResponses(say=worker(6))
    async with open_house(engine, provider) as house:
        agent = Agent(house, stream=True, store=False, include=ENCRYPTED, instructions="You guard the doors.")
        for turn in range(30):
            await agent.turn(long(turn))
            if turn % 7 == 5:  # another answer to the same question
                cut = max(i for i, item in enumerate(agent.history) if item.get("role") == "user") + 1
                del agent.history[cut:]
                await agent.go_on()
            if turn % 9 == 8:  # the question before is asked in other words
                cut = max(i for i, item in enumerate(agent.history) if item.get("role") == "user")
                del agent.history[cut:]
                await agent.turn(f"In other words: {long(turn)}")
        assert agent.requests > 200
        assert agent.compressed > 50
        assert len(agent.conversations) == 1
        assert await house.conversations() == 1
        assert provider.refused == 0
        assert provider.last["truncation"] == "disabled"


async def test_one_turn_of_many_steps_keeps_its_thoughts(make_engine: MakeEngine) -> None:
    provider = StrictResponses(say=worker(60))
    async with open_house(await make_engine(provider=None), provider) as house:
        agent = Agent(house, store=False, include=ENCRYPTED)
        await agent.turn(long(1))
        assert agent.requests == 61
        assert agent.compressed
        assert provider.refused == 0
        sent = provider.last["input"]
        calls = [
            i for i, item in enumerate(sent) if item.get("type") in ("function_call", "custom_tool_call")
        ]
        assert calls
        made = {json.dumps(thought, sort_keys=True) for thought in provider.thoughts.values()}
        for i in calls:
            before = sent[i - 1] if sent[i - 1].get("type") == "reasoning" else sent[i - 2]
            assert json.dumps(before, sort_keys=True) in made
