"""The house keeps its shape: who may import whom, which names are public, what the core may not touch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import octavo

ROOT = Path(octavo.__file__).parent
BASE = {"errors", "core"}
MAY_IMPORT = {
    "core": {"errors", "core"},
    "errors": set[str](),
    "protocols": BASE,
    "testing": BASE | {"protocols"},
    "settings": BASE,
    "meters": BASE | {"meters", "protocols"},
    "summarise": BASE | {"summarise", "protocols"},
    "providers": BASE | {"providers", "protocols"},
    "store": BASE | {"store"},
    "engine": BASE | {"engine", "protocols", "settings", "meters", "summarise", "providers", "store"},
    "http": BASE | {"http"},
    "gateway": BASE | {"gateway", "http", "engine", "meters", "providers", "store"},
    "server": BASE
    | {
        "server",
        "gateway",
        "integrations",
        "http",
        "engine",
        "protocols",
        "settings",
        "meters",
        "providers",
        "store",
    },
    "integrations": BASE | {"integrations", "engine", "settings", "meters", "store"},
    "evals": BASE | {"evals", "engine", "protocols", "settings", "meters", "providers", "store"},
    "__main__": {"cli"},
    "cli": BASE
    | {
        "cli",
        "engine",
        "protocols",
        "settings",
        "meters",
        "summarise",
        "providers",
        "store",
        "server",
        "integrations",
        "evals",
    },
}
"""The direction of imports; the command line is the outermost door and may open the others."""
IMPURE = {
    "time",
    "random",
    "secrets",
    "logging",
    "asyncio",
    "threading",
    "os",
    "pathlib",
    "socket",
    "subprocess",
    "datetime",
}


MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]
CORE = sorted((ROOT / "core").rglob("*.py"))


def area(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path.name}: imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    for name in imported(path):
        head, _, rest = name.partition(".")
        if head == "octavo" and rest:
            assert rest.split(".")[0] in MAY_IMPORT[area(path)], f"{area(path)} imports {name}"


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_is_pure(path: Path) -> None:
    """Standard library only, without I/O, clock, randomness, logging or async."""
    for name in imported(path):
        head = name.split(".")[0]
        assert head in sys.stdlib_module_names | {"octavo"}, f"{path.name} imports {name}"
        assert head not in IMPURE, f"{path.name} imports {name}"
    for node in ast.walk(ast.parse(path.read_text())):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await)
        assert not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("open", "print")
        )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path.relative_to(ROOT)} has no docstring"


def test_nothing_waits_in_a_way_that_swallows_a_cancellation() -> None:
    """On Python 3.11 `asyncio.wait_for` does when what it waits for happens just then; `asyncio.timeout` does not."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "wait_for"
    ]
    assert found == []


def test_the_public_names_are_these() -> None:
    assert octavo.__all__ == [
        "Budget",
        "Chat",
        "Context",
        "Engine",
        "Message",
        "ModelCard",
        "OctavoError",
        "Policy",
        "Provider",
        "Reading",
        "Snapshot",
        "SyncChat",
        "__version__",
        "acompress",
        "assistant",
        "compress",
        "compress_line",
        "open",
        "preset",
        "system",
        "user",
    ]
    assert dir(octavo) == octavo.__all__
    for name in octavo.__all__:
        assert getattr(octavo, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Manager'"):
        octavo.Manager  # noqa: B018 - the access is the test


def test_importing_octavo_imports_nothing_else() -> None:
    script = "import sys, octavo; print(sorted(m for m in sys.modules if m.startswith('octavo')))"
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "['octavo']\n"


@pytest.mark.parametrize("module", ["octavo.engine.engine", "octavo.engine.stateless", "octavo.cli.main"])
def test_what_a_program_may_never_need_is_not_imported_with(module: str) -> None:
    """A database is opened, a provider asked and a vocabulary loaded when somebody wants it."""
    heavy = (
        "sqlalchemy",
        "asyncpg",
        "alembic",
        "fastapi",
        "httpx2",
        "openai",
        "anthropic",
        "google.genai",
        "splintr",
    )
    script = f"import sys, {module}; print(sorted(name for name in {heavy!r} if name in sys.modules))"
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert printed == "[]\n"


def test_a_public_class_name_means_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


NO_NAMES = {
    "utils", "helpers", "misc", "common", "manager",
    "aside", "making", "scene", "hub", "gate", "door", "desk", "line", "stops", "weigh", "passing",
    "keep", "canon", "shapes", "sending", "wishes", "walking", "keeping", "seams", "patience", "grounds", "areas",
    "planting", "fold", "folding", "faults", "plain", "fields", "page_maker", "consult", "speak", "hear",
}  # fmt: skip
"""Names that tell nobody what is in a file."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_named_for_what_is_in_it(path: Path) -> None:
    assert path.stem not in NO_NAMES


FOLD = re.compile(r"(?<!case)\b(?:un)?fold(?:s|ed|ing)?\b", re.IGNORECASE)
PAGES = sorted((ROOT.parents[1] / "docs").rglob("*.md"))


@pytest.mark.parametrize("path", [*MODULES, *PAGES], ids=lambda path: path.name)
def test_the_act_is_called_compressing(path: Path) -> None:
    """The word *fold* stays in the sentence that explains the product's name, and in the folding of letters."""
    letters = ("meters", "extract", "ask", "recall", "measure")
    if set(path.parts) & set(letters):
        return
    assert FOLD.findall(path.read_text("utf-8")) == []


NAMED_FILE = re.compile(r"`(?:octavo/)?((?:\w+/)*\w+\.py)`")
NAMED_MODULE = re.compile(r"`(octavo(?:\.\w+)+)`")


def exists(name: str, beside: Path) -> bool:
    """Tell whether a file is there: in the folder of the one that names it, or in a folder above."""
    return any((folder / name).is_file() for folder in beside.parents)


def is_module(name: str) -> bool:
    """Tell whether a dotted name leads to a module, or to something that a module or package holds."""
    parts = name.split(".")[1:]
    return any(
        (ROOT.joinpath(*parts[:depth])).with_suffix(".py").is_file()
        or (depth == len(parts) and ROOT.joinpath(*parts).is_dir())
        for depth in range(1, len(parts) + 1)
    ) or (len(parts) == 1 and (parts[0] in octavo.__all__ or hasattr(octavo, parts[0])))


@pytest.mark.parametrize(
    "path", [ROOT / "__init__.py", *MODULES], ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_files_and_modules_that_a_module_names_are_there(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [name for name in NAMED_FILE.findall(text) if not exists(name, path)] == []
    assert [name for name in NAMED_MODULE.findall(text) if not is_module(name)] == []
