"""The path of a request: read it, identify its branch, measure it, send what fits, pass the answer on.

A request that is obviously small is sent before its branch is known. A request that the provider refuses as too large
is made smaller and sent again; the client sees that only in a header.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.core.json_values import Json, JsonObject
from octavo.engine.overflow import OverflowRetry
from octavo.engine.settings import policy_of
from octavo.errors import NotFound, ProviderError, WindowExceeded
from octavo.gateway import recall
from octavo.gateway.compaction import answer_trigger, asks_for_compaction
from octavo.gateway.continued import continue_branch
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.exchange import Exchange
from octavo.gateway.fit import (
    decide_request,
    fit,
    load_vocabulary,
    measure_request,
    reasoning_tokens,
    request_context,
    settings_for,
    surely_fits,
)
from octavo.gateway.forward import (
    Destination,
    find_destination,
    receive,
    returned_headers,
    send,
    with_model_name,
)
from octavo.gateway.gateway import Gateway
from octavo.gateway.identify import identify
from octavo.gateway.recall import ask_with_recall
from octavo.gateway.reply import ProviderResponse, pass_on, pass_through
from octavo.gateway.save import save_exchange
from octavo.http.caller import Caller
from octavo.http.errors import Refusal
from octavo.http.responses import json_response, to_json
from octavo.meters.meter import Meter
from octavo.providers.error_mapping import Fault, classify

log = logging.getLogger("octavo.gateway")

LONGEST_ERROR = 1_000
"""Bytes read of an error that is not JSON: such a page says what happened at its beginning or not at all."""


async def relay(
    gateway: Gateway, dialect: Dialect, caller: Caller, raw: bytes, headers: Headers, id: str, query: str
) -> Response:
    """Answer the request of a client."""
    request = dialect.read(raw, headers)
    await gateway.upstreams.refresh()
    destination = await find_destination(gateway, dialect, request.model, headers, caller, query=query)
    if dialect.name == "responses":
        if asks_for_compaction(request) and not destination.official:
            return await answer_trigger(gateway, caller, request, headers)
        if asks_for_compaction(request):
            request = replace(request, tracked=False)
        request = await continue_branch(gateway, caller.owner, request)
    if request.options.off or not request.tracked:
        return pass_through(await _send(gateway, request, destination))
    meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
    early: asyncio.Task[httpx2.Response] | None = None
    named = request.options.conversation or request.expanded
    if surely_fits(request, meter) and not named:
        early = gateway.host.spawn(_send(gateway, request, destination))
    try:
        exchange = await _open(gateway, id, dialect, caller, request, destination, meter)
    except BaseException:
        if early is not None:
            gateway.host.spawn(_hang_up(early))
        raise
    return await _answer(exchange, early)


async def _send(gateway: Gateway, request: ClientRequest, destination: Destination) -> httpx2.Response:
    """Send a request unchanged."""
    return await send(
        gateway,
        destination,
        with_model_name(request.onward, request.model, destination),
        streamed=request.stream,
    )


async def _open(
    gateway: Gateway,
    id: str,
    dialect: Dialect,
    caller: Caller,
    request: ClientRequest,
    destination: Destination,
    meter: Meter,
) -> Exchange:
    """Identify the branch of a request, and measure the request."""
    branch = await identify(gateway, caller.owner, request)
    settings = await settings_for(gateway, request, branch)
    size = measure_request(gateway, request, branch, meter, settings)
    return Exchange(
        gateway=gateway,
        id=id,
        dialect=dialect,
        caller=caller,
        request=request,
        destination=destination,
        branch=branch,
        meter=meter,
        settings=settings,
        size=size,
        decision=decide_request(size, policy_of(settings, meter)),
        retry=OverflowRetry(gateway.engine.models, request.model),
    )


async def _hang_up(early: asyncio.Task[httpx2.Response]) -> None:
    """Close a request that should not have been sent."""
    try:
        response = await early
        await response.aclose()
    except ProviderError as error:
        log.info("a request that was given up had failed: %s", error)


async def _answer(exchange: Exchange, early: asyncio.Task[httpx2.Response] | None) -> Response:
    """Send a request that fits; if the provider refuses it as too large, send less."""
    rewritten = (exchange.too_large or exchange.request.whole) and not early
    body = await _fitted_body(exchange) if rewritten else exchange.request.onward
    while True:
        answer = await _ask(exchange, body, early)
        early = None
        overflow = _overflow(exchange, answer)
        if overflow is None or not await _is_worth_retrying(exchange, overflow):
            return await pass_on(exchange, answer)
        body = await _fitted_body(exchange, forced=True)


async def _is_worth_retrying(exchange: Exchange, overflow: WindowExceeded) -> bool:
    """Learn from a refusal by the rule that every turn follows; tell whether to send less and try again."""
    mark = exchange.fitted.mark if exchange.fitted else exchange.size.limit
    again = await exchange.retry.refused(overflow, exchange.context, exchange.size.known, exchange.sent, mark)
    exchange.meter = await load_vocabulary(await exchange.gateway.engine.models.meter(exchange.request.model))
    return again


async def _ask(
    exchange: Exchange, body: bytes, early: asyncio.Task[httpx2.Response] | None
) -> ProviderResponse:
    """Send a body, unless it is on its way already."""
    if exchange.offers_recall:
        return await ask_with_recall(exchange, body)
    response = await early if early is not None else await exchange.send(body)
    answer = ProviderResponse(response=response)
    if answer.failed:
        return ProviderResponse(response=response, raw=await receive(exchange.destination, response))
    return answer


async def _fitted_body(exchange: Exchange, *, forced: bool = False) -> bytes:
    """Store the request, and write a body with a context that fits."""
    request = exchange.request
    if not exchange.fitted:
        # The snapshot builds on stored messages, so the match is checked in the store.
        exchange.branch = await identify(exchange.gateway, exchange.caller.owner, request, exchange.branch)
    saved = await save_exchange(exchange)
    exchange.fitted = await fit(
        exchange.gateway,
        exchange.dialect,
        request,
        saved.branch.conversation,
        saved.tip,
        settings=exchange.settings,
        rules=exchange.destination.rules,
        forced=forced,
        spare=exchange.retry.spare + (recall.RESERVE if request.options.recall else 0),
    )
    more = (recall.TOOL,) if exchange.offers_recall else ()
    return to_json(exchange.dialect.rewrite(request, exchange.fitted.wired, more))


def _overflow(exchange: Exchange, answer: ProviderResponse) -> WindowExceeded | None:
    """Give the error of a provider that refuses a request as too large; None for everything else."""
    if not answer.failed or answer.raw is None:
        return None
    try:
        said: Json = json.loads(answer.raw)
    except (ValueError, RecursionError):
        said = answer.raw[:LONGEST_ERROR].decode("utf-8", "replace")
    error = classify(
        Fault(provider=exchange.destination.provider, status=answer.response.status_code, body=said)
    )
    return error if isinstance(error, WindowExceeded) else None


BASIS = "x-octavo-basis"
NOT_OFFERED = (404, 405, 501)
"""Statuses of services that offer no counting."""


async def count_request(
    gateway: Gateway, dialect: Dialect, caller: Caller, request: ClientRequest, headers: Headers, query: str
) -> Response:
    """Count the tokens of a request: by the provider if it counts, else by our meter."""
    told = None
    if not request.whole:
        told = await _ask_provider(gateway, dialect, caller, request, headers, query)
    if told is not None:
        return told
    meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
    reading = meter.read(request_context(request))
    tokens = reading.tokens + reasoning_tokens(request)
    kind: JsonObject = {"object": "response.input_tokens"} if dialect.name == "responses" else {}
    return json_response({**kind, "input_tokens": tokens}, headers={BASIS: reading.basis})


async def _ask_provider(
    gateway: Gateway, dialect: Dialect, caller: Caller, request: ClientRequest, headers: Headers, query: str
) -> Response | None:
    """Ask the provider to count; None if it cannot be asked, or does not count."""
    try:
        destination = await find_destination(
            gateway, dialect, request.model, headers, caller, path=dialect.count_path, query=query
        )
        response = await send(
            gateway, destination, with_model_name(request.onward, request.model, destination), streamed=True
        )
        body = await receive(destination, response)
    except (Refusal, ProviderError, NotFound):
        return None
    status = response.status_code
    if status in NOT_OFFERED or status >= 500:
        return None
    told = returned_headers(Headers(raw=response.headers.raw))
    if status == 200:
        told[BASIS] = "exact"
        await _learn_count(gateway, request, body)
    return Response(body, status, told)


async def _learn_count(gateway: Gateway, request: ClientRequest, body: bytes) -> None:
    """Calibrate the meter by the provider's count, as by a bill."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    tokens = said.get("input_tokens") if isinstance(said, dict) else None
    if type(tokens) is int and tokens > 0 and request.tracked and not reasoning_tokens(request):
        meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
        await gateway.engine.models.learn_bill(request.model, meter.survey(request_context(request)), tokens)
