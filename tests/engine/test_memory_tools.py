"""An answer of Octavo's own tools is sent whole, however much of a small window it takes."""

from __future__ import annotations

import pytest

from octavo.core.messages import Message, Text, ToolCall, ToolResult
from octavo.engine.engine import Engine

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
