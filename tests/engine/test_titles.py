"""Titles by the model: after the first answer, in the background, and never in the place of one that a person gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from octavo.core.messages import Image, Message, Text, assistant
from octavo.core.reply import Request
from octavo.core.title import ASKED
from octavo.engine.chat import Chat
from octavo.engine.costs import costs
from octavo.engine.engine import Engine
from octavo.errors import ProviderError, UsageError
from octavo.protocols import Provider
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MODEL, MakeEngine

pytestmark = pytest.mark.anyio

QUESTION = "How do I bake sourdough bread at home?"
Say = Callable[[Request], str | BaseException]


def asks_for_title(request: Request) -> bool:
    return request.messages[-1].text.endswith(ASKED)


def saying(title: str | BaseException) -> Say:
    return lambda request: title if asks_for_title(request) else "With flour, water and a starter."


async def say(chat: Chat, text: str = QUESTION) -> None:
    async for _ in chat.turn(text):
        pass
    await chat.wait_until_idle()


def requests(engine: Engine) -> list[Request]:
    provider = engine.models.provider("gpt-4o")
    assert isinstance(provider, ScriptedProvider)
    return provider.requests


async def test_a_provisional_title_is_replaced_once(make: MakeEngine) -> None:
    engine = await make(saying('"Sourdough Bread at Home."'))
    chat = await engine.create(QUESTION, provisional=True)
    await say(chat)
    assert (await chat.info()).title == "Sourdough Bread at Home"
    asked = [request for request in requests(engine) if asks_for_title(request)]
    assert [request.model for request in asked] == ["gpt-4o"]
    await say(chat, "And with rye?")
    assert len([request for request in requests(engine) if asks_for_title(request)]) == 1


async def test_it_is_asked_for_with_the_first_question_and_its_answer(make: MakeEngine) -> None:
    engine = await make(saying("Sourdough bread"))
    chat = await engine.create(QUESTION, provisional=True)
    await chat.add(assistant("Welcome to the bakery."))
    await say(chat)
    (asked,) = [request for request in requests(engine) if asks_for_title(request)]
    shown = f"User: {QUESTION}\n\nAssistant: Welcome to the bakery."
    assert asked.messages[0].text.startswith(shown)


@pytest.mark.parametrize("silent", ["user", "assistant"])
async def test_where_nothing_was_said_there_is_nothing_to_name(make: MakeEngine, silent: str) -> None:
    picture = Image(source="https://example.org/bread.png")
    said = Message(role="user", parts=(picture,) if silent == "user" else (Text(text=QUESTION),))
    engine = await make(saying("Sourdough bread"))
    chat = await engine.create("a picture", provisional=True)
    await chat.add(said)
    await chat.add(assistant("Nice." if silent == "user" else " "))
    engine.title_in_background(await chat._state())
    await chat.wait_until_idle()
    assert requests(engine) == []


async def test_where_the_summariser_cannot_be_had_the_model_that_answers_writes_it(make: MakeEngine) -> None:
    engine = await make(saying("Sourdough bread"))
    known = engine.models.open

    def without_key(model: str) -> tuple[Provider, str]:
        if model != MODEL:
            raise UsageError("no key")
        return known(model)

    engine.models.open = without_key
    chat = await engine.create(QUESTION, provisional=True, summariser="claude-haiku-4-5")
    await say(chat)
    assert (await chat.info()).title == "Sourdough bread"


async def test_the_summariser_writes_it_if_there_is_one(make: MakeEngine) -> None:
    engine = await make(saying("Sourdough bread"), summariser="gpt-4o-mini")
    chat = await engine.create(QUESTION, provisional=True)
    await say(chat)
    assert [request.model for request in requests(engine) if asks_for_title(request)] == ["gpt-4o-mini"]


async def test_a_title_that_somebody_gave_stays(make: MakeEngine) -> None:
    """Planted: `rename` does not settle the title."""
    engine = await make(saying("Sourdough bread"))
    given = await engine.create("Mine")
    await say(given)
    renamed = await engine.create(QUESTION, provisional=True)
    await renamed.rename("Bread")
    await say(renamed)
    assert [(await chat.info()).title for chat in (given, renamed)] == ["Mine", "Bread"]
    assert not any(map(asks_for_title, requests(engine)))


async def test_who_renames_while_the_model_writes_is_not_overruled(make: MakeEngine) -> None:
    engine = await make(saying("Sourdough bread"))
    chat = await engine.create(QUESTION, provisional=True)
    original = engine.store.titles.is_provisional

    async def slow(id: str) -> bool:
        was = await original(id)
        await chat.rename("Bread")
        return was

    engine.store.titles.is_provisional = slow  # type: ignore[method-assign]
    await say(chat)
    assert any(map(asks_for_title, requests(engine)))
    assert (await chat.info()).title == "Bread"


@pytest.mark.parametrize("told", ["I cannot do that.", "", ProviderError("no credit", retryable=False)])
async def test_what_goes_wrong_changes_nothing_and_is_tried_once_more(
    make: MakeEngine, told: str | BaseException
) -> None:
    engine = await make(saying(told))
    chat = await engine.create(QUESTION, provisional=True)
    for _ in range(4):
        await say(chat)
    assert (await chat.info()).title == QUESTION
    assert len([request for request in requests(engine) if asks_for_title(request)]) == 2


@pytest.mark.parametrize("setting", [{"titles": False}, {"policy": "onyx"}])
async def test_a_setting_and_the_other_policies_leave_it(make: MakeEngine, setting: dict[str, Any]) -> None:
    engine = await make(saying("Sourdough bread"))
    chat = await engine.create(QUESTION, provisional=True, **setting)
    await say(chat)
    assert (await chat.info()).title == QUESTION
    wanted = await engine.create(QUESTION, provisional=True, policy="onyx", titles=True)
    await say(wanted)
    assert (await wanted.info()).title == "Sourdough bread"


async def test_what_it_costs_is_counted_like_a_summary(make: MakeEngine) -> None:
    engine = await make(saying("Sourdough bread"))
    chat = await engine.create(QUESTION, provisional=True, summariser="gpt-4o-mini")
    await say(chat)
    lines = {line.model: line for line in await costs(engine, conversation=chat.id, by="model")}
    line = lines["gpt-4o-mini"]
    assert (line.requests, line.summaries) == (0, 1)
    assert line.summary_tokens > 20
    assert line.summary_dollars is not None
    assert line.summary_dollars > 0
    assert await costs(engine, owner="somebody else") == ()


async def test_an_embedded_model_is_asked_for_a_few_words_without_any_chance(make: MakeEngine) -> None:
    """It may not stop by itself; another one may have to think first."""
    engine = await make(saying("Sourdough bread"))
    asked: list[Request] = []
    for model in ("local/qwen2.5-coder-0.5b", "gpt-4o"):
        chat = await engine.create(QUESTION, provisional=True, model=model)
        await say(chat)
        assert (await chat.info()).title == "Sourdough bread"
        (request,) = [one for one in requests(engine) if asks_for_title(one) and one not in asked]
        asked.append(request)
    here, there = asked
    assert (here.temperature, there.temperature) == (0.0, None)
    assert here.max_output is not None
    assert there.max_output is not None
    assert here.max_output < there.max_output
