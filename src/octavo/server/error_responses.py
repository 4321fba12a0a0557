"""Responses to failed requests: in the format of the API, or of the provider whose interface the client uses."""

from __future__ import annotations

import logging
import re

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path

from octavo.gateway.errors import error_writer, status_of
from octavo.gateway.passthrough import WITHOUT_V1, speaks_anthropic, speaks_gemini
from octavo.http.errors import UNEXPECTED, api_error_of
from octavo.http.responses import json_response, request_id

log = logging.getLogger("octavo.server")

_PARAMETER = re.compile(r"\{[^{}]*\}")
GATEWAY = ("/v1/", "/v1beta/")
CLOSED = 499
"""The status that a log of requests shows for a client that hung up, as proxies write it."""


def respond(request: Request, error: Exception) -> Response:
    """Make the response that tells a client what went wrong."""
    api_error, id, path = api_error_of(error), request_id(request), request.url.path
    if api_error is UNEXPECTED:
        log.error("%s: unexpected error", id, exc_info=error)
    elif api_error.status >= 500:
        log.warning("%s %s: %s", id, api_error.type, error)
    if not path.startswith(GATEWAY) and path not in WITHOUT_V1:
        return json_response(api_error.body(id), api_error.status, api_error.headers)
    interface = "anthropic" if speaks_anthropic(path, request.headers) else "openai"
    write = error_writer("gemini" if speaks_gemini(path, request.headers) else interface)
    return json_response(write(api_error, error, id), status_of(api_error), api_error.headers)


async def handle_exception(request: Request, error: Exception) -> Response:
    """Handle an exception for the framework."""
    if isinstance(error, ClientDisconnect):
        # Whoever hung up while the body was read hears no answer, and nothing went wrong here.
        return Response(status_code=CLOSED)
    if isinstance(error, HTTPException) and error.status_code == 405:
        error = HTTPException(405, error.detail, {"allow": ", ".join(_allowed(request))})
    return respond(request, error)


def _allowed(request: Request) -> list[str]:
    """List the methods of a path. The framework names those of the first route only."""
    described: dict[str, dict[str, object]] = request.app.openapi()["paths"]
    # Where several paths fit, the one that says most of itself is meant.
    for path in sorted(described, key=lambda path: -len(_PARAMETER.sub("", path))):
        pattern, _, _ = compile_path(path.replace("{model}", "{model:path}"))
        if pattern.match(request.url.path):
            return sorted(method.upper() for method in described[path])
    return []
