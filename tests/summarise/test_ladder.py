"""Cases 35-47, 106, 107, 109: one request, its answer, and what follows a bad one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from octavo.core.ask.forms import prepare, whole
from octavo.core.budget import MARGIN
from octavo.core.messages import Message
from octavo.core.protocol import ANTHROPIC, GEMINI, OPENAI, Rules, check
from octavo.core.reply import Delta, Finish, Request, Usage
from octavo.core.summary import SummaryJob
from octavo.errors import BadReply, RateLimited
from octavo.protocols import Summariser
from octavo.summarise.calls import ENVELOPE
from octavo.summarise.prompts import packaged
from octavo.testing import ScriptedProvider, talk
from tests.summarise.providers import Answering, Breaking
from tests.summarise.shared import CALL, GOOD, JOB, TALK, TERSE, flaws, model, reply, run, words


def test_it_is_a_summariser() -> None:
    assert isinstance(model(ScriptedProvider([])), Summariser)


def test_a_good_answer_is_the_narrative_and_says_where_it_comes_from() -> None:
    provider = ScriptedProvider([GOOD])
    told: list[str] = []
    narrative = run(model(provider), JOB, told)
    assert narrative.text == GOOD
    assert (narrative.model, narrative.prompt) == ("m", "default@1")
    assert not narrative.problems
    assert not narrative.doubtful
    assert narrative.usage == Usage(input=narrative.usage.input, output=words(GOOD))
    assert "".join(told) == GOOD


def test_what_is_told_of_a_text_that_is_written_again_begins_anew() -> None:
    """Planted: nothing told in between; whoever watched read the refused text and the good one as one."""
    told: list[str] = []
    run(model(ScriptedProvider([POEM, GOOD])), JOB, told)
    assert told.count("") == 1
    assert "".join(told[: told.index("")]) == POEM
    assert "".join(told[told.index("") :]) == GOOD


def test_an_answer_has_room_for_thinking_and_no_tools() -> None:
    provider = ScriptedProvider([GOOD, GOOD, GOOD])
    run(
        model(provider, window=100_000, max_output=30_000, temperature=0.0, options='{"a":1}'),
        replace(JOB, cap=1_000),
    )
    run(model(provider, window=100_000, max_output=30_000), JOB)
    run(model(provider, max_output=1_000), JOB)
    assert [request.max_output for request in provider.requests] == [4_000, 2_048, 1_000]
    first = provider.requests[0]
    assert (first.tools, first.stable, first.temperature, first.options) == ((), 0, 0.0, '{"a":1}')


@pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC, GEMINI], ids=lambda rules: rules.name)
def test_requests_obey_every_provider_and_the_marker_stands_alone(rules: Rules) -> None:
    """Case 36."""
    provider = ScriptedProvider([GOOD], rules=rules)
    run(model(provider), JOB)
    messages = provider.requests[0].messages
    assert check(messages, rules) == ()
    parts = [part.text for message in messages for part in message.parts if hasattr(part, "text")]
    assert len([text for text in parts if re.fullmatch(r"<cutoff-[0-9a-f]{12}/>", text)]) == 1


CHINESE = (
    "## 背景\n导入大文件时失败，因为它一次读取所有行。用户不想改动配置。\n"
    "## 要点\n现在分批读取，每批五百行，顺序不变。\n## 决定\n已完成。"
)
GERMAN = (
    "## Kontext\nDer Import ist bei den großen Dateien nicht gut, und wir haben noch keine Lösung für das Problem.\n"
    "## Punkte\n- Er liest alle Zeilen auf einmal, und das ist zu viel.\n## Beschlüsse\nEs wird in Teilen gelesen."
)
HEADINGS = "## Context\n## Key Points\n## Decisions\n"
INVENTED = "## Context\nLimit 9,999.\n## Key Points\n- See src/other.py\n- Port 8443\n## X\n(none)"
POEM = "Roses are red, big files are blue, the import reads batches and so do you."
WHOLE = "\n".join(node.message.text for node in TALK)
BAD: list[tuple[str, str | Message, Finish, str]] = [
    ("empty", "", "stop", "empty"),
    ("whitespace", " \n\t ", "stop", "empty"),
    ("tags only", "<summary></summary>", "stop", "scratchpad"),
    ("empty state", "<state_snapshot><goal></goal></state_snapshot>", "stop", "empty"),
    ("scratchpad only", "<scratchpad>The user wants a fix.</scratchpad>", "stop", "scratchpad"),
    ("refusal", "I'm sorry, but I can't help with that.", "stop", "refused"),
    ("refused by the provider", GOOD, "refusal", "refused"),
    ("truncated", GOOD, "length", "truncated"),
    ("cancelled", GOOD, "cancelled", "truncated"),
    ("tool call", CALL, "tool_calls", "tool_call"),
    (
        "longer than the input",
        f"{GOOD}\n{WHOLE}\nAnd now in other words:\n{WHOLE.title()}",
        "stop",
        "not_smaller",
    ),
    ("wrong script", CHINESE, "stop", "language"),
    ("wrong language", GERMAN, "stop", "language"),
    ("obeys the history", POEM, "stop", "format"),
    ("a remark", "Done!", "stop", "empty"),
    ("loop", HEADINGS + "The import fails on big files.\n" * 30, "stop", "loop"),
    ("loop in a line", HEADINGS + "the import fails " * 90, "stop", "loop"),
    ("inventions", INVENTED, "stop", "unfounded"),
]


@pytest.mark.parametrize(("name", "answer", "finish", "flaw"), BAD, ids=[row[0] for row in BAD])
def test_a_bad_answer_is_tried_once_more_tersely_and_the_better_one_is_used(
    name: str, answer: str | Message, finish: Finish, flaw: str
) -> None:
    """Cases 38, 40, 41, 45, 106, 109."""
    provider = ScriptedProvider([reply(answer, finish), reply(TERSE, "stop")])
    narrative = run(model(provider), JOB)
    assert narrative.text == TERSE, name
    assert flaws(narrative) == [flaw]
    assert narrative.usage.output == 14
    first, second = provider.requests
    assert "Be complete and exact" in first.messages[0].text
    assert "Be brief" in second.messages[0].text
    assert "An earlier attempt could not be used" in second.messages[-1].text


@pytest.mark.parametrize(("name", "answer", "finish", "flaw"), BAD, ids=[row[0] for row in BAD])
def test_two_bad_answers_are_given_up_and_no_sentence_stands_in(
    name: str, answer: str | Message, finish: Finish, flaw: str
) -> None:
    provider = ScriptedProvider([reply(answer, finish), reply(answer, finish), reply(GOOD, "stop")])
    narrative = run(model(provider), JOB)
    assert narrative.text == "", name
    assert flaws(narrative) == [flaw, flaw]
    assert narrative.doubtful == ()
    assert len(provider.requests) == 2


def test_repeated_and_invented_lines_are_dropped_without_another_call() -> None:
    answer = GOOD.replace(
        "Batches of 500.",
        "Batches of 500.\n- It took 1,977 hours.\n- src/importer.py read all rows at once (line 41).",
    )
    provider = ScriptedProvider([answer])
    narrative = run(model(provider), JOB)
    assert narrative.text == GOOD
    assert narrative.doubtful == ("- It took 1,977 hours.",)
    assert narrative.problems == ()


def test_what_only_the_recent_messages_say_is_not_part_of_the_summary() -> None:
    """Whatever moves the marker in a model's mind: lines that name things from behind it are dropped."""
    recent = talk("u: Now rename it to loader_v2.py.")
    answer = GOOD.replace("Batches of 500.", "Batches of 500.\n- Rename it to loader_v2.py.")
    narrative = run(model(ScriptedProvider([answer])), replace(JOB, recent=recent))
    assert narrative.text == GOOD
    assert narrative.doubtful == ("- Rename it to loader_v2.py.",)


