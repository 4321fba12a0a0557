"""What an agent looked up with Octavo's own tools is sent whole while it works with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.context import Context, ContextInputs, Pin, build_context, coverage_problems
from octavo.core.memory_tools import is_memory_tool, kept_answers, looked_up, lookups
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.shrink import shrink
from octavo.core.snapshot import draft

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


def turn(*tools: str) -> list[Message]:
    """Make a turn that calls these tools, one after the other, and goes on."""
    return [
        user("go"),
        *(said for n, name in enumerate(tools) for said in (call(str(n), name), result(str(n)))),
    ]


def ids(nodes: Branch) -> list[str]:
    return [node.id for node in nodes]


def test_a_lookup_is_a_call_with_all_that_was_answered_beside_it() -> None:
    two = Message(
        role="assistant",
        parts=(
            ToolCall(id="1", name="mcp__octavo__recall", input="{}"),
            ToolCall(id="2", name="ls", input="{}"),
        ),
    )
    said = [user("go"), two, result("1"), result("2"), call("3", "ls"), result("3")]
    assert lookups(said) == (range(1, 4),)
    assert lookups([*said, call("4", "mcp__octavo__recall")]) == (range(1, 4),)
    assert lookups([*said, user("next")]) == ()
    assert lookups(said[1:]) == (range(3),), "a conversation may begin with a call"


def test_the_newest_answers_that_fit_are_kept() -> None:
    nodes = place(turn("octavo_recall", "ls", "octavo_expand", "octavo_recall"))

    def size(_: object) -> int:
        return 10

    assert ids(kept_answers(nodes, size, 100)) == ["m2", "m3", "m6", "m7", "m8", "m9"]
    assert ids(kept_answers(nodes, size, 59)) == ["m6", "m7", "m8", "m9"]
    assert kept_answers(nodes, size, 19) == ()
    assert kept_answers((), size, 100) == ()


def test_answers_are_sent_with_their_calls_after_the_question_although_they_are_covered() -> None:
    branch = place(turn("octavo_recall", "ls", "ls"))
    snapshot = replace(draft(branch, 5, id="s", summary="x"), answers=("m2", "m3"))
    assert snapshot.sent_along == ("m1", "m2", "m3")
    recipe = ContextInputs(branch=branch[5:], snapshot=snapshot, carried=branch[:3])
    context = build_context(recipe)
    assert context.sent == ("m1", "m2", "m3", "m6", "m7")
    assert context.retained == tuple(node.message for node in (*branch[:3], *branch[5:]))
    assert coverage_problems(branch, context) == ()
    # A pinned answer stays with its call.
    pinned = build_context(replace(recipe, pins=(Pin(branch[2]),)))
    assert (pinned.sent, pinned.pins) == (context.sent, ())


def test_a_context_that_must_shrink_leaves_out_what_was_looked_up_after_everything_else() -> None:
    branch = place(turn("octavo_recall", "ls", "octavo_expand", "ls"))

    def measure(context: Context) -> int:
        return len(context.retained)

    def shrunk(limit: int) -> tuple[list[str], tuple[str, ...]]:
        recipe = ContextInputs(branch=branch[3:], carried=branch[:3])
        small = shrink(recipe, limit, measure)
        assert coverage_problems(branch, small.context) == ()
        return [*small.context.sent], small.notes

    sent, notes = shrunk(7)
    assert sent == ["m1", "m2", "m3", "m6", "m7", "m8", "m9"]
    assert notes[-1] == "2 messages of earlier tool rounds left out"
    sent, notes = shrunk(3)
    assert sent == ["m1", "m8", "m9"]
    assert notes[-1] == "2 answers looked up in this turn left out"
