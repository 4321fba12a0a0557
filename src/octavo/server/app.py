"""The application: its guard, its routes and its page, and what happens when it starts and stops."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from octavo import __version__
from octavo.engine.engine import Engine
from octavo.errors import OctavoError, UsageError
from octavo.gateway.routes import gemini_routes, lost_routes
from octavo.gateway.routes import routes as gateway
from octavo.http.errors import Refusal
from octavo.protocols import Provider
from octavo.providers.catalogue import open_provider, resolve
from octavo.server.app_state import AppState
from octavo.server.config import ServerSettings
from octavo.server.error_responses import handle_exception
from octavo.server.guard import MCP, GuardMiddleware
from octavo.server.mcp_endpoint import McpEndpoint
from octavo.server.page import add_page
from octavo.server.routes import (
    context,
    conversations,
    costs,
    documents,
    health,
    jobs,
    keys,
    labels,
    messages,
    models,
    pins,
    search,
    snapshots,
    transfer,
    turns,
)
from octavo.server.routes import settings as settings_routes
from octavo.server.telemetry import Telemetry

DESCRIPTION = (
    "Everything Octavo can do, over HTTP. Under `/api/v1` the engine itself; under `/v1` a gateway that clients of "
    "OpenAI and Anthropic use unchanged."
)
log = logging.getLogger("octavo.server")
CORS_HEADERS = ("authorization", "content-type", "x-octavo-key", "last-event-id")


async def open_engine(settings: ServerSettings) -> Engine:
    """Open the engine of a server, with the providers of its settings."""
    engine = await Engine.open(
        settings.db, model=settings.model, policy=settings.policy, summariser=settings.summariser or None
    )
    if engine.store.read_only:
        log.warning("the database is opened for reading only: nothing can be said or changed here")
    engine.models.open = lambda model: _opened(engine.models.address(model), settings)
    return engine


def _opened(model: str, settings: ServerSettings) -> tuple[Provider, str]:
    """Open the provider of a model; a server with keys opens no model by the path of a file."""
    target = resolve(model)
    if target.provider == "local" and model.endswith(".gguf") and settings.keyed:
        raise UsageError("a model is named by its name here, not by a file: see octavo local list")
    return open_provider(model, settings.providers), target.model


def create_app(
    source: Engine | ServerSettings,
    settings: ServerSettings | None = None,
    *,
    transport: httpx2.AsyncBaseTransport | None = None,
    telemetry: Telemetry | None = None,
) -> FastAPI:
    """Make the application for an open engine, or for settings by which it opens one when it starts.

    `transport` carries the requests of the gateway; tests pass a fake provider.
    """
    told = source if isinstance(source, ServerSettings) else settings or ServerSettings()
    mcp = McpEndpoint()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if isinstance(source, ServerSettings):
            _install(app, AppState(await open_engine(told), told, transport=transport, telemetry=telemetry))
        app_state: AppState = app.state.octavo
        app_state.start()
        try:
            yield
        finally:
            await mcp.close()
            await app_state.close()
            if isinstance(source, ServerSettings):
                await app_state.engine.close()

    app = FastAPI(
        title="Octavo",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        generate_unique_id_function=_operation_id,
    )
    if isinstance(source, Engine):
        _install(app, AppState(source, told, transport=transport, telemetry=telemetry))
    app.add_middleware(GuardMiddleware)
    if told.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(told.origins),
            allow_methods=["*"],
            allow_headers=list(CORS_HEADERS),
        )
    for kind in (OctavoError, Refusal, RequestValidationError, HTTPException, ClientDisconnect, Exception):
        app.add_exception_handler(kind, handle_exception)
    # The gateway comes first, because routes are tried in order.
    app.include_router(gateway)
    app.include_router(gemini_routes)
    app.include_router(lost_routes)
    for noun in (
        conversations,
        labels,
        messages,
        turns,
        context,
        snapshots,
        jobs,
        pins,
        costs,
        documents,
        search,
        transfer,
        settings_routes,
        models,
        keys,
        health,
    ):
        app.include_router(noun.routes)
    app.router.routes.append(Route(MCP, mcp, include_in_schema=False))
    add_page(app)
    return app


def _install(app: FastAPI, app_state: AppState) -> None:
    """Give the routes their shared state; the routes of the gateway know only their own."""
    app.state.octavo, app.state.gateway = app_state, app_state.gateway


def _operation_id(route: APIRoute) -> str:
    """Name an operation after its function, so that generated clients read well."""
    return route.name
