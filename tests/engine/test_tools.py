"""Tools as programs have them: values, and the dicts of each provider's library."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from octavo.core.tools import Tool
from octavo.engine.accept import accept_tools
from octavo.engine.outcome import Answered
from octavo.errors import BadInput
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MakeEngine
from tests.engine.test_turn import events

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"ship": {"type": "integer"}}, "required": ["ship"]}
HEAD = {"name": "berth", "description": "Where a ship lies."}
OPENAI = {"type": "function", "function": {**HEAD, "parameters": SCHEMA}}
RESPONSES = {"type": "function", **HEAD, "parameters": SCHEMA}
ANTHROPIC = {**HEAD, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}
GEMINI = {"functionDeclarations": [{**HEAD, "parametersJsonSchema": SCHEMA}]}
SNAKE = {"function_declarations": [{**HEAD, "parameters": SCHEMA}]}
SHAPES = {
    "openai": OPENAI,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "gemini in Python": SNAKE,
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_a_context_takes_tools_as_any_provider_does_and_gives_them_as_its_own(
    make: MakeEngine, shape: dict[str, Any]
) -> None:
    chat = await (await make()).create()
    await chat.add("Where is ship 7?")
    before = copy.deepcopy(shape)
    sent = await chat.context(tools=[shape])
    assert shape == before
    assert sent.tools == [OPENAI]
    assert dict(sent.usage.reading.breakdown)["tools"] > 0
    assert (await chat.usage(tools=[shape])).reading.tokens == sent.usage.reading.tokens


async def test_a_turn_offers_tools_that_came_as_dicts(make: MakeEngine) -> None:
    provider = ScriptedProvider(lambda _: "At berth 3.")
    chat = await (await make(provider=provider)).create()
    assert isinstance((await events(chat.turn("Where is ship 7?", tools=[ANTHROPIC])))[-1], Answered)
    assert [tool.name for tool in provider.requests[-1].tools] == ["berth"]
    assert isinstance((await events(chat.regenerate(tools=[OPENAI])))[-1], Answered)
    assert [tool.name for tool in provider.requests[-1].tools] == ["berth"]


def test_a_tool_that_the_provider_runs_itself_is_kept_whole() -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    (found,) = accept_tools([search])
    assert (found.name, found.schema) == ("web_search", "")
    assert accept_tools([{"googleSearch": {}}])[0].name == "googleSearch"
    mine = Tool(name="mine")
    assert accept_tools((mine,)) == (mine,)


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        (OPENAI, "tools: expected a list of tools, got dict"),
        (None, "tools: expected a list of tools, got NoneType"),
        ([OPENAI, 3], r"tools\[1\]: expected a tool or a dict, got int"),
        ([OPENAI, {**HEAD, "parameters": SCHEMA}], r"tools\[1\]: expected OpenAI's .* got a dict with name"),
        ([{"type": "function", "function": {"parameters": SCHEMA}}], r"tools\[0\].function"),
    ],
)
def test_what_is_no_tool_is_refused_by_its_place(tools: Any, problem: str) -> None:
    read: Callable[[Any], object] = accept_tools
    with pytest.raises(BadInput, match=problem):
        read(tools)
