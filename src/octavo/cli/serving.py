"""`serve`: the web chat, the HTTP API and the gateway."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from octavo.cli.app import app
from octavo.cli.options import Db, Model
from octavo.cli.setup import setup_of
from octavo.settings import make_folder


@app.command(
    short_help="The web chat, the HTTP API and the gateway.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo serve\n"
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
            help="Where to listen; anything but this machine needs a key. Else OCTAVO_HOST, else 127.0.0.1.",
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
            help="The port. Else OCTAVO_PORT, else 8765.",
        ),
    ] = None,
    model: Model = None,
    db: Db = None,
) -> None:
    """Serve the web chat, the HTTP API under /api and the gateway under /v1.

    On this machine alone no key is needed. To let others in, make a key first (octavo keys create NAME); without one,
    the server refuses to listen to other machines.
    """
    from octavo.server.config import read_server_settings
    from octavo.server.run import serve as start

    setup = setup_of(context, db)
    if not setup.settings.chosen:
        make_folder(setup.settings.data)
    told = read_server_settings(setup.environment)
    start(
        replace(
            told,
            db=setup.settings.database,
            host=told.host if host is None else host,
            port=told.port if port is None else port,
            model=model or setup.settings.model,
        )
    )
