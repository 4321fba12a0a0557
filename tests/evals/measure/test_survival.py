"""Facts, decisions, pins, branches, traces and validity of what was made of a conversation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from octavo.core.extract.render import render
from octavo.core.messages import Message, Text, ToolCall, place, system, user
from octavo.core.receipt import receipt
from octavo.core.snapshot import Extract
from octavo.evals.measure.survival import date_facts, intact, leaked, survivals
from octavo.evals.measure.texts import call_text, message_text, text_of
from octavo.evals.measure.trace import Origins, trace
from octavo.evals.measure.validity import overruns, problems
from octavo.testing import messages, talk

CHAT = messages(
    "u: We decided to use PostgreSQL for the ledger database.",
    "a: Fine. It listens on port 5433, see /etc/ledger.toml.",
    "u: Now tell me about the garden.",
    "a: It grows.",
)
RUN = messages(
    "s: Be brief.",
    "u: Read the settings of the exporter, please.",
    "a: I read them now.",
    'c: read_file {"path": "src/exporter.toml"}',
    "r: port = 7421 for the metrics\nretries = 3 before the alarm",
    "c: status {}",
    "r: all twelve workers are healthy today",
)


def test_facts_are_those_of_the_receipt_and_so_are_their_fates() -> None:
    """One implementation: the counts of a receipt and of the measure are the same."""
    branch = place(CHAT)
    text = "PostgreSQL, port 5433"
    paper = receipt(branch, sent=text, narrative=text)
    found = survivals(date_facts(branch), text)
    for tally in paper.tallies:
        mine = [one for one in found if one.kind == tally.kind]
        assert len(mine) == tally.count
        assert sum(one.kept for one in mine) == tally.verbatim_count + tally.told_count
    assert {one.kind for one in found} == {tally.kind for tally in paper.tallies}


def test_a_fact_knows_how_old_it_is() -> None:
    ages = {dated.fact.text: dated.age for dated in date_facts(place(CHAT))}
    assert ages["5433"] == 1 / 3
    assert ages["We decided to use PostgreSQL for the ledger database."] == 0.0


def test_a_decision_may_be_retold() -> None:
    fates = {
        one.kind: one.fate
        for one in survivals(date_facts(place(CHAT)), "For the ledger they decided on a PostgreSQL database.")
    }
    assert fates["decision"] == "told"
    assert fates["path"] == "lost"


def test_a_pin_is_intact_or_not() -> None:
    assert intact(["Never use 8080.", "Always ask."], "x Never use 8080. y always ask.") == (True, False)


def test_words_of_other_branches_leak() -> None:
    elsewhere = frozenset({"red", "blue"})
    assert leaked(elsewhere, ["A red house.", "It is green."], frozenset({"hous", "green"})) == 0.5
    assert leaked(frozenset(), ["red"], frozenset()) == 0.0


def test_what_a_compressor_says_about_itself_is_no_leak() -> None:
    elsewhere = frozenset({"earlier", "messag", "u", "gre"})
    written = '<earlier messages="4">\n[Earlier messages in order.]\nU: The house is gre'
    assert leaked(elsewhere, [written], frozenset({"hous", "green"})) == 0.0
    # The same letters are a word where nothing was cut off, and a sentence is none the less one in brackets.
    assert leaked(elsewhere, ["gre is a unit"], frozenset({"hous"})) == 0.25
    assert leaked(elsewhere, ["[" + "There was an earlier one. " * 4 + "]"], frozenset()) == 0.25


def test_a_message_is_written_out_with_its_calls_and_results() -> None:
    assert message_text(RUN[2]) == "I read them now.\nread_file path: src/exporter.toml"
    assert text_of(RUN[3:5]).startswith("port = 7421")
    assert call_text(ToolCall(id="1", name="f", input='{"a": [1, "x"], "b": "y"}')) == 'f a: [1, "x"]\nb: y'
    assert call_text(ToolCall(id="1", name="f", input="not json")) == "f not json"


def traced(*lines: str) -> tuple[int, int]:
    found = trace(Origins(RUN[1:]), [user("\n".join(lines))])
    return found.traceable, found.lines


def test_what_somebody_said_is_found_again_without_its_marks() -> None:
    assert traced("U: Read the settings … please.", "A(Bot): I read them now.") == (2, 2)


def test_a_line_that_nobody_wrote_cannot_be_traced() -> None:
    assert traced("U: Read the settings of the importer, please.") == (0, 1)
    assert traced("please Read the settings … workers are healthy") == (0, 1)


def test_a_tools_line_needs_the_name_of_its_call_above() -> None:
    assert traced(
        "< read_file exporter.toml", "port = 7421 for the metrics", "retries = 3 before the alarm"
    ) == (2, 2)
    assert traced("port = 7421 for the metrics") == (0, 1)
    assert traced("> read_file path: src/exporter.toml", "port = 7421 for the metrics") == (2, 2)
    assert traced("< read_file importer.cfg", "port = 7421 for the metrics") == (0, 1)


def test_a_call_without_arguments_is_named_by_its_tool() -> None:
    assert traced("< status", "all twelve workers are healthy today") == (1, 1)


def test_marks_headings_and_what_is_sent_unchanged_are_not_counted() -> None:
    assert traced("[2024-05-01]", "<earlier>", "two words") == (0, 0)
    assert trace(Origins(RUN[1:]), RUN).lines == 0


def test_octavos_own_extracts_can_be_traced() -> None:
    branch = talk("u: The port of the ledger is 5433.", "a: Noted, the ledger listens there.")
    extracts = tuple(
        Extract(source=node.id, text=node.message.text, channel=node.message.role, depth=node.depth)  # type: ignore[arg-type]
        for node in branch
    )
    found = trace(Origins([node.message for node in branch]), [user(render(extracts))])
    assert (found.traceable, found.lines) == (2, 2)


def test_a_line_that_stands_everywhere_is_looked_for_only_so_often() -> None:
    same = messages(*["u: the very same line again"] * 50)
    assert len(Origins(same).places("the very same line again")) == 20


def test_what_was_valid_stays_valid() -> None:
    assert problems(RUN, RUN) == ()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (RUN[1:], "the system prompt is lost"),
        (RUN[:3], "never answered"),
        ((RUN[0], *RUN[3:]), "the first turn is the tool's"),
        ((*RUN[:2], user(" ")), "says nothing"),
        ((*RUN, system("Be loud.")), "a system message in the middle"),
    ],
)
def test_what_cannot_be_sent_is_named(made: tuple[Message, ...], why: str) -> None:
    assert any(why in problem for problem in problems(made, RUN))


def test_arguments_must_be_json() -> None:
    call = Message(role="assistant", parts=(ToolCall(id="c", name="run", input="{oops"),))
    assert "messages[0]: the arguments of run are not JSON" in problems((call,), ())


def test_a_summary_may_stand_in_the_system_prompt() -> None:
    joined = replace(RUN[0], parts=(Text(text="Be brief. Summary: all is well."),))
    assert problems((joined, *RUN[1:]), RUN) == ()


def test_a_little_over_the_budget_is_forgiven() -> None:
    assert not overruns(1_028, 1_000)
    assert overruns(1_029, 1_000)


def test_json_arguments_are_spelled_out_in_any_script() -> None:
    assert call_text(ToolCall(id="1", name="f", input=json.dumps({"q": "水泵"}))) == "f q: 水泵"
