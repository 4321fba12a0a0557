"""Runs a server: checks that it is safe to listen where it is told to, listens, and stops without losing work.

An address that other machines can reach needs a key; without one there is no server.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys

import uvicorn

from octavo.errors import UsageError
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from octavo.server.hub import Hub
from octavo.store.store import Store

log = logging.getLogger("octavo.server")

KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections (60 s), so that it is they who close them."""
BACKLOG = 2_048
SHUTDOWN_SLACK = 5.0
"""Seconds a connection gets beyond the tasks' grace to pass on what they told last."""


class OctavoServer(uvicorn.Server):
    """Tells the application that it is to stop before connections are waited for."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        hub: Hub | None = getattr(self.config.app.state, "hub", None)  # type: ignore[union-attr]
        if hub is not None:
            hub.stop_accepting()
        await super().shutdown(sockets)


def make_server(settings: ServerSettings) -> OctavoServer:
    """Make a server that is not running yet."""
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        loop="auto" if sys.platform != "win32" else "asyncio",
        http="httptools",
        lifespan="on",
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.limits.grace_seconds + SHUTDOWN_SLACK),
        server_header=False,
        date_header=True,
        backlog=BACKLOG,
        proxy_headers=False,
    )
    return OctavoServer(config)


async def check_safe(settings: ServerSettings) -> None:
    """Refuse to listen to other machines without a key; see `ServerSettings.keyed`."""
    if not settings.keyed or settings.admin_key is not None:
        return
    from octavo.engine.engine import database_url

    async with await Store.open(database_url(settings.db)) as store:
        usable = [key for key in await store.keys.every() if not key.revoked]
    if not usable:
        raise UsageError(
            f"{settings.host} can be reached by others, and there is no key: make one first "
            "(octavo keys create NAME), or set OCTAVO_API_KEY"
        )


def serve(settings: ServerSettings) -> None:
    """Serve until stopped."""
    asyncio.run(check_safe(settings))
    server = make_server(settings)
    where = f"http://{settings.host}:{settings.port}"
    print(f"Octavo at {where}  (gateway: {where}/v1, interface: {where}/openapi.json)", file=sys.stderr)
    server.run()
    if not server.started:
        raise UsageError(f"cannot listen at {settings.host}:{settings.port}; is another program there?")
