"""What an agent looked up with Octavo's own tools is sent whole while it works with it."""

from __future__ import annotations

import pytest

from octavo.core.context import Context, ContextInputs
from octavo.core.memory_tools import is_memory_tool, looked_up
from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.shrink import shrink

LONG = "The valve reads 7 bar. " * 100


def call(id: str, name: str) -> Message:
    return Message(role="assistant", parts=(ToolCall(id=id, name=name, input="{}"),))


def result(id: str, text: str = LONG) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=id, content=(Text(text=text),)),))


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("mcp__octavo__recall", True),
        ("octavo_expand", True),
        ("Octavo.receipt", True),
        ("octavo_recall", True),
        ("octavo_pin", False),
        ("recall", False),
        ("total_recall", False),
        ("octavo", False),
    ],
)
def test_our_tools_are_known_by_the_names_that_clients_give_them(name: str, ours: bool) -> None:
    assert is_memory_tool(name) is ours


def test_only_answers_of_the_turn_that_goes_on_count() -> None:
    before = [user("a"), call("1", "mcp__octavo__recall"), result("1"), assistant("b")]
    now = [user("c"), call("2", "read"), result("2"), call("3", "mcp__octavo__expand"), result("3")]
    assert looked_up([*before, *now]) == {8}
    assert looked_up(before) == {2}
    assert looked_up([*before, user("d")]) == frozenset()
    assert looked_up([]) == frozenset()


def test_what_was_looked_up_is_not_shortened() -> None:
    """Seen failing with: every output of the turn shortened alike."""
    said = [user("a"), call("1", "read"), result("1"), call("2", "mcp__octavo__recall"), result("2")]

    def measure(context: Context) -> int:
        return sum(len(r.text) for m in context.messages for r in m.results)

    small = shrink(ContextInputs(branch=place(said)), 3_200, measure)
    read, asked = small.context.retained[2], small.context.retained[4]
    assert len(read.results[0].text) < len(LONG)
    assert asked.results[0].text == LONG
