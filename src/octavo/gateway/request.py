"""The path of a request: read it, identify its branch, measure it, send what fits, pass the answer on.

A request that is obviously small is sent before its branch is known. A request that the provider refuses as too large
is made smaller and sent again; the client sees that only in a header.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.core.json_values import Json, JsonObject
from octavo.engine.compression import CompressionRequest
from octavo.engine.overflow import OverflowRetry
from octavo.engine.settings import policy_of
from octavo.errors import BadBudget, ContextOverflow, NotFound, ProviderError, WindowExceeded
from octavo.gateway import recall
from octavo.gateway.compaction import answer_trigger, asks_for_compaction
from octavo.gateway.continued import continue_branch
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.exchange import Exchange, answer_translator
from octavo.gateway.fit import (
    FittedContext,
    covers_more,
    decide_request,
    fit,
    load_vocabulary,
    measure_request,
    reasoning_tokens,
    request_context,
    settings_for,
    surely_fits,
    with_usual_reply,
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
from octavo.gateway.identify import identify, stable_part
from octavo.gateway.passthrough import check_own_key
from octavo.gateway.recall import ask_with_recall
from octavo.gateway.reply import ProviderResponse, pass_on, pass_through
from octavo.gateway.save import SavedRequest, save_exchange
from octavo.gateway.thinking import (
    BINDING,
    drop_bound_blocks,
    has_thinking,
    keep_bound_blocks,
    must_drop,
    refuses_switch,
    refuses_thinking,
    sends_thinking,
)
from octavo.gateway.translate.requests import plain_body
from octavo.http.caller import Caller
from octavo.http.errors import Refusal
from octavo.http.responses import json_response
from octavo.meters.meter import Meter
from octavo.providers.error_mapping import Fault, classify

log = logging.getLogger("octavo.gateway")

KEPT_BY_PROVIDER = ("previous_response_id", "conversation", "cachedContent")
"""Fields that name what only the provider has."""
LONGEST_ERROR = 1_000
"""Bytes read of an error that is not JSON: such a page says what happened at its beginning or not at all."""


async def relay(
    gateway: Gateway,
    dialect: Dialect,
    caller: Caller,
    request: ClientRequest,
    headers: Headers,
    id: str,
    query: str,
    path: str = "",
) -> Response:
    """Answer the request of a client; `path` is what follows the model in the address, where it stands there."""
    request = await with_answering_model(gateway, request)
    destination = await find_destination(
        gateway, dialect, request.model, headers, caller, path=path, query=query
    )
    if dialect.name == "responses":
        if asks_for_compaction(request) and not destination.official:
            return await answer_trigger(gateway, caller, request, headers)
        if asks_for_compaction(request):
            request = replace(request, tracked=False)
        request = await continue_branch(gateway, caller.owner, request)
    if not request.tracked and any(request.body.get(name) for name in KEPT_BY_PROVIDER):
        check_own_key(gateway, dialect, caller)
    if not request.tracked and destination.format != dialect.name:
        raise NotFound(
            "only the provider of its first answer knows what this request continues: send its whole input"
        )
    meter = await gateway.engine.models.meter(request.model)
    if request.options.off or not request.tracked:
        body = plain_body(dialect, request, destination, meter.card)
        response = await send(gateway, destination, body, streamed=request.stream)
        return pass_through(response, answer_translator(dialect, request, destination, id))
    meter = await load_vocabulary(meter)
    early: asyncio.Task[httpx2.Response] | None = None
    # Claude's thinking may be bound to a snapshot of its conversation, which has to be known then.
    bound = dialect.name == "anthropic" and sends_thinking(request)
    if surely_fits(request, meter) and not (request.options.conversation or request.expanded or bound):
        body = plain_body(dialect, request, destination, meter.card)
        early = gateway.host.spawn(send(gateway, destination, body, streamed=request.stream))
    try:
        exchange = await _open(gateway, id, dialect, caller, request, destination, meter)
    except BaseException:
        if early is not None:
            gateway.host.spawn(_hang_up(early))
        raise
    return await _answer(exchange, early)


async def with_answering_model(gateway: Gateway, request: ClientRequest) -> ClientRequest:
    """Name the model that answers: the one that the client asks for, or the one that its alias stands for."""
    await gateway.upstreams.refresh_in_time()
    return replace(request, model=gateway.upstreams.aliases.get(request.model, request.model))


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
    misses = await gateway.engine.states.misses(branch.conversation, meter.card)
    size = measure_request(gateway, request, branch, meter, settings, misses=misses)
    if size.budget is None and (clamped := with_usual_reply(settings, meter.card)):
        settings = clamped
        size = measure_request(gateway, request, branch, meter, settings, misses=misses)
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
        stable=stable_part(request, branch),
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
    body = await _fitted_body(exchange) if rewritten else exchange.plain_body()
    if exchange.dear and not rewritten and not early:
        body = await _cheaper_body(exchange) or body
    while True:
        if early is None and await must_drop(exchange):
            body = drop_bound_blocks(exchange, body)
        answer = await _ask_about_thinking(exchange, body, early)
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


async def _ask_about_thinking(
    exchange: Exchange, body: bytes, early: asyncio.Task[httpx2.Response] | None
) -> ProviderResponse:
    """Send a body; if the provider refuses the thinking in it, have that left out and send it once more."""
    answer = await _ask(exchange, body, early)
    if BINDING.encode() in body and refuses_switch(answer):
        return await _ask(exchange, keep_bound_blocks(exchange, body), None)
    if has_thinking(exchange) and refuses_thinking(answer):
        changed = drop_bound_blocks(exchange, body, ask=True)
        return await _ask(exchange, changed, None) if changed is not body else answer
    return answer


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
        exchange.stable = stable_part(request, exchange.branch)
    saved = await save_exchange(exchange)
    try:
        if exchange.stable is not None and not exchange.fitted:
            await _compress_stable(exchange, saved, exchange.stable)
        exchange.fitted = await _fit(exchange, saved, forced=forced)
    except (BadBudget, ContextOverflow):
        # The messages may fit beside a smaller answer, and only the provider knows how long that will be.
        clamped = with_usual_reply(exchange.settings, exchange.meter.card)
        if clamped is None:
            raise
        exchange.settings = clamped
        exchange.fitted = await _fit(exchange, saved, forced=forced)
    more = (recall.TOOL,) if exchange.offers_recall else ()
    return exchange.fitted_body(exchange.fitted.wired, more)


async def _compress_stable(exchange: Exchange, saved: SavedRequest, stable: int) -> None:
    """Compress no more than what the client will send again, where the usual cut would lie in what it rewrites."""
    engine, conversation = exchange.gateway.engine, saved.branch.conversation
    state = await engine.state_of(
        conversation, saved.tip, tools=exchange.request.tools, override=exchange.settings
    )
    if state.reading.cautious <= state.budget.hard or not covers_more(state, "hard", stable):
        return
    last = next((node.id for node in state.recipe.branch if node.depth == stable), None)
    wanted = CompressionRequest(urgency="hard", focus=exchange.request.options.focus, up_to=last)
    async with aclosing(engine.run_compression(state, wanted)) as steps:
        async for step in steps:
            exchange.gateway.host.announce(conversation, step)


async def _cheaper_body(exchange: Exchange) -> bytes | None:
    """Write a body with the snapshot that serves the branch; None if none does, and the request goes out unchanged."""
    body = await _fitted_body(exchange)
    if exchange.compressed:
        return body
    exchange.fitted = None
    return None


async def _fit(exchange: Exchange, saved: SavedRequest, *, forced: bool) -> FittedContext:
    return await fit(
        exchange.gateway,
        exchange.provider_dialect,
        exchange.request,
        saved.branch.conversation,
        saved.tip,
        settings=exchange.settings,
        rules=exchange.destination.rules,
        forced=forced,
        spare=exchange.retry.spare + (recall.RESERVE if exchange.request.options.recall else 0),
    )


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
    request = await with_answering_model(gateway, request)
    told = None
    if not request.whole:
        told = await _ask_provider(gateway, dialect, caller, request, headers, query)
    if told is not None:
        return told
    meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
    reading = meter.read(request_context(request))
    tokens = reading.tokens + reasoning_tokens(request)
    counted: JsonObject = {"input_tokens": tokens}
    if dialect.name == "responses":
        counted["object"] = "response.input_tokens"
    if dialect.name == "gemini":
        counted = {"totalTokens": tokens}
    return json_response(counted, headers={BASIS: reading.basis})


async def _ask_provider(
    gateway: Gateway, dialect: Dialect, caller: Caller, request: ClientRequest, headers: Headers, query: str
) -> Response | None:
    """Ask the provider to count; None if it cannot be asked, or does not count."""
    try:
        destination = await find_destination(
            gateway, dialect, request.model, headers, caller, path=dialect.count_path, query=query
        )
        if destination.format != dialect.name:
            return None
        response = await send(
            gateway, destination, with_model_name(request.onward, request.asked, destination), streamed=True
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
    tokens = said.get("input_tokens", said.get("totalTokens")) if isinstance(said, dict) else None
    if type(tokens) is int and tokens > 0 and request.tracked and not reasoning_tokens(request):
        meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
        await gateway.engine.models.learn_bill(request.model, meter.survey(request_context(request)), tokens)
