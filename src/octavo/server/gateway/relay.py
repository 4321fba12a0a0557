"""The straight path of a request: read, recognise, weigh, send what fits, pass the answer on.

What fits at a glance is sent before it is known where it belongs. What the provider finds too large all the same is
made smaller and sent again; the client learns of it by a header only.
"""

from __future__ import annotations

import asyncio
import json
import logging

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.core.fields import Json
from octavo.engine.overflow import OverflowRetry
from octavo.engine.state import policy_of
from octavo.errors import ProviderError, WindowExceeded
from octavo.http.caller import Caller
from octavo.http.responses import to_json
from octavo.meters.meter import Meter
from octavo.providers.faults import Fault, classify
from octavo.server.gateway import recall
from octavo.server.gateway.consult import consult
from octavo.server.gateway.dialect import Asked, Dialect
from octavo.server.gateway.exchange import Exchange
from octavo.server.gateway.fit import fit
from octavo.server.gateway.passing import Answer, pass_on, pass_unread
from octavo.server.gateway.recognise import recognise
from octavo.server.gateway.sending import named, receive, send
from octavo.server.gateway.upstream import Target, find_target
from octavo.server.gateway.weigh import decide_request, loaded, measure_request, settings_for, surely_fits
from octavo.server.hub import Hub

log = logging.getLogger("octavo.gateway")

LONGEST_ERROR = 1_000
"""Bytes of an error that is no JSON which are looked at: such a page says it at the beginning or not at all."""


async def relay(
    hub: Hub, dialect: Dialect, caller: Caller, raw: bytes, headers: Headers, id: str, query: str
) -> Response:
    """Answer a request of a client."""
    asked = dialect.read(raw, headers)
    await hub.registry.refresh()
    target = await find_target(hub, dialect, asked.model, headers, caller, query=query)
    if asked.options.off:
        return pass_unread(await _send(hub, asked, target))
    meter = await loaded(await hub.engine.models.meter(asked.model))
    early: asyncio.Task[httpx2.Response] | None = None
    if surely_fits(asked, meter) and not asked.options.conversation:
        early = hub.tasks.spawn(_send(hub, asked, target))
    try:
        exchange = await _open(hub, id, dialect, caller, asked, target, meter)
    except BaseException:
        if early is not None:
            hub.tasks.spawn(_hang_up(early))
        raise
    return await _answer(exchange, early)


async def _send(hub: Hub, asked: Asked, target: Target) -> httpx2.Response:
    """Send a request as it came."""
    return await send(hub, target, named(asked.onward, asked.model, target), streamed=asked.stream)


async def _open(
    hub: Hub, id: str, dialect: Dialect, caller: Caller, asked: Asked, target: Target, meter: Meter
) -> Exchange:
    """Find out where a request belongs and what it weighs."""
    place = await recognise(hub, caller.owner, asked)
    settings = await settings_for(hub, asked, place)
    size = measure_request(hub, asked, place, meter, settings)
    return Exchange(
        hub=hub,
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
        retry=OverflowRetry(hub.engine.models, asked.model),
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
    exchange.meter = await loaded(await exchange.hub.engine.models.meter(exchange.asked.model))
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
        exchange.place = await recognise(exchange.hub, exchange.caller.owner, asked, exchange.place)
    kept = await exchange.keep()
    exchange.fitted = await fit(
        exchange.hub,
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
