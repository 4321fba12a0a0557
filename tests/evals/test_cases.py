"""Built-in conversations: the same in every run, answerable from the whole, and by nothing else."""

from __future__ import annotations

import pytest

from octavo.core.protocol import ANTHROPIC, check
from octavo.evals.cases import built_in
from octavo.evals.compressors import meter_of
from octavo.evals.measure.answers import mark
from octavo.evals.measure.score import Case, Ruler, make_ruler
from octavo.evals.measure.texts import text_of

CASES = built_in()
COUNT = meter_of("chars4").count_message


@pytest.fixture(scope="module")
def rulers() -> list[Ruler]:
    return [make_ruler(case, COUNT) for case in CASES]


def test_the_same_seed_makes_the_same_conversations() -> None:
    assert built_in() == CASES
    assert built_in(1) != CASES


def test_there_is_something_of_everything() -> None:
    assert {case.set for case in CASES} == {"chats", "runs", "languages", "branches"}
    kinds = {question.kind for case in CASES for question in case.questions}
    assert kinds == {"fact", "decision", "constraint", "preference", "renamed", "changed", "needle"}
    assert {case.name for case in CASES} >= {
        "German",
        "French",
        "Spanish",
        "Russian",
        "Chinese",
        "Japanese",
        "Arabic",
    }
    assert any(case.pins for case in CASES)
    assert any(case.elsewhere for case in CASES)
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_they_can_be_sent_anywhere(case: Case) -> None:
    assert check(case.messages, ANTHROPIC) == ()


def test_every_question_is_answered_by_the_whole_conversation(rulers: list[Ruler]) -> None:
    for ruler in rulers:
        assert ruler.exam is not None
        assert all(found.answered for found in mark(ruler.exam, text_of(ruler.case.messages))), (
            ruler.case.name
        )


def test_hardly_a_question_is_answered_by_another_conversation(rulers: list[Ruler]) -> None:
    """An answer that turns up by accident flatters every compressor; names come again, so a few do."""
    found: list[bool | None] = []
    for ruler in rulers:
        other = next(case for case in CASES if case.set == ruler.case.set and case.group != ruler.case.group)
        assert ruler.exam is not None
        found += [one.answered for one in mark(ruler.exam, text_of(other.messages))]
    assert sum(map(bool, found)) <= 0.05 * len(found)


@pytest.mark.parametrize("set", ["chats", "runs", "languages"])
def test_no_question_is_answered_without_the_message_that_holds_the_answer(
    rulers: list[Ruler], set: str
) -> None:
    """The older value of what changed is no answer either."""
    ruler = next(ruler for ruler in rulers if ruler.case.set == set)
    assert ruler.exam is not None
    for number, key in enumerate(ruler.exam.keys):
        rest = [message for at, message in enumerate(ruler.case.messages) if at not in key.evidence]
        assert not mark(ruler.exam, text_of(rest))[number].answered, key.question.text


def test_pins_stand_in_their_conversation_and_runs_need_names_later(rulers: list[Ruler]) -> None:
    for ruler in rulers:
        assert all(pin in text_of(ruler.case.messages) for pin in ruler.case.pins)
        if ruler.case.set == "runs":
            assert ruler.needs is not None
            assert len(ruler.needs.needed) >= 5


def test_branches_have_words_of_their_own() -> None:
    for case in CASES:
        if case.set == "branches":
            assert case.elsewhere
            assert not any(word in text_of(case.messages).lower().split() for word in case.elsewhere)
