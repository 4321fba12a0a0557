"""Plants small bugs and tells which of them the tests see. `python -m scripts.mutants --package core --number 50`.

Each bug is planted alone, in a copy of the tree: the working tree is never touched. The tests of the module run first;
if they pass, those of the package; a bug that passes both is a survivor. What is planted is what slips in by hand: a
comparison that includes its bound or not, one more or less, `and` for `or`, a statement that is missing. Texts,
logging, assertions, annotations and the values of named constants are left alone: a test of those would repeat the
code.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "engine", "store")
PATIENCE = 10
"""Times as long as without a bug may tests take; then the bug made them hang, which is seen."""
LEAST_PATIENCE = 60.0
"""Seconds they have in any case: the machine may be busy."""
PASSED, FAILED, BROKEN = 0, 1, 2
"""What pytest returns; broken is what cannot even be imported."""

NEAR: dict[str, tuple[str, ...]] = {
    "core/protocol.py": ("core/test_harden.py", "core/test_verify.py"),
    "core/reply.py": ("core/test_reply.py", "core/test_verify.py"),
    "core/snapshot.py": ("core/test_snapshot.py", "core/test_tree_properties.py"),
    "core/context.py": ("core/test_context.py", "core/test_tree_properties.py"),
    "core/summary.py": ("core/ask",),
    "core/tools.py": ("core/wire/test_tools.py",),
    "core/ask": ("core/ask",),
    "core/extract": ("core/extract",),
    "evals/measure": ("evals/measure",),
    "core/wire": ("core/wire",),
    "engine/turn.py": ("engine/test_turn.py", "engine/test_answer_draft.py", "engine/test_deadline.py"),
    "engine/overflow.py": ("engine/test_overflow.py", "engine/test_turn.py"),
    "engine/chat.py": ("engine/test_turn.py", "engine/test_branches.py", "engine/test_ownership.py"),
    "engine/engine.py": ("engine/test_models.py", "engine/test_attempts.py", "engine/test_turn.py"),
    "engine/compression.py": (
        "engine/test_costs.py",
        "engine/test_compress.py",
        "engine/test_deadline.py",
        "engine/test_requirements.py",
        "engine/test_unwritten.py",
    ),
    "engine/worker_task.py": ("engine/test_worker.py", "engine/test_compress.py"),
    "engine/attempt.py": ("engine/test_attempts.py",),
    "engine/outcome.py": ("engine/test_unwritten.py", "engine/test_attempts.py"),
    "engine/state.py": ("engine/test_turn.py", "engine/test_compress.py"),
    "engine/accept.py": ("engine/test_turn.py", "engine/test_stateless.py"),
    "store/walk.py": ("store/test_context.py", "store/test_tree.py"),
    "store/tree.py": ("store/test_context.py", "store/test_tree.py"),
    "store/messages.py": ("store/test_tree.py", "store/test_answers.py"),
    "store/insertion.py": ("store/test_tree.py", "store/test_answers.py"),
    "store/conversations.py": ("store/test_tree.py", "store/test_copying.py"),
    "store/deletion.py": ("store/test_deletion.py",),
    "store/notes.py": ("store/test_settings.py",),
    "store/rows.py": ("store/test_tree.py", "store/test_snapshots.py"),
    "store/store.py": ("store/test_tree.py", "store/test_snapshots.py"),
    "store/parts.py": ("store/test_tree.py", "store/test_files.py"),
    "store/pins.py": ("store/test_context.py", "store/test_tree.py"),
    "store/keys.py": ("store/test_settings.py",),
    "store/section.py": ("store/test_tree.py", "store/test_copying.py"),
    "store/visibility.py": ("store/test_bin.py", "store/test_importing.py"),
    "store/clock.py": ("store/test_jobs.py",),
    "store/database.py": ("store/test_connection.py", "store/test_faults.py", "store/test_migrate.py"),
    "store/sqlite.py": ("store/test_connection.py", "store/test_faults.py", "store/test_files.py"),
    "store/postgresql.py": ("store/test_connection.py", "store/test_faults.py"),
    "store/schema.py": ("store/test_migrate.py", "store/test_tree.py"),
    "store/values.py": ("store/test_tree.py",),
    "store/transfer": ("store/test_transfer.py", "store/test_importing.py"),
}
"""Where the tests of a module are, if not in the file of its name; the longest beginning of its path decides."""
WIDE = {
    "core": ("core", "engine/test_stateless.py"),
    "engine": ("engine",),
    "store": ("store",),
}
SLOW = ("engine/test_bills.py", "engine/test_real_model.py", "store/test_processes.py")
"""What is left out of the tests of a package: minutes for each bug, and about other things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One change of one place."""

    module: str
    """Its path below the package, as in `core/split.py`."""
    line: int
    start: int
    """Bytes from the beginning of the file."""
    stop: int
    was: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {_shown(self.was)} → {_shown(self.becomes)}"

    def plant(self, source: bytes) -> bytes:
        return source[: self.start] + self.becomes.encode() + source[self.stop :]


def _shown(code: str) -> str:
    return " ".join(code.split())[:70]


FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
OTHER = {"min": "max", "max": "min", "any": "all", "all": "any"}
LEFT_ALONE = (ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom, ast.Match)
"""Of a `match`, the patterns are; what its cases do is not."""


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Give everything that one node could be by mistake."""
    match node:
        case ast.expr():
            yield from _other_values(node)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(value=ast.Constant(value=None))
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.Continue() | ast.Break():
            yield ast.Pass()


