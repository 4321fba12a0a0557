"""The straight path of a request: read, recognise, weigh, send what fits, pass the answer on.

What fits at a glance is sent before it is known where it belongs. What the provider finds too large all the same is
made smaller and sent again; the client learns of it by a header only.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.core.fields import Json
from octavo.engine.overflow import OverflowRetry
from octavo.engine.state import policy_of
from octavo.errors import NotFound, ProviderError, WindowExceeded
from octavo.gateway import recall
from octavo.gateway.dialects.anthropic import ANTHROPIC
from octavo.gateway.dialects.dialect import Asked, Dialect
from octavo.gateway.exchange import Exchange
from octavo.gateway.fit import (
    decide_request,
    fit,
    loaded,
    measure_request,
    plain_context,
    settings_for,
    surely_fits,
    thinking,
)
from octavo.gateway.forward import Target, find_target, named, receive, returned, send
from octavo.gateway.gateway import Gateway
from octavo.gateway.identify import recognise
from octavo.gateway.recall import consult
from octavo.gateway.reply import Answer, pass_on, pass_unread
from octavo.gateway.save import save_exchange
from octavo.http.caller import Caller
from octavo.http.errors import Refusal
from octavo.http.responses import json_response, to_json
from octavo.meters.meter import Meter
from octavo.providers.faults import Fault, classify

log = logging.getLogger("octavo.gateway")

LONGEST_ERROR = 1_000
"""Bytes of an error that is no JSON which are looked at: such a page says it at the beginning or not at all."""


async def relay(
    gateway: Gateway, dialect: Dialect, caller: Caller, raw: bytes, headers: Headers, id: str, query: str
) -> Response:
    """Answer a request of a client."""
    asked = dialect.read(raw, headers)
    await gateway.upstreams.refresh()
    target = await find_target(gateway, dialect, asked.model, headers, caller, query=query)
    if asked.options.off:
        return pass_unread(await _send(gateway, asked, target))
    meter = await loaded(await gateway.engine.models.meter(asked.model))
    early: asyncio.Task[httpx2.Response] | None = None
    if surely_fits(asked, meter) and not asked.options.conversation:
        early = gateway.host.spawn(_send(gateway, asked, target))
    try:
        exchange = await _open(gateway, id, dialect, caller, asked, target, meter)
    except BaseException:
        if early is not None:
            gateway.host.spawn(_hang_up(early))
        raise
    return await _answer(exchange, early)


async def _send(gateway: Gateway, asked: Asked, target: Target) -> httpx2.Response:
    """Send a request as it came."""
    return await send(gateway, target, named(asked.onward, asked.model, target), streamed=asked.stream)


async def _open(
    gateway: Gateway, id: str, dialect: Dialect, caller: Caller, asked: Asked, target: Target, meter: Meter
) -> Exchange:
    """Find out where a request belongs and what it weighs."""
    place = await recognise(gateway, caller.owner, asked)
    settings = await settings_for(gateway, asked, place)
    size = measure_request(gateway, asked, place, meter, settings)
    return Exchange(
        gateway=gateway,
        id=id,
        dialect=dialect,
        caller=caller,
        asked=asked,
        target=target,
        place=place,
        meter=meter,
        settings=settings,
        size=size,
        decision=decide_request(size, policy_of(settings, meter)),
        retry=OverflowRetry(gateway.engine.models, asked.model),
    )


async def _hang_up(early: asyncio.Task[httpx2.Response]) -> None:
    """Give up a request that should not have been sent."""
    try:
        response = await early
        await response.aclose()
    except ProviderError as error:
        log.info("a request that was given up had failed: %s", error)


async def _answer(exchange: Exchange, early: asyncio.Task[httpx2.Response] | None) -> Response:
    """Send what fits; when the provider finds it too large all the same, believe it and send less."""
    body = await _fitting(exchange) if exchange.too_large and not early else exchange.asked.onward
    while True:
        answer = await _ask(exchange, body, early)
        early = None
        overflow = _overflow(exchange, answer)
        if overflow is None or not await _is_worth_retrying(exchange, overflow):
            return await pass_on(exchange, answer)
        body = await _fitting(exchange, forced=True)


async def _is_worth_retrying(exchange: Exchange, overflow: WindowExceeded) -> bool:
    """Learn from a refusal, as a turn of a chat does."""
    mark = exchange.fitted.mark if exchange.fitted else exchange.size.limit
    again = await exchange.retry.refused(overflow, exchange.context, exchange.size.known, exchange.sent, mark)
    exchange.meter = await loaded(await exchange.gateway.engine.models.meter(exchange.asked.model))
    return again


async def _ask(exchange: Exchange, body: bytes, early: asyncio.Task[httpx2.Response] | None) -> Answer:
    """Send a body, unless it was sent already."""
    if exchange.offers_recall:
        return await consult(exchange, body)
    response = await early if early is not None else await exchange.send(body)
    answer = Answer(response=response)
    if answer.failed:
        return Answer(response=response, raw=await receive(exchange.target, response))
    return answer


async def _fitting(exchange: Exchange, *, forced: bool = False) -> bytes:
    """Store the request, and write it with a context that fits."""
    asked = exchange.asked
    if not exchange.fitted:
        # What is built on must be there: from the store, not from memory.
        exchange.place = await recognise(exchange.gateway, exchange.caller.owner, asked, exchange.place)
    kept = await save_exchange(exchange)
    exchange.fitted = await fit(
        exchange.gateway,
        exchange.dialect,
        asked,
        kept.place.conversation,
        kept.tip,
        settings=exchange.settings,
        rules=exchange.target.rules,
        forced=forced,
        spare=exchange.retry.spare + (recall.RESERVE if asked.options.recall else 0),
    )
    more = (recall.TOOL,) if exchange.offers_recall else ()
    return to_json(exchange.dialect.rewrite(asked, exchange.fitted.wired, more))


def _overflow(exchange: Exchange, answer: Answer) -> WindowExceeded | None:
    """Tell whether the provider found the request too large."""
    if not answer.failed or answer.raw is None:
        return None
    try:
        said: Json = json.loads(answer.raw)
    except (ValueError, RecursionError):
        said = answer.raw[:LONGEST_ERROR].decode("utf-8", "replace")
    error = classify(Fault(provider=exchange.target.provider, status=answer.response.status_code, body=said))
    return error if isinstance(error, WindowExceeded) else None


BASIS = "x-octavo-basis"
NOT_OFFERED = (404, 405, 501)
"""How a service says that it does not count."""


async def count(gateway: Gateway, caller: Caller, asked: Asked, headers: Headers, query: str) -> Response:
    """Count a request."""
    told = await _ask_provider(gateway, caller, asked, headers, query)
    if told is not None:
        return told
    meter = await loaded(await gateway.engine.models.meter(asked.model))
    reading = meter.read(plain_context(asked))
    tokens = reading.tokens + thinking(asked)
    return json_response({"input_tokens": tokens}, headers={BASIS: reading.basis})


async def _ask_provider(
    gateway: Gateway, caller: Caller, asked: Asked, headers: Headers, query: str
) -> Response | None:
    """Let the provider count; None if it cannot be asked, or does not count."""
    try:
        target = await find_target(
            gateway, ANTHROPIC, asked.model, headers, caller, path="/count_tokens", query=query
        )
        response = await send(gateway, target, named(asked.onward, asked.model, target), streamed=True)
        body = await receive(target, response)
    except (Refusal, ProviderError, NotFound):
        return None
    status = response.status_code
    if status in NOT_OFFERED or status >= 500:
        return None
    told = returned(Headers(raw=response.headers.raw))
    if status == 200:
        told[BASIS] = "exact"
        await _learn_count(gateway, asked, body)
    return Response(body, status, told)


async def _learn_count(gateway: Gateway, asked: Asked, body: bytes) -> None:
    """An exact count is as good as a bill."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    tokens = said.get("input_tokens") if isinstance(said, dict) else None
    if type(tokens) is int and tokens > 0 and not thinking(asked):
        meter = await loaded(await gateway.engine.models.meter(asked.model))
        await gateway.engine.models.learn_bill(asked.model, meter.survey(plain_context(asked)), tokens)
