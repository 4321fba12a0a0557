"""What stands is found by its form, kept first, replaced by what is newer, and never taken from others' words."""

from __future__ import annotations

from itertools import chain

import pytest

from octavo.core.extract.changes import agreements, contradictions, standing_in, standing_lines
from octavo.core.extract.choose import extract, survey
from octavo.core.extract.render import HEAD, STANDING_HEAD, parse, render
from octavo.core.extract.shares import SharedChoice
from octavo.core.extract.sources import line_up
from octavo.core.extract.standing import (
    LIKELY,
    LONGEST,
    STANDS,
    apart,
    find_standing,
    own_lines,
    without_change,
)
from octavo.core.extract.units import analyse, analyse_all
from octavo.core.extract.value import intent_quality
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.snapshot import DroppedLine
from octavo.testing import talk
from tests.core.extract.samples import quarter
from tests.core.extract.standing_samples import APART, CHANGED, PASSING, STANDING

RULE = "Never push to the release branch without a tag."
CHATTER = [f"u: We saw {n} boats at the lake yesterday, it was a lovely day out." for n in range(60)]


def stands(text: str) -> bool:
    return bool(find_standing(text) & STANDS)


def standing_of(covered: Branch) -> list[str]:
    return [line.text for line in standing_in(covered)]


@pytest.mark.parametrize("language", STANDING)
def test_what_stands_is_found_in_every_language(language: str) -> None:
    assert [text for text in STANDING[language] if not stands(text)] == []


@pytest.mark.parametrize("language", PASSING)
def test_what_is_said_in_passing_does_not_stand(language: str) -> None:
    assert [text for text in PASSING[language] if stands(text)] == []


def test_a_rule_in_the_form_of_a_polite_question_stands() -> None:
    assert stands("Could you please always answer in German?")
    assert not stands("Should we always answer in German?")


def test_a_story_is_no_rule() -> None:
    assert not stands("Never " + "go there again, and then " * 30)


@pytest.mark.parametrize(
    "pasted",
    [
        f"> {RULE}",
        f"```\n{RULE}\n```",
        f"<document>\n{RULE}\n</document>",
        f"<note>{RULE}</note>",
        f"On Monday Ann wrote:\n{RULE}",
        f"Am Montag schrieb Ann:\n{RULE}",
        f"From: Ann\nSubject: tags\n\n{RULE}",
        f"---------- Forwarded message ----------\n{RULE}",
        f"Here is the mail:\n{RULE}",
        f"Please summarise this document.\n\n{'All is well. ' * 30}\n\n{RULE}",
        f"The news.\n\n{'All is well. ' * 200}\n\n{RULE}",
        f"{'All is well. ' * 200}{RULE}",
        f'The page says "{RULE}" and nothing else.',
        f"$ cat rules\n> {RULE}",
        f"这是邮件：\n{RULE}",
    ],
)
def test_what_others_wrote_gains_nothing(pasted: str) -> None:
    assert standing_of(place([user(pasted)])) == []


def test_what_a_tool_or_the_assistant_says_gains_nothing() -> None:
    call = ToolCall(id="c", name="read", input="{}")
    said = [
        user("Read it."),
        Message(role="assistant", parts=(Text(text=RULE), call)),
        Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text=RULE),)),)),
        assistant(RULE),
    ]
    assert standing_of(place(said)) == []


def test_a_users_own_words_around_a_quotation_stand() -> None:
    said = f"{RULE}\n> Always pay at once.\nOnly deploy on Tuesdays."
    assert standing_of(place([user(said)])) == [RULE, "Only deploy on Tuesdays."]
    assert own_lines(said) == {0, 2}


def test_a_rule_is_told_from_what_stands_before_it_without_an_end() -> None:
    assert apart(f"[shared image: a boat] {RULE}") == ["[shared image: a boat]", RULE]
    assert apart("Die Abgabefrist ist der 14. Juni.") == ["Die Abgabefrist ist der 14. Juni."]
    assert apart("x" * 2_000) == ["x" * 2_000]


def test_a_label_that_is_no_name_belongs_to_the_rule() -> None:
    covered = talk("u: Constraint: never touch the vendor folder.", "a: Fine.")
    assert standing_of(covered) == ["Constraint: never touch the vendor folder."]


def test_what_stands_comes_first_whole_and_once() -> None:
    long = "Never deploy before the review is done and the tests are green, " + "whatever anybody says, " * 5
    covered = talk(f"u: Nice boat! {RULE}", *CHATTER, f"u: {long.strip(', ')}.", *CHATTER)
    text = render(extract(covered, budget=300, measure=quarter))
    assert text.startswith(STANDING_HEAD)
    standing, _, others = text.partition(HEAD)
    assert RULE in standing
    assert long.strip(", ") in standing
    assert RULE not in others
    assert "boats" in others


