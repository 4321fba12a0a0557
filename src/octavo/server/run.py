"""Runs a server: checks that it is safe to listen where it is told to, listens, and stops without losing work.

An address that other machines can reach needs a key; without one there is no server.
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
"""Longer than proxies keep idle connections (60 s), so that it is they who close them."""
BACKLOG = 2_048
"""Connections that may wait to be accepted: a few hundred clients that come back at once after a restart."""
COLLECT = (20_000, 50, 100)
"""When the collector runs: its young generations a little less often than usual (700, 10), everything rarely."""
SHUTDOWN_SLACK = 5.0
"""Seconds a connection gets beyond the tasks' grace to pass on what they told last."""


class OctavoServer(uvicorn.Server):
    """Tells the application that it is to stop before connections are waited for."""

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
    """Make a server that is not running yet."""
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
    """Refuse to listen to other machines without a key, or anywhere without a database."""
    async with await Store.open(database_url(settings.db)) as store:
        usable = [key for key in await store.keys.every() if not key.revoked]
    if settings.keyed and not usable and settings.admin_key is None:
        raise UsageError(
            f"{settings.host} can be reached by others, and there is no key: make one first "
            "(octavo keys create NAME), or set OCTAVO_API_KEY"
        )


def bind(settings: ServerSettings) -> socket.socket:
    """Take the address, or say why not."""
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
    """Write what Octavo says to standard error; what the libraries say only when something is wrong."""
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
