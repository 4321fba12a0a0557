"""Cases 38-41, 109: what a model answered, cleaned and judged."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.ask.answer import (
    LEAST_SANE,
    Expected,
    JudgedAnswer,
    JudgeTask,
    clean,
    distinct,
    judge,
    judge_bullets,
    thin,
    verdict,
)
from octavo.core.ask.fences import fences
from octavo.core.ask.language import Language
from octavo.core.ask.source_check import source_text
from octavo.core.extract.changes import StandingLine
from octavo.core.messages import assistant
from octavo.core.reply import Finish, Reply

SOURCE = (
    "Ann wants the invoice limit raised to 500 in config.py, and the tests in tests/test_limit.py have to pass. "
    "Bob found that the old limit of 100 was set by a colleague and nobody knows why it is there. "
    "They agreed to deploy on Friday. The colour of the button is still open."
)
EXPECTED = Expected(
    source_text=source_text([SOURCE]), language=Language("English", "latin"), source=1_000, cap=200
)
SECTIONS = replace(EXPECTED, sections=("Context", "Key Points", "Decisions"))
GOOD = "They raised the limit to 500 in config.py.\nThe deployment is on Friday.\nThe colour is still open."


def words(text: str) -> int:
    return len(text.split())


def said(text: str, expected: Expected = EXPECTED, finish: Finish = "stop") -> JudgedAnswer:
    return judge(Reply(message=assistant(text), finish=finish), expected, words)


def flaws(draft: JudgedAnswer) -> list[str]:
    found: list[str] = [problem.flaw for problem in draft.problems]
    assert not draft.text or set(found) <= {"too_long", "format"}
    return found


def test_a_good_answer_is_kept_as_it_is() -> None:
    assert said(GOOD) == JudgedAnswer(text=GOOD)


def test_headings_and_empty_lines_say_nothing_that_could_be_wrong() -> None:
    """Seen failing with: a heading dropped for its number, and empty lines that outvote the doubtful ones."""
    text = f"## Since 2,019\n\n{GOOD}"
    assert said(text) == JudgedAnswer(text=text)
    wrong = "The port is 9,999.\n\nThe host is db_north_7.\n\nThe key is K-4711.\n\nThe colour is still open."
    assert flaws(said(wrong)) == ["unfounded"]


def test_scratchpad_wrapping_and_copied_fences_are_taken_off() -> None:
    """Case 39."""
    marker = fences(["x"]).cutoff
    wrapped = f"<scratchpad>hm</scratchpad><summary>\n```markdown\n{GOOD}\n\n\n\n{marker}\n```\n</summary>"
    assert clean(wrapped) == GOOD
    assert clean("<summary>a</summary> then <summary>b</summary>") == "a\n\nb"
    assert clean("no tags") == "no tags"


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("<summary> </summary>", "scratchpad"),
        ("<state_snapshot><goal></goal></state_snapshot>", "empty"),
        ("<scratchpad>the user wants a limit</scratchpad>", "scratchpad"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("PWNED", "empty"),
        (
            "Они подняли лимит и договорились развернуть всё в пятницу, а цвет кнопки пока не решён.",
            "language",
        ),
        (
            "Sie haben die Grenze angehoben, und es ist noch nicht klar, wie die Farbe für den Knopf wird.",
            "language",
        ),
        ("They raised the limit and then they did it again. " * 40, "loop"),
        ("\n".join(["Ann wants a limit.", "Bob agreed to it."] * 4), "loop"),
        ("The limit is 750 now.\nDeployed to prod_cluster_9 at 12:45 with 98 servers.", "unfounded"),
        ("word " * 1_000 + GOOD, "loop"),
    ],
)
def test_a_bad_answer_has_no_text_and_a_reason(text: str, flaw: str) -> None:
    assert flaws(said(text)) == [flaw]


@pytest.mark.parametrize("extra", ["", "<scratchpad>"])
def test_of_an_answer_without_measure_a_sane_part_is_looked_at(extra: str) -> None:
    """To judge a very long one took seconds; nothing of what is too much can end up in a summary anyway."""
    lines = [f"The limit is 500 in config.py, said for the {n}th time by Ann." for n in range(20_000)]
    endless = extra + "\n".join(lines)
    looked: list[int] = []

    def count(text: str) -> int:
        looked.append(len(text))
        return words(text)

    expected = replace(EXPECTED, source=10**6, source_text=source_text([SOURCE, *map(str, range(20_000))]))
    draft = judge(Reply(message=assistant(endless)), expected, count)
    assert set(flaws(draft)) <= {"too_long", "scratchpad"}
    assert flaws(draft)
    assert words(draft.text) <= EXPECTED.cap
    assert max(looked, default=0) <= LEAST_SANE
    thick = "x" * (2 * LEAST_SANE)
    assert flaws(judge(Reply(message=assistant(f"{GOOD}\n{thick}")), EXPECTED, words)) == ["too_long"]


def test_an_answer_of_the_most_characters_that_are_looked_at_is_kept_whole() -> None:
    lines = "\n".join(f"The limit is 500 in config.py, said for the {n}th time by Ann." for n in range(400))
    longest = lines[: LEAST_SANE - 9] + "\nBob said"
    expected = replace(EXPECTED, source_text=source_text([SOURCE, lines, *map(str, range(400))]))
    assert len(longest) == LEAST_SANE

    def judged(text: str) -> JudgedAnswer:
        return judge(Reply(message=assistant(text)), expected, lambda text: len(text) // 200)

    assert judged(longest) == JudgedAnswer(text=longest)
    cut_off = judged(f"{longest}.")
    assert (flaws(cut_off), cut_off.text) == (["too_long"], longest[:-9].strip())


def test_both_kinds_of_answers_are_judged_by_one_name() -> None:
    reply = Reply(message=assistant(GOOD))
    assert verdict(JudgeTask(reply=reply, expected=EXPECTED), words) == judge(reply, EXPECTED, words)
    listed = verdict(JudgeTask(reply=reply, expected=EXPECTED, bullets=True), words)
    assert listed == judge_bullets(reply, EXPECTED)


def test_a_truncated_answer_is_not_used_however_good_it_looks() -> None:
    assert flaws(said(GOOD, finish="length")) == ["truncated"]


def test_an_answer_as_large_as_its_source_is_not_used() -> None:
    """Case 41."""
    assert flaws(said(GOOD, replace(EXPECTED, source=words(GOOD)))) == ["not_smaller"]
    assert flaws(said(GOOD, replace(EXPECTED, source=words(GOOD) + 1))) == []


def test_a_few_repeated_lines_are_dropped() -> None:
    text = f"{GOOD}\n- The deployment is on Friday\n* the  deployment is on friday."
    assert said(text).text == GOOD


def test_a_line_is_long_enough_to_be_repeated_from_twelve_characters_on() -> None:
    assert distinct("abcdefghijk\nabcdefghijk") == ("abcdefghijk\nabcdefghijk", 0)
    assert distinct("abcdefghijkl\nabcdefghijkl") == ("abcdefghijkl", 1)


@pytest.mark.parametrize(("different", "repeated", "loops"), [(7, 3, False), (6, 3, True), (4, 2, False)])
def test_three_repeated_lines_are_a_loop_if_they_are_more_than_three_of_ten(
    different: int, repeated: int, *, loops: bool
) -> None:
    lines = [f"- {' '.join(PLAIN[n : n + 4])}." for n in range(different)]
    draft = said("\n".join([*lines, *lines[:repeated]]))
    assert draft == (JudgedAnswer(problems=draft.problems) if loops else JudgedAnswer(text="\n".join(lines)))
    assert flaws(draft) == ["loop"] * loops


def test_a_line_is_long_enough_for_a_loop_from_six_hundred_bytes_on() -> None:
    endless = "the limit " * 59 + "the limits"
    assert flaws(said(endless)) == ["loop"]
    assert "loop" not in flaws(said(endless[:-1], replace(EXPECTED, cap=10)))


def test_repetition_in_code_tables_and_empty_sections_is_none() -> None:
    text = "```\nreturn the_same\nreturn the_same\n```\n|-----------|\n|-----------|\n(none)\n(none)"
    assert distinct(text) == (text, 0)


def test_an_answer_in_another_form_than_asked_for_is_not_used() -> None:
    """Case 45: whatever the conversation asked for, an answer without the sections is none."""
    poem = "Roses are red and the limit is raised, Ann and Bob are to be praised, and all of it is on Friday."
    assert flaws(said(poem, SECTIONS)) == ["format"]
    assert said(poem, SECTIONS).text == ""
    assert flaws(said(GOOD, replace(EXPECTED, state=True))) == ["format"]
    assert said(f"## Context\n{GOOD}\n**Entscheidungen**\nNone.", SECTIONS).problems == ()
    state = f"<state_snapshot>\n<goal>\n{GOOD}\n</goal>\n</state_snapshot>"
    assert said(state, replace(EXPECTED, state=True)).text == state


@pytest.mark.parametrize(
    ("headings", "wanted", "missed"), [(1, 3, True), (2, 3, False), (2, 4, False), (2, 5, True), (0, 1, True)]
)
def test_half_of_the_sections_are_enough(headings: int, wanted: int, *, missed: bool) -> None:
    text = "\n".join([GOOD, *(f"## Part {'abc'[n]}" for n in range(headings))])
    assert flaws(said(text, replace(EXPECTED, sections=("x",) * wanted))) == ["format"] * missed


def test_an_answer_without_its_sections_that_names_enough_of_the_source_is_a_last_resort() -> None:
    plain = f"{GOOD}\nThe tests in tests/test_limit.py have to pass.\nThe port is 9,999."
    draft = said(plain, SECTIONS)
    assert draft.text == plain.removesuffix("\nThe port is 9,999.")
    assert (flaws(draft), draft.doubtful) == (["format"], ("The port is 9,999.",))


def test_lines_with_invented_facts_are_dropped_and_listed() -> None:
    draft = said(f"{GOOD}\n- The limit of 9,999 was refused.\n- See docs/limits.md")
    assert draft.text == GOOD
    assert draft.doubtful == ("- The limit of 9,999 was refused.", "- See docs/limits.md")
    assert draft.problems == ()


def test_of_a_paragraph_only_the_sentence_goes() -> None:
    paragraph = (
        f"{GOOD.replace(chr(10), ' ')} The port is 8433. " * 1 + "Ann and Bob talked about the limit. " * 5
    )
    draft = said(paragraph + "They agreed to deploy. " + "Nobody knows why the old limit is there. " * 2)
    assert draft.doubtful == ("The port is 8433.",)
    assert "The colour is still open. Ann and Bob" in draft.text


def test_tags_of_a_dropped_line_stay() -> None:
    state = f"<state_snapshot>\n<goal>Raise to 9,999\n</goal>\n{GOOD}\n</state_snapshot>"
    draft = said(state, replace(EXPECTED, state=True))
    assert draft.text == f"<state_snapshot>\n<goal>\n</goal>\n{GOOD}\n</state_snapshot>"
    assert draft.doubtful == ("<goal>Raise to 9,999",)


def test_a_wish_may_name_another_language() -> None:
    german = "Sie haben die Grenze angehoben, und es ist noch nicht klar, wie die Farbe für den Knopf wird."
    assert said(german, replace(EXPECTED, wish="Write it in German, please")).text == german


PLAIN = [word for word in SOURCE.split() if word.isalpha()]
LONG = (
    "## Context\n"
    + "\n".join(f"- {' '.join(PLAIN[n : n + 4])} {'x' * n}" for n in range(1, 41))
    + "\n## Decisions\nFriday."
)


def test_a_little_too_long_is_thinned_out_evenly_and_far_too_long_is_a_problem_as_well() -> None:
    size = words(LONG)
    little = said(LONG, replace(EXPECTED, cap=int(size / 1.2)))
    assert little.problems == ()
    far = said(LONG, replace(EXPECTED, cap=size // 4))
    assert flaws(far) == ["too_long"]
    for draft, cap in ((little, int(size / 1.2)), (far, size // 4)):
        kept = draft.text.split("\n")
        assert words(draft.text) <= cap
        assert (kept[0], kept[-2:]) == ("## Context", ["## Decisions", "Friday."])
        lengths = [line.count("x") for line in kept if "x" in line]
        assert lengths == sorted(lengths)
        assert max(b - a for a, b in pairwise(lengths)) <= 5


def test_a_quarter_too_long_is_a_little() -> None:
    lines = [f"- {' '.join(PLAIN[n : n + 4])}." for n in range(10)]
    for text, problems in (("\n".join(lines), []), ("\n".join([*lines, "Friday"]), ["too_long"])):
        assert flaws(said(text, replace(EXPECTED, cap=40))) == problems


def test_what_cannot_be_thinned_may_fill_its_room_to_the_last_token() -> None:
    state = f"<state_snapshot><goal>{GOOD.replace(chr(10), ' ')}</goal></state_snapshot>"
    room = replace(EXPECTED, state=True, cap=words(state))
    assert said(state, room) == JudgedAnswer(text=state)
    assert flaws(said(state, replace(room, cap=room.cap - 1))) == ["too_long"]


def test_what_cannot_be_thinned_is_nothing() -> None:
    assert thin("## One heading of several words\n## And another one", 3, words) == ""
    assert thin("a long line of words", 2, words) == ""


@given(
    st.lists(st.sampled_from(["## Head", "- one two", "three four five.", "", "<a>", "x" * 310]), max_size=30)
)
def test_a_thinned_text_fits_and_its_lines_are_those_of_the_text_in_order(lines: list[str]) -> None:
    """Planted and found: the lines chosen left out instead of the others; one line more than was measured."""
    text = "\n".join(lines).strip()
    for cap in (1, 5, 20):
        fitting = thin(text, cap, words)
        assert words(fitting) <= cap
        rest = iter(text.split("\n"))
        assert all(line in rest for line in fitting.split("\n") if line)
    if set(lines) - {"## Head", "<a>", ""}:
        assert words(thin(text, words(text), words)) == words(text)


def listed(text: str, finish: Finish = "stop") -> JudgedAnswer:
    return judge_bullets(Reply(message=assistant(text), finish=finish), replace(EXPECTED, told=SOURCE))


def test_of_a_list_three_different_lines_are_kept() -> None:
    text = "Here are the facts:\n## Facts\n1. Ann wants the limit raised to 500.\n- Ann wants the limit raised to 500"
    assert listed(text) == JudgedAnswer(text="- Ann wants the limit raised to 500.")
    many = "- Ann wants tests to pass\n- Ann wants config.py raised\n- deploy Friday, agreed\n- colour open, button"
    assert listed(many).text.split("\n") == many.split("\n")[:3]


def test_of_two_lines_one_of_which_says_it_all_the_fuller_one_is_kept() -> None:
    text = "- The tests have to pass.\n- The button's colour is open.\n- The tests in tests/test_limit.py have to pass."
    assert (
        listed(text).text
        == "- The button's colour is open.\n- The tests in tests/test_limit.py have to pass."
    )
    assert (
        listed("- Deploy on Friday, they agreed.\n- On Friday deploy.").text
        == "- Deploy on Friday, they agreed."
    )


def test_of_a_list_lines_that_are_not_of_the_chunk_are_dropped() -> None:
    draft = listed(
        "- They agreed to deploy on Friday.\n- The limit is 7,000.\n- The button's colour is still open."
    )
    assert draft.text == "- They agreed to deploy on Friday.\n- The button's colour is still open."
    assert draft.doubtful == ("The limit is 7,000.",)
    assert flaws(
        listed("- A pirate sails across seven stormy oceans.\n- Treasure awaits brave sailors.")
    ) == ["unfounded"]


@pytest.mark.parametrize(
    "wrong",
    [
        "Deploy the old limit on Friday.",
        "The colour of the button is not open.",
        "Bob found the limit raised to 500.",
        "Is the colour of the button still open?",
        "The button.",
    ],
)
def test_a_small_models_line_that_joins_two_places_turns_one_round_or_says_nothing_is_dropped(
    wrong: str,
) -> None:
    """Seen failing with: the words of a line looked up anywhere in the chunk."""
    true = "They agreed to deploy on Friday."
    draft = listed(f"- {true}\n- {wrong}")
    assert draft == JudgedAnswer(text=f"- {true}", doubtful=(wrong,))


TWENTY = [f"zorb{letter}" for letter in "abcdefghijklmnopqrst"]
OTHERS = [f"mup{letter}" for letter in "abcdefgh"]


@pytest.mark.parametrize(
    ("line", "source", "kept"),
    [
        ([*TWENTY[:17], *OTHERS[:3]], [*TWENTY, *OTHERS], True),  # seventeen of twenty words in one sentence
        ([*TWENTY[:16], *OTHERS[:4]], [*TWENTY, *OTHERS], False),
        (TWENTY[:5], [*TWENTY[:3]], True),  # three of five words of the source
        (TWENTY[:6], [*TWENTY[:3]], False),
        (TWENTY[:3], TWENTY, True),
        (TWENTY[:2], TWENTY, False),
    ],
)
def test_just_enough_words_of_a_line_are_of_one_place_and_of_the_source(
    line: list[str], source: list[str], *, kept: bool
) -> None:
    expected = replace(EXPECTED, source_text=source_text([" ".join(source)]), told=" ".join(TWENTY))
    draft = judge_bullets(Reply(message=assistant(f"- {' '.join(line)}")), expected)
    assert draft.text == (f"- {' '.join(line)}" if kept else "")


def test_a_line_of_which_another_has_nine_words_of_ten_says_nothing_new() -> None:
    told = " ".join([*TWENTY, *OTHERS])
    expected = replace(EXPECTED, source_text=source_text([told]), told=told)
    whole = " ".join(TWENTY)
    for words_of_it, kept in ((9, 1), (8, 2)):
        line = " ".join([*TWENTY[:words_of_it], *OTHERS[: 10 - words_of_it]])
        draft = judge_bullets(Reply(message=assistant(f"- {whole}\n- {line}")), expected)
        assert len(draft.text.splitlines()) == kept


def test_a_list_that_was_cut_off_loses_its_last_line_only() -> None:
    draft = listed("- They agreed to deploy on Friday.\n- The colour of the bu", finish="length")
    assert draft == JudgedAnswer(text="- They agreed to deploy on Friday.")
    assert flaws(listed("- They agreed to dep", finish="length")) == ["empty"]


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "empty"),
        ("Facts:\n\n", "empty"),
        ("I cannot help with that.", "refused"),
        ("- " + "the limit the limit " * 60, "empty"),
        ("- Они подняли лимит и договорились.\n- Цвет кнопки пока не решён никем.", "language"),
    ],
)
def test_a_list_that_is_none_has_no_text(text: str, flaw: str) -> None:
    assert flaws(listed(text)) == [flaw]


RULES = (
    StandingLine("Never deploy the billing service on Fridays.", "m1"),
    StandingLine("The invoice limit must stay below 500 euros.", "m2"),
)
BOUND = replace(
    EXPECTED, standing=RULES, source_text=source_text([SOURCE, *(rule.text for rule in RULES), "800"])
)


def test_a_rule_that_the_answer_turns_round_is_a_named_problem_and_its_line_is_dropped() -> None:
    draft = said(f"{GOOD}\n- Deploy the billing service on Fridays.", BOUND)
    assert draft.text == GOOD
    assert draft.doubtful == ("- Deploy the billing service on Fridays.",)
    assert [problem.flaw for problem in draft.problems] == ["standing"]
    assert "Never deploy the billing service on Fridays." in draft.problems[0].detail


def test_a_rule_with_another_value_is_found_out_and_one_in_other_words_is_not() -> None:
    other = "The invoice limit must stay below 800 euros."
    assert [problem.flaw for problem in said(f"{GOOD}\n{other}", BOUND).problems] == ["standing"]
    true = f"{GOOD}\nThe billing service is not to be deployed on Fridays."
    assert said(true, BOUND) == JudgedAnswer(text=true)


def test_a_small_models_line_that_changes_a_rule_is_dropped() -> None:
    lines = "- Ann wants the invoice limit raised\n- Deploy the billing service on Fridays."
    told = replace(BOUND, told=f"{SOURCE} {RULES[0].text}")
    draft = judge_bullets(Reply(message=assistant(lines), finish="stop"), told)
    assert draft.text == "- Ann wants the invoice limit raised"
    assert [problem.flaw for problem in draft.problems] == ["standing"]