def test_what_stands_takes_no_more_than_its_share_where_there_is_too_much_of_it() -> None:
    rules = [f"u: Never touch the files of project number {n}." for n in range(200)]
    covered = talk(*rules, *CHATTER)
    text = render(extract(covered, budget=600, measure=quarter))
    assert quarter(text) <= 600
    standing, _, others = text.partition(HEAD)
    assert 150 < quarter(standing) < 420
    assert "boats" in others


def test_where_not_all_that_stands_fits_the_short_ones_do() -> None:
    short = [f"u: Never touch the files of project number {n}." for n in range(60)]
    long = [
        f"u: Never touch project {n}, {'whatever anybody may say about it, ' * 5}ever." for n in range(60)
    ]
    text = render(extract(talk(*long[:30], *short, *long[30:]), budget=300, measure=quarter))
    assert text.count("the files of project") > 20
    assert "whatever" not in text


@pytest.mark.parametrize(
    "said",
    [
        "Numbers below ten are spelled out.",
        "If a build is flaky, quarantine it and tell Ada.",
        "The old addresses have to survive.",
        "Nadia reviews everything that touches payments.",
        "Let's call the new service Heron.",
    ],
)
def test_what_may_stand_is_kept_before_other_talk_but_does_not_stand(said: str) -> None:
    assert find_standing(said) & (STANDS | LIKELY) == LIKELY
    stories = [f"u: I saw {n} boats with my sister Ada at the lake in June." for n in range(60)]
    text = render(extract(talk(f"u: Nice boat! {said}", *stories), budget=90, measure=quarter))
    assert said in text
    assert STANDING_HEAD not in text


def test_in_work_what_may_stand_settles_something() -> None:
    (said,) = analyse(user("Nadia reviews everything that touches payments.")).units
    (other,) = analyse(user("Nadia reviewed a page about payments.")).units
    assert intent_quality(said) == 2 * intent_quality(other)


def test_in_a_tiny_room_there_is_no_part_of_its_own() -> None:
    text = render(extract(talk(f"u: {RULE}", *CHATTER), budget=40, measure=quarter))
    assert STANDING_HEAD not in text


def test_what_stands_is_read_back_and_stands_again() -> None:
    covered = talk(f"u: {RULE}", "u: [1 May 2024] The report is due on Friday.", *CHATTER)
    text = render(extract(covered, budget=300, measure=quarter))
    assert "U [1 May 2024]: The report is due on Friday." in text
    assert render(parse(text)) == text
    again = analyse(user(text), ours=True)
    kept = line_up(place([user(text)]), (), {"m1": again})
    assert RULE in [line.text for line in standing_lines(kept)]


@pytest.mark.parametrize(("old", "new"), CHANGED, ids=[new for _, new in CHANGED])
def test_a_stale_rule_is_gone_or_clearly_older(old: str, new: str) -> None:
    covered = talk(f"u: [2 May 2024] {old}", "a: Fine.", f"u: [9 May 2024] {new}", "a: Fine.", *CHATTER)
    extracts = extract(covered, budget=300, measure=quarter)
    lines = render(extracts).splitlines()
    newer = next(at for at, line in enumerate(lines) if new in line)
    older = [at for at, line in enumerate(lines) if old in line]
    assert all(at < newer and "2 May 2024" in lines[at] for at in older)
    assert any(extract.standing and extract.text == new for extract in extracts)


def test_most_stale_rules_are_gone() -> None:
    gone = [new for old, new in CHANGED if old not in standing_of(talk(f"u: {old}", "a: Fine.", f"u: {new}"))]
    assert len(gone) >= 25


@pytest.mark.parametrize(("one", "other"), APART)
def test_rules_about_different_things_both_hold(one: str, other: str) -> None:
    assert standing_of(talk(f"u: {one}", "a: Fine.", f"u: {other}")) == [one, other]


def test_a_change_of_what_never_stood_does_not_stand() -> None:
    assert standing_of(talk("u: The shop is no longer there.", "a: Pity.")) == []


def test_only_covered_messages_replace_a_rule() -> None:
    """A snapshot serves branches that do not have what was retained when it was made."""
    branch = talk("u: Call me Samantha.", "a: Fine.", "u: Call me Max now.")
    sources = line_up(branch[:2], branch[2:], analyse_all(branch))
    assert agreements(sources).replaced == frozenset()


