"""Health, readiness and metrics: for supervisors, proxies and operators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from octavo import __version__
from octavo.server import schemas as s
from octavo.server.errors import refuse
from octavo.server.hub import TheHub
from octavo.server.reply import reply
from octavo.server.routes import ERRORS
from octavo.server.telemetry import HINT

routes = APIRouter(tags=["health"], responses=ERRORS)

METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@routes.get("/health", response_model=s.HealthOut)
async def health() -> Response:
    """Tell that the process is alive."""
    return reply(s.HealthOut(status="ok", version=__version__))


@routes.get("/ready", response_model=s.ReadyOut)
async def ready(hub: TheHub) -> Response:
    """Tell whether requests can be served: the database answers, and the server is not stopping."""
    hub.check_open()
    await hub.engine.store.note("ready")
    return reply(s.ReadyOut(status="ready", database=hub.engine.store.place.partition(":")[0]))


@routes.get("/metrics", response_model=None, responses=METRICS)
async def metrics(hub: TheHub) -> Response:
    """Give numbers for Prometheus; with the extra `otel` only."""
    page = hub.telemetry.page()
    if page is None:
        raise refuse(404, "not_found", "metrics need the extra 'otel'", HINT)
    return Response(page[0], media_type=page[1])