def test_an_answer_that_is_far_too_long_is_asked_for_again_and_thinned_out_if_that_does_not_help() -> None:
    lines = [line for node in TALK for line in node.message.text.split(", ")]
    long = GOOD + "\n" + "\n".join(f"- {line}" for line in lines)
    job = replace(JOB, cap=60, covered=TALK * 3)
    narrative = run(model(ScriptedProvider([long, TERSE])), job)
    assert (narrative.text, flaws(narrative)) == (TERSE, ["too_long"])
    narrative = run(model(ScriptedProvider([long, ""])), job)
    assert flaws(narrative) == ["too_long", "empty"]
    assert 0 < words(narrative.text) <= 60
    assert narrative.text.startswith("## Context")


def test_a_true_answer_without_its_sections_is_better_than_none() -> None:
    plain = (
        "src/importer.py read all rows at once (line 41). It reads batches of 500 now. Never touch prod.toml."
    )
    assert run(model(ScriptedProvider([plain, TERSE])), JOB).text == TERSE
    narrative = run(model(ScriptedProvider([plain, POEM])), JOB)
    assert (narrative.text, flaws(narrative)) == (plain, ["format", "format"])


def test_a_concise_job_is_asked_for_concisely_both_times() -> None:
    provider = ScriptedProvider(["", TERSE])
    run(model(provider), replace(JOB, style="concise"))
    assert ["Be brief" in request.messages[0].text for request in provider.requests] == [True, True]


def test_errors_of_the_provider_go_up_as_they_are() -> None:
    with pytest.raises(RateLimited):
        run(model(ScriptedProvider([RateLimited("slow down")])), JOB)
    with pytest.raises(BadReply, match="breaking ended its answer"):
        run(model(Breaking()), JOB)


