"""What is chosen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octavo.core.extract import units
from octavo.core.extract.choose import extract
from octavo.core.extract.render import HEAD, render
from octavo.core.extract.scan import words
from octavo.core.extract.units import analyse_all, sentences, spell
from octavo.core.messages import Attachment, Branch, Image, Message, Text, ToolResult, assistant, place, user
from octavo.core.snapshot import Extracts
from octavo.testing import talk
from tests.core.extract.samples import SAMPLES, UNLISTED, Sample, branch, conversations, quarter, utf8

FILLER = [
    line
    for n in range(12)
    for line in (
        f"u: Nice talking about the garden number {n} again, thank you so much for this.",
        f"a: It is always a pleasure to talk about gardens, flowers and trees of kind {n} with you.",
    )
]


def chosen(covered: Branch, budget: int, **options: object) -> str:
    return render(extract(covered, budget=budget, measure=quarter, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fact",
    [
        "My allergy is peanuts, never forget it.",
        "We decided to take the train on 14 June 2024.",
        "I prefer window seats in quiet coaches.",
        "Our budget is 1,250 euros for two people.",
        "My doctor is Amelia Watson from Bristol.",
        "My page is https://example.com/ann.",
        "I must call back before 17:30 tomorrow.",
        "I moved to Lisbon last summer instead of Porto.",
    ],
)
def test_a_fact_that_a_user_told_survives_a_tenth_in_chat(fact: str) -> None:
    covered = talk(*FILLER[:10], f"u: {fact}", *FILLER[10:])
    size = sum(quarter(node.message.text) for node in covered)
    assert fact in chosen(covered, size // 8)


@pytest.mark.parametrize(
    "kept",
    [
        "src/server/start_up.py",
        "4711",
        "ConnectionRefusedError",
        "deploy_to_staging",
        "https://ci.example.com/build/99",
        "Please never touch the billing module, whatever the tests say.",
        "2 tests failed, 118 passed",
        "pytest tests/test_server.py",
    ],
)
def test_what_matters_of_work_survives_a_fifth(kept: str) -> None:
    noise = "\n".join(
        f"just some plain text without anything special in line {n} of the long log" for n in range(60)
    )
    covered = talk(
        "u: Please never touch the billing module, whatever the tests say.",
        "a: Looking at it.",
        'c: bash {"command": "pytest tests/test_server.py"}',
        f"r: {noise}\nConnectionRefusedError on port 4711 in src/server/start_up.py\n2 tests failed, 118 passed",
        "a: The deploy_to_staging step breaks at https://ci.example.com/build/99 as well.",
        'c: bash {"command": "cat notes"}',
        f"r: {noise}",
    )
    size = sum(
        quarter(node.message.text) + sum(quarter(r.text) for r in node.message.results) for node in covered
    )
    assert kept in chosen(covered, size // 5)


@pytest.mark.parametrize("stamp", ["", "2024-05-20T10:00:00.120Z ", "[10:00:00] "])
def test_an_error_in_the_middle_of_a_log_survives_a_tenth(stamp: str) -> None:
    """Seen failing when only the last lines of an output could say how it ended."""
    calm = [f"{stamp}INFO worker {n}: load_{n % 7} of step_{n % 5} took {n} ms" for n in range(40)]
    error = f"{stamp}ERROR tenant is over its quota, nothing was stored"
    covered = talk(
        *[line for n in range(4) for line in (f'c: read {{"log": "{n}"}}', "r: " + "\n".join(calm))],
        'c: read {"log": "night"}',
        "r: " + "\n".join([*calm[:20], error, *calm[20:]]),
        "a: Seen all of them.",
    )
    size = sum(quarter(result.text) for node in covered for result in node.message.results)
    assert error in chosen(covered, size // 10)


def test_the_newest_value_is_kept_before_an_older_one() -> None:
    covered = talk(*FILLER, "u: Deadline: Friday 13", *FILLER, "u: Deadline: Monday 16", *FILLER)
    text = chosen(covered, 18)  # The head and this line, and nothing else.
    assert "Monday 16" in text
    assert "Friday 13" not in text


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.language for sample in SAMPLES])
def test_the_facts_of_a_chat_survive_in_any_language(sample: Sample) -> None:
    covered = branch(sample)
    size = sum(utf8(node.message.text) for node in covered)
    text = render(extract(covered, budget=size // 2, measure=utf8))
    assert [fact for fact in sample.facts if fact not in text] == []


RULES_FIRST = {"Japanese": {27, 28}, "Korean": {27, 28}, "Turkish": {23}}
"""Percents at which there is room for a sentence with three of the facts, or for what stands and has fewer: an allergy,
a decision. What stands is kept."""


@pytest.mark.parametrize("sample", SAMPLES + UNLISTED, ids=lambda sample: sample.language)
def test_no_language_falls_below_plain_coverage(sample: Sample) -> None:
    """Seen failing when the best per byte left a gap at the end, and when Korean was read as if it had no blanks."""
    covered = branch(sample)
    size = sum(utf8(node.message.text) for node in covered)
    below: set[int] = set()
    for percent in range(15, 61):
        budget = size * percent // 100
        ours = render(extract(covered, budget=budget, measure=utf8))
        plain = plain_coverage(covered, budget)
        assert utf8(plain) <= budget
        if kept(sample, ours) < kept(sample, plain):
            below.add(percent)
    assert below == RULES_FIRST.get(sample.language, set())


def kept(sample: Sample, text: str) -> int:
    return sum(fact in text for fact in sample.facts)


def plain_coverage(covered: Branch, budget: int) -> str:
    """The sentences that add the most new words per byte, without any cue, written the same way."""
    left = [sentence for node in covered for sentence in sentences(node.message.text) if sentence]
    have: Counter[str] = Counter()
    text = f"{HEAD} U: user, A: assistant]"
    while left:
        best = max(left, key=lambda s: sum(0.5 ** have[word] for word in words(s)) / (utf8(s) + 2))
        left.remove(best)
        if utf8(f"{text}\nU: {best}") <= budget:
            text = f"{text}\nU: {best}"
            have.update(words(best))
    return text


def test_the_focus_raises_what_it_names() -> None:
    chat = talk(*FILLER, "u: Did trumpets play at your place at night, and does it ever stop?", *FILLER)
    assert "trumpets" not in chosen(chat, 60)
    assert "trumpets" in chosen(chat, 60, focus="the trumpets")
    lines = "\n".join(f"module_{n}.load_{n} is fine and ready" for n in range(40))
    work = talk('c: check {"what": "all"}', f"r: {lines}\nsome trumpets play", "a: All fine.")
    assert "trumpets" not in chosen(work, 60)
    assert "trumpets" in chosen(work, 60, focus="trumpets")


def test_what_a_narrative_tells_is_not_told_again() -> None:
    covered = talk(
        "u: I bought a red bicycle in Hamburg for 300 euros.",
        "a: Nice!",
        "u: My brother collects old stamps from Portugal and Spain.",
    )
    narrative = "The user bought a red bicycle in Hamburg for 300 euros."
    assert "bicycle" in chosen(covered, 27)
    told = chosen(covered, 27, known=narrative)
    assert "bicycle" not in told
    assert "stamps" in told


def test_what_is_pinned_or_retained_is_not_repeated() -> None:
    covered = talk("u: Never log passwords in start_server.", "a: I will not do that, promised.")
    text = "Never log passwords in start_server."
    assert text in chosen(covered, 100)
    assert text not in chosen(covered, 100, pins=[text])
    retained = place([user(text)], prefix="r")
    assert text not in chosen(covered, 100, retained=retained)


@pytest.mark.parametrize(("known", "new"), [("alpha_one", "beta_two"), ("beta_two", "alpha_one")])
def test_an_identifier_of_retained_messages_is_not_paid_for(known: str, new: str) -> None:
    """With room for one of the two lines: when nothing else is left to take, a line without a price is taken too."""
    covered = talk(
        'c: read {"path": "a"}',
        "r: the alpha_one value is set\nthe beta_two value is set",
        "a: Seen both of them.",
    )
    retained = place([user(f"So the {known} value is set by whom?")], prefix="r")
    text = chosen(covered, 26, retained=retained)
    assert new in text
    assert known not in text


def test_room_that_is_left_goes_to_lines_without_a_price_the_newest_first() -> None:
    """Planted bug: only what was said was taken, and a quarter of a large budget stayed empty."""
    lines = [f"nothing of note in place {word}" for word in ("one", "two", "three")]
    covered = talk(
        'c: look {"at": "a"}', f"r: {lines[0]}", 'c: look {"at": "b"}', f"r: {lines[1]}\n{lines[2]}"
    )
    assert all(line in chosen(covered, 100) for line in lines)
    assert lines[0] not in chosen(covered, 40)
    assert lines[2] in chosen(covered, 40)


@pytest.mark.parametrize(
    "named", ["/etc/orchard/main.toml", "https://example.org/plan", "ChecksumMismatch", "B9703x"]
)
def test_what_a_user_names_in_a_chat_outlives_small_talk(named: str) -> None:
    talked = [f"u: I had far too much coffee on day {n} of it, as always.\na: So it goes." for n in range(9)]
    covered = talk(*"\n".join(talked).split("\n"), f"u: The settings are in {named} there.", "a: Good.")
    assert named in chosen(covered, 40)


def test_lines_that_say_the_same_are_chosen_once() -> None:
    covered = talk(
        'c: run {"n": "1"}',
        "r: Loading data_file now...\nloading DATA_FILE now!",
        "a: Loading data_file now.",
    )
    assert chosen(covered, 200).casefold().count("loading data") == 1


def test_everything_is_kept_when_there_is_room() -> None:
    covered = talk("u: I like green tea.", "a: So do we all here.")
    assert chosen(covered, 1_000).split("\n")[1:] == ["U: I like green tea.", "A: So do we all here."]


def dear_digits(text: str) -> int:
    return len(text) // 50 + sum(letter.isdigit() for letter in text)


@pytest.mark.parametrize("budget", [60, 120, 240, 480])
def test_what_turns_out_denser_than_the_sample_is_cut_back(budget: int) -> None:
    covered = talk(*FILLER, *[f"u: I paid {n}{n}{n}{n} for item_{n}{n}." for n in range(10, 99)])
    text = render(extract(covered, budget=budget, measure=dear_digits))
    assert 2 * budget < 3 * dear_digits(text) <= 3 * budget


def test_a_sample_that_misses_everything_dear_is_made_up_for() -> None:
    """Every other sentence is in the sample, and only the others have digits."""
    dull = "a: It is always a pleasure to talk about gardens and trees with you."
    covered = talk(
        *[line for n in range(1000, 1160) for line in (dull, f"u: I paid {n} for item_{n} of {n}.")]
    )
    text = render(extract(covered, budget=200, measure=dear_digits))
    assert 150 < dear_digits(text) <= 200


def test_the_day_is_shown_once_and_only_where_something_of_it_is_kept() -> None:
    covered = talk(
        "u: [2024-05-01 10:00] I planted two apple trees.",
        "a: Nice!",
        "u: [2024-05-02 10:00] Thanks!",
        "u: [2024-05-03 10:00] I sold one apple tree. I bought a pear tree.",
    )
    assert chosen(covered, 38).split("\n")[1:] == [
        "[2024-05-01]",
        "U: I planted two apple trees.",
        "[2024-05-03]",
        "U: I sold one apple tree. I bought a pear tree.",
    ]


def test_extracts_name_their_sources_in_order() -> None:
    covered = talk(*FILLER[:4])
    extracts = extract(covered, budget=1_000, measure=quarter)
    assert {one.source for one in extracts} == {"m1", "m2", "m3", "m4"}
    assert [one.depth for one in extracts] == sorted(one.depth for one in extracts)


def test_chat_and_work_in_one_conversation_both_get_room() -> None:
    work = [
        line
        for n in range(9)
        for line in (f'c: read {{"path": "f{n}.py"}}', f"r: value_{n} comes from shelf {n}")
    ]
    text = chosen(talk(*FILLER, "u: My dog is called Rex.", *FILLER, *work, *FILLER), 500)
    assert "Rex" in text
    assert "value_8" in text


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (user(""),),
        (user("\n\n \t"),),
        (user("?!?!?! ... --- ***"),),
        (user("\ud800\udfff" * 50),),
        (assistant("only one side talks here, and on and on"),),
        (Message(role="tool", parts=(Text(text="an orphan_output of 123 things"),)),),
        (Message(role="user", parts=()),),
    ],
    ids=["nothing", "empty", "blank", "punctuation", "surrogates", "one side", "orphan", "no parts"],
)
@pytest.mark.parametrize("budget", [0, 1, 5, 50])
def test_odd_messages_give_what_fits(messages: tuple[Message, ...], budget: int) -> None:
    text = chosen(place(messages), budget)
    assert quarter(text) <= budget


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "a b" * 300_000,
        "字" * 300_000,
        '{"a": "b", ' * 100_000,
        "[" * 500_000,
        ". " * 400_000,
        "}," * 300_000,
    ],
    ids=["no spaces", "many words", "no spaces, wide", "json", "brackets", "full stops", "records"],
)
def test_a_megabyte_in_one_line_is_no_danger(text: str) -> None:
    for message in (
        user(text),
        Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text=text),)),)),
    ):
        assert quarter(chosen(place([message]), 100)) <= 100


@settings(deadline=None)
@given(conversations(), st.integers(-5, 300), st.integers(0, 3), st.sampled_from(["", "tea", "port 8080 茶"]))
def test_the_budget_is_never_exceeded(covered: Branch, budget: int, retained: int, focus: str) -> None:
    """Seen failing with a text accepted twenty tokens above the budget."""
    cut = max(0, len(covered) - retained)
    extracts = extract(
        covered[:cut],
        budget=budget,
        measure=quarter,
        retained=covered[cut:],
        known="We drink tea.",
        focus=focus,
    )
    assert quarter(render(extracts)) <= max(0, budget)


@settings(deadline=None)
@given(
    conversations(),
    st.integers(0, 60),
    st.sampled_from([len, lambda _: 7, lambda text: len(text.split()), lambda _: 0]),
)
def test_the_budget_holds_for_any_measure(
    covered: Branch, budget: int, measure: Callable[[str], int]
) -> None:
    """Seen failing when the sample's density was trusted without measuring the text."""
    extracts = extract(covered, budget=budget, measure=measure)
    assert not extracts or measure(render(extracts)) <= budget


