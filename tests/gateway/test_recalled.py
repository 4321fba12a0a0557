"""Recall in the gateway: what a client asks for comes back from its own covered messages, before its question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from octavo.http.responses import to_json
from octavo.store.ids import new_id
from tests.gateway.conftest import CLAUDE, CLAUDE_WEATHER, MODEL, WEATHER, Setup, long, said, user
from tests.server.fake import Reply

pytestmark = pytest.mark.anyio

BERTH = "The Aurelia always lies at berth 47, because her draught is 9 metres."
QUESTION = "Where does the Aurelia lie?"
MARK = {"type": "ephemeral"}


def brought(fact: str = BERTH, turns: int = 18) -> list[Any]:
    """A history that does not fit, with a fact near its beginning."""
    rest = [message for number in range(turns) for message in (user(long(number)), said("Noted."))]
    return [user("Good morning."), said("Good morning."), user(fact), said("Noted."), *rest]


async def mute(house: Setup, headers: Mapping[str, str]) -> None:
    """Have the snapshot say nothing, so that only recall can tell what was said."""
    chat = await house.engine.chat(headers["x-octavo-conversation"])
    serving = await chat.snapshots.serving()
    assert serving is not None
    silent = replace(serving, id=new_id(), kind="edited", summary="They talked.", extracts=())
    await house.engine.store.snapshots.add(chat.id, silent)


async def compressed(house: Setup, fact: str = BERTH, **options: Any) -> list[Any]:
    """Send a history that is compressed; gives the history that the client has then."""
    history = [*brought(fact), user("And now?")]
    answer, headers = await house.ask(*history, **options)
    assert headers["x-octavo-compressed"] == "true"
    await mute(house, headers)
    return [*history, said(answer.choices[0].message.content)]


async def compressed_by_claude(house: Setup) -> list[Any]:
    await house.engine.models.learn_window(CLAUDE, 4_096)
    history = [*brought(), user("And now?")]
    answer, headers = await house.ask_claude(*history)
    assert headers["x-octavo-compressed"] == "true"
    await mute(house, headers)
    return [*history, said(answer.content[0].text)]


def sent(house: Setup) -> list[Any]:
    messages: list[Any] = house.provider.last["messages"]
    return messages


def repeated(house: Setup, before: list[Any]) -> bool:
    """Tell whether the last request begins with the bytes of messages that were sent before."""
    return to_json(before)[:-1] in house.provider.bodies[-1] and sent(house)[: len(before)] == before


def told(headers: httpx2.Headers) -> int:
    return int(headers.get("x-octavo-recalled", "0"))


async def test_what_a_client_asks_for_stands_before_its_question_and_is_repeated(house: Setup) -> None:
    history = await compressed(house)
    answer, headers = await house.ask(*history, user(QUESTION))
    first = sent(house)
    assert BERTH in first[-1]["content"]
    assert first[-1]["content"].endswith(f"</recalled>\n\n{QUESTION}")
    assert 1 <= told(headers) <= first[-1]["content"].count("\n#")
    history += [user(QUESTION), said(answer.choices[0].message.content)]
    _, headers = await house.ask(*history, user("Thanks!"))
    assert repeated(house, first)
    assert sent(house)[-1] == user("Thanks!")
    assert told(headers) == 0
    assert await house.stored(headers) == [(m["role"], m["content"]) for m in [*history, user("Thanks!")]] + [
        ("assistant", "Answer to: Thanks!")
    ]


async def test_the_client_is_told_in_a_stream_and_in_the_body_too(house: Setup) -> None:
    history = await compressed(house)
    body = {"model": MODEL, "messages": [*history, user(QUESTION)], "stream": True}
    streamed = await house.http.post("/v1/chat/completions", json=body)
    assert told(streamed.headers) > 0
    first = sent(house)
    answer, headers = await house.ask(*history, user(QUESTION), extra_body={"octavo": {"usage": True}})
    assert answer.model_extra["octavo"]["recalled"] == told(headers) == told(streamed.headers)
    assert sent(house) == first
    whole, _ = await house.ask(user("Hi"), extra_body={"octavo": {"usage": True}})
    assert whole.model_extra["octavo"]["recalled"] == 0


async def test_lists_of_parts_and_pictures_stay_as_the_client_wrote_them(house: Setup) -> None:
    await house.engine.models.learn_window("gpt-4o", 4_096)
    history = await compressed(house, model="gpt-4o")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}
    question: Any = {
        "role": "user",
        "name": "ada",
        "content": [picture, {"type": "text", "text": QUESTION, "own": 1}],
    }
    await house.ask(*history, question, model="gpt-4o")
    last = sent(house)[-1]
    text = last["content"][1].pop("text")
    assert last == {**question, "content": [picture, {"type": "text", "own": 1}]}
    assert BERTH in text
    assert text.endswith(f"\n\n{QUESTION}")


async def test_claude_gets_the_passages_with_the_clients_cache_markers(house: Setup) -> None:
    history = await compressed_by_claude(house)
    question: Any = {
        "role": "user",
        "content": [{"type": "text", "text": QUESTION, "cache_control": MARK}],
    }
    answer, headers = await house.ask_claude(*history, question)
    first = sent(house)
    (block,) = first[-1]["content"]
    assert block["cache_control"] == MARK
    assert BERTH in block["text"]
    assert block["text"].endswith(f"</recalled>\n\n{QUESTION}")
    assert told(headers) > 0
    plain: Any = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
    marked: Any = {"role": "user", "content": [{"type": "text", "text": "Thanks!", "cache_control": MARK}]}
    _, headers = await house.ask_claude(*history, plain, said(answer.content[0].text), marked)
    # The marker has moved, as Claude's clients move it, and one is at the snapshot; nothing else has changed.
    assert json.dumps(house.provider.last).count("cache_control") == 2
    del block["cache_control"]
    assert repeated(house, first)
    assert sent(house)[-1] == marked
    assert told(headers) == 0


async def test_steps_of_a_tool_repeat_what_was_recalled_and_recall_nothing(house: Setup) -> None:
    history = [*await compressed(house), user(QUESTION)]
    house.provider.say = lambda _: Reply("", [("c1", "weather", {"city": "the Aurelia"})])
    answer, headers = await house.ask(*history, tools=[WEATHER])
    assert told(headers) > 0
    first = sent(house)
    call = answer.choices[0].message.model_dump(exclude_none=True)
    result = {"role": "tool", "tool_call_id": "c1", "content": "The Aurelia is wet."}
    house.provider.say = lambda _: Reply("Berth 47.")
    _, headers = await house.ask(*history, call, result, tools=[WEATHER])
    assert told(headers) == 0
    assert repeated(house, first)
    assert sent(house)[-1] == result


async def test_steps_of_claudes_tools_recall_nothing(house: Setup) -> None:
    history = [*await compressed_by_claude(house), user(QUESTION)]
    house.provider.say = lambda _: Reply("", [("t1", "weather", {"city": "the Aurelia"})])
    answer, headers = await house.ask_claude(*history, tools=[CLAUDE_WEATHER])
    assert told(headers) > 0
    first = sent(house)
    call = {"role": "assistant", "content": [block.model_dump() for block in answer.content]}
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": "The Aurelia is wet."}]
    house.provider.say = lambda _: Reply("Berth 47.")
    _, headers = await house.ask_claude(
        *history, call, {"role": "user", "content": content}, tools=[CLAUDE_WEATHER]
    )
    assert told(headers) == 0
    assert repeated(house, first)
    assert sent(house)[-1]["content"] == content


async def test_a_preset_and_the_setting_turn_it_off(house: Setup) -> None:
    history = [*await compressed(house), user(QUESTION)]
    _, headers = await house.ask(*history, extra_headers={"x-octavo-policy": "onyx"})
    assert (told(headers), sent(house)[-1]) == (0, user(QUESTION))
    conversation = headers["x-octavo-conversation"]
    for value, expected in (("off", False), ("auto", True), ("off", False)):
        changed = await house.http.patch(
            f"/api/v1/conversations/{conversation}/settings", json={"recall": value}
        )
        assert changed.status_code == 200
        _, headers = await house.ask(*history)
        assert (told(headers) > 0) is expected
        assert (sent(house)[-1] != user(QUESTION)) is expected
    _, headers = await house.ask(*history, extra_body={"octavo": {"policy": "onyx"}})
    assert (told(headers), sent(house)[-1]) == (0, user(QUESTION))


async def test_a_fork_of_the_history_gets_its_own(house: Setup) -> None:
    """The client edits a covered message: what it said there before is never sent on the new branch."""
    other = "The Aurelia always lies at berth 88, because her draught is 3 metres."
    for fact in (BERTH, other):
        history = await compressed(house, fact)
        _, headers = await house.ask(*history, user(QUESTION))
        assert told(headers) > 0
        assert fact in sent(house)[-1]["content"]
        assert ({BERTH, other} - {fact}).pop() not in house.provider.bodies[-1].decode()
    assert len(await house.engine.store.conversations.list()) == 1


async def test_a_fork_below_the_snapshot_shares_it_and_asks_for_itself(house: Setup) -> None:
    history = await compressed(house)
    await house.ask(*history, user(QUESTION))
    first = sent(house)
    _, headers = await house.ask(*history, user("What is the draught of the Aurelia?"))
    assert BERTH in sent(house)[-1]["content"]
    assert sent(house)[:-1] == first[:-1]
    assert len([n for n in await house.tree(headers) if n.depth == len(history) + 1]) == 2
