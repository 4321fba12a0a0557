"""Which words a pattern needs."""

from __future__ import annotations

import re

import pytest

from octavo.core.extract import standing
from octavo.core.extract.guards import BEGINNING, guard_words
from octavo.core.extract.standing_words import SPACED
from tests.core.extract.standing_samples import APART, CHANGED, PASSING, STANDING

CASES = {
    r"\bnever push\b": [{"neve"}, {"push"}],
    r"\brules? (?:apply|hold)\b": [{"rule"}, {"appl", "hold"}],
    r"\b(?:no|not) (?:any )?later\b": [{"late"}, {"no", "not"}],
    r"\bi(?:'m| am) (?:a |an ){0,4}vegan": [{"vega"}, {"m", "am"}, {"i"}],
    r"^(?:please )?use (?!it)tabs$": [{"tabs"}, {"use"}],
    r"\b(?:a\.|b)?c{2,3}\bde\b[xyz]\w+ f.\s{1,3}gh\s+": [{"de"}, {"gh"}],
    r"(?:only|\w+) on (?<!x)(?=y)": [{"on"}],
    r"may\b": [],
    r"xmust": [],
    r"\b(?:one|)\b": [],
    r"\bal(?:l|so)\b": [],
    r"\bone\b|\btwo\b": [{"one", "two"}],
    r"\bone\b|\w": [],
    r"\b(?:abc )+def\b": [{"def"}],
    r"\bone\s{0,3}two\b": [],
    r"\bone\s{1,3}two\b": [{"one"}, {"two"}],
    r"\bgoal\w*": [{"goal"}],
    r"\bgoa\w*": [],
}


@pytest.mark.parametrize("pattern", CASES)
def test_a_match_needs_these_words(pattern: str) -> None:
    found = [set(words) for words in guard_words(pattern)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, CASES[pattern]))


def test_where_a_word_may_begin_the_first_one_is_whole() -> None:
    assert guard_words("may be") == ()
    assert frozenset({"may"}) in guard_words("may be", at_edge=True)


def test_rare_words_come_first() -> None:
    assert guard_words(r"\bi would rather\b")[0] == {"rath"}


def test_no_form_is_missed_for_want_of_a_word() -> None:
    """Whatever a form is found in has the words that the form needs."""
    forms = [form for name, one in SPACED.items() for form in standing._forms(name, one)]
    needs = [guard_words(form.source, at_edge=bool(form.place)) for form in forms]
    assert sum(not sets for sets in needs) == 0
    texts = {
        text.lower() for group in (*STANDING.values(), *PASSING.values(), *CHANGED, *APART) for text in group
    }
    tried = 0
    for text in texts:
        words = {word[:BEGINNING] for word in re.findall(r"\w+", text)}
        for form, sets in zip(forms, needs, strict=True):
            if standing._Clauses(text).have(form):
                tried += 1
                assert not any(words.isdisjoint(one) for one in sets), (text, form)
    assert tried > len(texts) / 2
