"""`octavo`: the door for people and scripts. Errors are one sentence on stderr; exit codes 0, 1 (failed), 2 (usage)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from octavo import __version__
from octavo.errors import OctavoError, UsageError

app = typer.Typer(
    name="octavo",
    help="Octavo keeps LLM conversations alive past the context window.\n\n"
    "It stores every message as a tree, knows what the next request costs in the model's own tokens, and folds the "
    "older part into a snapshot before the window is full. Nothing is ever lost.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def octavo(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Print the version, or hand on to a command."""
    if version:
        typer.echo(f"octavo {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; turn Octavo's errors into one sentence and an exit code."""
    try:
        app()
    except UsageError as error:
        _fail(error, 2)
    except OctavoError as error:
        _fail(error, 1)


def _fail(error: OctavoError, code: int) -> None:
    print(f"octavo: {error}", file=sys.stderr)
    sys.exit(code)
