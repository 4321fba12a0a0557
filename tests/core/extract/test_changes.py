"""Values that changed."""

from __future__ import annotations

import pytest

from octavo.core.extract.changes import GivenValues, agreements
from octavo.core.extract.choose import survey
from octavo.core.extract.sources import line_up
from octavo.core.extract.units import analyse_all
from octavo.core.messages import Branch
from octavo.core.snapshot import DroppedLine
from octavo.testing import talk


def given(branch: Branch) -> GivenValues:
    found = GivenValues()
    for at, source in enumerate(line_up(branch, (), analyse_all(branch))):
        found.add(at, source)
    return found


def histories(branch: Branch) -> list[list[tuple[str, str]]]:
    return [[(value.key, value.value) for value in values] for values in given(branch).changed()]


def test_the_newest_value_of_a_key_supersedes_the_older_ones() -> None:
    branch = talk("u: Deadline: Friday", "a: Noted.", "u: Deadline: Monday", "u: Budget: 500")
    assert histories(branch) == [[("deadline", "Friday"), ("deadline", "Monday")]]
    assert given(branch).superseded() == {(0, 0)}


def test_a_file_read_again_supersedes_what_it_said_and_another_file_does_not() -> None:
    branch = talk(
        'c: read {"path": "a.ini"}',
        "r: port = 80",
        'c: read {"path": "b.ini"}',
        "r: port = 81",
        'c: read {"path": "a.ini"}',
        "r: port = 82",
    )
    assert histories(branch) == [[("port", "80"), ("port", "82")]]


def test_a_column_of_a_table_is_no_value_that_changed() -> None:
    branch = talk('c: list {"of": "all"}', "r: price: 10\nprice: 20", 'c: list {"of": "all"}', "r: price: 30")
    assert histories(branch) == []


def test_what_only_the_assistant_says_is_no_setting() -> None:
    assert histories(talk("u: hm", "a: Step 3: File it", "u: hm", "a: Step 3: Wait for it")) == []


def test_a_value_that_came_back_is_the_newest() -> None:
    branch = talk("u: Mode: dark", "u: Mode: light", "u: Mode: dark")
    assert given(branch).superseded() == {(1, 0)}


def test_a_dropped_line_is_dropped_as_deep_as_it_was_covered_then() -> None:
    rule = "Never push to main."
    branch = talk(f"u: {rule}", "a: Fine.", f"u: {rule}")
    sources = line_up(branch, (), analyse_all(branch))
    standing = {depth: agreements(sources, [DroppedLine(rule, depth)]).standing for depth in (0, 1, 2, 3)}
    assert standing == {0: ((0, 0), (2, 0)), 1: ((2, 0),), 2: ((2, 0),), 3: ()}


def test_a_value_that_only_retained_messages_changed_leaves_covered_ones_new() -> None:
    branch = talk("u: Budget: 500", "a: Noted.", "u: Mode: dark", "u: Mode: light")
    candidates = survey(branch[:2], branch[2:], "", "", analyse_all(branch))
    assert set(candidates.newness) == {1.0}


@pytest.mark.parametrize(
    ("rule", "later", "replaced"),
    [
        ("Never deploy billing invoices.", "From now on never deploy billing.", True),  # three words of four
        ("Never deploy billing.", "From now on never deploy.", False),
    ],
)
def test_a_change_that_forgets_one_word_of_four_replaces_the_rule(
    rule: str, later: str, *, replaced: bool
) -> None:
    branch = talk(f"u: {rule}", "a: Fine.", f"u: {later}")
    agreed = agreements(line_up(branch, (), analyse_all(branch)))
    assert agreed.replaced == ({(0, 0)} if replaced else set())


@pytest.mark.parametrize(
    ("later", "unclear"),
    [
        ("From now on paint harbour gates weekly.", False),  # two words of four
        ("From now on paint harbour gates.", True),  # two of three
        ("From now on paint gates.", False),  # one word in common tells nothing
    ],
)
def test_a_change_of_something_that_is_mostly_the_same_leaves_both_with_their_day(
    later: str, *, unclear: bool
) -> None:
    branch = talk("u: Always paint harbour walls.", "a: Fine.", f"u: {later}")
    agreed = agreements(line_up(branch, (), analyse_all(branch)))
    assert agreed.standing == ((0, 0), (2, 0))
    assert bool(agreed.dated) is unclear


@pytest.mark.parametrize(("whose", "replaced"), [("Meine", True), ("Unsere", False)])
def test_whose_deadline_it_is_is_no_value_that_may_differ(whose: str, *, replaced: bool) -> None:
    branch = talk("u: Meine Frist ist der 9. Mai.", "a: Gut.", f"u: {whose} Frist ist der 12. Juni.")
    agreed = agreements(line_up(branch, (), analyse_all(branch)))
    assert agreed.replaced == ({(0, 0)} if replaced else set())
