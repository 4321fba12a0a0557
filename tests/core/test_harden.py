"""Cases 58, 59, 63, 67: any history becomes valid for every provider, and every repair is reported."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given

from octavo.core.harden import NO_RESULT, OPENER, harden
from octavo.core.messages import (
    Image,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    user,
)
from octavo.core.protocol import ANTHROPIC, GEMINI, OPENAI, RULES, Rules, check
from tests.core.strategies import BROKEN, tidy

ALL = list(RULES.values())
BLIND = replace(OPENAI, vision=False)


def call(*ids: str) -> Message:
    return Message(role="assistant", parts=tuple(ToolCall(id=id, name="run", input="{}") for id in ids))


def result(*ids: str, text: str = "ok") -> Message:
    return Message(role="tool", parts=tuple(ToolResult(call_id=id, content=(Text(text=text),)) for id in ids))


def fixes(said: tuple[Message, ...], rules: Rules) -> list[str]:
    return [repair.fix for repair in harden(said, rules).repairs]


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_a_valid_history_comes_back_as_it_was(rules: Rules) -> None:
    said = (system("s"), user("u"), call("a", "b"), result("a", "b"), assistant("done"), user("next"))
    assert harden(said, rules).messages == said
    assert harden(said, rules).repairs == ()
    mixed = (user("u"), call("a"), replace(result("a"), parts=(*result("a").parts, Text(text="and"))))
    assert harden(mixed, rules).messages == mixed


def test_results_in_separate_messages_are_one_turn_where_turns_alternate() -> None:
    said = (user("u"), call("a", "b"), result("a"), result("b"))
    assert harden(said, OPENAI).messages == said
    joined = harden(said, ANTHROPIC)
    assert joined.messages == (user("u"), call("a", "b"), result("a", "b"))
    assert joined.repairs == ()


def test_messages_that_are_joined_were_not_wrong() -> None:
    said = (user("<earlier>"), user("u"), call("a"), user("next"))
    joined = harden(said, ANTHROPIC)
    assert [repair.fix for repair in joined.repairs] == ["result", "merged", "merged"]
    assert [repair.fix for repair in joined.faults] == ["result"]


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_a_call_without_a_result_gets_one_that_says_so(rules: Rules) -> None:
    """Case 59."""
    hardened = harden((user("u"), call("a"), user("stop")), rules)
    assert check(hardened.messages, rules) == ()
    assert hardened.messages[2].results[0].text == NO_RESULT
    assert hardened.messages[2].results[0].error
    assert hardened.repairs[0].fix == "result"


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_a_result_without_a_call_is_sent_as_text(rules: Rules) -> None:
    hardened = harden((user("u"), result("ghost", text="42 files"), assistant("ok")), rules)
    assert check(hardened.messages, rules) == ()
    assert any("42 files" in message.text for message in hardened.messages)
    assert hardened.repairs[0].fix == "text"


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_late_and_unordered_results_move_behind_their_calls(rules: Rules) -> None:
    said = (user("u"), call("a", "b"), user("hurry"), result("b"), assistant("hm"), result("a", text="late"))
    hardened = harden(said, rules)
    assert check(hardened.messages, rules) == ()
    results = [r.call_id for message in hardened.messages for r in message.results]
    assert results == ["a", "b"]
    assert "moved" in [repair.fix for repair in hardened.repairs]


def test_one_broken_pair_leaves_the_others_as_they_were() -> None:
    said = (user("u"), call("a"), result("a"), call("b"), user("stop"))
    hardened = harden(said, OPENAI)
    assert hardened.messages[:4] == said[:4]
    assert [repair.fix for repair in hardened.repairs] == ["result"]


def test_a_result_too_many_leaves_those_before_it_where_they_are() -> None:
    said = (user("u"), call("a", "b"), result("a"), result("b"), result("ghost", text="boo"))
    hardened = harden(said, OPENAI)
    assert hardened.messages[:4] == said[:4]
    assert [repair.fix for repair in hardened.repairs] == ["text"]


def test_words_in_a_tools_envelope_are_the_users() -> None:
    said = (user("u"), Message(role="tool", parts=(Text(text="note"),)), assistant("ok"))
    hardened = harden(said, OPENAI)
    assert hardened.messages[1] == user("note")


def test_a_call_by_the_user_becomes_text() -> None:
    odd = Message(role="user", parts=call("a").parts)
    hardened = harden((odd, result("a")), OPENAI)
    assert check(hardened.messages, OPENAI) == ()
    assert [repair.fix for repair in hardened.repairs] == ["text", "text"]


def test_ids_used_again_or_not_allowed_are_renamed_together_with_their_results() -> None:
    said = (
        user("u"),
        call("a"),
        result("a"),
        call("a"),
        result("a"),
        call("f:1!"),
        result("f:1!"),
        call(""),
        result(""),
    )
    assert fixes(said, OPENAI) == []
    hardened = harden(said, ANTHROPIC)
    assert [m.calls[0].id for m in hardened.messages if m.calls] == ["a", "a-2", "f_1_", "call"]
    assert check(hardened.messages, ANTHROPIC) == ()
    assert [repair.fix for repair in hardened.repairs] == ["renamed"] * 3


def test_an_id_that_is_renamed_is_as_long_as_providers_allow() -> None:
    odd, long = "!" + "x" * 60, "y" * 64
    said = (user("u"), *(message for id in (odd, long, long) for message in (call(id), result(id))))
    ids = [m.calls[0].id for m in harden(said, ANTHROPIC).messages if m.calls]
    assert ids == ["_" + "x" * 47, long, "y" * 48 + "-2"]


def test_a_system_message_in_the_middle_is_sent_as_the_users() -> None:
    """Case 58."""
    said = (system("a"), user("u"), assistant("x"), system("mid"), user("v"))
    assert harden(said, OPENAI).messages == said
    hardened = harden(said, GEMINI)
    assert hardened.messages[3].text == "[Note from the system]\nmid\nv"
    assert [repair.fix for repair in hardened.repairs] == ["role", "merged"]


def test_the_first_turn_is_the_users() -> None:
    said = (system("s"), assistant("welcome"), user("hi"))
    assert harden(said, OPENAI).messages == said
    assert harden(said, ANTHROPIC).messages == (system("s"), user(OPENER), assistant("welcome"), user("hi"))
    assert harden((system("s"),), ANTHROPIC).messages == (system("s"),)
    assert check((system("s"),), ANTHROPIC) == ()


def test_the_same_side_twice_in_a_row_is_joined() -> None:
    said = (user("a"), replace(user("b"), name="ann"), assistant("c"), assistant("d"))
    joined = harden(said, ANTHROPIC).messages
    assert [message.text for message in joined] == ["a\nb", "c\nd"]
    named = (replace(user("a"), name="ann"), replace(user("b"), name="ann"))
    assert harden(named, GEMINI).messages[0].name == "ann"


def test_empty_and_reasoning_only_answers_do_not_break_a_request() -> None:
    """Case 67."""
    thought = Message(role="assistant", parts=(Reasoning(text="hm"),))
    blank = Message(role="assistant", parts=(Text(text=" \n"), Text(text="ok")))
    hardened = harden((user("u"), thought, Message(role="user", parts=()), blank), OPENAI)
    assert hardened.messages == (user("u"), assistant("ok"))
    assert [repair.fix for repair in hardened.repairs] == ["dropped"] * 3


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_a_message_is_left_out_when_the_answer_moved_away_was_all_it_said(rules: Rules) -> None:
    odd = Message(role="assistant", parts=(Reasoning(text="hm"), *result("a").parts))
    hardened = harden((user("u"), call("a"), odd), rules)
    assert hardened.messages == (user("u"), call("a"), result("a"))


def test_a_thought_that_led_to_nothing_is_left_out_where_a_provider_refuses_it() -> None:
    thought = Message(role="assistant", parts=(Text(text="ok"), Reasoning(text="hm"), Reasoning(text="so")))
    for rules, kept, fixed in ((OPENAI, thought, []), (RULES["responses"], assistant("ok"), ["dropped"])):
        assert harden((user("u"), thought), rules).messages == (user("u"), kept)
        assert fixes((user("u"), thought), rules) == fixed


def test_an_image_for_a_text_only_model_becomes_a_marker() -> None:
    """Case 63."""
    picture = Image(source="data:,", width=800, height=600)
    shown = Message(role="user", parts=(Text(text="see"), picture))
    returned = Message(role="tool", parts=(ToolResult(call_id="a", content=(Text(text="ok"), picture)),))
    said = (shown, call("a"), returned)
    assert harden(said, OPENAI).messages == said
    assert len(check(said, BLIND)) == 2
    hardened = harden(said, BLIND)
    assert hardened.messages[0].text == "see\n[image 800×600]"
    assert hardened.messages[2].results[0].text == "ok\n[image 800×600]"
    assert [repair.fix for repair in hardened.repairs] == ["image", "image"]


def test_the_judge_names_each_broken_rule() -> None:
    said = (assistant("x"), user(""), system("mid"), user("a"), user("b"), call("a"), call("a"))
    problems = "\n".join(check(said, ANTHROPIC))
    for phrase in (
        "messages[1]: says nothing",
        "messages[2]: a system message in the middle",
        "messages[0]: the first turn is the assistant's",
        "messages[4]: the user speaks twice",
        "messages[6]: speaks before the calls ['a'] are answered",
        "messages[6]: the call id 'a' comes again",
        "the calls ['a'] are never answered",
    ):
        assert phrase in problems
    odd = Message(role="user", parts=(Text(text="x"), *result("z").parts, *call("q").parts))
    problems = "\n".join(check((odd,), OPENAI))
    for phrase in (
        "stands after other parts",
        "answers the calls ['z']",
        "with 1 tool results",
        "a user message calls",
    ):
        assert phrase in problems


@example(
    [
        Message(
            role="assistant",
            parts=(
                ToolCall(id="a", name="run", input="{}"),
                Reasoning(text=""),
                ToolResult(call_id="a", content=()),
            ),
        )
    ]
)
@given(BROKEN)
def test_anything_becomes_valid_for_every_provider_and_stays_so(said: list[Message]) -> None:
    """Seen failing with: pairing left out, and ids renamed in calls only."""
    for rules in (*ALL, BLIND, replace(ANTHROPIC, vision=False)):
        hardened = harden(said, rules)
        assert check(hardened.messages, rules) == ()
        again = harden(hardened.messages, rules)
        assert again.messages == hardened.messages
        assert again.repairs == ()


@given(BROKEN)
def test_nothing_a_person_or_a_tool_said_is_dropped(said: list[Message]) -> None:
    """Seen failing when results without a call were left out."""
    words = [w for m in said for w in (m.text.split() + [w for r in m.results for w in r.text.split()])]
    for rules in ALL:
        sent = " ".join(
            text for m in harden(said, rules).messages for text in (m.text, *(r.text for r in m.results))
        )
        for word in set(words):
            assert sent.split().count(word) >= words.count(word)


@given(tidy())
def test_a_tidy_history_needs_no_repair_in_its_own_format(said: tuple[Message, ...]) -> None:
    assert harden(said, OPENAI).messages == said
    assert all(repair.fix == "merged" for repair in harden(said, ANTHROPIC).repairs)
