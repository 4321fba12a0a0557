"""A request is a branch of a stored tree, and gets the snapshot that is true on that branch."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from octavo.engine.engine import Engine
from tests.gateway.conftest import CLAUDE, MODEL, WEATHER, Setup, grown, long, said, setup, user
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply

pytestmark = pytest.mark.anyio


async def test_an_edited_or_regenerated_message_is_a_branch(house: Setup) -> None:
    first, headers = await house.ask(user("One?"))
    one = said(first.choices[0].message.content)
    await house.ask(user("One?"), one, user("Two?"))
    await house.ask(user("One?"), one, user("Two, edited?"))
    house.provider.say = lambda _: Reply("Another answer.")
    await house.ask(user("One?"), one, user("Two?"))
    tree = [node async for node in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    depths = sorted(node.depth for node in tree)
    assert depths == [1, 2, 3, 3, 4, 4, 4]
    assert len(await house.engine.store.conversations.list()) == 1


async def test_two_clients_with_the_same_beginning_share_its_storage(house: Setup) -> None:
    first, headers = await house.ask(user("The same question?"))
    answer = said(first.choices[0].message.content)
    other = openai.AsyncOpenAI(base_url=f"{house.url}/v1", api_key="other", max_retries=0)
    for client, more in ((house.openai, "Left?"), (other, "Right?")):
        await client.chat.completions.create(
            model=MODEL, messages=[user("The same question?"), answer, user(more)]
        )
    await other.close()
    conversation = await house.engine.store.conversations.get(headers["x-octavo-conversation"])
    assert conversation.messages == 6


async def test_a_system_prompt_alone_is_not_a_conversation_in_common(house: Setup) -> None:
    prompt: Any = {"role": "system", "content": "You are terse."}
    ids = {
        (await house.ask(prompt, user(text)))[1]["x-octavo-conversation"] for text in ("One?", "Two?", "One?")
    }
    assert len(ids) == 2


async def test_a_conversation_that_outgrows_the_window_goes_on(house: Setup) -> None:
    history, headers = await grown(house, 24)
    assert house.provider.refused == 0
    assert headers["x-octavo-compressed"] == "true"
    before, after = int(headers["x-octavo-tokens-before"]), int(headers["x-octavo-tokens-after"])
    assert before > 4_096 > after
    sent = house.provider.last
    assert sent["messages"][0] == history[0]
    assert "D000-000" in str(sent["messages"][1]["content"])
    assert len(sent["messages"]) < len(history) // 2
    assert sent["messages"][-1]["content"].endswith(history[-2]["content"])
    assert await house.engine.store.check() == ()


async def test_editing_an_early_message_picks_the_snapshot_that_is_true_there(house: Setup) -> None:
    history, headers = await grown(house, 24)
    store, conversation = house.engine.store, headers["x-octavo-conversation"]
    await (await house.engine.chat(conversation)).wait_until_idle()
    tip = (await store.conversations.get(conversation)).tip
    assert tip
    serving = (await store.snapshots.context(tip)).snapshot
    assert serving is not None

    # An answer in the middle of what is retained is regenerated: the same snapshot serves.
    await house.ask(*history[:-1])
    assert (
        await store.snapshots.context((await store.conversations.get(conversation)).tip or "")
    ).snapshot == serving

    # A message under the snapshot is edited: it must not speak of what never was said on this branch.
    early = [*history[:11], user("Never mind the doors: " + long(99)), *history[12:]]
    _, edited = await house.ask(*early[:-1])
    assert edited["x-octavo-conversation"] == conversation
    now = await store.snapshots.context((await store.conversations.get(conversation)).tip or "")
    branch = {
        node.id for node in await store.tree.branch((await store.conversations.get(conversation)).tip or "")
    }
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
    stored = await house.engine.store.tree.node(
        (
            await house.engine.store.tree.branch(
                (await house.engine.store.conversations.get(headers["x-octavo-conversation"])).tip or ""
            )
        )[2].id
    )
    assert stored.message.results[0].text == huge


# What does not make a branch


async def test_a_system_prompt_that_changes_is_sent_as_it_is_now_and_loses_no_history(house: Setup) -> None:
    """Clients put the time of day into it: the conversation and its snapshots stay the same."""
    history, headers = await grown(house, 20)
    before = await house.engine.store.snapshots.of_conversation(headers["x-octavo-conversation"])
    for minute in range(3):
        clock: Any = {"role": "system", "content": f"You guard the doors. It is 10:0{minute}."}
        answer, now = await house.ask(clock, *history[1:], user(f"Minute {minute}?"))
        assert now["x-octavo-conversation"] == headers["x-octavo-conversation"]
        assert now["x-octavo-compressed"] == "true"
        assert house.provider.last["messages"][0] == clock
        history += [user(f"Minute {minute}?"), said(answer.choices[0].message.content)]
    tree = await house.tree(headers)
    assert len(tree) == len(history) - 1
    after = await house.engine.store.snapshots.of_conversation(headers["x-octavo-conversation"])
    assert len(after) <= len(before) + 1
    settings = await house.engine.settings.of(headers["x-octavo-conversation"])
    assert settings["system"] == "You guard the doors."


async def test_tools_that_change_make_no_branch(house: Setup) -> None:
    first, headers = await house.ask(user("One?"), tools=[WEATHER])
    answer = said(first.choices[0].message.content)
    for tools in ({}, {"tools": [{**WEATHER, "function": {**WEATHER["function"], "name": "forecast"}}]}):
        _, again = await house.ask(user("One?"), answer, user("Two?"), **tools)
        assert again["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert [node.depth for node in await house.tree(headers)] == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("sent_back", ['{"city": "Oslo", "days": 3}', '{\n "city":"Oslo",\n "days":3\n}'])
async def test_arguments_that_a_library_wrote_again_make_no_branch(house: Setup, sent_back: str) -> None:
    house.provider.say = lambda body: (
        Reply("Rain.")
        if body["messages"][-1]["role"] == "tool"
        else Reply("", [("c1", "weather", {"city": "Oslo", "days": 3})])
    )
    _, headers = await house.ask(user("Weather?"), tools=[WEATHER])
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": sent_back}}
    back = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "Wet"}
    await house.ask(user("Weather?"), back, result, tools=[WEATHER])
    assert [node.message.role for node in await house.tree(headers)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert house.provider.last["messages"][1] == back


async def test_the_same_question_twice_at_the_same_time_is_stored_once(house: Setup) -> None:
    answers = await asyncio.gather(*(house.ask(user("Who is there?")) for _ in range(6)))
    (conversation,) = {headers["x-octavo-conversation"] for _, headers in answers}
    tree = [node async for node in house.engine.store.tree.whole(conversation)]
    assert [node.depth for node in tree] == [1, 2, 2, 2, 2, 2, 2]
    assert await house.engine.store.check() == ()


async def test_two_replicas_that_are_asked_the_same_at_the_same_time_store_it_once(postgres_url: str) -> None:
    engines = [await Engine.open(postgres_url, model=MODEL, summariser="none") for _ in range(2)]
    provider = Provider()
    async with setup(engines[0], provider) as one, setup(engines[1], provider) as other:
        asked = [house.ask(user("Who is there?")) for house in (one, other) for _ in range(6)]
        (conversation,) = {headers["x-octavo-conversation"] for _, headers in await asyncio.gather(*asked)}
        tree = [node async for node in engines[0].store.tree.whole(conversation)]
        assert sorted(node.depth for node in tree) == [1] + [2] * 12
        assert await engines[0].store.check() == ()
    for engine in engines:
        await engine.close()


async def test_the_other_interface_goes_on_with_the_same_conversation(house: Setup) -> None:
    first, headers = await house.ask(user("Who is there?"))
    answer = said(first.choices[0].message.content)
    _, again = await house.ask_claude(user("Who is there?"), answer, user("Who else?"), system="Be kind.")
    assert again["x-octavo-conversation"] == headers["x-octavo-conversation"]
    assert [node.depth for node in await house.tree(headers)] == [1, 2, 3, 4]


# What was deleted


async def test_a_deleted_conversation_begins_again(house: Setup) -> None:
    history, headers = await grown(house, 3)
    await house.http.delete(f"/api/v1/conversations/{headers['x-octavo-conversation']}")
    _, again = await house.ask(*history, user("Still there?"))
    tree = await house.tree(again)
    assert [node.depth for node in tree] == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_a_conversation_in_the_bin_is_not_gone_on_with(house: Setup) -> None:
    """Who still has it in its history says it anew, in a conversation of its own; what was deleted stays deleted."""
    history, headers = await grown(house, 3)
    gone = headers["x-octavo-conversation"]
    await house.http.delete(f"/api/v1/conversations/{gone}", params={"undo": 60})
    answer, again = await house.ask(*history, user("Still there?"))
    assert again["x-octavo-conversation"] != gone
    assert [node.depth for node in await house.tree(again)] == [1, 2, 3, 4, 5, 6, 7, 8]
    more = said(answer.choices[0].message.content)
    _, later = await house.ask(*history, user("Still there?"), more, user("Good."))
    assert later["x-octavo-conversation"] == again["x-octavo-conversation"]
    listed = [one.id for one in await house.engine.store.conversations.list(archived=None)]
    assert listed == [again["x-octavo-conversation"]]
    back = (await house.http.post(f"/api/v1/conversations/{gone}/undelete")).json()
    assert back["messages"] == 6


async def test_what_another_replica_deleted_is_stored_anew_and_compressed_anew(
    make_engine: MakeEngine,
) -> None:
    """This one remembers where the conversation was; what it builds on must be there all the same."""
    engine, other = await make_engine(provider=None), await make_engine(provider=None)
    async with setup(engine, Provider(window=4_096)) as house:
        history, headers = await grown(house, 20)
        await engine.wait_until_idle(headers["x-octavo-conversation"])
        await other.store.bin.delete(headers["x-octavo-conversation"])
        answer, again = await house.ask(*history[:-1])
        assert answer.choices[0].message.content
        assert again["x-octavo-compressed"] == "true"
        assert len(await house.tree(again)) == len(history) - 1
        assert await engine.store.check() == ()


async def test_a_deleted_message_that_a_client_sends_again_is_a_branch_and_its_snapshots_are_gone(
    house: Setup,
) -> None:
    history, headers = await grown(house, 16)
    conversation = headers["x-octavo-conversation"]
    await house.engine.wait_until_idle(conversation)
    gone = (await house.tree(headers))[4]
    deleted = await house.http.delete(f"/api/v1/conversations/{conversation}/messages/{gone.id}")
    assert deleted.status_code < 300
    _, again = await house.ask(*history, user("Go on."))
    assert again["x-octavo-conversation"] == conversation
    tip = (await house.engine.store.conversations.get(conversation)).tip
    branch = await house.engine.store.tree.branch(tip or "")
    assert [node.message.text for node in branch[:-1]] == [
        m["content"] for m in [*history[1:], user("Go on.")]
    ]
    assert gone.id not in {node.id for node in branch}
    assert await house.engine.store.check() == ()


async def test_forks_of_an_unseen_history_that_come_at_once_store_it_once(house: Setup) -> None:
    history = [said(f"Answer {i}.") if i % 2 else user(f"Question {i}?") for i in range(40)]
    asked = [house.ask(*history, user(f"Fork {i}?"), model="gpt-4o") for i in range(12)]
    found = await asyncio.gather(*asked)
    assert len({headers["x-octavo-conversation"] for _, headers in found}) == 1
    tree = await house.tree(found[0][1])
    assert len(tree) == 40 + 12 * 2
    assert len({node.parent for node in tree if node.depth == 41}) == 1


async def test_a_client_that_rewrites_what_stands_before_its_question_keeps_its_snapshot(
    house: Setup,
) -> None:
    """As aider does with the files it shows: a snapshot that covered them would serve one request."""
    history: list[Any] = []
    headers = httpx2.Headers()
    for number in range(30):
        files = f"The files, version {number}:\n" + "a line of code\n" * 250
        question = user(f"Question {number}: why? " + "Filler words. " * 40)
        answer, headers = await house.ask(*history, user(files), said("Ok."), question)
        history += [question, said(answer.choices[0].message.content)]
        sent = json.dumps(house.provider.last["messages"])
        assert json.dumps(files)[1:-1] in sent
        assert f"version {number - 1}:" not in sent
    assert headers["x-octavo-compressed"] == "true"
    made = await house.engine.store.snapshots.of_conversation(headers["x-octavo-conversation"])
    assert 1 < len(made) < 10
