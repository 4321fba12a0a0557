"""Messages, nodes, turns, tool units and digests."""

from __future__ import annotations

from dataclasses import replace

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ToolUnit,
    Turn,
    Wire,
    assistant,
    chain,
    digest,
    opens_turn,
    pair_tools,
    place,
    system,
    tool_units,
    turns,
    user,
)
from octavo.testing import messages


def call(id: str, name: str = "run") -> ToolCall:
    return ToolCall(id=id, name=name, input="{}")


def result(id: str, text: str = "ok") -> ToolResult:
    return ToolResult(call_id=id, content=(Text(text=text),))


def test_equal_contents_are_equal_values() -> None:
    assert user("hi") == user("hi")
    assert hash(user("hi")) == hash(user("hi"))
    assert user("hi") != assistant("hi")


def test_a_message_knows_its_words_calls_results_and_files() -> None:
    file = Attachment(name="a.pdf")
    parts = (Text(text="one"), Reasoning(text="hm"), call("1"), result("1"), Text(text="two"), file)
    message = Message(role="assistant", parts=parts)
    assert message.text == "one\ntwo"
    assert (message.calls, message.results, message.attachments) == ((call("1"),), (result("1"),), (file,))


def test_placed_messages_form_one_branch() -> None:
    nodes = place([user("a"), assistant("b")])
    assert [(node.id, node.parent, node.depth) for node in nodes] == [("m1", None, 1), ("m2", "m1", 2)]


def test_turns_begin_at_user_messages_and_what_precedes_them_is_a_turn() -> None:
    said = messages("a: welcome", "u: one", "a: 1", "a: more", "u: two")
    assert turns(said) == (Turn(0, 1), Turn(1, 4), Turn(4, 5))
    assert turns([]) == ()


def test_a_tool_answer_in_a_users_envelope_opens_no_turn() -> None:
    assert not opens_turn(Message(role="user", parts=(result("1"), Text(text="note"))))
    assert opens_turn(user("x"))
    assert not opens_turn(system("x"))


def test_parallel_calls_with_results_spread_over_messages_are_one_unit() -> None:
    """Case 19."""
    said = (
        user("go"),
        Message(role="assistant", parts=(call("a"), call("b"))),
        Message(role="tool", parts=(result("b"),)),
        user("and?"),
        Message(role="tool", parts=(result("a"),)),
    )
    assert tool_units(said) == (ToolUnit(1, 5, open=False),)


def test_ids_that_come_again_are_paired_with_the_newest_open_call() -> None:
    def ask(*ids: str) -> Message:
        return Message(role="assistant", parts=tuple(call(id) for id in ids))

    def answer(*ids: str) -> Message:
        return Message(role="tool", parts=tuple(result(id) for id in ids))

    given_up = (ask("x"), user("stop"), ask("x", "x"), answer("x", "x"))
    pairing = pair_tools(given_up)
    assert pairing.answers == {(2, 0): (3, 0), (2, 1): (3, 1)}
    assert pairing.open == ((0, 0),)
    assert pair_tools((answer("y"),)).orphans == ((0, 0),)
    assert tool_units(given_up) == (ToolUnit(0, 1, open=True), ToolUnit(2, 4, open=False))


def test_a_unit_with_one_answer_missing_is_open() -> None:
    said = (
        Message(role="assistant", parts=(call("a"), call("b"))),
        Message(role="tool", parts=(result("a"),)),
    )
    assert tool_units(said) == (ToolUnit(0, 2, open=True),)


def test_the_digest_covers_what_was_said_and_not_how_it_was_dressed() -> None:
    dressed = Message(role="user", parts=(Text(text="hi", wire=Wire("anthropic", '{"cache_control":{}}')),))
    assert chain(b"", dressed) == chain(b"", user("hi"))
    assert digest([user("a"), user("b")]) == digest([user("b")], start=digest([user("a")]))


def test_every_kind_of_content_changes_the_digest() -> None:
    parts = (
        Text(text="t"),
        Reasoning(text="t"),
        Image(source="data:1"),
        Attachment(name="n", media_type="m", size=1, source="s"),
        call("1"),
        replace(call("1"), input='{"a":1}'),
        result("1"),
        replace(result("1"), error=True),
        ToolResult(call_id="1", content=(Text(text="o"), Text(text="k"))),
        Opaque(kind="new", wire=Wire("openai", "{}")),
    )
    digests = {digest([Message(role="user", parts=(part,))]) for part in parts}
    digests |= {digest([user("a"), user("b")]), digest([user("ab")]), digest([user("b"), user("a")])}
    assert len(digests) == len(parts) + 3


def test_lone_surrogates_can_be_digested() -> None:
    assert digest([user("\ud800")]) != digest([user("\ud801")])


def test_a_call_that_is_answered_in_its_own_message_holds_no_other_one() -> None:
    call, answer = ToolCall(id="a", name="ls", input="{}"), ToolResult(call_id="a", content=())
    both = Message(role="assistant", parts=(call, answer))
    assert tool_units((both, user("next"))) == (ToolUnit(0, 1, open=False),)
