"""Runs a server: checks that its address is safe, listens, and stops without losing work.

A server does not start at an address that other machines can reach unless there is a key.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import sys
from types import FrameType

import uvicorn

from octavo.engine.engine import database_url
from octavo.errors import UsageError
from octavo.gateway.fit import load_vocabulary
from octavo.server.app import create_app
from octavo.server.app_state import AppState
from octavo.server.config import ServerSettings
from octavo.server.http_protocol import TimedHttpProtocol
from octavo.store.store import Store

KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections (60 s), so that the proxy closes them first."""
BACKLOG = 2_048
"""Connections that may wait to be accepted: enough for all clients that reconnect after a restart."""
COLLECT = (20_000, 50, 100)
"""Thresholds of the garbage collector: young generations less often than usual (700, 10), the oldest rarely."""
SHUTDOWN_SLACK = 5.0
"""Seconds that a connection gets, after the tasks have ended, to send their last events."""


class OctavoServer(uvicorn.Server):
    """Tells the application to stop before it waits for connections."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of a handler
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        app_state: AppState | None = getattr(self.config.app.state, "octavo", None)  # type: ignore[union-attr]
        if app_state is not None and app_state.settings.model:
            await load_vocabulary(await app_state.engine.models.meter(app_state.settings.model))
        quieten_collector()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app_state: AppState | None = getattr(self.config.app.state, "octavo", None)  # type: ignore[union-attr]
        if app_state is not None:
            app_state.stop_accepting()
        await super().shutdown(sockets)


def quieten_collector() -> None:
    """Keep the garbage collector from stopping every stream for a quarter of a second.

    What is there now stays for good, so it need not be looked at again; and with hundreds of streams a collection of
    everything is seldom worth its pause.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT)


def make_server(settings: ServerSettings) -> OctavoServer:
    """Make a server, without starting it."""
    config = uvicorn.Config(
        create_app(settings),
        http=TimedHttpProtocol,
        lifespan="on",
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.limits.grace_seconds + SHUTDOWN_SLACK),
        server_header=False,
        proxy_headers=False,
    )
    return OctavoServer(config)


async def check_safe(settings: ServerSettings) -> None:
    """Refuse to start without a database, or without a key if other machines can connect."""
    async with await Store.open(database_url(settings.db)) as store:
        usable = [key for key in await store.keys.every() if not key.revoked]
    if settings.keyed and not usable and settings.admin_key is None:
        raise UsageError(
            f"{settings.host} can be reached by others, and there is no key: make one first "
            "(octavo keys create NAME), or set OCTAVO_API_KEY"
        )


def bind(settings: ServerSettings) -> socket.socket:
    """Open the socket; raise `UsageError` if that fails."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, settings.port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen at {settings.host}:{settings.port}: {error}") from None


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def start_log(level: str) -> None:
    """Log to standard error: Octavo at the given level, libraries only warnings and errors."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s", level=logging.WARNING)
    logging.getLogger("octavo").setLevel(level.upper())


def serve(settings: ServerSettings) -> None:
    """Serve until stopped."""
    start_log(settings.log)
    asyncio.run(check_safe(settings))
    with bind(settings) as listening:
        where = address_of(listening)
        print(f"Octavo at {where} (gateway: {where}/v1)", file=sys.stderr, flush=True)
        make_server(settings).run(sockets=[listening])
