"""Responses of the API: what a schema describes, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from octavo.http.responses import json_response
from octavo.server.schemas.base import Shape


def reply(value: Shape, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with what a schema describes."""
    return json_response(value.model_dump(mode="python"), status, headers)
