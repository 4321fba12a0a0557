"""An answer of Octavo's own tools is sent whole, however much of a small window it takes."""

from __future__ import annotations

import pytest

from octavo.core.messages import Message, Text, ToolCall, ToolResult, user
from octavo.core.wire import write
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.engine.stateless import compress

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(("name", "whole"), [("mcp__octavo__recall", True), ("read_file", False)])
async def test_what_was_looked_up_is_not_shown_by_head_and_tail(name: str, whole: bool) -> None:
    text = "\n".join(f"Line {number}: the valve reads {number % 90} bar." for number in range(200))
    async with await Engine.open(model="gpt-4-0613", summariser="none") as engine:
        chat = await engine.create()
        await chat.add("What did we note?")
        await chat.add(Message(role="assistant", parts=(ToolCall(id="c1", name=name, input="{}"),)))
        await chat.add(Message(role="tool", parts=(ToolResult(call_id="c1", content=(Text(text=text),)),)))
        sent = str((await chat.context()).messages)
    assert ("Line 100:" in sent) is whole
    assert "Line 0:" in sent


def step(number: int, tool: str, text: str) -> tuple[Message, Message]:
    return (
        Message(role="assistant", parts=(ToolCall(id=f"c{number}", name=tool, input="{}"),)),
        Message(role="tool", parts=(ToolResult(call_id=f"c{number}", content=(Text(text=text),)),)),
    )


LOOKUPS = 14


def lines(number: int) -> str:
    return "\n".join(f"Log {number}, line {n}: the valve reads {n * 7 % 90} bar." for n in range(30))


async def test_answers_for_which_there_is_no_room_are_covered_and_told_of() -> None:
    """In 8,192 tokens, fourteen answers of 500 tokens each cannot all be kept: the newest are."""
    async with await Engine.open(model="gpt-4-0613", summariser="none") as engine:
        chat = await engine.create()
        await chat.add("What did we note?")
        for number in range(LOOKUPS):
            for said in step(number, "mcp__octavo__recall", lines(number)):
                await chat.add(said)
        for said in step(LOOKUPS, "read", lines(LOOKUPS)):
            await chat.add(said)
        outcome = await chat.compress(keep=1)
        sent = (await chat.context()).messages
    assert isinstance(outcome, Compressed)
    told = next(problem for problem in outcome.problems if problem.flaw == "looked_up")
    kept = [int(one["tool_call_id"][1:]) for one in sent if one["role"] == "tool"]
    assert kept == [*range(LOOKUPS + 1 - len(kept), LOOKUPS + 1)]
    covered = (outcome.snapshot.cutoff_depth - 1) // 2
    assert told.detail.startswith(f"{LOOKUPS + 1 - len(kept)} of {covered} answers")


def test_the_stateless_call_keeps_what_was_looked_up_in_the_turn_that_goes_on() -> None:
    said = [user("What did we note?"), *step(0, "mcp__octavo__recall", lines(0))]
    said += [one for number in range(1, 30) for one in step(number, "read", lines(number))]
    wired = write("openai", said).messages
    made = compress(wired, model="gpt-4-0613", budget=4_000)
    assert made.covered > 3
    assert lines(0) in [one.get("content") for one in made.messages]
    assert made.notes == ()
    many = [user("What did we note?")]
    many += [one for number in range(30) for one in step(number, "mcp__octavo__recall", lines(number))]
    made = compress(write("openai", many).messages, model="gpt-4-0613", budget=4_000)
    assert any("answers looked up in this turn are covered" in note for note in made.notes)
    kept = [one for one in made.messages if str(one.get("content")) in [lines(n) for n in range(30)]]
    assert 4 <= len(kept) <= 5, "each takes some 400 tokens, and half of the room is theirs"