def test_what_a_person_dropped_is_not_chosen_again_unless_it_is_said_again() -> None:
    dropped = (DroppedLine("never push to MAIN", 2), DroppedLine("Never push to main.", 1))
    branch = talk("u: Never push to main.", "a: Fine.", "u: Only deploy on Tuesdays.", *CHATTER)
    extracts = extract(branch, budget=300, measure=quarter, dropped=dropped)
    assert [one.text for one in extracts if one.standing] == ["Only deploy on Tuesdays."]
    assert "Never push to main." not in render(extracts)
    again = talk(
        *(f"{node.message.role[0]}: {node.message.text}" for node in branch), "u: Never push to main."
    )
    extracts = extract(again, budget=300, measure=quarter, dropped=dropped)
    assert [(one.text, one.depth) for one in extracts if one.standing] == [
        ("Only deploy on Tuesdays.", 3),
        ("Never push to main.", len(again)),
    ]


def test_what_a_dropped_line_took_back_does_not_return() -> None:
    branch = talk("u: Call me Samantha.", "a: Fine.", "u: Call me Max now.", "a: Fine.")
    sources = line_up(branch, (), analyse_all(branch))
    agreed = agreements(sources, (DroppedLine("Call me Max now.", 4),))
    assert agreed.standing == ()
    assert agreed.dropped == {(2, 0)}


def test_a_narrative_that_turns_a_rule_round_is_found_out() -> None:
    said = ["Never commit directly to the main branch.", "The deadline for the report is 9 May."]
    standing = standing_lines(
        line_up(
            covered := talk(*chain(*([f"u: {one}", "a: Fine."] for one in said))), (), analyse_all(covered)
        )
    )
    true = "- Nobody may commit directly to the main branch.\n- The deadline for the report is 9 May."
    assert [*contradictions(true, standing)] == []
    wrong = "- Commit directly to the main branch.\n- The deadline for the report is 12 June."
    assert [changed.text for changed in contradictions(wrong, standing)] == said
    assert [*contradictions("", standing)] == []


def test_a_choice_of_what_stands_can_be_taken_back() -> None:
    covered = talk(f"u: {RULE}", "a: Fine.", "u: Only deploy on Tuesdays.", *CHATTER)
    candidates = survey(covered, (), "", "", analyse_all(covered))
    choice = SharedChoice(candidates, reserved=0.5)
    queue = choice.parts[0].queue
    queue.fill(400)
    assert sorted(choice.chosen) == sorted(candidates.standing)
    last = choice.chosen[-1]
    assert queue.paying.value(last) == 0.0
    queue.take_back()
    assert last not in choice.chosen
    assert queue.paying.value(last) == 1.0


def test_words_of_change_are_left_out_where_places_agree() -> None:
    assert without_change("Call me Max now.").split() == ["Call", "me", "Max", "."]
    assert without_change("İ am Max now.") == "İ am Max now."


def test_a_line_in_brackets_is_no_code() -> None:
    assert standing_of(place([user(f"Look!\n [a picture of a boat] {RULE}")])) == [RULE]
    assert standing_of(place([user(f"const rule = (\n{{ {RULE} }}\nreturn x;")])) == []


def test_a_sentence_that_is_said_again_replaces_itself_only_if_it_says_so() -> None:
    assert standing_of(talk("u: Only deploy on Tuesdays.", "a: Ok.", "u: Now only deploy on Tuesdays.")) == [
        "Now only deploy on Tuesdays."
    ]


WRAPPED = {
    "Never push to main\nwithout asking me. And go on.": ["Never push to main without asking me."],
    "- never push to main\n  without asking\n- use only tabs here": [
        "never push to main without asking",
        "use only tabs here",
    ],
    "Only deploy\non Tuesdays.": ["Only deploy on Tuesdays."],
    "We decided\nto go with\nPostgreSQL.": ["We decided to go with PostgreSQL."],
    "The report has to be handed in by noon on the second of May by\nPetra Novak alone.": [
        "The report has to be handed in by noon on the second of May by Petra Novak alone."
    ],
    "Bitte antworte mir immer\nauf Deutsch.": ["Bitte antworte mir immer auf Deutsch."],
    "请不要在周五\n部署任何东西。": ["请不要在周五部署任何东西。"],
    "never push to main\nalways run the tests\n\nthanks": ["never push to main", "always run the tests"],
    "Never push to main\nWhat is new": ["Never push to main"],
    "Can you look at it\nnever push to main": ["never push to main"],
    "Never push to main\n> without asking me.": ["Never push to main"],
    "The plan:\nnever push to main": ["never push to main"],
}


@pytest.mark.parametrize("text", WRAPPED)
def test_a_rule_that_is_broken_into_lines_is_found_whole(text: str) -> None:
    assert standing_of(place([user(text)])) == WRAPPED[text]


