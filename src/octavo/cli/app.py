"""The command line as an application: what holds for every command.

Each module of this folder adds its commands to `app` when it is imported; `main` imports them in the order of the help.
"""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup

from octavo import __version__
from octavo.cli.setup import setup_of

ORDER = (
    "chat",
    "ask",
    "demo",
    "serve",
    "mcp",
    "compress",
    "count",
    "plan",
    "eval",
    "conversations",
    "label",
    "show",
    "search",
    "recall",
    "rules",
    "stats",
    "costs",
    "import",
    "export",
    "delete",
    "models",
    "local",
    "settings",
    "keys",
    "backup",
    "check",
    "doctor",
)
"""The commands as the help lists them: what most people come for first."""


class InOrder(TyperGroup):
    """Lists commands in our order, and those nobody thought of at the end."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002
        known = [name for name in ORDER if name in self.commands]
        return known + [name for name in self.commands if name not in known]


app = typer.Typer(
    name="octavo",
    cls=InOrder,
    help="Octavo keeps LLM conversations alive past the context window.\n\n"
    "It stores every message as a tree, knows what the next request costs in the model's own tokens, and "
    "compresses the older part into a snapshot before the window is full. Nothing is deleted: every message stays "
    "stored, and Octavo tells you what the model no longer sees.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo demo                                     a long conversation, compressed once, to try everything\n"
    "  octavo chat                                     talk; /help lists what can be typed\n"
    "  octavo compress chat.json --budget 8000         make a history fit\n"
    "  octavo count chat.json --model gpt-4o           know what it costs\n"
    "  octavo serve                                    the web chat, the HTTP API and the gateway\n"
    "  octavo doctor                                   see what is set up, and what is missing\n"
    "\n\b\n"
    "Environment:\n"
    "  OCTAVO_DB      the database: a URL, or the path of a SQLite file\n"
    "  OCTAVO_MODEL   the model where nothing stored says otherwise\n"
    "  OCTAVO_DATA    the folder for the database and the input history\n"
    "  OCTAVO_CACHE   the folder for what can be fetched again\n"
    "  NO_COLOR       no colours\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage or wrong input. Results go to standard output, all else to "
    "standard error.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def octavo(
    context: typer.Context,
    *,
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="URL", help="The database that the command uses.", show_default=False),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Print the version, or hand on to a command."""
    if version:
        typer.echo(f"octavo {__version__}")
        raise typer.Exit
    context.obj = setup_of(context, db)
