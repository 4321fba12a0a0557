"""Health, readiness and metrics: for supervisors, proxies and operators."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from octavo import __version__
from octavo.errors import ReadOnly, StoreError
from octavo.http.errors import refuse
from octavo.server.app_state import TheAppState
from octavo.server.responses import reply
from octavo.server.routes import ERRORS
from octavo.server.schemas.health import HealthOut, ReadyOut
from octavo.server.telemetry import HINT

routes = APIRouter(tags=["health"], responses=ERRORS)

READY_SECONDS = 2.0
"""Seconds that a write may take. It usually takes milliseconds, and supervisors often wait only 5 seconds."""
METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@routes.get("/health", response_model=HealthOut)
async def health() -> Response:
    """Respond if the process is alive."""
    return reply(HealthOut(status="ok", version=__version__))


@routes.get("/ready", response_model=ReadyOut)
async def ready(app_state: TheAppState) -> Response:
    """Tell whether requests can be served: the database can be written, and the server is not stopping.

    A database that was opened for reading only is ready when it can be read.
    """
    app_state.check_open()
    store = app_state.engine.store
    used = "read" if store.read_only else "written"
    try:
        async with asyncio.timeout(READY_SECONDS):
            await (store.check_readable() if store.read_only else store.check_writable())
    except TimeoutError:
        raise StoreError(f"the database could not be {used} within {READY_SECONDS:g} seconds") from None
    except ReadOnly as error:
        # The server was started to write and cannot, so it is not ready.
        raise StoreError(str(error)) from error
    database = store.place.partition(":")[0]
    return reply(ReadyOut(status="ready", database=database, read_only=store.read_only))


@routes.get("/metrics", response_model=None, responses=METRICS)
async def metrics(app_state: TheAppState) -> Response:
    """Read the metrics for Prometheus. They need the extra `otel`."""
    page = app_state.telemetry.page()
    if page is None:
        raise refuse(404, "not_found", "metrics need the extra 'otel'", HINT)
    return Response(page[0], media_type=page[1])