def test_a_rule_goes_on_with_a_capital_where_the_next_word_would_have_made_the_line_too_long() -> None:
    full = "Never push anything that is new to the live music"
    for line, goes_on in ((full, False), (f"{full}s", True)):
        found = standing_of(place([user(f"{line}\nProduction branch.")]))
        assert found == [f"{line} Production branch." if goes_on else line]


def test_of_a_rule_that_is_broken_into_very_many_lines_the_first_nine_are_kept() -> None:
    lines = ["Never push to main", *(f"or branch{n}" for n in range(12))]
    assert standing_of(place([user("\n".join(lines))])) == [" ".join(lines[:9])]


def test_a_wrapped_rule_after_a_speakers_name_is_found_whole() -> None:
    covered = talk(
        "u: Ann: Hello.", "u: Ben: Hi.", "u: Ann: Never push to main\nwithout asking me.", "u: Ben: Fine."
    )
    (line,) = [one for one in extract(covered, budget=300, measure=quarter) if one.standing]
    assert (line.speaker, line.text) == ("Ann", "Never push to main without asking me.")


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("One.\n\nTwo.", {0, 1, 2}),
        ("From: Ann\nSubject: Tuesday\nNever.", set()),  # the head of a mail has two labels
        ("From: Ann\n\nTo me.\nSubject: Tuesday\nNever.", set()),
        ("From: Ann\n\nTo me.\nToday.\nSubject: Tuesday\nNever.", {0, 1, 2, 3, 4, 5}),
        ("Subject: Tuesday\nNever.", {0, 1}),
        ("One.\nOn Monday Ann wrote:\nNever.", {0}),
        ("One.\n---- Forwarded message ----\nNever.", {0}),
        ("One.\n<doc>\nTwo.\n\n</doc>\nThree.", {0, 5}),
        ("<doc>Two.</doc>\nThree.", {1}),
        ("One.\n<doc>Two.\nThree.</doc>\nFour.", {0, 3}),
        ("One.\n```\nTwo.\n\n```\nThree.", {0, 5}),
        ("One.\n> Two.\nThree.", {0, 2}),
        ("One.\nreturn None;\nThree.", {0, 2}),
        ("Summarise this text:\nTwo.", {0}),
        ("Summarise this text:\n2.", {0}),
        ("Summarise this text:\n2", {0, 1}),  # a digit is no text
        ("Summarise this text.\nTwo.", {0, 1}),
        ("Summarise this text.\n" + "x" * 240, {0, 1}),
        ("Summarise this text.\n" + "x" * 241, {0}),
        ("One.\n\n" + "x" * 1_994, {0, 1, 2}),  # 2,000 characters: somebody may have typed them
        ("One.\n\n" + "x" * 1_995, {0}),
        ("One.\nOne more.\n\n" + "Two. " * 398, {0, 1}),
        ("\nOne.\n\n" + "Two. " * 400, {0, 1}),
        ("x" * 2_000 + "\nOne.", {0, 1}),  # a line as long as that may be somebody's own
        ("x" * 2_001 + "\nOne.", set()),
    ],
)
def test_a_users_own_lines_are_told_from_what_was_quoted_forwarded_or_pasted(
    text: str, own: set[int]
) -> None:
    assert own_lines(text) == own


@pytest.mark.parametrize(
    ("told", "turned"),
    [
        ("- A personal branch may deploy the billing service.", True),  # five of the six words it is about
        ("- Deploy billing from a personal branch.", False),  # four
        ("- The billing service has a branch of its own.", False),
        ("- The branch was green.", False),
    ],
)
def test_a_line_contradicts_a_rule_only_if_it_names_most_of_what_that_is_about(
    told: str, turned: bool
) -> None:
    standing = standing_in(talk("u: Never deploy the billing service from a personal branch on Friday."))
    assert [changed.told for changed in contradictions(told, standing)] == [told] * turned


def test_the_shortest_and_the_longest_sentence_that_can_be_a_rule() -> None:
    assert find_standing("绝不推送。")
    assert not find_standing("绝不推送")
    rule = "Never push to the main branch of {}."
    longest = rule.format("x" * (LONGEST - len(rule) + 2))
    assert find_standing(longest)
    assert not find_standing(f"{longest}.")


def test_a_rule_is_cut_off_notes_that_are_not_too_long() -> None:
    told = f"{'x' * (2 * LONGEST - 23)} [1] Never push to main."
    assert len(told) == 2 * LONGEST + 1
    assert apart(told) == [told]
    assert apart(told[1:]) == [told[1:-20], "Never push to main."]


def test_a_sentence_with_accents_is_not_read_as_turkish() -> None:
    """Turkish forbids with an ending that words of other languages have, too."""
    assert not find_standing("Das Café hat ein gutes Klima.")
    assert find_standing("Lütfen bunu kullanma.") & STANDS
