"""Responses of JSON: in UTF-8, for any text that a conversation can hold.

Lone surrogates, which UTF-8 has no form for, are written as JSON escapes; they come from streams that cut characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

JSON = "application/json"
EVENTS = "text/event-stream"
STREAM_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""No cache stores a stream, and no proxy buffers it."""


def to_json(value: object) -> bytes:
    """Write JSON without spaces."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(to_json(value), status, dict(headers or {}), JSON)


def request_id(request: Request) -> str:
    """Give the id under which a request is logged and answered."""
    return str(getattr(request.state, "request_id", ""))
