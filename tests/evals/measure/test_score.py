"""A ruler laid on results: what applies is measured, what does not is absent."""

from __future__ import annotations

from dataclasses import replace

from octavo.core.messages import Message, system, user
from octavo.evals.measure.answers import AskedQuestion
from octavo.evals.measure.score import BRANCH_ROOM, METRICS, Case, Score, make_ruler, measure, written
from octavo.testing import WordMeter, messages

count = WordMeter().message
TALK = messages(
    "s: Be brief.",
    "u: We decided to paint the kitchen blue.",
    "a: A fine choice for a kitchen.",
    "u: The hall needs 7734 tiles from tile_shop_a.",
    "a: I note 7734 tiles.",
)
CASE = Case(
    name="talk",
    group="talk",
    set="talks",
    messages=TALK,
    questions=(
        AskedQuestion(text="Which colour for the kitchen?", answer="blue", evidence=(1,), kind="colour"),
    ),
    future=messages("a: I order 7734 from tile_shop_a."),
    pins=("7734 tiles",),
    elsewhere=frozenset({"garden"}),
)
RULER = make_ruler(CASE, count)


def value(metric: str, score: Score) -> list[float]:
    return [number for _, number in METRICS[metric].read(score)]


def test_what_is_kept_whole_scores_full() -> None:
    score = measure(RULER, TALK, 1_000)
    for name in ("index", "answers", "old_answers", "evidence", "recall", "grounded", "soon", "facts"):
        assert value(name, score) == [1.0], name
    assert value("decisions", score) == [1.0]
    assert value("pins", score) == [1.0, 1.0]
    assert (value("kept", score), value("over", score), value("valid", score)) == ([1.0], [0.0], [1.0])
    assert (value("leak", score), value("deep", score), value("traced", score)) == ([0.0], [], [])


def test_what_is_empty_keeps_nothing() -> None:
    score = measure(RULER, TALK[:1], 1_000)
    for name in ("index", "answers", "evidence", "recall", "grounded", "facts", "kept"):
        assert value(name, score) == [0.0], name
    assert value("pins", score) == [1.0, 0.0]


def test_deep_is_what_lies_outside_the_newest_tokens() -> None:
    score = measure(RULER, TALK, 3)
    assert value("deep", score) == [1.0]
    assert value("over", score) == [1.0]


def test_the_whole_is_the_upper_end_whatever_the_budget() -> None:
    end = measure(RULER, TALK, 5, whole=True)
    assert (value("index", end), value("over", end)) == ([1.0], [1.0])
    assert value("index", measure(RULER, TALK, 5, wrong=("unreadable",), whole=True)) == [0.0]


def test_what_cannot_be_sent_has_no_index() -> None:
    over = measure(RULER, TALK, 5)
    broken = measure(RULER, TALK, 1_000, wrong=("unreadable",))
    assert (value("answers", over), value("index", over), value("index", broken)) == ([1.0], [0.0], [0.0])
    assert value("valid", broken) == [0.0]


def test_a_leak_is_seen() -> None:
    assert value("leak", measure(RULER, (*TALK, user("in the garden")), 1_000)) == [1.0]


def test_new_lines_are_traced() -> None:
    made = (TALK[0], user("U: The hall needs 7734 tiles from tile_shop_a.\nU: And a garden with roses"))
    assert value("traced", measure(RULER, made, 1_000)) == [0.5]


def test_what_does_not_apply_is_absent() -> None:
    bare = Case(name="b", group="b", set="s", messages=messages("u: so it is", "a: it is so"))
    score = measure(make_ruler(bare, count), bare.messages, 100)
    absent = (
        "answers",
        "old_answers",
        "evidence",
        "recall",
        "grounded",
        "deep",
        "soon",
        "facts",
        "decisions",
    )
    assert all(value(name, score) == [] for name in (*absent, "pins", "leak", "index"))
    empty = replace(bare, messages=())
    assert value("kept", measure(make_ruler(empty, count), (), 100)) == []


def test_without_questions_the_index_is_names_and_without_those_facts() -> None:
    named = make_ruler(replace(CASE, questions=()), count)
    made = (TALK[0], user("7734"))
    assert value("index", measure(named, made, 1_000)) == value("grounded", measure(named, made, 1_000))
    factual = make_ruler(replace(CASE, questions=(), future=()), count)
    assert (
        value("index", measure(factual, made, 1_000))
        == value("facts", measure(factual, made, 1_000))
        != [0.0]
    )


def test_a_future_that_needs_nothing_asks_nothing() -> None:
    aimless = make_ruler(replace(CASE, future=messages("a: Goodbye.")), count)
    assert aimless.needs is None


def test_questions_that_cannot_be_told_do_not_count() -> None:
    odd = replace(CASE, questions=(AskedQuestion(text="kitchen?", answer="azure", evidence=(1,)),))
    score = measure(make_ruler(odd, count), TALK, 1_000)
    assert (value("answers", score), value("old_answers", score), value("evidence", score)) == ([], [], [1.0])


def test_budgets_are_shares_or_tokens_and_leave_the_system_prompt_out() -> None:
    alone = make_ruler(replace(CASE, elsewhere=frozenset()), count)
    assert alone.budget(0.5) == alone.system_tokens + int(alone.tokens * 0.5)
    assert alone.budget(40) == 40


def test_a_share_of_a_short_branch_has_room_for_its_newest_message() -> None:
    newest = count(TALK[-1])
    assert RULER.budget(0.5) == RULER.system_tokens + newest + BRANCH_ROOM
    assert RULER.budget(40) == 40


def test_only_the_original_system_prompt_is_left_aside() -> None:
    summary: Message = system("Summary: the kitchen is blue.")
    assert written(RULER, (TALK[0], summary, TALK[1])) == (summary, TALK[1])
    assert value("answers", measure(RULER, (TALK[0], summary), 1_000)) == [1.0]
