"""The command line's manners."""

from __future__ import annotations

import subprocess
import sys


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "octavo", *arguments], capture_output=True, text=True, check=False
    )


def test_help_and_version() -> None:
    assert "keeps LLM conversations alive" in run("--help").stdout
    assert run("--version").stdout.startswith("octavo 0.")


def test_an_unknown_command_is_a_usage_error() -> None:
    done = run("fold-everything")
    assert done.returncode == 2
    assert "No such command 'fold-everything'" in done.stderr
