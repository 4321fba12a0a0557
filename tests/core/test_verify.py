"""Cases 38-42, 109: what is wrong with a draft."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from octavo.core.budget import ModelCard
from octavo.core.context import ContextInputs, build_context
from octavo.core.messages import Message, ToolCall, assistant
from octavo.core.policy import GEMINI, OCTAVO, ONYX, PRESETS, Policy, budget_for
from octavo.core.protocol import OPENAI
from octavo.core.reply import Reply
from octavo.core.verify import (
    REFUSAL_LENGTH,
    Flaw,
    Problem,
    body,
    context_problems,
    fatal,
    in_plain_words,
    reply_problems,
    size_problems,
)
from octavo.testing import talk

BUDGET = budget_for(OCTAVO, ModelCard(name="m", window=100_000, max_output=10_000))


def flaws(reply: Reply) -> list[str]:
    return [problem.flaw for problem in reply_problems(reply)]


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("<summary></summary>", "scratchpad"),
        ("<state_snapshot><goal></goal></state_snapshot>", "empty"),
        ("<scratchpad>let me think</scratchpad>", "scratchpad"),
        ("<analysis>first, the user", "scratchpad"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I cannot summarize this conversation.", "refused"),
    ],
)
def test_an_answer_that_is_no_summary_is_found_out(text: str, flaw: str) -> None:
    assert flaws(Reply(message=assistant(text))) == [flaw]


def test_finish_reasons_are_looked_at() -> None:
    good = assistant("They chose PostgreSQL.")
    assert flaws(Reply(message=good)) == []
    assert flaws(Reply(message=good, finish="length")) == ["truncated"]
    assert flaws(Reply(message=good, finish="cancelled")) == ["truncated"]
    assert flaws(Reply(message=good, finish="refusal")) == ["refused"]


def test_a_tool_call_instead_of_text_is_no_summary() -> None:
    """Case 40."""
    call = Message(role="assistant", parts=(ToolCall(id="1", name="ls", input="{}"),))
    assert flaws(Reply(message=call, finish="tool_calls")) == ["tool_call"]


def test_a_long_text_that_opens_with_an_apology_is_a_summary() -> None:
    assert (
        flaws(Reply(message=assistant("I cannot help, said the clerk. " + "Then they talked on. " * 30)))
        == []
    )


def test_a_refusal_is_shorter_than_a_summary() -> None:
    refusal = "I cannot help with that. " + "x" * (REFUSAL_LENGTH - 26)
    assert flaws(Reply(message=assistant(refusal))) == ["refused"]
    assert flaws(Reply(message=assistant(f"{refusal}x"))) == []


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("<scratchpad>hm</scratchpad>\n<summary>\nIt works.\n</summary>", "It works."),
        ("<thinking>a</thinking>Plain text.", "Plain text."),
        ("No tags at all.", "No tags at all."),
        ("<summary>one</summary> and <SUMMARY>two</SUMMARY>", "one\n\ntwo"),
        ("a\n\n\n \n\nb", "a\n\nb"),
        (
            "Kept. <think>a <think>b</THINK> Kept too. </think> <analysis> never closed",
            "Kept.  Kept too. </think>",
        ),
        ("<think>a <analysis>b</analysis> c", ""),
        ("<summary>one <summary>two</summary> three <summary>four", "one <summary>two"),
        (
            "x <state_snapshot><goal>g</goal></state_snapshot> y",
            "<state_snapshot><goal>g</goal></state_snapshot>",
        ),
    ],
)
def test_the_body_is_taken_out_of_an_answer(raw: str, clean: str) -> None:
    """Case 39."""
    assert body(raw) == clean


def test_a_result_must_be_a_tenth_smaller() -> None:
    """Case 41."""
    assert list(size_problems(OCTAVO, BUDGET, 10_000, 9_000)) == []
    assert [p.flaw for p in size_problems(OCTAVO, BUDGET, 10_000, 9_001)] == ["not_smaller"]
    assert fatal(tuple(size_problems(OCTAVO, BUDGET, 10_000, 12_000)))


def test_each_preset_has_its_own_size_rule() -> None:
    assert list(size_problems(GEMINI, BUDGET, 10_000, 9_999)) == []
    assert [p.flaw for p in size_problems(GEMINI, BUDGET, 10_000, 10_001)] == ["not_smaller"]
    assert list(size_problems(ONYX, BUDGET, 10_000, 9_999)) == []


@pytest.mark.parametrize("policy", PRESETS.values(), ids=lambda policy: policy.name)
def test_what_is_not_smaller_is_refused_under_every_preset(policy: Policy) -> None:
    for after in (10_000, 10_001, 20_000):
        problems = tuple(size_problems(policy, BUDGET, 10_000, after))
        assert [problem.flaw for problem in problems] == ["not_smaller"]
        assert fatal(problems)


def test_smaller_yet_above_the_mark_is_reported_and_used() -> None:
    """Case 42."""
    problems = tuple(size_problems(OCTAVO, BUDGET, 99_000, 80_000))
    assert [p.flaw for p in problems] == ["over_mark"]
    assert not fatal(problems)
    assert list(size_problems(OCTAVO, BUDGET, 99_000, BUDGET.trigger)) == []


def test_an_invalid_or_leaky_context_is_fatal() -> None:
    branch = talk("u: 1", "a: 2", "u: 3", "c: ls")
    context = build_context(ContextInputs(branch=branch))
    problems = tuple(
        context_problems(branch, replace(context, sent=context.sent[1:]), context.messages, OPENAI)
    )
    assert [problem.flaw for problem in problems] == ["protocol", "coverage"]
    assert fatal(problems)
    assert str(problems[1].detail) == "m1: neither covered nor sent"
    assert Problem("coverage", "x").fatal


def test_problems_are_told_in_plain_words_each_kind_once() -> None:
    found = (
        Problem("too_long", "part 1 of 2: 407 tokens, 286 are allowed"),
        Problem("too_long", "407 tokens, 286 are allowed"),
        Problem("format", "the answer has 1 of 5 sections"),
    )
    assert in_plain_words(found) == "the summary was too long and lacked sections"
    assert in_plain_words(found[:1]) == "the summary was too long"
    assert in_plain_words(()) == "the summary said nothing of use"
    for flaw in get_args(Flaw):
        assert in_plain_words((Problem(flaw, ""),)).startswith("the summary ")
