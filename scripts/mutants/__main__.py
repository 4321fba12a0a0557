"""Plants small bugs and tells which of them the tests see. `python -m scripts.mutants --package core --number 60`.

Each bug is planted alone, in a copy of the tree. The tests that run its place are run, the quickest first, until one
fails; after them, those near its module. A bug that no test sees within `--seconds` is a survivor. In the end, the
tests that failed must pass without a bug. The first run of a package learns which tests run which lines, and takes some
minutes longer.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from itertools import islice
from pathlib import Path

from scripts.mutants.bugs import Bug, bugs_in
from scripts.mutants.equivalent import equivalents, is_equivalent
from scripts.mutants.run import Runner

PACKAGES = ("core", "engine", "store")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument("--package", choices=PACKAGES, default="core")
    parser.add_argument(
        "--only", action="append", default=[], help="a file or a line, as in core/split.py:84"
    )
    parser.add_argument("--number", type=int, default=60, help="how many bugs are planted; 0: all")
    parser.add_argument(
        "--seed", type=int, default=0, help="which of them: the same seed gives the same ones"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long the tests that a bug meets may take, about"
    )
    parser.add_argument("--list", action="store_true", help="name the bugs without planting them")
    asked = parser.parse_args()
    found = bugs_in(asked.package, asked.only)
    if not found:
        sys.exit(f"nothing of {asked.package} is called {' or '.join(asked.only)}")
    random.Random(asked.seed).shuffle(found)
    chosen = list(islice(filter(Bug.compiles, found), asked.number or None))
    if asked.list:
        print("\n".join(map(str, chosen)))
        return
    unseen = equivalents()
    planted = [bug for bug in chosen if not is_equivalent(bug, unseen)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        survivors = plant(planted, asked.package, Path(folder).resolve(), asked.seconds)
    caught = len(planted) - len(survivors)
    print(
        f"\n{asked.package}: {caught} caught, {len(survivors)} survived, {len(chosen) - len(planted)} equivalent"
        f" of {len(chosen)} ({len(found):,} possible): {caught / max(1, len(planted)):.0%} caught"
        f" in {sum(os.times()[:4]) / 60:.1f} minutes of processor time"
    )
    for bug in survivors:
        print(f"  survived {bug}")


def plant(bugs: list[Bug], package: str, folder: Path, seconds: float) -> list[Bug]:
    """Plant bugs one after the other, and give those that no test sees."""
    runner = Runner(folder)
    reach = runner.reach(package)
    survivors: list[Bug] = []
    failed: set[str] = set()
    for bug in bugs:
        outcome = runner.sees(bug, reach, seconds)
        print("SURVIVED" if outcome.passed else "caught  ", bug, *outcome.failed[:1], flush=True)
        if outcome.passed:
            survivors.append(bug)
        failed.update(outcome.failed)
    known = {name: reach.tests[name] for name in failed if name in reach.tests}
    if known and not (done := runner.run(known)).passed:
        sys.exit(f"these fail among few others without any bug, too: {' '.join(done.failed)}")
    return survivors


if __name__ == "__main__":
    main()
