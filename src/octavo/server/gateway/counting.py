"""`count_tokens`: the provider's own count where it gives one, else our meter's, and which of the two it is."""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.errors import NotFound, ProviderError
from octavo.http.caller import Caller
from octavo.http.errors import Refusal
from octavo.http.responses import json_response
from octavo.server.gateway.dialect import ANTHROPIC, Asked
from octavo.server.gateway.sending import named, receive, send
from octavo.server.gateway.upstream import find_target, returned
from octavo.server.gateway.weigh import loaded, plain_context, thinking
from octavo.server.hub import Hub

BASIS = "x-octavo-basis"
NOT_OFFERED = (404, 405, 501)
"""How a service says that it does not count."""


async def count(hub: Hub, caller: Caller, asked: Asked, headers: Headers, query: str) -> Response:
    """Count a request."""
    told = await _ask(hub, caller, asked, headers, query)
    if told is not None:
        return told
    meter = await loaded(await hub.engine.models.meter(asked.model))
    reading = meter.read(plain_context(asked))
    tokens = reading.tokens + thinking(asked)
    return json_response({"input_tokens": tokens}, headers={BASIS: reading.basis})


async def _ask(hub: Hub, caller: Caller, asked: Asked, headers: Headers, query: str) -> Response | None:
    """Let the provider count; None if it cannot be asked, or does not count."""
    try:
        target = await find_target(
            hub, ANTHROPIC, asked.model, headers, caller, path="/count_tokens", query=query
        )
        response = await send(hub, target, named(asked.onward, asked.model, target), streamed=True)
        body = await receive(target, response)
    except (Refusal, ProviderError, NotFound):
        return None
    status = response.status_code
    if status in NOT_OFFERED or status >= 500:
        return None
    told = returned(Headers(raw=response.headers.raw))
    if status == 200:
        told[BASIS] = "exact"
        await _learn(hub, asked, body)
    return Response(body, status, told)


async def _learn(hub: Hub, asked: Asked, body: bytes) -> None:
    """An exact count is as good as a bill."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    tokens = said.get("input_tokens") if isinstance(said, dict) else None
    if type(tokens) is int and tokens > 0 and not thinking(asked):
        meter = await loaded(await hub.engine.models.meter(asked.model))
        await hub.engine.models.learn_bill(asked.model, meter.survey(plain_context(asked)), tokens)
