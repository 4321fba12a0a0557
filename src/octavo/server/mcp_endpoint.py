"""The MCP server of `octavo serve`, under `/mcp`: the same keys, owners and scopes as the rest.

It is started with its first request, so that nobody waits for it who does not use it. It keeps no sessions: any replica
answers any request.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from octavo.http.caller import Caller
from octavo.http.errors import refuse
from octavo.integrations.memory import Memory
from octavo.server.app_state import AppState

PATH = "/mcp"


class McpEndpoint:
    """Answers the requests of agents."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._starting: asyncio.Lock | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if self._app is None:
                await self._start(scope["app"].state.octavo)
        assert self._app is not None
        await self._app(scope, receive, send)

    async def _start(self, app_state: AppState) -> None:
        try:
            from mcp.server.mcpserver.exceptions import ToolError
            from mcp.server.transport_security import TransportSecuritySettings

            from octavo.integrations.mcp import make_server
        except ModuleNotFoundError:
            raise refuse(
                501, "not_installed", "the MCP server is not installed", "pip install 'octavo[mcp]'"
            ) from None

        async def memory_of(ctx: Any, needed: str) -> Memory:
            caller = cast(Caller, ctx.request_context.request.state.caller)
            if not caller.may(needed):
                raise ToolError(f"this key may not {needed}: use a key with the scope {needed!r}")
            return Memory(app_state.engine, caller.owner)

        server = make_server(memory_of)
        # Hosts and origins are checked by the guard, which knows which of them are ours.
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        ready = asyncio.Event()

        async def run() -> None:
            async with server.session_manager.run():
                ready.set()
                await asyncio.Event().wait()

        self._running = asyncio.create_task(run())
        await ready.wait()
        self._app = app

    async def close(self) -> None:
        """Stop answering."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
