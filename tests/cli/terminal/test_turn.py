"""A turn on the screen, event by event."""

from __future__ import annotations

import io

import pytest

from octavo.cli.lines import line
from octavo.cli.terminal.screen import Screen
from octavo.cli.terminal.turn import TurnView
from octavo.core.messages import assistant
from octavo.core.reply import Reply
from octavo.core.verify import Problem
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    AnswerText,
    CompressionEnded,
    CompressionStarted,
    Failed,
    MessageStored,
    Preparing,
    Rejected,
    Skipped,
    SummaryText,
)
from octavo.testing import talk
from tests.cli.kit import Terminal

NODE = talk("u: hello")[0]


def view() -> tuple[TurnView, io.BytesIO]:
    raw = io.BytesIO()
    screen = Screen(Terminal(raw, encoding="utf-8"), {"NO_COLOR": "1"})
    return TurnView(screen, lambda: line("status")), raw


def last_drawing(raw: io.BytesIO) -> str:
    return raw.getvalue().decode().rpartition("\x1b[?25l")[2]


def test_a_compression_has_a_spinner_with_words_and_a_count() -> None:
    turn, raw = view()
    turn.take(CompressionStarted(urgency="manual", messages=24, tokens=5_210))
    turn.tick()
    assert last_drawing(raw) == "⠙ Compressing 24 messages (5,210 tokens) …\nstatus"
    turn.take(SummaryText("x" * 1_200))
    turn.tick()
    assert (
        last_drawing(raw) == "⠹ Compressing 24 messages (5,210 tokens) … · 1,200 characters written\nstatus"
    )
    turn.take(CompressionEnded(Skipped("nothing")))
    assert raw.getvalue().decode().endswith("Nothing to compress: the last turn always stays as it is.\n")
    before = raw.getvalue()
    turn.tick()
    assert raw.getvalue() == before


@pytest.mark.parametrize(
    "outcome",
    [Failed("the model is asleep"), Rejected((Problem("protocol", "a result is missing"),), 900, 800)],
)
def test_a_failure_is_told_where_complaints_go_and_an_answer_makes_up_for_a_compression(
    outcome: Failed | Rejected,
) -> None:
    results, complaints = io.BytesIO(), io.BytesIO()
    screens = [Screen(io.TextIOWrapper(raw, encoding="utf-8"), {}) for raw in (results, complaints)]
    turn = TurnView(screens[0], lambda: line("status"), complaints=screens[1])
    turn.take(CompressionEnded(outcome))
    assert turn.failed
    assert (results.getvalue(), bool(complaints.getvalue())) == (b"", True)
    turn.take(Answered(NODE, Reply(message=assistant("Yes."))))
    assert not turn.failed
    turn.take(AnswerFailed("the model is asleep", "ProviderError", retryable=True))
    assert turn.failed
    assert b"No answer" in complaints.getvalue()
    assert b"No answer" not in results.getvalue()


def test_finished_parts_of_an_answer_are_printed_once() -> None:
    turn, raw = view()
    for event in (
        MessageStored(NODE),
        Preparing("soft"),
        AnswerText("one\n\n"),
        AnswerText("two"),
        AnswerText(" three"),
    ):
        turn.take(event)
    turn.draw(at_once=True)
    assert last_drawing(raw) == "two three\nstatus"
    turn.take(Answered(NODE, Reply(message=assistant("one\n\ntwo three"))))
    assert raw.getvalue().decode().endswith("\x1b[J\x1b[?25h\ntwo three\n")
    assert raw.getvalue().decode().count("\x1b[?25hone\n") == 1


def test_thinking_is_shown_as_thinking_only() -> None:
    turn, raw = view()
    turn.take(AnswerText("let me see", "reasoning"))
    turn.tick()
    assert last_drawing(raw) == "⠙ Thinking …\nstatus"
    assert b"let me see" not in raw.getvalue()


def test_what_was_said_before_a_failure_stays() -> None:
    turn, raw = view()
    turn.take(AnswerText("half an ans"))
    turn.take(AnswerFailed("gone", "ProviderError", retryable=True, node=NODE))
    assert "half an ans\nNo answer" in raw.getvalue().decode().replace("\x1b[1;31m", "").replace(
        "\x1b[1m", ""
    )
