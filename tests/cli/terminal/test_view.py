"""What the terminal says, case by case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import pytest

from octavo.cli.lines import Line, plain, width
from octavo.cli.terminal import view
from octavo.core.budget import ModelCard, Overhead, Reading, divide
from octavo.core.harden import Repair
from octavo.core.messages import assistant
from octavo.core.policy import Compress
from octavo.core.recall.passages import Passage
from octavo.core.reply import Reply
from octavo.core.snapshot import Snapshot, draft
from octavo.core.verify import Problem
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    Cancelled,
    Compressed,
    CompressionPlan,
    ContextShrunk,
    ContextUsage,
    Failed,
    Outcome,
    Recalled,
    Rejected,
    Repaired,
    Skipped,
    SkipReason,
)
from octavo.testing import talk

BRANCH = talk("u: one", "a: two", "u: three", "a: four")
SNAPSHOT = replace(
    draft(BRANCH, 2, id="s1", summary="They counted."),
    tokens_before=900,
    tokens_after=90,
    model="gpt-4o-mini",
)
BUDGET = divide(ModelCard(name="m", window=10_000, max_output=2_000), overhead=Overhead(system=100))


def shown(lines: Iterable[Line]) -> list[str]:
    return [plain(each) for each in lines]


def usage(tokens: int, *, bound: int = 0, assumed: bool = False) -> ContextUsage:
    reading = Reading(
        tokens=tokens, error_bound=bound, breakdown=(("system", 100), ("retained", tokens - 100))
    )
    level = "hard" if tokens > BUDGET.hard else "soft" if tokens > BUDGET.trigger else "calm"
    return ContextUsage(
        reading=reading,
        budget=BUDGET,
        model="gpt-4o",
        assumed=assumed,
        percent=100 * BUDGET.used(tokens),
        left=BUDGET.left(tokens),
        next_at=BUDGET.trigger,
        next_in=BUDGET.left(tokens, BUDGET.trigger),
        level=level,  # type: ignore[arg-type]
    )


def test_success_names_both_sizes() -> None:
    outcome = Compressed(snapshot=SNAPSHOT, before=5_000, after=1_200, urgency="manual")
    assert shown(view.outcome_lines(outcome)) == [
        "Chat history compressed from 5,000 to 1,200 tokens",
        "2 messages compressed (summary by gpt-4o-mini); /summary shows it, /undo brings them back.",
    ]


def rejected(flaw: str, before: int, after: int) -> Rejected:
    return Rejected((Problem(flaw, f"{before} → {after}"),), before, after)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "first"),
    [
        (rejected("not_smaller", 49_999, 50_500), "Compression was not beneficial for this history size"),
        (
            rejected("not_smaller", 50_000, 50_500),
            "Chat history compression did not reduce size. Continuing with full history.",
        ),
        (rejected("not_smaller", 5_000, 0), "Could not compress chat history due to a token counting error"),
        (
            rejected("coverage", 5_000, 900),
            "The compressed history was not usable; the history is unchanged.",
        ),
        (Skipped("nothing"), "Nothing to compress: the last turn always stays as it is."),
        (Failed("rate limited"), "Compression failed: rate limited"),
        (Cancelled(), "Compression stopped. Nothing was changed."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_failures_are_told_apart_with_what_to_do(outcome: Outcome, first: str) -> None:
    """The cases of the Gemini seed, and ours."""
    said = shown(view.outcome_lines(outcome))
    assert said[0] == first
    if isinstance(outcome, Rejected | Failed):
        assert len(said) == 2


@pytest.mark.parametrize("reason", get_args(SkipReason))
def test_every_reason_to_skip_has_words(reason: SkipReason) -> None:
    (said,) = shown(view.outcome_lines(Skipped(reason)))
    assert said.endswith((".", "anyway.", "at once."))


def test_what_is_not_fatal_is_told_after_success() -> None:
    problem = Problem("over_mark", "1,200 tokens, still above the mark of 1,000")
    outcome = Compressed(snapshot=SNAPSHOT, before=5_000, after=1_200, urgency="hard", problems=(problem,))
    said = shown(view.outcome_lines(outcome))[-1]
    assert said == "At first the summary left the conversation above the mark."


@pytest.mark.parametrize(
    ("tokens", "colour"), [(1_000, "good"), (5_000, "near"), (6_100, "warn"), (7_200, "bad")]
)
def test_the_gauge_changes_colour_at_the_marks(tokens: int, colour: str) -> None:
    """Prepare, soft and hard."""
    assert (BUDGET.prepare, BUDGET.soft, BUDGET.hard) == (4_910, 6_020, 7_130)
    line = view.status(usage(tokens), model="gpt-4o", columns=120)
    assert [style for style, text in line if "%" in text] == [colour]


def test_the_status_line_tells_tokens_percent_next_compression_and_model() -> None:
    line = plain(view.status(usage(1_580), model="gpt-4o", columns=120))
    assert line == " ██░░░░░░░░ 20% · 1,580 of 7,500 tokens · compresses in 4,440 tokens · gpt-4o · exact"


def test_the_status_line_tells_the_distance_in_turns_where_there_were_any() -> None:
    def distance(turns: int, typed: int = 0) -> str:
        known = replace(usage(1_580), turns=turns)
        return plain(view.status(known, model="gpt-4o", columns=120, typed=typed)).split(" · ")[2]

    assert distance(6) == "compresses in about 6 turns"
    assert distance(6, typed=3_000) == "compresses in about 1 turn"
    assert distance(0) == "compresses in less than a turn"
    assert distance(400) == "compresses in more than 100 turns"
    assert distance(6, typed=5_000) == "compresses next"


def test_what_is_typed_counts_and_what_is_estimated_says_so() -> None:
    line = plain(
        view.status(usage(1_580, bound=40, assumed=True), model="x", columns=200, typed=5_000, title="Ports")
    )
    assert "1,580 of 7,500 tokens +5,000 typed" in line
    assert "compresses next" in line
    assert "x (window assumed)" in line
    assert line.endswith("counted ±40 · Ports")


def test_an_empty_conversation_has_a_status_line() -> None:
    assert plain(view.status(None, model="", columns=80)) == " 0 tokens · no model: /model NAME"
    busy = view.status(None, model="m", columns=80, background="compressing in the background")
    assert plain(busy) == " 0 tokens · compressing in the background · m"


@pytest.mark.parametrize("columns", [10, 20, 33, 60, 90, 200])
def test_the_status_line_never_wraps(columns: int) -> None:
    line = view.status(usage(1_580), model="gpt-4o", columns=columns, typed=12, title="日本" * 30)
    assert width(plain(line)) < columns


def test_a_context_is_broken_down() -> None:
    assert shown(view.context_lines(usage(1_100), SNAPSHOT)) == [
        "gpt-4o  1,100 of 7,500 tokens, 14% of what is available to history (exact)",
        "  system prompt             100  ██",
        "  messages, verbatim      1,000  ████████████████████████",
        "window 10,000 = 2,000 for the answer + 500 margin + 100 overhead + 7,400 for the conversation",
        "marks: prepare 4,910, soft 6,020, hard 7,130; next compression above 6,020, in 4,920 tokens",
        "snapshot 2 messages compressed, 900 → 90 tokens (auto, version 1, gpt-4o-mini)",
    ]


def test_a_plan_has_its_numbers() -> None:
    plan = CompressionPlan(
        decision=Compress("manual", "asked", 1_100, 6_020),
        reading=Reading(tokens=1_100),
        budget=BUDGET,
        messages=6,
        covered=4,
        retained=2,
        covered_tokens=800,
        retained_tokens=200,
        after_cap=900,
        reason="asked for: 1,100 tokens, below the mark of 6,020",
    )
    assert shown(view.plan_lines(plan)) == [
        "Dry run  asked for: 1,100 tokens, below the mark of 6,020",
        "  covered     4 messages  800 tokens compressed now",
        "  verbatim    2 messages  200 tokens",
        "  context   1,100 tokens  at most 900 afterwards",
    ]


def test_versions_are_numbered_and_the_serving_one_is_marked() -> None:
    other = replace(
        SNAPSHOT, id="s2", version=2, kind="edited", state="undone", created="2026-01-02T03:04:05+00:00"
    )
    made = shown(view.version_lines([SNAPSHOT, other], SNAPSHOT))
    assert made[1].startswith("1*  up to message 2  version 1  auto    active  900 → 90")
    assert made[2] == "2   up to message 2  version 2  edited  undone  900 → 90  2026-01-02 03:04"


def test_a_failed_answer_says_what_is_kept_and_what_to_do() -> None:
    failed = AnswerFailed("too many\nrequests", "RateLimited", retryable=True, node=BRANCH[1])
    assert shown(view.answer_lines(failed)) == [
        "No answer: too many requests",
        "Your message is stored; what was said is kept, and /continue goes on with it; /retry asks again.",
    ]
    final = replace(failed, retryable=False, node=None)
    assert shown(view.answer_lines(final))[1].startswith("Your message is stored; change something first")


def test_the_end_of_an_answer_is_silent_unless_there_is_something_to_say() -> None:
    assert shown(view.answer_lines(Answered(BRANCH[1], Reply(message=assistant("x"))))) == []
    cut = Answered(BRANCH[1], Reply(message=assistant("x"), finish="length"))
    assert shown(view.answer_lines(cut)) == ["The answer was cut off at its longest; ask it to go on."]
    calling = Answered(BRANCH[1], Reply(message=talk("a: x", "c: look {}")[0].message))
    assert shown(view.answer_lines(calling)) == ["The model called look; the terminal chat runs no tools."]


def test_what_was_done_to_a_request_is_told() -> None:
    shrunk = ContextShrunk(notes=("2 older messages were left out",), before=9_000, after=7_000)
    assert shown(view.changed_lines(shrunk)) == [
        "The request was cut from 9,000 to 7,000 tokens so that it fits",
        "2 older messages were left out",
    ]
    repair = Repair("result", 3, "the call 'a' got the result that it was interrupted")
    assert shown(view.changed_lines(Repaired((repair,)))) == [
        "1 repair so that the provider accepts the request:",
        "  the call 'a' got the result that it was interrupted",
    ]


def test_a_snapshot_is_shown_as_the_model_reads_it() -> None:
    made: Snapshot = replace(SNAPSHOT, model="")
    assert shown(view.summary_lines(made, "They\x1b[2J counted.\nTwice."))[1:] == [
        "They␛[2J counted.",
        "Twice.",
    ]


def test_what_was_recalled_is_one_line_and_a_list() -> None:
    passage = Passage(
        source="0" * 24 + "3f9a2c1b",
        depth=1,
        channel="result",
        text="one\x1b[2J\n\ntwo",
        speaker="look",
        day="2026-01-02",
    )
    event = Recalled(node="n", passages=(passage, replace(passage, start=9)), tokens=1_200)
    assert shown(view.changed_lines(event)) == [
        "1 earlier message recalled, 1,200 tokens; /recall lists what was found"
    ]
    assert shown(view.passage_lines((passage,))) == [
        "3f9a2c1b  result (look)  2026-01-02",
        "  one␛[2J",
        "",
        "  two",
    ]
