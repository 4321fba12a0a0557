"""`serve`: the web chat, the HTTP API and the gateway."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from typing import Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import clean
from octavo.cli.options import Db, Model
from octavo.cli.setup import Setup, setup_of
from octavo.errors import ProviderError, UsageError
from octavo.settings import make_folder


@app.command(
    short_help="Start the web chat, the HTTP API and the gateway.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo serve\n"
    "  octavo serve --local\n"
    "  octavo serve --port 9000 --db sqlite:///team.db\n"
    "  octavo keys create laptop && octavo serve --host 0.0.0.0\n"
    "  OPENAI_BASE_URL=http://127.0.0.1:8765/v1 my-existing-program",
)
def serve(
    context: typer.Context,
    *,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            show_default=False,
            help="The address to listen on; one that other machines can reach needs a key. "
            "Default: OCTAVO_HOST, or 127.0.0.1.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65_535,
            show_default=False,
            help="The port to listen on. The default is OCTAVO_PORT, or 8765.",
        ),
    ] = None,
    model: Model = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="Answer with the small model that runs inside Octavo if no other is chosen; it is downloaded once.",
        ),
    ] = False,
    db: Db = None,
) -> None:
    """Serve the web chat, the HTTP API under /api and the gateway under /v1.

    On this machine alone no key is needed. To let others in, make a key first (octavo keys create NAME); without one,
    the server refuses to listen to other machines.
    """
    gc.disable()  # nothing of what is loaded is garbage, and looking for it takes a fifteenth of the time
    from octavo.server.config import read_server_settings
    from octavo.server.run import serve as start

    gc.enable()
    setup = setup_of(context, db)
    if not setup.settings.chosen:
        make_folder(setup.settings.data)
    told = read_server_settings(setup.environment)
    chosen = model or setup.settings.model
    if local and not chosen:
        chosen = _local_model(setup)
    start(
        replace(
            told,
            db=setup.settings.database,
            host=told.host if host is None else host,
            port=told.port if port is None else port,
            model=chosen,
        )
    )


def _local_model(setup: Setup) -> str:
    """Give the name of the model that runs inside Octavo; empty, with the reason said, when it cannot be had."""
    from octavo.cli.models import fetch

    try:
        found, _ = fetch(setup)
    except (ProviderError, UsageError) as error:
        words = f"the local model cannot be had: {error}; going on without: choose another in the page"
        print(f"octavo: {clean(' '.join(words.split()))}", file=sys.stderr)
        return ""
    return f"local/{found.name}"
