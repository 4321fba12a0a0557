"""docs/cli.md is what the commands print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from octavo.cli.app import ORDER
from octavo.cli.terminal.commands import COMMANDS

ROOT = Path(__file__).parents[2]


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
