"""Runs tests in a copy of the tree: the working tree is never touched.

Each run is a fork of a process that has imported what the tests need besides Octavo, so that it begins at once.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, count
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from scripts.mutants import reach
from scripts.mutants.bugs import ROOT, Bug
from scripts.mutants.near import files_of, near, tests_of
from scripts.mutants.reach import Learner, Reach, Trace, Traces

PATIENCE = 10
"""Times as long as without a bug may a test take; then the bug made it hang, which is seen."""
AT_LEAST = 5.0
"""Seconds of processor time that each may take in any case."""
LEAST_PATIENCE = 20.0
"""Seconds of processor time they have in any case: they have to be found and imported."""
WAITING = 6
"""Seconds that may pass for each of them: the machine may be busy."""
GOING = 10.0
"""Seconds that a run has to take down what it started, such as a server."""
MEMORY = 6 << 30
"""Bytes that a run may take: a loop without an end can fill a list."""
PASSED, FAILED, BROKEN, CONFUSED, NONE = 0, 1, 2, 3, 5
"""What pytest returns: broken is what cannot even be imported, confused stopped amid its own work, none no tests."""
BEFOREHAND = (
    "alembic.command",
    "asyncpg",
    "httpx2",
    "pydantic",
    "splintr",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.ext.asyncio",
)
"""What most tests import, which takes longer than most of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a run."""

    code: int
    """What pytest returned, or `BROKEN` if it had to be stopped."""
    failed: tuple[str, ...] = ()
    learned: Traces | None = None

    @property
    def passed(self) -> bool:
        return self.code in (PASSED, NONE)


class Choice:
    """A plugin of pytest that runs the tests that are asked for, the quickest first, and notes those that fail."""

    def __init__(self, only: Traces | None) -> None:
        self._only = only
        self.failed: list[str] = []

    def pytest_collection(self) -> None:
        # That a property fails is enough; the smallest example is not looked for.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile(
            "mutants", hypothesis.settings.get_profile("octavo"), phases=phases
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if (known := self._only) is None:
            return
        found = {item.nodeid: item for item in items if item.nodeid in known}
        items[:] = [found[name] for name in sorted(found, key=lambda name: _cost(name, known[name]))]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if self._only is not None:
            signal.setitimer(signal.ITIMER_PROF, AT_LEAST + PATIENCE * self._only[item.nodeid].seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def quickest(tests: Traces, seconds: float) -> Traces:
    """Give as many tests as take so many seconds together, the quickest."""
    ordered = sorted(tests.items(), key=lambda item: _cost(*item))
    sums = accumulate(test.seconds for _, test in ordered)
    return dict(item for item, taken in zip(ordered, sums, strict=True) if taken <= seconds)


def _cost(name: str, test: Trace) -> tuple[bool, float]:
    # A server has to be started for PostgreSQL.
    return "postgres" in name, test.seconds


class Runner:
    """A copy of the tree, in which bugs are planted one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tree"
        self._answer, self._output = folder / "answer", folder / "output"
        self._times = count(1)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        for module in BEFOREHAND:
            importlib.import_module(module)

    def reach(self, package: str) -> Reach:
        """Tell which tests run which line of a package; what is not known yet is learned."""
        common, known = reach.common_key(), reach.read(package)
        keys = {file: reach.key_of(file, common) for file in tests_of(package)}
        known = {file: kept for file, kept in known.items() if keys.get(file) == kept[0]}
        new = sorted(keys.keys() - known.keys())
        if new:
            print(f"learning which tests run which lines ({len(new)} of {len(keys)} files) ...", flush=True)
            done = self._run(new, patience=3600, package=package)
            for name in done.failed:
                print(f"left out, since it fails without any bug: {name}", flush=True)
            known |= {file: (keys[file], {}) for file in new}
            for name, test in (done.learned or {}).items():
                if name not in done.failed:
                    known[name.split("::")[0]][1][name] = test
            reach.write(package, known)
        return Reach({name: test for _, tests in known.values() for name, test in tests.items()})

    def sees(self, bug: Bug, reach: Reach, seconds: float) -> Outcome:
        """Plant a bug and run tests until one fails because of it, or until they have taken so many seconds."""
        file = self.folder / "src" / "octavo" / bug.module
        whole, times = file.read_bytes(), file.stat()
        file.write_bytes(bug.plant(whole))
        # Another time for each bug: what Python compiled of one must not be taken for the next.
        moment = next(self._times)
        os.utime(file, (moment, moment))
        try:
            return self._sees(bug, reach, seconds)
        finally:
            file.write_bytes(whole)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _sees(self, bug: Bug, reach: Reach, seconds: float) -> Outcome:
        reached, close = reach.of(bug), files_of(near(bug.module))
        near_it = {name: test for name, test in reach.tests.items() if name.split("::")[0] in close}
        first = {name: test for name, test in reached.items() if name in near_it}
        second = {name: test for name, test in reached.items() if name not in near_it}
        third = {name: test for name, test in near_it.items() if name not in reached}
        for group in (first, second, third):
            tests = quickest(group, seconds)
            seconds -= sum(test.seconds for test in tests.values())
            if tests and not (done := self.run(tests)).passed:
                return done
        return Outcome(code=PASSED)

    def run(self, tests: Traces) -> Outcome:
        """Run tests until one fails, the quickest first."""
        files = sorted({name.split("::")[0] for name in tests})
        return self._run(files, only=tests, patience=sum(test.seconds for test in tests.values()))

    def _run(
        self,
        files: Iterable[str],
        *,
        patience: float,
        only: Traces | None = None,
        package: str | None = None,
    ) -> Outcome:
        def work() -> Outcome:
            choice = Choice(only)
            learner = Learner(self.folder / "src" / "octavo", package) if package else None
            options = ["-n0", "-p", "no:cacheprovider", "-p", "no:schemathesis", "--hypothesis-seed=0"]
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", *([] if package else ["-x"])]
            # What is told of a failure is not looked at, and to write values out may take for ever.
            options += ["--tb=native"]
            try:
                code = int(pytest.main([*options, *files], plugins=[choice, *filter(None, [learner])]))
            except ExceptionGroup:
                # So pytest ends when it finds what was left open, such as connections.
                traceback.print_exc()
                code = CONFUSED
            where = Path(sys.modules["octavo"].__file__ or "") if "octavo" in sys.modules else self.folder
            if not where.is_relative_to(self.folder):
                raise SystemExit(f"what was tested is not what was planted, but {where}")
            return Outcome(
                code=code, failed=tuple(choice.failed), learned=learner.learned() if learner else None
            )

        done = self._forked(work, LEAST_PATIENCE + PATIENCE * patience)
        if only is not None and done.code == CONFUSED:
            # A test that took too long was stopped amid what pytest does itself.
            return replace(done, code=BROKEN)
        if done.code not in (PASSED, FAILED, BROKEN, NONE):
            sys.exit(f"pytest ended with {done.code}:\n{self._said()}")
        return done

    def _said(self) -> str:
        return self._output.read_text(errors="replace")[-20_000:]

    def _forked(self, work: Callable[[], Outcome], seconds: float) -> Outcome:
        """Do work in a child process; stop it after so many seconds of processor time, or if it waits for ever."""
        self._answer.unlink(missing_ok=True)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            self._in_child(work, int(seconds))
        try:
            status = _wait(child, WAITING * seconds)
            for ends in (signal.SIGINT, signal.SIGKILL):
                if status is None:
                    os.killpg(child, ends)
                    status = _wait(child, GOING)
        finally:  # also what it left behind, and when it is no longer wanted
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        if self._answer.exists():
            return Outcome(**pickle.loads(self._answer.read_bytes()))
        if status:
            sys.exit(f"the tests could not be run:\n{self._said()}")
        return Outcome(code=BROKEN)

    def _in_child(self, work: Callable[[], Outcome], seconds: int) -> NoReturn:
        status = 1
        try:
            os.setsid()
            with self._output.open("wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            for overdue in (signal.SIGXCPU, signal.SIGPROF):
                signal.signal(overdue, signal.default_int_handler)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + int(GOING)))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.chdir(self.folder)
            source = str(self.folder / "src")
            sys.path[:0] = [source, str(self.folder)]
            os.environ["PYTHONPATH"] = source
            outcome = work()
            self._answer.write_bytes(
                pickle.dumps({name: getattr(outcome, name) for name in Outcome.__slots__})
            )
            status = 0
        except KeyboardInterrupt:
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must not go on as its parent would
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)


def _wait(child: int, seconds: float) -> int | None:
    """Wait for a process to end, and give its exit code, 0 if it was killed; `None` if it does not end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return max(os.waitstatus_to_exitcode(status), 0)
        time.sleep(0.02)
    return None
