"""`octavo`, the command line. An error is one sentence on stderr; exit codes are 0, 1 (failed) and 2 (usage).

What a command needs is imported inside it, so `octavo --help` stays quick.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import typer

from octavo.cli.app import app
from octavo.cli.lines import clean
from octavo.cli.printing import give_up_output, prepare_streams
from octavo.cli.setup import Setup, read_setup
from octavo.errors import OctavoError, UsageError

COMMANDS = (
    "chat",
    "serve",
    "mcp",
    "compress",
    "count",
    "evaluate",
    "conversations",
    "costs",
    "recall",
    "rules",
    "transfer",
    "models",
    "settings",
    "maintenance",
)
"""The modules that add commands when they are imported."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The errors of a disk or a device that is full."""

for _name in COMMANDS:
    import_module(f"octavo.cli.{_name}")


def main(arguments: Sequence[str] | None = None, setup: Setup | None = None) -> None:
    """Run the command line of Octavo."""
    run(app, "octavo", arguments, setup)


def run(
    command: typer.Typer, name: str, arguments: Sequence[str] | None = None, setup: Setup | None = None
) -> None:
    """Run a command line; turn Octavo's errors into one sentence and an exit code."""
    prepare_streams()
    try:
        try:
            command(args=arguments, prog_name=name, obj=setup or read_setup(os.environ))
        finally:
            sys.stdout.flush()
    except UsageError as error:
        _fail(error, 2)
    except OctavoError as error:
        _fail(error, 1)
    except OSError as error:
        # Errors of files are reported where a file is opened; what is left are errors of standard output.
        if error.filename is not None or error.errno not in FULL:
            raise
        give_up_output()
        _fail(OctavoError(f"cannot write to standard output: {error.strerror}"), 1)


def _fail(error: OctavoError, code: int) -> NoReturn:
    print(f"octavo: {clean(' '.join(str(error).split()))}", file=sys.stderr)
    sys.exit(code)
