"""The `recall` tool: the model searches covered messages, and the client never sees that."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from octavo.gateway.recall import NAME, NO_ROOM, NOT_THERE, ROUNDS
from tests.gateway.conftest import CLAUDE, CLAUDE_WEATHER, MODEL, WEATHER, Setup, grown, long, said, user
from tests.server.fake import Reply, count, last_text

pytestmark = pytest.mark.anyio

RECALL = {"octavo": {"recall": True}}


async def test_a_model_may_search_covered_messages_if_the_client_asks_for_that(house: Setup) -> None:
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
    tree = [n async for n in house.engine.store.tree.whole(headers["x-octavo-conversation"])]
    assert not any("octavo_recall" in str(node.message) for node in tree)
    house.provider.say = lambda _: Reply("Fine.")
    plain = await house.ask(*history, user("Without."))
    assert "tools" not in house.provider.last
    assert plain[0].choices[0].message


def looking(**arguments: Any) -> Reply:
    return Reply("", [("r1", NAME, arguments)])


def shown(body: dict[str, Any]) -> list[str]:
    """What the model was shown so far."""
    return [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]


async def test_a_model_that_only_looks_has_to_answer_in_the_end(house: Setup) -> None:
    """And never does a client see a call of a tool that it does not have."""
    history, _ = await grown(house, 18)
    house.provider.say = lambda body: (
        Reply("I give up.") if body.get("tool_choice") == "none" else looking(query="door")
    )
    answer, headers = await house.ask(*history, user(long(50)), extra_body=RECALL, tools=[WEATHER])
    assert answer.choices[0].message.content == "I give up."
    assert headers["x-octavo-recalls"] == str(ROUNDS)
    house.provider.say = lambda _: looking(query="door")
    with pytest.raises(openai.InternalServerError) as stubborn:
        await house.ask(*history, user(long(51)), extra_body=RECALL)
    assert stubborn.value.status_code == 503
    assert house.provider.refused == 0


async def test_what_is_shown_fits_however_much_is_asked_for(house: Setup) -> None:
    history, _ = await grown(house, 18)
    house.provider.say = lambda body: (
        Reply("Enough.")
        if len(shown(body)) > 30
        else Reply("", [(f"r{len(shown(body))}-{n}", NAME, {"query": "door"}) for n in range(12)])
    )
    answer, _ = await house.ask(*history, user(long(50)), extra_body=RECALL)
    assert answer.choices[0].message.content == "Enough."
    assert NO_ROOM in shown(house.provider.last)
    assert house.provider.refused == 0
    assert count(house.provider.last) < 4_096


async def test_a_message_is_read_by_its_id_if_it_is_on_this_branch(house: Setup) -> None:
    history, headers = await grown(house, 18)
    stranger, _ = await house.ask(user("Something else: the code is X-1."))
    assert stranger.choices
    others = [c.id for c in await house.engine.store.conversations.list()]
    foreign = [
        node.id
        for conversation in others
        if conversation != headers["x-octavo-conversation"]
        async for node in house.engine.store.tree.whole(conversation)
    ]
    first = (await house.tree(headers))[0]
    for wanted, expected in ((first.id, "D000-000"), (foreign[0], NOT_THERE), ("nonsense", NOT_THERE)):
        house.provider.say = lambda body, wanted=wanted: (  # type: ignore[misc]
            Reply("Seen.") if body["messages"][-1]["role"] == "tool" else looking(message=wanted)
        )
        await house.ask(*history, user(long(50)), extra_body=RECALL)
        assert expected in shown(house.provider.last)[-1]
        assert "X-1" not in shown(house.provider.last)[-1]


async def test_the_clients_own_tools_wait_and_are_called_again(house: Setup) -> None:
    history, _ = await grown(house, 18)

    def say(body: dict[str, Any]) -> Reply:
        if shown(body):
            return Reply("", [("w2", "weather", {"city": "Oslo"})])
        return Reply("", [("r1", NAME, {"query": "door"}), ("w1", "weather", {"city": "Oslo"})])

    house.provider.say = say
    answer, _ = await house.ask(*history, user(long(50)), extra_body=RECALL, tools=[WEATHER])
    calls = answer.choices[0].message.tool_calls
    assert [(call.id, call.function.name) for call in calls] == [("w2", "weather")]


async def test_an_overflow_while_looking_is_not_the_clients_concern(house: Setup) -> None:
    history, _ = await grown(house, 18)
    errors = [(400, {"error": {"message": "The prompt is too long.", "type": "invalid_request_error"}})]

    def say(body: dict[str, Any]) -> Reply:
        if shown(body):
            return Reply("Fine.")
        house.provider.fail += errors
        errors.clear()
        return looking(query="door")

    house.provider.say = say
    answer, headers = await house.ask(*history, user(long(50)), extra_body=RECALL)
    assert answer.choices[0].message.content == "Fine."
    assert headers["x-octavo-recalls"] == "1"
    assert errors == house.provider.fail == []
    assert (await house.engine.models.meter(MODEL)).card.window == 4_096


async def test_what_happened_is_told_in_a_stream_with_recall_too(house: Setup) -> None:
    history, _ = await grown(house, 18)
    house.provider.say = lambda body: Reply("Fine.") if shown(body) else looking(query="door")
    stream = await house.openai.chat.completions.create(
        model=MODEL,
        messages=[*history, user(long(50))],
        stream=True,
        extra_body={"octavo": {"recall": True, "usage": True}},
    )
    chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Fine."
    extra = chunks[-1].model_extra
    assert extra
    assert extra["octavo"]["compressed"] is True


async def test_claude_looks_too_with_its_thinking_sent_back(house: Setup) -> None:
    await house.engine.models.learn_window(CLAUDE, 4_096)
    history = [message for n in range(16) for message in (user(long(n)), said("Noted."))]

    def say(body: dict[str, Any]) -> Reply:
        if "tool_result" in json.dumps(body["messages"][-1]):
            assert body["messages"][-2]["content"][0]["type"] == "thinking"
            return Reply(f"Found: {'D002-074' in last_text(body)}")
        return Reply("", [("r1", NAME, {"query": "D002"})], thinking="Let me look.")

    house.provider.say = say
    answer, headers = await house.ask_claude(
        *history, user("The code of door 2? " + long(60)), extra_body=RECALL, tools=[CLAUDE_WEATHER]
    )
    assert [block.text for block in answer.content] == ["Found: True"]
    assert headers["x-octavo-recalls"] == "1"
    before = (await house.engine.models.meter(CLAUDE)).calibration
    assert before.fit == type(before)().fit


async def test_words_are_found_in_other_forms_and_without_their_accents(house: Setup) -> None:
    """By the ranking that recall uses: a full-text search wants every word, by its beginning."""
    fact = "Zoë bakes the marzipan cookies for Café Müller on Thursdays."
    rest = [message for n in range(18) for message in (user(long(n)), said("Noted."))]
    history = [user(fact), said("Noted."), *rest]
    for query in ("who was baking a cookie", "zoe", "CAFE MULLER", "thursday's marzipans"):
        house.provider.say = lambda body, query=query: (  # type: ignore[misc]
            Reply("Seen.") if shown(body) else looking(query=query)
        )
        await house.ask(*history, user(f"{query}: please look that up. {long(50)}"), extra_body=RECALL)
        (result,) = shown(house.provider.last)
        assert fact in result, query


async def test_what_names_nothing_by_itself_is_searched_in_the_texts(house: Setup) -> None:
    history, _ = await grown(house, 18)
    house.provider.say = lambda body: Reply("Seen.") if shown(body) else looking(query="is the")
    await house.ask(*history, user(long(50)), extra_body=RECALL)
    assert "the code of door" in shown(house.provider.last)[-1]


async def test_a_search_finds_nothing_of_other_branches(house: Setup) -> None:
    rest = [message for n in range(18) for message in (user(long(n)), said("Noted."))]
    house.provider.say = lambda body: Reply("Seen.") if shown(body) else looking(query="gate code")
    for code in ("K-11", "K-22"):
        turn = (user("Good morning."), said("Hello."), user(f"The gate code is {code}."), said("Noted."))
        await house.ask(*turn, *rest, user("And now?"), extra_body=RECALL)
        (result,) = shown(house.provider.last)
        assert f"The gate code is {code}." in result
        assert result.count("K-") == 1