@settings(deadline=None)
@given(conversations(), st.integers(0, 300))
@example(place([user("Bob: I. Then more follows")]), 200)
def test_every_extract_stands_in_its_source(covered: Branch, budget: int) -> None:
    """Seen failing when a speaker's name was put back in front of a unit that did not follow it."""
    originals = {node.id: letters(said(node.message)) for node in covered}
    for one in extract(covered, budget=budget, measure=quarter):
        assert letters(one.text) in originals[one.source]


def said(message: Message) -> str:
    """All a message says, calls as they are spelled."""
    lines = [message.text]
    for part in message.parts:
        match part:
            case Attachment():
                lines.append(part.name)
            case Image():
                lines.append(part.source)
            case ToolResult():
                lines.append(part.text)
    return "\n".join([*lines, *(line for call in message.calls for line in spell(call))])


def letters(text: str) -> str:
    """What is left when the marks that units drop are dropped: Markdown's, JSON's, and blanks."""
    return re.sub(r'[\s*#`\-{}\[\]",;]+', "", text)


@settings(deadline=None)
@given(conversations(), st.integers(0, 300))
def test_the_choice_is_the_same_every_time_and_with_known_analyses(covered: Branch, budget: int) -> None:
    """Seen failing with analyses looked up under the parent's id."""

    def choose(**options: object) -> Extracts:
        return extract(covered, budget=budget, measure=quarter, focus="tea port 8080", **options)  # type: ignore[arg-type]

    assert choose() == choose() == choose(analyses=analyse_all(covered))


