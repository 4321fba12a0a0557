"""Requests that do not fit, and those of which we only think that they do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.datastructures import Headers

from octavo.engine.attempt import Attempt
from octavo.gateway.dialects.anthropic import ANTHROPIC
from octavo.gateway.dialects.dialect import Dialect
from octavo.gateway.dialects.openai import OPENAI
from octavo.gateway.fit import surely_fits
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from tests.gateway.conftest import MODEL, WEATHER, Setup, long, said, user
from tests.server.fake import Reply, count

pytestmark = pytest.mark.anyio


def brought(turns: int) -> list[Any]:
    """A history that a client brings along from elsewhere."""
    return [message for number in range(turns) for message in (user(long(number)), said("Noted."))]


@pytest.mark.parametrize("factor", [1.3, 1.6])
async def test_a_provider_that_counts_more_than_we_do_is_believed(house: Setup, factor: float) -> None:
    """It names the very window we know, so there is nothing to learn but to send less."""
    house.provider.factor = factor
    history = brought(10)
    assert 3_200 < count({"messages": history}) < 3_600
    answer, headers = await house.ask(*history, user("And now?"), max_tokens=50)
    assert answer.choices[0].message.content
    assert headers["x-octavo-compressed"] == "true"
    assert 0 < house.provider.refused <= 2
    assert count(house.provider.last) * factor <= 4_096
    assert (await house.engine.models.meter(MODEL)).card.window == 4_096


async def test_a_limit_that_nobody_names_is_found_by_sending_less(house: Setup) -> None:
    """Its bills agree with our count, so it is the window that is smaller; the next request fits at once."""
    house.provider.window, house.provider.names_window = 1_600, False
    history = brought(7)
    assert 2_000 < count({"messages": history}) < 2_500
    answer, headers = await house.ask(*history, user("And now?"), max_tokens=50)
    assert answer.choices[0].message.content
    assert headers["x-octavo-compressed"] == "true"
    assert 0 < house.provider.refused <= 2
    assert (await house.engine.models.meter(MODEL)).card.window < 4_096
    before = house.provider.refused
    await house.ask(*history, user("And then?"), max_tokens=50)
    assert house.provider.refused == before


async def test_a_history_that_is_brought_along_is_stored_and_compressed_at_once(house: Setup) -> None:
    history, attempts = brought(40), list[Attempt]()
    house.engine.watchers.append(attempts.append)
    _, headers = await house.ask(*history, user("And now?"))
    assert headers["x-octavo-compressed"] == "true"
    assert len(await house.tree(headers)) == len(history) + 2
    assert house.provider.refused == 0
    assert [(one.trigger, one.ending) for one in attempts] == [("hard", "compressed")]
    assert attempts[0].after < attempts[0].before


async def test_calls_and_results_stay_together_in_a_long_run_of_an_agent(house: Setup) -> None:
    """One question, then sixty calls: there is no turn to cut at, and the provider refuses torn pairs."""

    def say(_: dict[str, Any]) -> Reply:
        number = len(house.provider.bodies)
        return Reply(
            "", [(f"c{number}a", "weather", {"city": "Oslo"}), (f"c{number}b", "weather", {"day": number})]
        )

    house.provider.say = say
    history: list[Any] = [user("Watch the weather in Oslo.")]
    for _ in range(30):
        answer, headers = await house.ask(*history, tools=[WEATHER])
        message = answer.choices[0].message
        history.append(message.model_dump(exclude_none=True))
        history += [
            {"role": "tool", "tool_call_id": call.id, "content": f"{call.id}: " + "rain " * 60}
            for call in message.tool_calls
        ]
    assert headers["x-octavo-compressed"] == "true"
    assert house.provider.refused == 0
    assert house.provider.torn == []
    assert [node.message.role for node in await house.tree(headers)].count("tool") == 58


async def test_pictures_and_unknown_fields_survive_when_a_request_is_rewritten(house: Setup) -> None:
    await house.engine.models.learn_window("gpt-4o", 4_096)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}}
    question: Any = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    await house.ask(
        *brought(20), question, model="gpt-4o", extra_body={"unknown": {"kept": [1, None]}}, seed=7, user="me"
    )
    sent = house.provider.last
    assert sent["messages"][-1] == question
    assert (sent["unknown"], sent["seed"], sent["user"]) == ({"kept": [1, None]}, 7, "me")
    assert len(sent["messages"]) < 20


LINKED = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}


@pytest.mark.parametrize(
    ("dialect", "messages", "sure"),
    [
        (OPENAI, [user("Hi")], True),
        (
            OPENAI,
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/"}}]}],
            False,
        ),
        (ANTHROPIC, [{"role": "user", "content": [LINKED]}], False),
        (
            ANTHROPIC,
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [LINKED]}]}],
            False,
        ),
        (OPENAI, [user("word " * 2_000)], False),
    ],
    ids=["words", "picture", "linked", "in a result", "long"],
)
def test_only_words_fit_at_a_glance(dialect: Dialect, messages: list[Any], sure: bool) -> None:
    """A link has few letters, and what it leads to has many tokens."""
    body = json.dumps({"model": "gpt-4-0613", "messages": messages}).encode()
    asked = dialect.read(body, Headers({}))
    assert surely_fits(asked, Meter(find_card("gpt-4-0613"))) is sure
