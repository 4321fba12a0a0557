"""Case 40: the form that hits the chat model's cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.context import Context
from octavo.core.messages import system
from octavo.core.protocol import ANTHROPIC, GEMINI, OPENAI, Rules, check
from octavo.core.tools import Tool
from octavo.testing import ScriptedProvider
from tests.summarise.shared import CALL, GOOD, JOB, RECENT, TALK, flaws, model, reply, run

SENT = Context(
    system=(system("You are careful."),),
    tools=(Tool(name="read"),),
    retained=tuple(node.message for node in TALK + RECENT),
)
LIVE = replace(JOB, live=SENT)


@pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC, GEMINI], ids=lambda rules: rules.name)
def test_the_live_request_begins_with_what_was_sent_and_has_the_same_tools(rules: Rules) -> None:
    provider = ScriptedProvider([GOOD], rules=rules)
    assert run(model(provider), LIVE).text == GOOD
    asked = provider.requests[0]
    assert asked.tools == SENT.tools
    sent = SENT.messages
    shared = asked.messages[: len(sent) - 1]
    assert shared == sent[:-1]
    assert asked.messages[len(sent) - 1].parts[:1] == sent[-1].parts
    assert len(asked.messages) - 1 <= asked.stable + 1
    assert check(asked.messages, rules) == ()


def test_a_tool_call_is_not_run_but_asked_again_as_a_transcript() -> None:
    """Case 40."""
    provider = ScriptedProvider([reply(CALL, "tool_calls"), reply(GOOD, "stop")])
    narrative = run(model(provider), LIVE)
    assert (narrative.text, flaws(narrative)) == (GOOD, ["tool_call"])
    again = provider.requests[1]
    assert again.tools == ()
    assert again.messages[0].text.startswith("You write the summary")
    assert "Be complete and exact" in again.messages[0].text


def test_after_a_tool_call_the_ladder_has_two_rungs_left_and_after_other_flaws_one() -> None:
    provider = ScriptedProvider([reply(CALL, "tool_calls"), "", "", GOOD])
    assert flaws(run(model(provider), LIVE)) == ["tool_call", "empty", "empty"]
    provider = ScriptedProvider(["", "", GOOD])
    assert flaws(run(model(provider), LIVE)) == ["empty", "empty"]


def test_a_live_context_that_does_not_fit_is_not_used() -> None:
    provider = ScriptedProvider([GOOD])
    tools = (Tool(name="huge", description="word " * 9_000),)
    assert run(model(provider), replace(JOB, live=replace(SENT, tools=tools))).text == GOOD
    assert provider.requests[0].tools == ()


def test_what_is_always_sent_may_be_named() -> None:
    answer = GOOD.replace("Batches of 500.", "Batches of 500, as Rule_77 says.")
    with_rule = replace(SENT, system=(system("Rule_77: be careful."),))
    assert run(model(ScriptedProvider([answer])), replace(JOB, live=with_rule)).text == answer
    assert run(model(ScriptedProvider([answer])), JOB).doubtful == ("Batches of 500, as Rule_77 says.",)