def test_the_choice_is_the_same_in_another_process() -> None:
    """Seen failing with ties in the heap broken by the hash of the text."""
    program = (
        "from octavo.core.extract.choose import extract\n"
        "from octavo.core.extract.render import render\n"
        "from octavo.testing import talk\n"
        "from tests.core.extract.samples import SAMPLES, branch, utf8\n"
        "for sample in SAMPLES:\n"
        "    print(render(extract(branch(sample), budget=90, measure=utf8, focus='850 peanuts Clara')))\n"
        "alike = talk(*[f'u: I like tea of kind {n:03}.' for n in range(40)])\n"
        "print(render(extract(alike, budget=90, measure=utf8)))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_compressing_its_own_output_again_and_again_keeps_the_early_facts() -> None:
    talked = talk("u: My allergy is peanuts, never forget it.", *FILLER[:6])
    history = [node.message for node in talked]
    for round_number in range(9):
        text = chosen(place(history), 120)
        history = [user(text), *(node.message for node in talk(*FILLER[round_number : round_number + 6]))]
    assert "My allergy is peanuts, never forget it." in chosen(place(history), 120)


def test_a_choice_that_uses_nearly_all_of_the_budget_is_not_improved_on() -> None:
    covered = talk(*(f"u: My plant number {n} likes the sun best." for n in range(60)))
    for tokens, once in ((99, True), (98, False)):
        asked: list[str] = []

        def measure(text: str, tokens: int = tokens, asked: list[str] = asked) -> int:
            asked.append(text)
            return tokens

        assert extract(covered, budget=100, measure=measure)
        assert (len(asked) == 2) is once, "the sample, and the choice"


@pytest.mark.parametrize("budget", [4, 9, 17])
def test_what_is_given_up_to_fit_leaves_the_budget_full(budget: int) -> None:
    """A measure that grows by leaps makes the choice too long; seen failing with: one line less than fits."""
    covered = talk(*(f"{'ua'[n % 2]}: My plant number {n} likes the sun best." for n in range(60)))

    def lines(text: str) -> int:
        return len(text.splitlines()) if text.startswith(HEAD) else 1

    assert lines(render(extract(covered, budget=budget, measure=lines))) == budget


@pytest.mark.parametrize("opening", ["", "Remark: "])
def test_each_piece_of_a_long_message_is_reduced_to_its_letters_once(
    monkeypatch: pytest.MonkeyPatch, opening: str
) -> None:
    """Seen failing with: those of the whole message anew for each piece, where it opens with what is no speaker."""
    reduced: list[str] = []

    def noted(text: str) -> str:
        reduced.append(text)
        return text

    monkeypatch.setattr(units, "skeleton", noted)
    said = opening + "\n".join(f"the word w{n}x is {n * 7} of u{n % 97}" for n in range(300))
    covered = place([user("Go."), assistant(said), user("And now?")])
    analyses = analyse_all(covered)
    for _ in range(2):
        assert extract(covered, budget=400, measure=quarter, analyses=analyses)
    assert len(reduced) == len(set(reduced)) == 300
