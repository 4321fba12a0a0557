"""Values that changed."""

from __future__ import annotations

from octavo.core.extract.changes import GivenValues
from octavo.core.extract.sources import line_up
from octavo.core.extract.units import analyse_all
from octavo.core.messages import Branch
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
