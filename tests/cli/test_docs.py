"""docs/cli.md is what the commands print, and every command that a page or a help shows is one that there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from octavo.cli import main  # noqa: F401  # it adds the commands
from octavo.cli.app import ORDER, app
from octavo.cli.terminal.commands import COMMANDS

ROOT = Path(__file__).parents[2]
MADE = ("CHANGELOG.md", "cli.md")
"""Of the past, and made by running the commands."""
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md", "deploy/*", "Makefile")
    for path in ROOT.glob(pattern)
    if path.is_file() and path.name not in MADE
)
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`((?:[A-Z_]+=\S+ )*octavo [a-z][^`]*)`")
MENTION = re.compile(r"^(?:# {3}|ExecStart=|\t@?\$\(BIN\)/)(.*octavo .*)$", re.MULTILINE)
FOLDED = re.compile(r"\s*\n\s*")
CALL = re.compile(r"(?:^|[\s/(])octavo(?= (?!octavo\b|-- )[a-z-])")
EXPLAINED = re.compile(r" {2,}")
OVER = re.compile(r"[|&;<>()]+")
"""Where a command of a shell ends."""
MANY = 40
TOP = typer.main.get_command(app)
PLACEHOLDER = re.compile(r"\[.*|.*\]|\.{3}|…")


def test_the_page_is_up_to_date() -> None:
    """If it is not: python scripts/make_cli_docs.py."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_cli_docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_page_names_every_command() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert all(f"\n## octavo {name}\n" in page for name in ORDER)
    assert all(f"\n{command.usage}" in page for command in COMMANDS)


def calls_of(shell: str) -> Iterator[tuple[str, ...]]:
    """Find the calls of octavo in a line of shell."""
    if not CALL.search(shell):
        return
    lexer = shlex.shlex(CALL.split(shell, maxsplit=1)[1], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = [*lexer]
    end = next((at for at, word in enumerate(words) if OVER.fullmatch(word)), len(words))
    yield tuple(word for word in words[:end] if not PLACEHOLDER.fullmatch(word))
    yield from calls_of(" ".join(words[end:]))


def shown_on(page: str) -> Iterator[str]:
    """Find the lines of shell that a page shows, or names in a sentence."""
    for block in BLOCK.findall(page):
        lines = block.replace("\\\n", " ").splitlines()
        session = any(line.startswith("$ ") for line in lines)
        yield from (line.removeprefix("$ ") for line in lines if not session or line.startswith("$ "))
    yield from (FOLDED.sub(" ", named) for named in INLINE.findall(page))
    yield from MENTION.findall(page)


def every_command(command: Any = TOP, *names: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Walk through all commands, and those below them."""
    yield command, names
    for name, below in getattr(command, "commands", {}).items():
        yield from every_command(below, *names, name)


def check_call(call: tuple[str, ...]) -> None:
    """Have a call read as the command line reads it; what is wrong with it is raised."""
    command: Any = TOP
    context = command.make_context("octavo", [*call])
    while isinstance(command, TyperGroup):
        name, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
        if not words:  # only named
            return
        context = command.make_context(name, words, parent=context)


def test_every_command_that_a_page_shows_can_be_given() -> None:
    shown = {call for path in PAGES for line in shown_on(path.read_text("utf-8")) for call in calls_of(line)}
    assert len(shown) > MANY
    for call in sorted(shown):
        print("octavo", *call)
        check_call(call)


def test_every_example_of_a_help_can_be_given() -> None:
    """A few say what they do, two blanks or more behind the command."""
    lines = [line.strip() for command, _ in every_command() for line in (command.epilog or "").splitlines()]
    shown = {call for line in lines for call in calls_of(EXPLAINED.split(line)[0])}
    assert len(shown) > MANY
    for call in sorted(shown):
        print("octavo", *call)
        check_call(call)


@pytest.mark.parametrize(
    "wrong",
    [
        "octavo serve --prot 9000",
        "octavo compres chat.json",
        "octavo settings set soft",
        "cat x | octavo count - --model",
        "octavo doctor && octavo keys create ann bob",
    ],
)
def test_a_command_that_cannot_be_given_is_found(wrong: str) -> None:
    *_, last = calls_of(wrong)
    with pytest.raises(Exception, match=r"(?i)no such|missing|requires|unexpected"):
        check_call(last)
