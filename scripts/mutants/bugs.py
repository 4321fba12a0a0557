"""The small bugs that can be planted: what slips in by hand.

A comparison that includes its bound or not, one more or less, `and` for `or`, a statement that is missing. Texts,
logging, assertions, annotations and the values of named constants are left alone: a test of those would repeat the
code.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / "src" / "octavo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One change of one place."""

    module: str
    """Its path below the package, as in `core/split.py`."""
    line: int
    lines: range
    """Those that run when the place does; a default is looked up where its function runs."""
    function: range
    """Those of the function around it."""
    start: int
    """Bytes from the beginning of the file."""
    stop: int
    was: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.change}"

    @property
    def change(self) -> str:
        return f"{_shown(self.was)} → {_shown(self.becomes)}"

    def plant(self, source: bytes) -> bytes:
        return source[: self.start] + self.becomes.encode() + source[self.stop :]

    def compiles(self) -> bool:
        try:
            compile(self.plant((HOME / self.module).read_bytes()), self.module, "exec")
        except (SyntaxError, ValueError):
            return False
        return True


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
        if isinstance(child, LEFT_ALONE) or _is_logging(child) or _is_asserted(child):
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


def _is_asserted(node: ast.AST) -> bool:
    """Tell whether a call is told to find out that two lists are not of one length."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def bugs_of(module: str, source: bytes) -> list[Bug]:
    """List every bug that can be planted in a module."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = []
    for node in places(tree):
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        stop = starts[node.end_lineno - 1] + node.end_col_offset
        lines = range(node.lineno, node.end_lineno + 1)
        body = _body_around(lines, functions)
        for changed in changes(node):
            code = ast.unparse(ast.fix_missing_locations(changed))
            found.append(
                Bug(
                    module=module,
                    line=node.lineno,
                    lines=lines if node.lineno >= body.start else body,
                    function=body,
                    start=start,
                    stop=stop,
                    was=source[start:stop].decode(),
                    becomes=f"({code})" if isinstance(node, ast.expr) else code,
                )
            )
    return found


def _body_around(lines: range, functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef]) -> range:
    """Give the lines of the body of the innermost function around some lines; outside of all, those themselves."""
    innermost = lines
    for function in functions:  # the outer ones first
        assert function.end_lineno is not None
        if function.lineno <= lines.start and lines.stop - 1 <= function.end_lineno:
            innermost = range(function.body[0].lineno, function.end_lineno + 1)
    return innermost


def bugs_in(package: str, only: Sequence[str] = ()) -> list[Bug]:
    """List every bug that can be planted in a package, or in the files and lines of it that are named."""
    files = sorted(file for file in (HOME / package).rglob("*.py") if "migrations" not in file.parts)
    found = [bug for file in files for bug in bugs_of(file.relative_to(HOME).as_posix(), file.read_bytes())]
    return [bug for bug in found if not only or str(bug).startswith(tuple(only))]
