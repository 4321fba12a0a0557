"""Which tests run a line, and how long they take.

It is learned once, by running all tests of a package with coverage, and kept in `.mutants/`; a file of tests that was
changed is learned anew, and all of them where what they test was. What runs in a process of its own, when a module is
imported, or once for all (a cache) is not known: the tests near a module are therefore run in any case before a bug in
it counts as a survivor.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from coverage import Coverage

from scripts.mutants.bugs import ROOT, Bug

KEPT = ROOT / ".mutants"


@dataclass(slots=True)
class Trace:
    """What is known of one test."""

    seconds: float = 0.0
    """Processor time, its fixtures included."""
    lines: dict[str, int] = field(default_factory=dict)
    """The lines of each module, as the bits of a number."""

    def runs(self, module: str, lines: range) -> bool:
        mask = (1 << lines.stop) - (1 << lines.start)
        return bool(self.lines.get(module, 0) & mask)


Traces = dict[str, Trace]


@dataclass(frozen=True, slots=True)
class Reach:
    """The tests of a package by their names."""

    tests: Traces

    def of(self, bug: Bug) -> Traces:
        """Give the tests that run the place of a bug, or else its function."""
        for lines in (bug.lines, bug.function):
            found = {name: test for name, test in self.tests.items() if test.runs(bug.module, lines)}
            if found:
                return found
        return {}


class Learner:
    """A plugin of pytest that notes the lines and the seconds of each test."""

    def __init__(self, home: Path, package: str) -> None:
        self._home = home
        self._coverage = Coverage(
            data_file=None,
            config_file=False,
            include=[f"{home / package}/*"],
            concurrency=["thread", "greenlet"],
        )
        self._seconds: dict[str, float] = {}
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        began = _processor_time()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = _processor_time() - began
            self._coverage.switch_context("")

    def learned(self) -> Traces:
        self._coverage.stop()
        data = self._coverage.get_data()
        tests = {name: Trace(seconds) for name, seconds in self._seconds.items()}
        for file in data.measured_files():
            module = Path(file).relative_to(self._home).as_posix()
            for line, names in data.contexts_by_lineno(file).items():
                for name in filter(None, names):
                    lines = tests[name].lines
                    lines[module] = lines.get(module, 0) | 1 << line
        return tests


def _processor_time() -> float:
    return sum(os.times()[:4])


def key_of(file: str, common: str) -> str:
    return hashlib.sha256(common.encode() + (ROOT / file).read_bytes()).hexdigest()


def common_key() -> str:
    """Name the state of everything that any test may depend on: what is tested, and what tests share."""
    found = hashlib.sha256(sys.version.encode())
    shared = [file for file in (ROOT / "tests").rglob("*.py") if not file.name.startswith("test_")]
    sources = [file for file in (ROOT / "src").rglob("*") if file.suffix in (".py", ".md", ".toml")]
    for file in sorted((*shared, *sources, ROOT / "pyproject.toml")):
        found.update(file.read_bytes())
    return found.hexdigest()


def read(package: str) -> dict[str, tuple[str, Traces]]:
    """Read what is kept of each file of tests: the key it had, and its tests."""
    file = KEPT / f"{package}.json"
    if not file.exists():
        return {}
    return {
        name: (
            key,
            {
                test: Trace(seconds, {m: int(bits, 16) for m, bits in lines.items()})
                for test, seconds, lines in tests
            },
        )
        for name, (key, tests) in json.loads(file.read_text()).items()
    }


def write(package: str, known: dict[str, tuple[str, Traces]]) -> None:
    KEPT.mkdir(exist_ok=True)
    written = {
        name: (
            key,
            [
                (n, test.seconds, {m: f"{bits:x}" for m, bits in test.lines.items()})
                for n, test in tests.items()
            ],
        )
        for name, (key, tests) in known.items()
    }
    (KEPT / f"{package}.json").write_text(json.dumps(written))
