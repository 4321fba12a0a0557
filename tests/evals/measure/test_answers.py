"""A question is answered only where its answer stands near what links it."""

from __future__ import annotations

from octavo.evals.measure.answers import AskedQuestion, mark, prepare

TEXTS = [
    "Anna: I painted the kitchen blue last week.",
    "Ben: Nice. My sister bought a sofa.",
    "Anna: And the hall will be painted green.",
    *[f"Ben: small talk number {n} about the weather" for n in range(40)],
]
COLOUR = AskedQuestion(
    text="Which colour did Anna paint the kitchen?", answer="blue", evidence=(0,), kind="colour"
)


def answered(text: str, question: AskedQuestion = COLOUR) -> bool | None:
    return mark(prepare(TEXTS, [question], ["Anna", "Ben"]), text)[0].answered


def test_the_answer_next_to_its_link_counts() -> None:
    assert answered("A kitchen in blue") is True


def test_the_answer_without_its_link_is_an_accident() -> None:
    assert answered("The sky is blue") is False


def test_the_link_without_the_answer_is_none() -> None:
    assert answered("She painted the kitchen") is False


def test_an_answer_that_is_not_in_the_evidence_cannot_be_told() -> None:
    assert answered("kitchen azure", AskedQuestion(text="kitchen?", answer="azure", evidence=(0,))) is None
    assert answered("kitchen", AskedQuestion(text="Painted?", answer="yes", evidence=(0,))) is None
    assert answered("kitchen", AskedQuestion(text="Who?", answer="Anna", evidence=(0,))) is None


def test_an_answer_from_two_messages_needs_both() -> None:
    both = AskedQuestion(text="Which colours are painted?", answer="blue and green", evidence=(0, 2))
    assert answered("painted the kitchen blue ... painted the hall green", both) is True
    found = mark(prepare(TEXTS, [both], ["Anna", "Ben"]), TEXTS[0])[0]
    assert (found.answered, found.share, found.covered) == (False, 0.5, 0.5)


def test_evidence_is_covered_when_most_of_it_survives_together() -> None:
    exam = prepare(TEXTS, [COLOUR])
    assert mark(exam, TEXTS[0])[0].covered == 1.0
    assert mark(exam, "blue")[0].covered == 0.0
    scattered = "Anna painted the kitchen " + "and so on " * 60 + "blue last week"
    assert mark(exam, scattered)[0].covered == 0.0


def test_marks_know_how_old_the_evidence_is_and_of_which_kind() -> None:
    late = AskedQuestion(text="Which number?", answer="39", evidence=(len(TEXTS) - 1, 2))
    first, second = mark(prepare(TEXTS, [COLOUR, late]), "")
    assert (first.age, first.kind, first.share) == (0.0, "colour", 0.0)
    assert second.age == 2 / (len(TEXTS) - 1)


def test_evidence_of_nothing_but_function_words_covers_nothing() -> None:
    found = mark(
        prepare(["it is", "so"], [AskedQuestion(text="is it?", answer="it", evidence=(0,))]), "it is"
    )
    assert (found[0].answered, found[0].covered) == (None, 0.0)


def test_a_question_without_evidence_is_never_answered() -> None:
    found = mark(prepare(["a kitchen"], [AskedQuestion(text="?", answer="blue", evidence=())]), "blue")
    assert (found[0].answered, found[0].covered, found[0].share) == (None, 0.0, 0.0)
