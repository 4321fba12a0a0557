"""`mcp`: stored conversations for agents, over stdio; and the settings of the agents that use it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli.app import app
from octavo.cli.lines import line
from octavo.cli.options import Db
from octavo.cli.printing import show
from octavo.cli.setup import opened, run, setup_of
from octavo.errors import UsageError

if TYPE_CHECKING:
    from octavo.integrations.mcp_install import McpClient
    from octavo.integrations.memory import Memory

mcp = typer.Typer(
    name="mcp",
    help="Give an agent its earlier messages back.\n\n"
    "An MCP server with the tools recall, expand, budget, receipt, pin, unpin and compress, on the same database as "
    "the gateway. It speaks over stdin and stdout; `octavo serve` has it at /mcp.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo mcp install --client claude-code\n"
    "  octavo mcp uninstall --client codex\n"
    "  claude mcp add octavo -- octavo mcp",
    invoke_without_command=True,
)
app.add_typer(mcp, short_help="Give an agent its earlier messages back.")

Owner = Annotated[
    str,
    typer.Option("--owner", metavar="NAME", help="Whose conversations; by default those without an owner."),
]
ClientName = Annotated[
    str,
    typer.Option("--client", metavar="NAME", help="The agent: claude-code, codex, gemini or opencode."),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", show_default=False, help="Its settings, if they are elsewhere."),
]


@mcp.callback()
def serve_stdio(context: typer.Context, *, owner: Owner = "", db: Db = None) -> None:
    """Serve stored conversations over stdin and stdout."""
    if context.invoked_subcommand is not None:
        return
    try:
        from octavo.integrations.mcp import make_server
    except ModuleNotFoundError:
        raise UsageError("the MCP server is not installed: pip install 'octavo[mcp]'") from None
    from octavo.integrations.memory import Memory

    setup = setup_of(context, db)

    async def serve() -> None:
        async with opened(setup) as engine:

            async def memory_of(_ctx: Any, _scope: str) -> Memory:
                return Memory(engine, owner)

            await make_server(memory_of).run_stdio_async()

    run(serve())


@mcp.command("install", short_help="Write the server into the settings of an agent.")
def install(
    context: typer.Context,
    *,
    client: ClientName,
    file: SettingsFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and stop.")] = False,
    db: Db = None,
) -> None:
    """Show what is written into the settings of an agent, and write it; a copy of the file is kept."""
    from octavo.integrations.mcp_install import plan_install

    chosen, setup = _client(client), setup_of(context, db)
    arguments = [shutil.which("octavo") or sys.argv[0], "mcp"]
    if setup.settings.chosen:
        arguments += ["--db", setup.settings.database]
    change = plan_install(chosen, file or chosen.file(Path.home()), arguments, {})
    show(setup, [line(f"{change.path}:"), *map(line, change.shown.splitlines())])
    if not change.changes:
        show(setup, [line("It is there already.")])
    elif not dry_run:
        kept = change.apply()
        show(setup, [line("Written." if kept is None else f"Written; the file as it was is {kept}.")])


@mcp.command("uninstall", short_help="Take the server out of the settings of an agent.")
def uninstall(context: typer.Context, *, client: ClientName, file: SettingsFile = None) -> None:
    """Take the server out of the settings of an agent; everything else stays."""
    from octavo.integrations.mcp_install import plan_uninstall

    chosen, setup = _client(client), setup_of(context)
    change = plan_uninstall(chosen, file or chosen.file(Path.home()))
    if not change.changes:
        show(setup, [line(f"It is not in {change.path}.")])
        return
    kept = change.apply()
    show(setup, [line(f"Taken out of {change.path}; the file as it was is {kept}.")])


def _client(name: str) -> McpClient:
    from octavo.integrations.mcp_install import CLIENTS

    if name not in CLIENTS:
        raise UsageError(f"there is no client {name!r}: one of {', '.join(CLIENTS)}")
    return CLIENTS[name]
