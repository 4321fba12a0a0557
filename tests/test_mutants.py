"""The script that plants bugs: what it plants, what it leaves alone, and where it looks for the tests."""

from __future__ import annotations

import pytest

from scripts.mutants.__main__ import PACKAGES
from scripts.mutants.bugs import ROOT, Bug, bugs_in, bugs_of
from scripts.mutants.equivalent import equivalents
from scripts.mutants.near import near
from scripts.mutants.reach import Reach, Trace
from scripts.mutants.run import quickest

CODE = b'''"""A module with \xe2\x80\x94 letters of more than one byte."""
LIMIT = 5
"""Why five."""


@decorated(slots=True)
def over(size: int, rest: int = 1) -> bool:
    """Tell whether it is over 9."""
    assert size >= 0
    log.info("measured %d", 3)
    zip([size], [rest], strict=True)
    if size > LIMIT and not rest:
        raise ValueError(f"{size + 2} is too much")
    return size - rest == max(size, 7)
'''


def test_each_bug_changes_one_place_and_nothing_else() -> None:
    planted = {
        str(bug).removeprefix("core/over.py:"): bug.plant(CODE).decode()
        for bug in bugs_of("core/over.py", CODE)
    }
    assert sorted(planted) == [
        "11: zip([size], [rest], strict=True) → pass",
        "12: not rest → (rest)",
        "12: size > LIMIT and not rest → (size > LIMIT or not rest)",
        "12: size > LIMIT → (size >= LIMIT)",
        '13: raise ValueError(f"{size + 2} is too much") → pass',
        "14: 7 → (8)",
        "14: max(size, 7) → (min(size, 7))",
        "14: return size - rest == max(size, 7) → return None",
        "14: size - rest == max(size, 7) → (size - rest != max(size, 7))",
        "14: size - rest → (size + rest)",
        "7: 1 → (2)",
    ]
    whole = CODE.decode().splitlines()
    for source in planted.values():
        assert sum(one != other for one, other in zip(whole, source.splitlines(), strict=True)) == 1


def bug_at(line: int) -> Bug:
    return next(bug for bug in bugs_of("core/over.py", CODE) if bug.line == line)


def test_the_tests_that_run_the_place_of_a_bug_are_chosen() -> None:
    known = Reach(
        {"refuses": Trace(lines={"core/over.py": 1 << 12 | 1 << 13}), "tells": Trace(lines=ran(12, 14))}
    )
    assert set(known.of(bug_at(12))) == {"refuses", "tells"}
    assert set(known.of(bug_at(13))) == {"refuses"}
    assert set(known.of(bug_at(14))) == {"tells"}


def test_a_place_that_no_test_runs_is_looked_for_by_its_function() -> None:
    known = Reach({"tells": Trace(lines=ran(9, 12, 14)), "other": Trace(lines=ran(2))})
    assert set(known.of(bug_at(13))) == {"tells"}
    assert not Reach({"other": Trace(lines=ran(2))}).of(bug_at(13))


def test_a_default_is_looked_for_where_its_function_runs() -> None:
    # The line itself runs when the module is imported, in whichever test that happens to be.
    known = Reach({"imports": Trace(lines=ran(7)), "tells": Trace(lines=ran(9, 12, 14))})
    assert set(known.of(bug_at(7))) == {"tells"}


def test_the_quickest_tests_run_as_long_as_there_is_time_and_those_that_need_a_server_last() -> None:
    known = {"slow": Trace(9.0), "quick": Trace(1.0), "quick[postgres]": Trace(0.5), "quicker": Trace(0.2)}
    assert [*quickest(known, 1.2)] == ["quicker", "quick"]
    assert [*quickest(known, 100)] == ["quicker", "quick", "slow", "quick[postgres]"]
    assert not quickest(known, 0)


def ran(*lines: int) -> dict[str, int]:
    return {"core/over.py": sum(1 << line for line in lines)}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_tests_to_be_run(package: str) -> None:
    modules = {bug.module for bug in bugs_in(package)}
    assert len(modules) > 5
    for module in modules:
        for name in near(module):
            assert (ROOT / "tests" / name).exists(), (module, name)


def test_every_bug_that_nobody_can_see_can_still_be_planted() -> None:
    possible = [bug for package in PACKAGES for bug in bugs_in(package)]
    for one in equivalents():
        assert any(one.is_it(bug) for bug in possible), one
        assert one.reason
