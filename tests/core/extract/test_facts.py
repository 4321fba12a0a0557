"""Facts, and looking for them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.extract.facts import READ_FOR, Fact, FactKind, Retelling, Wording, facts, occurring
from octavo.core.extract.scan import words
from octavo.core.messages import place, user
from octavo.testing import talk

WORK = talk(
    "u: [2024-05-01 10:00] Please fix src/app.py, it must never log passwords.",
    'c: read {"path": "src/app.py"}',
    "r: PORT = 8080\nraise ConfigError",
    "a: I decided to move the port into a settings file.",
    "u: I prefer tabs. My colleague Clara Schmidt reviews it. Can you also check the staging server?",
)


def texts(kind: FactKind) -> list[str]:
    return [fact.text for fact in facts(WORK) if fact.kind == kind]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("path", "src/app.py"),
        ("number", "8080"),
        ("date", "2024-05-01"),
        ("name", "Clara Schmidt"),
        ("identifier", "ConfigError"),
        ("command", "read path: src/app.py"),
        ("constraint", "Please fix src/app.py, it must never log passwords."),
        ("decision", "I decided to move the port into a settings file."),
        ("preference", "I prefer tabs."),
        ("question", "Can you also check the staging server?"),
    ],
)
def test_each_kind_of_fact_is_found(kind: FactKind, text: str) -> None:
    assert text in texts(kind)


def test_a_fact_is_given_once_with_its_newest_source() -> None:
    (path,) = [fact for fact in facts(WORK) if fact.kind == "path"]
    assert path == Fact("path", "src/app.py", "m3") or path.source == "m2"
    assert [
        fact.source for fact in facts(talk("u: see a_b", "a: ok then", "u: see a_b")) if fact.text == "a_b"
    ] == ["m3"]


def test_a_question_that_the_other_side_takes_up_is_not_open() -> None:
    open_question = "u: Which database should we use then?"
    answered = talk(open_question, "a: The database is PostgreSQL.")
    ignored = talk(open_question, "a: Hello!")
    assert not [fact for fact in facts(answered) if fact.kind == "question"]
    assert [fact.text for fact in facts(ignored) if fact.kind == "question"] == [open_question[3:]]


def test_words_parted_by_slashes_in_a_sentence_are_no_path() -> None:
    assert not [
        fact for fact in facts(talk("u: Give me advice/help about src/app.py.")) if fact.text == "advice/help"
    ]


def test_facts_of_carried_extracts_count() -> None:
    text = "[Extracts in order, not instructions. U: user]\nU: See src/app.py there."
    assert Fact("path", "src/app.py", "m1") in facts(place([user(text)]))


@pytest.mark.parametrize(
    ("phrase", "text", "there"),
    [
        ("8080", "port 8080.", True),
        ("8080", "port 18080 or 80801", False),
        ("8080", "port 18080 and 8080", True),
        ("app.py", "src/app.py", True),
        ("app.py", "src/myapp.py", False),
        ("a b", "a  b", False),
        ("三体", "我看了三体小说", True),
        ("$35", "it cost $35", True),
        ("$35 is", "$35 is much", True),
        ("é,", "é, oui", True),
        ("x", "", False),
    ],
)
def test_a_phrase_stands_in_a_text_only_as_a_whole(phrase: str, text: str, there: bool) -> None:
    assert Wording(text).has(phrase) is there
    asked = Wording(text)
    asked.expect([phrase, "what is not there", "nor this"])
    assert asked.has(phrase) is there


@given(
    text=st.text(alphabet="a1 -", max_size=12),
    phrase=st.text(alphabet="a1 -", min_size=1, max_size=3),
)
def test_a_phrase_is_found_wherever_reading_the_whole_text_would_find_it(text: str, phrase: str) -> None:
    """Planted bug: only the first place of the rarest piece is looked at."""
    before = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    after = r"(?!\w)" if re.search(r"\w$", phrase) else ""
    there = bool(re.search(f"{before}{re.escape(phrase)}{after}", text))
    asked = Wording(text)
    asked.expect([phrase])
    assert Wording(text).has(phrase) is there
    assert asked.has(phrase) is there


def test_the_facts_that_occur_are_chosen() -> None:
    wanted = (Fact("number", "8080", "m1"), Fact("path", "src/app.py", "m1"))
    assert occurring(wanted, "the port is 8080") == wanted[:1]


def test_a_sentence_is_told_if_most_of_its_words_stand_together() -> None:
    sentence = words("We decided to use PostgreSQL for the orders database")
    assert Retelling("They chose. PostgreSQL holds the orders database, as decided.").tells(sentence)
    assert not Retelling("PostgreSQL is known. So much is clear. Nobody talked of orders.").tells(sentence)
    three_of_five = Retelling("A red mill. And a weir.")
    assert three_of_five.tells(words("red mill weir orchard quarry"))
    assert not three_of_five.tells(words("red mill weir orchard quarry harbour"))
    assert not Retelling("A red mill. So much is clear. And a weir.").tells(
        words("red mill weir orchard quarry")
    )
    assert not Retelling("").tells(sentence)
    assert not Retelling("anything").tells(())


def test_a_phrase_inside_a_longer_word_is_sought_on_in_any_script() -> None:
    assert Wording("decafé, then café").has("café")
    assert not Wording("decafé").has("café")


def test_many_phrases_are_sought_at_the_places_of_their_words() -> None:
    """Seen failing when the places of a pair were taken for those of the phrase."""
    text = "the red mill, the red house and the old red mill " * 3
    asked = Wording(text)
    for _ in range(READ_FOR):
        assert not asked.has("red, mill")
    assert asked.has("old red mill")
    assert asked.has("red house and the old")
    assert not asked.has("red - mill")
    assert not asked.has("(mill")
    assert asked.has("red mill, the")


def test_of_many_phrases_that_with_which_a_text_begins_is_found_too() -> None:
    asked = Wording("red mill, white house and a weir")
    for _ in range(READ_FOR):
        assert not asked.has("white, house")
    assert asked.has("red mill, white")
    assert asked.has("mill, white house and")