def test_nothing_to_summarise_is_said_without_a_call() -> None:
    provider = ScriptedProvider([])
    narrative = run(model(provider), SummaryJob(covered=()))
    assert (narrative.text, flaws(narrative), provider.requests) == ("", ["empty"], [])


def test_reasoning_is_not_told_as_text() -> None:
    class Thinking(ScriptedProvider):
        async def stream(self, request: Request):  # type: ignore[no-untyped-def]
            yield Delta("hm", kind="reasoning")
            async for chunk in super().stream(request):
                yield chunk

    told: list[str] = []
    run(model(Thinking([GOOD])), JOB, told)
    assert "".join(told) == GOOD


def test_the_state_prompt_ends_in_a_state_without_its_scratchpad() -> None:
    goal = "<overall_goal>\nThe import of big files works; prod.toml untouched.\n</overall_goal>"
    state = f"<state_snapshot>\n{goal}\n</state_snapshot>"
    provider = ScriptedProvider([f"<scratchpad>\nLine 41, 77 things.\n</scratchpad>\n{state}"])
    narrative = run(model(provider), replace(JOB, prompt="state"))
    assert (narrative.text, narrative.prompt) == (state, "state@1")


def test_a_summary_in_the_language_of_the_conversation_is_accepted() -> None:
    """Case 106."""
    german = talk(
        "u: Der Import schlägt bei großen Dateien fehl. Bitte finde heraus, warum das so ist und wie wir es lösen.",
        "a: Er liest alle Zeilen auf einmal. Ich kann es so ändern, dass er immer 500 Zeilen auf einmal liest.",
        "u: Ja, mach das bitte, aber die Reihenfolge der Zeilen muss so bleiben, wie sie jetzt ist, für den Bericht.",
    )
    answer = (
        "## Kontext\nDer Import schlug bei großen Dateien fehl.\n"
        "## Punkte\n- Er liest jetzt 500 Zeilen auf einmal.\n## Beschlüsse\nDie Reihenfolge bleibt."
    )
    provider = ScriptedProvider([answer])
    assert run(model(provider), SummaryJob(covered=german)).text == answer
    assert "Write in German" in provider.requests[0].messages[0].text


def test_a_second_look_may_correct_the_draft() -> None:
    better = GOOD.replace("Batches of 500.", "Batches of 500, in the same order.")
    provider = ScriptedProvider([GOOD, better])
    narrative = run(model(provider, second_look=True), JOB)
    assert narrative.text == better
    assert "You check the draft" in provider.requests[1].messages[0].text
    assert any("src/importer.py read all rows" in message.text for message in provider.requests[1].messages)


@pytest.mark.parametrize("answer", ["", "Looks good to me!", "<summary> </summary>"])
def test_a_second_look_that_says_nothing_leaves_the_first_answer(answer: str) -> None:
    """Case 44."""
    narrative = run(model(ScriptedProvider([GOOD, answer]), second_look=True), JOB)
    assert narrative.text == GOOD
    assert len(narrative.problems) == 1


def test_there_is_no_second_look_at_nothing_or_at_what_does_not_fit() -> None:
    assert run(model(ScriptedProvider(["", ""]), second_look=True), JOB).text == ""
    job = replace(JOB, prompt="dense", covered=TALK * 20)
    asked = whole(prepare(job, packaged(), room=100, measure=words), "detailed")
    output = 150
    window = int((sum(words(message.text) + ENVELOPE for message in asked) + output) / (1 - MARGIN)) + 2
    provider = ScriptedProvider([GOOD])
    assert run(model(provider, window=window, max_output=output, second_look=True), job).text == GOOD
    assert len(provider.requests) == 1


def test_twenty_rounds_stay_bounded_and_keep_an_early_fact_and_constraint() -> None:
    """Case 47, with a model that does what it is told: it carries the previous summary over and adds the new."""

    def faithful(request: Request) -> str:
        text = "\n".join(message.text for message in request.messages[1:])
        kept = list(dict.fromkeys(re.findall(r"- (?:fact|rule) \w+ .*", text)))
        new = [f"- fact {n} is noted" for n in re.findall(r"remember fact (\w+)", text)]
        rules = [f"- rule {n} holds" for n in re.findall(r"rule (\w+) must hold", text)]
        return (
            "## Context\nNotes.\n## Key Points\n"
            + "\n".join(dict.fromkeys(kept + new + rules))
            + "\n## Decisions\n(none)"
        )

    previous = ""
    for n in range(20):
        lines = [
            "u: " + ("rule one must hold. " if n == 0 else "") + f"Please remember fact {n}00.",
            "a: " + "I will do that for you now. " * 20,
        ]
        provider = Answering(faithful)
        narrative = run(model(provider), SummaryJob(covered=talk(*lines), previous=previous, cap=150))
        assert words(narrative.text) <= 150
        assert narrative.problems == ()
        previous = narrative.text
    assert "- rule one holds" in previous
    assert "- fact 000 is noted" in previous
    assert "- fact 1900 is noted" in previous
