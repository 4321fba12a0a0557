"""Bugs that nobody can see: the program does the same with them, for a reason that is told here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.bugs import HOME, Bug

FILE = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalent:
    """A place is named by its text, which stays when its number changes."""

    module: str
    line: str
    """The first line of the place, without indentation."""
    change: str
    """What is planted there, as the script shows it."""
    reason: str

    def is_it(self, bug: Bug) -> bool:
        return (self.module, self.change) == (bug.module, bug.change) and self.line == _text(bug)


def _text(bug: Bug) -> str:
    return (HOME / bug.module).read_text().splitlines()[bug.line - 1].strip()


def equivalents() -> list[Equivalent]:
    return [Equivalent(**entry) for entry in tomllib.loads(FILE.read_text()).get("bug", ())]


def is_equivalent(bug: Bug, known: Iterable[Equivalent]) -> bool:
    return any(one.is_it(bug) for one in known)
