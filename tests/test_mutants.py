"""The script that plants bugs: what it plants, what it leaves alone, and where it looks for the tests."""

from __future__ import annotations

import pytest

from scripts.mutants import PACKAGES, ROOT, bugs_in, bugs_of, near

CODE = b'''"""A module with \xe2\x80\x94 letters of more than one byte."""
LIMIT = 5
"""Why five."""


@decorated(slots=True)
def over(size: int, rest: int = 1) -> bool:
    """Tell whether it is over 9."""
    assert size >= 0
    log.info("measured %d", 3)
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
        "11: not rest → (rest)",
        "11: size > LIMIT and not rest → (size > LIMIT or not rest)",
        "11: size > LIMIT → (size >= LIMIT)",
        '12: raise ValueError(f"{size + 2} is too much") → pass',
        "13: 7 → (8)",
        "13: max(size, 7) → (min(size, 7))",
        "13: return size - rest == max(size, 7) → return None",
        "13: size - rest == max(size, 7) → (size - rest != max(size, 7))",
        "13: size - rest → (size + rest)",
        "7: 1 → (2)",
    ]
    whole = CODE.decode().splitlines()
    for source in planted.values():
        assert sum(one != other for one, other in zip(whole, source.splitlines(), strict=True)) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_tests_to_be_run(package: str) -> None:
    modules = {bug.module for bug in bugs_in(package)}
    assert len(modules) > 5
    for module in modules:
        for name in near(module):
            assert (ROOT / "tests" / name).exists(), (module, name)