def _other_values(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for i, operator in enumerate(node.ops):
                changed = copy.deepcopy(node)
                changed.ops[i] = FLIPPED[type(operator)]()
                yield changed
        case ast.BoolOp():
            yield ast.BoolOp(op=ast.Or() if isinstance(node.op, ast.And) else ast.And(), values=node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            opposite = ast.UnaryOp(op=ast.Not(), operand=node.test)
            yield ast.IfExp(test=opposite, body=node.body, orelse=node.orelse)
        case ast.BinOp() if type(node.op) in SWAPPED and not any(map(_is_text, (node.left, node.right))):
            yield ast.BinOp(left=node.left, op=SWAPPED[type(node.op)](), right=node.right)
        case ast.Call(func=ast.Name(id=name)) if name in OTHER:
            yield ast.Call(func=ast.Name(id=OTHER[name]), args=node.args, keywords=node.keywords)
        case ast.Constant(value=bool() | int() as value):
            yield ast.Constant(value=not value if isinstance(value, bool) else value + 1)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.Tuple | ast.List) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def places(tree: ast.AST, *, inside: bool = False) -> Iterator[ast.AST]:
    """Walk over what can be changed: the bodies of functions and the defaults of their parameters."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, LEFT_ALONE) or _is_logging(child):
            if isinstance(child, ast.Match):
                for case in child.cases:
                    yield from places(ast.Module(body=case.body, type_ignores=[]), inside=inside)
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = child.body if isinstance(child.body, list) else [ast.Expr(value=child.body)]
            defaults = [value for value in (*child.args.defaults, *child.args.kw_defaults) if value]
            yield from places(
                ast.Module(body=[*map(ast.Expr, defaults), *body], type_ignores=[]), inside=True
            )
            continue
        if inside and hasattr(child, "lineno"):
            yield child
        if isinstance(child, ast.AnnAssign):
            if child.value:
                yield from places(ast.Expr(value=child.value), inside=inside)
            continue
        yield from places(child, inside=inside)


def _is_logging(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="log")))):
            return True
    return False


def bugs_of(module: str, source: bytes) -> list[Bug]:
    """List every bug that can be planted in a module."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in places(ast.parse(source)):
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        stop = starts[node.end_lineno - 1] + node.end_col_offset
        for changed in changes(node):
            code = ast.unparse(ast.fix_missing_locations(changed))
            found.append(
                Bug(
                    module=module,
                    line=node.lineno,
                    start=start,
                    stop=stop,
                    was=source[start:stop].decode(),
                    becomes=f"({code})" if isinstance(node, ast.expr) else code,
                )
            )
    return found


def _compiles(bug: Bug) -> bool:
    source = (ROOT / "src" / "octavo" / bug.module).read_bytes()
    try:
        compile(bug.plant(source), bug.module, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def bugs_in(package: str, only: Sequence[str] = ()) -> list[Bug]:
    """List every bug that can be planted in a package, or in the files and lines of it that are named."""
    home = ROOT / "src" / "octavo"
    files = sorted(file for file in (home / package).rglob("*.py") if "migrations" not in file.parts)
    found = [bug for file in files for bug in bugs_of(file.relative_to(home).as_posix(), file.read_bytes())]
    return [bug for bug in found if not only or str(bug).startswith(tuple(only))]


def near(module: str) -> tuple[str, ...]:
    """Name the tests of a module."""
    named = max((name for name in NEAR if module.startswith(name)), key=len, default="")
    own = Path(module).with_name(f"test_{Path(module).name}").as_posix()
    mine = (own,) if (ROOT / "tests" / own).exists() else ()
    return tuple(dict.fromkeys((*mine, *NEAR.get(named, ())))) or WIDE[module.split("/")[0]]


class Copy:
    """A copy of the tree, in which bugs are planted one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._seconds: dict[tuple[str, ...], float] = {}
        where = self._run([sys.executable, "-c", "import octavo; print(octavo.__file__)"], 60)
        if not where.stdout.startswith(str(folder)):
            sys.exit(f"the tests would not run what is planted, but {where.stdout.strip()}")

    def sees(self, bug: Bug) -> bool:
        """Plant a bug and tell whether tests fail because of it."""
        own, wide = near(bug.module), WIDE[bug.module.split("/")[0]]
        file = self.folder / "src" / "octavo" / bug.module
        whole = file.read_bytes()
        for tests in dict.fromkeys((own, wide)):
            patience = max(LEAST_PATIENCE, PATIENCE * self._measured(tests))
            file.write_bytes(bug.plant(whole))
            try:
                if self._fail(tests, patience):
                    return True
            finally:
                file.write_bytes(whole)
        return False

    def _measured(self, tests: tuple[str, ...]) -> float:
        """Tell how long tests take without a bug; they must pass then."""
        if tests not in self._seconds:
            began = time.monotonic()
            if self._fail(tests, 3600):
                sys.exit(f"the tests fail without any bug: {' '.join(tests)}")
            self._seconds[tests] = time.monotonic() - began
        return self._seconds[tests]

    def _fail(self, tests: Iterable[str], patience: float) -> bool:
        shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        left_out = [f"--ignore=tests/{name}" for name in SLOW]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-n0",
            "-p",
            "no:cacheprovider",
            "--hypothesis-seed=0",
        ]
        try:
            done = self._run([*command, *left_out, *(f"tests/{name}" for name in tests)], patience)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (PASSED, FAILED, BROKEN):
            sys.exit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.returncode != PASSED

    def _run(self, command: Sequence[str], patience: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument("--package", choices=PACKAGES, default="core")
    parser.add_argument(
        "--only", action="append", default=[], help="a file or a line, as in core/split.py:84"
    )
    parser.add_argument("--number", type=int, default=50, help="how many bugs are planted; 0: all")
    parser.add_argument(
        "--seed", type=int, default=0, help="which of them: the same seed gives the same ones"
    )
    parser.add_argument("--list", action="store_true", help="name the bugs without planting them")
    asked = parser.parse_args()
    found = bugs_in(asked.package, asked.only)
    if not found:
        sys.exit(f"nothing of {asked.package} is called {' or '.join(asked.only)}")
    random.Random(asked.seed).shuffle(found)
    chosen = list(islice(filter(_compiles, found), asked.number or None))
    if asked.list:
        print("\n".join(map(str, chosen)))
        return
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Copy(Path(folder).resolve())
        for bug in chosen:
            seen = tree.sees(bug)
            print("caught  " if seen else "SURVIVED", bug, flush=True)
            if not seen:
                survivors.append(bug)
    caught = len(chosen) - len(survivors)
    print(
        f"\n{asked.package}: {caught} of {len(chosen)} caught, {caught / len(chosen):.0%} (of {len(found):,} possible)"
    )
    for bug in survivors:
        print(f"  survived {bug}")


if __name__ == "__main__":
    main()
