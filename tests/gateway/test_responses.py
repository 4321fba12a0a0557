"""OpenAI's Responses through the gateway: its own library as the client, a provider that refuses what OpenAI does."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from octavo.engine.engine import Engine
from tests.gateway.conftest import MODEL, Setup, long, setup
from tests.gateway.strict_responses import Output, StrictResponses, last_user, text_of
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider
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
    said: list[str] = []

    async def listen() -> None:
        stream = await house.client.responses.create(model=MODEL, input="Tell me a tale.", stream=True)
        async for event in stream:
            if event.type == "response.output_text.delta":
                said.append(event.delta)

    with pytest.raises(openai.APIError, match=r"broke off|unreachable|closed"):
        await listen()
    seen = "".join(said)
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
        done = 0
        while True:
            answer = await self.request()
            self.history += items(answer)
            calls = [item for item in answer.output if item.type in ("function_call", "custom_tool_call")]
            if not calls:
                return answer
            done += 1
            for call in calls:
                self.history.append(
                    {
                        "type": f"{call.type}_output",
                        "call_id": call.call_id,
                        "output": f"Step {done}. Door {self.requests} is shut. " + "It is made of oak. " * 12,
                    }
                )


def worker(steps: int) -> Any:
    """A model that looks at so many doors in each turn, says something now and then, and answers."""

    def say(items: list[Any]) -> Output:
        turn = items[last_user(items) :]
        # Older outputs may have been compressed. The newest one tells how far the turn is.
        outputs = [item["output"] for item in turn if item.get("type", "").endswith("_output")]
        done = int(outputs[-1].split()[1].rstrip(".")) if outputs else 0
        if done >= steps:
            return Output(f"Done with: {text_of(turn[0])[:30]}")
        words = "I look at the next one." if done % 3 == 0 else ""
        if done % 4 == 3:
            return Output(words, custom=("peek", f"door {done}"))
        return Output(words, call=("look", json.dumps({"door": done})))

    return say


TURNS = int(os.environ.get("OCTAVO_TEST_TURNS", "10"))
"""Turns of the long run: 30 make over two hundred requests, and take some minutes."""


async def test_tool_loops_with_edits_and_other_answers_in_a_small_window(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    await engine.models.learn_window(MODEL, 8_192)
    provider = StrictResponses(say=worker(6), window=8_192)
    async with open_house(engine, provider) as house:
        agent = Agent(house, stream=True, store=False, include=ENCRYPTED, instructions="You guard the doors.")
        for turn in range(TURNS):
            await agent.turn(long(turn))
            if turn % 7 == 5:  # another answer to the same question
                cut = max(i for i, item in enumerate(agent.history) if item.get("role") == "user") + 1
                del agent.history[cut:]
                await agent.go_on()
            if turn % 9 == 8:  # the question before is asked in other words
                cut = max(i for i, item in enumerate(agent.history) if item.get("role") == "user")
                del agent.history[cut:]
                await agent.turn(f"In other words: {long(turn)}")
        assert agent.requests >= 7 * (TURNS + 2)
        assert agent.compressed > TURNS
        assert len(agent.conversations) == 1
        assert await house.conversations() == 1
        assert provider.refused == 0
        assert provider.last["truncation"] == "disabled"


async def test_one_turn_of_many_steps_keeps_its_thoughts(make_engine: MakeEngine) -> None:
    provider = StrictResponses(say=worker(30))
    async with open_house(await make_engine(provider=None), provider) as house:
        agent = Agent(house, store=False, include=ENCRYPTED)
        await agent.turn(long(1))
        assert agent.requests == 31
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


class Chained(Agent):
    """A client that sends what is new, and names the answer before."""

    previous: str | None = None

    async def request(self) -> Any:
        self.requests += 1
        named = {"previous_response_id": self.previous} if self.previous else {}
        options = {**self.options, **named}
        if self.stream and self.requests % 2:
            async with self.house.client.responses.stream(input=self.history, **options) as manager:
                answer: Any = await manager.get_final_response()
        else:
            answer, headers = await self.house.ask(self.history, **options)
            self.conversations.add(headers["x-octavo-conversation"])
            self.compressed += headers["x-octavo-compressed"] == "true"
        self.previous, self.history = answer.id, []
        return answer

    async def go_on(self) -> Any:
        done = 0
        while True:
            answer = await self.request()
            calls = [item for item in answer.output if item.type in ("function_call", "custom_tool_call")]
            if not calls:
                return answer
            done += 1
            self.history = [
                {
                    "type": f"{call.type}_output",
                    "call_id": call.call_id,
                    "output": f"Step {done}. Door {self.requests} is shut. " + "It is made of oak. " * 12,
                }
                for call in calls
            ]


async def test_an_answer_is_named_and_the_branch_goes_on(house: House) -> None:
    first, headers = await house.ask("The code is D-417.", instructions="Be brief.")
    second, again = await house.ask("What is the code?", previous_response_id=first.id)
    assert again["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert house.provider.last["previous_response_id"] == first.id
    assert [role for role, _ in await house.branch(again)] == ["user", "assistant", "user", "assistant"]
    # Another question after the first answer is another branch of the same tree.
    _, other = await house.ask("What is the door?", previous_response_id=first.id)
    assert other["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert len(await house.setup.tree(other)) == 6
    # The whole history, sent by a client of the other style, is the same branch.
    whole = [
        user("The code is D-417."),
        *items(first),
        user("What is the code?"),
        *items(second),
        user("Yes?"),
    ]
    _, last = await house.ask(whole)
    assert last["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert len(await house.setup.tree(last)) == 8


async def test_the_first_compressed_request_is_sent_whole_and_so_are_the_next(
    make_engine: MakeEngine,
) -> None:
    """Case 131."""
    provider = StrictResponses(say=worker(4))
    engine = await make_engine(provider=None)
    async with open_house(engine, provider) as house:
        agent = Chained(house, stream=True, truncation="auto", instructions="You guard the doors.")
        for turn in range(12):
            await agent.turn(long(turn))
            if turn == 6:
                fork = agent.previous
        assert agent.compressed > 5
        assert provider.refused == 0
        bodies = [json.loads(raw) for raw in provider.bodies]
        named = [bool(body.get("previous_response_id")) for body in bodies]
        assert named[0] is False
        assert named[1] is True
        first = named.index(False, 1)
        assert not any(named[first:])
        assert all(
            body["truncation"] == ("auto" if at < first else "disabled") for at, body in enumerate(bodies)
        )
        assert all(body["instructions"] == "You guard the doors." for body in bodies)
        # An earlier answer may be named again: that is a branch, also compressed.
        agent.previous = fork
        await agent.turn("Something else: which door is first?")
        assert len(agent.conversations) == 1
        assert await house.conversations() == 1


async def test_an_answer_is_found_after_a_restart_and_by_its_owner_only(make_engine: MakeEngine) -> None:
    engine, provider = await make_engine(provider=None), StrictResponses()
    keys = {
        name: (await engine.store.keys.create(name, owner=name, scopes=["write"]))[1]
        for name in ("ann", "bob")
    }
    async with open_house(engine, provider, require_key=True) as house:
        ann = house.client.with_options(api_key=keys["ann"])
        first = await ann.responses.create(model=MODEL, input="My secret is 12.")
    async with open_house(engine, provider, require_key=True) as house:
        ann, bob = (house.client.with_options(api_key=keys[name]) for name in ("ann", "bob"))
        await ann.responses.create(model=MODEL, input="What is it?", previous_response_id=first.id)
        asked = len(provider.bodies)
        for attempt in (
            bob.responses.create(model=MODEL, input="What is it?", previous_response_id=first.id),
            bob.responses.retrieve(first.id),
            bob.responses.delete(first.id),
            bob.responses.input_items.list(first.id),
        ):
            with pytest.raises(openai.NotFoundError) as refused:
                await attempt
            assert "12" not in str(refused.value)
        assert len(provider.bodies) == asked
        assert first.id in provider.responses


async def test_what_only_the_provider_knows_is_passed_on(house: House) -> None:
    """An id from before Octavo, a conversation, a request in the background."""
    direct = openai.AsyncOpenAI(
        base_url=f"{house.url}/v1", api_key="x", default_headers={"x-octavo-off": "1"}
    )
    old = await direct.responses.create(model=MODEL, input="Before Octavo.")
    await direct.close()
    assert await house.conversations() == 0
    raw = json.dumps({"model": MODEL, "input": "Go on.", "previous_response_id": old.id}).encode()
    answer = await house.setup.http.post(
        "/v1/responses", content=raw, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    assert house.provider.bodies[-1] == raw
    for more in ({"conversation": "conv_1"}, {"background": True}):
        await house.ask("Hello.", **more)
        assert more.items() <= house.provider.last.items()
    assert await house.conversations() == 0


async def test_an_answer_is_read_and_deleted_where_it_was_made(house: House) -> None:
    made, _ = await house.ask("Hello.")
    client, provider = house.client, house.provider
    assert (await client.responses.retrieve(made.id)).output_text == made.output_text
    listed = await client.responses.input_items.list(made.id, limit=5)
    assert listed.data == []
    assert provider.paths[-1] == f"GET /v1/responses/{made.id}/input_items?limit=5"
    assert (await client.responses.cancel(made.id)).status == "cancelled"
    await client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(made.id)
    with pytest.raises(openai.BadRequestError, match="not found"):
        await house.ask("And now?", previous_response_id=made.id)
    provider.torn.clear()


async def test_tokens_are_counted_by_the_provider_or_by_us(house: House) -> None:
    first, _ = await house.ask(long(1))
    counted = await house.client.responses.input_tokens.count(
        model=MODEL, input="More?", previous_response_id=first.id
    )
    assert house.provider.paths[-1] == "/v1/responses/input_tokens"
    house.provider.counts = False
    ours = await house.client.responses.input_tokens.count(
        model=MODEL, input="More?", previous_response_id=first.id
    )
    assert ours.object == "response.input_tokens"
    assert ours.input_tokens == pytest.approx(counted.input_tokens, rel=0.1)


async def test_a_compaction_of_ours_stands_for_the_branch(make_engine: MakeEngine) -> None:
    provider = StrictResponses(say=worker(2))
    async with open_house(await make_engine(provider=None), provider) as house:
        agent = Agent(house, store=False, include=ENCRYPTED, instructions="You guard the doors.")
        for turn in range(6):
            await agent.turn(long(turn))
        (conversation,) = agent.conversations
        before = len(provider.bodies)
        compacted = await house.client.responses.compact(model=MODEL, input=agent.history)
        assert len(provider.bodies) == before
        (item,) = compacted.output
        assert item.type == "compaction"
        assert compacted.usage.output_tokens < compacted.usage.input_tokens / 2
        agent.history = [user(long(5)), item.model_dump(exclude_unset=True)]
        await agent.turn("Which door was the third?")
        assert agent.conversations == {conversation}
        sent = provider.last["input"]
        assert not any(entry.get("type") == "compaction" for entry in sent)
        assert "<earlier" in text_of(sent[0])
        assert "D003-111" in json.dumps(sent)
        # The item is worth nothing to somebody else.
        key = (await house.engine.store.keys.create("bob", owner="bob", scopes=["write"]))[1]
        bob = house.client.with_options(api_key=key)
        with pytest.raises(openai.NotFoundError):
            await bob.responses.create(model=MODEL, input=[*agent.history, user("Tell me.")])


@pytest.mark.parametrize("stream", [False, True])
async def test_a_trigger_is_answered_with_a_compaction(house: House, stream: bool) -> None:
    history: list[Any] = []
    for turn in range(5):
        history.append(user(long(turn)))
        answer, _ = await house.ask(history)
        history += items(answer)
    asked = len(house.provider.bodies)
    trigger: Any = [*history, {"type": "compaction_trigger"}]
    if stream:
        made = None
        async for event in await house.client.responses.create(model=MODEL, input=trigger, stream=True):
            made = event.response if event.type == "response.completed" else made
        assert made is not None
        compacted = made
    else:
        compacted, _ = await house.ask(trigger)
    assert len(house.provider.bodies) == asked
    assert [item.type for item in compacted.output] == ["compaction"]
    _, one = await house.ask([*items(compacted), user("Go on.")])
    _, two = await house.ask("Go on, please.", previous_response_id=compacted.id)
    assert one["x-octavo-conversation"] == two["x-octavo-conversation"]
    assert await house.conversations() == 1
    assert "previous_response_id" not in house.provider.last
    assert "<earlier" in text_of(house.provider.last["input"][0])
    with pytest.raises(openai.NotFoundError, match="compaction"):
        await house.client.responses.retrieve(compacted.id)


async def test_openai_compacts_for_its_own_models(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.gateway.forward.OFFICIAL_HOSTS", ("127.0.0.1",))
    answer, _ = await house.ask([user("Hello.")])
    compacted = await house.client.responses.compact(model=MODEL, input=[user("Hello."), *items(answer)])
    assert house.provider.paths[-1] == "/v1/responses/compact"
    assert [item.type for item in compacted.output][-1] == "compaction"
    trigger: Any = [user("Hello."), {"type": "compaction_trigger"}]
    await house.ask(trigger)
    assert house.provider.last["input"] == trigger


async def test_a_compaction_of_the_provider_is_always_sent_and_never_summarised(house: House) -> None:
    made: Any = {"id": "cmp_9", "type": "compaction", "encrypted_content": "gAAAAsecret"}
    history: list[Any] = [user("The user's words are kept."), made]
    conversations = set()
    for turn in range(16):
        history.append(user(long(turn)))
        answer, headers = await house.ask(history, instructions="Be brief.")
        conversations.add(headers["x-octavo-conversation"])
        history += items(answer)
    assert headers["x-octavo-compressed"] == "true"
    sent = house.provider.last
    assert sent["instructions"] == "Be brief."
    assert sent["input"][:2] == [user("The user's words are kept."), made]
    assert "<earlier" in text_of(sent["input"][2])
    assert len(conversations) == 1
    # What an answer of the provider compacted itself lies before the item, and need not be sent again.
    await house.ask(
        [user("Old."), {"role": "assistant", "content": "Old, too."}, *history[1:], user("Go on.")]
    )
    assert house.provider.last["input"][0] == made


async def test_what_a_provider_runs_itself_is_one_answer(house: House) -> None:
    def say(_: list[Any]) -> Output:
        run: Any = {"type": "shell_call", "id": "sh_1", "call_id": "call_s", "action": {"commands": ["ls"]}}
        ended: Any = {"stdout": "a b", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
        ran: Any = {"type": "shell_call_output", "id": "sho_1", "call_id": "call_s", "output": [ended]}
        search: Any = {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "doors", "queries": None},
        }
        return Output("Two files.", items=[run, ran, search])

    house.provider.say = say
    answer, first = await house.ask([user("What is here?")])
    roles = [role for role, _ in await house.branch(first)]
    assert roles == ["user", "assistant", "tool", "assistant"]
    # A client's library writes nulls and another order of keys.
    echoed = [item.model_dump() for item in answer.output]
    _, second = await house.ask([user("What is here?"), *echoed, user("Thanks.")])
    assert second["x-octavo-conversation"] == first["x-octavo-conversation"]
    assert len(await house.setup.tree(second)) == 8
    _, third = await house.ask("Thank you.", previous_response_id=answer.id)
    assert third["x-octavo-conversation"] == first["x-octavo-conversation"]


async def test_bad_requests_are_named_by_the_fields_of_the_client(house: House) -> None:
    wrong: dict[str, Any] = {
        "input[0].role": {"input": [{"role": "robot", "content": "x"}]},
        "input": {"input": []},
        "instructions": {"input": "x", "instructions": 5},
        "max_output_tokens": {"input": "x", "max_output_tokens": 0},
        "previous_response_id": {"input": "x", "previous_response_id": 5},
    }
    for param, body in wrong.items():
        answer = await house.setup.http.post("/v1/responses", json={"model": MODEL, **body})
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == param
    assert house.provider.bodies == []


async def test_the_report_and_the_recall_tool_are_offered_here_too(house: House) -> None:
    seen: list[Any] = []

    def say(found: list[Any]) -> Output:
        asked = text_of(found[last_user(found)])
        if "Find the code" in asked and not any(i.get("type") == "function_call_output" for i in found):
            seen.append(found)
            return Output(call=("octavo_recall", json.dumps({"query": "code of door 2"})))
        return Output(f"Answer to: {asked[:30]}")

    house.provider.say = say
    history: list[Any] = []
    for turn in range(14):
        history.append(user(long(turn)))
        answer, _ = await house.ask(history)
        history += items(answer)
    history.append(user("Find the code of door 2."))
    answer, headers = await house.ask(history, extra_body={"octavo": {"recall": True, "usage": True}})
    assert headers["x-octavo-recalls"] == "1"
    assert answer.octavo["compressed"] is True
    sent = house.provider.last
    assert sent["tools"][-1]["name"] == "octavo_recall"
    assert "D002" in sent["input"][-1]["output"]
    kinds = [
        event.type
        async for event in await house.client.responses.create(
            model=MODEL, input="Hello.", stream=True, extra_body={"octavo": {"usage": True}}
        )
    ]
    assert kinds[-2:] == ["octavo.report", "response.completed"]


async def test_references_to_items_are_the_items(make_engine: MakeEngine) -> None:
    """A client that refers to what the provider stores: the same branch, and compressed it is spelled out."""
    provider = StrictResponses(say=worker(3))
    async with open_house(await make_engine(provider=None), provider) as house:
        agent = Referring(house)
        for turn in range(14):
            await agent.turn(long(turn))
        assert agent.compressed > 3
        assert provider.refused == 0
        assert len(agent.conversations) == 1
        assert not any(item.get("type") == "item_reference" for item in provider.last["input"])
        (conversation,) = await house.engine.store.conversations.list(archived=None)
        assert conversation.messages == len(await house.engine.store.tree.branch(conversation.tip or ""))
        key = (await house.engine.store.keys.create("bob", owner="bob", scopes=["write"]))[1]
        with pytest.raises(openai.NotFoundError):
            await house.client.with_options(api_key=key).responses.create(
                model=MODEL, input=[*agent.history, user("Tell me.")]
            )


class Referring(Agent):
    """A client that sends references in the place of what the model said."""

    async def go_on(self) -> Any:
        answer = await super().go_on()
        self.history = [
            {"type": "item_reference", "id": item["id"]} if item.get("id") else item for item in self.history
        ]
        return answer


@pytest.mark.parametrize("style", [Agent, Chained])
async def test_a_window_that_is_smaller_than_known_is_learned(
    make_engine: MakeEngine, style: type[Agent]
) -> None:
    provider = StrictResponses(say=worker(1), window=3_000)
    async with open_house(await make_engine(provider=None), provider) as house:
        agent = style(house)
        for turn in range(14):
            await agent.turn(long(turn))
        assert 0 < provider.refused < 4
        assert agent.compressed > 3


async def test_what_was_deleted_is_not_asked_of_the_provider_again(house: House) -> None:
    first, headers = await house.ask("The code is D-417.")
    second, _ = await house.ask("Thanks.", previous_response_id=first.id)
    question, *_ = await house.setup.tree(headers)
    await house.engine.store.messages.delete(question.id)
    await house.ask("What was it?", previous_response_id=second.id)
    assert "D-417" not in json.dumps(house.provider.last["input"][:1])
    assert "previous_response_id" not in house.provider.last


async def test_users_of_one_key_do_not_reach_each_others_answers_at_the_provider(
    make_engine: MakeEngine,
) -> None:
    """An id that was not made here may be anybody's."""
    engine = await make_engine(provider=None)
    _, secret = await engine.store.keys.create("ann", owner="ann", scopes=["write"])
    async with setup(engine, Provider(), require_key=True) as house:
        theirs = {"authorization": f"Bearer {secret}"}
        refused = await house.http.get("/v1/responses/resp_unknown", headers=theirs)
        assert refused.status_code == 403
        for named in ({"previous_response_id": "resp_unknown"}, {"conversation": "conv_1"}):
            body = {"model": "gpt-4o", "input": "Go on.", **named}
            answer = await house.http.post("/v1/responses", json=body, headers=theirs)
            assert answer.status_code == 403
            assert "x-octavo-key" in answer.json()["error"]["octavo"]["hint"]
        assert house.provider.bodies == []


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
async def test_ids_of_answers_go_with_their_conversation(
    database: str, postgres_url: str, tmp_path: Path
) -> None:
    where = postgres_url if database == "postgresql" else tmp_path / "octavo.db"
    async with (
        await Engine.open(where, model=MODEL, summariser="none") as engine,
        open_house(engine, StrictResponses()) as house,
    ):
        first, gone = await house.ask("Which door?")
        await house.ask("And now?", previous_response_id=first.id)
        _, kept = await house.ask("What is in the safe?")
        notes = house.engine.store.notes
        noted = {**await notes.starting("response:"), **await notes.starting("item:")}
        assert len(noted) > 6
        place = f"{house.url}/api/v1/conversations/{gone['x-octavo-conversation']}"
        assert (await house.setup.http.delete(f"{place}?undo=0")).is_success
        await house.engine.store.bin.remove_due()
        left = {**await notes.starting("response:"), **await notes.starting("item:")}
        assert left
        tree = {node.id for node in await house.setup.tree(kept)}
        assert {note["node"] for note in left.values()} <= tree  # type: ignore[index,call-overload]
