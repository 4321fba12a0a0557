"""One request on its way to the provider and its answer on the way back, read in passing and stored before its end.

The last event of a stream is held back until the request and the answer are stored: what a client has seen in full is
never lost, and its next request finds it. When a client goes away, so does the request to the provider, and what
was answered by then is kept.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse

from octavo.core.context import Context
from octavo.core.fields import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.wire import write
from octavo.engine.chat import UNKNOWN_OVERFLOW, Chat
from octavo.errors import OctavoError, ProviderError, WindowExceeded
from octavo.meters.meter import Meter
from octavo.providers.faults import Fault, classify, silent, unreachable
from octavo.server.auth import Caller
from octavo.server.gateway import recall
from octavo.server.gateway.dialect import Asked, Dialect
from octavo.server.gateway.fit import Fitted, Weight, fit, plain_context, settings_for, surely_fits, weigh
from octavo.server.gateway.recognise import Kept, Place, keep, loaded, plain, recognise, stored_form
from octavo.server.gateway.replies import Heard
from octavo.server.gateway.upstream import Target, find_target, returned
from octavo.server.hub import Hub
from octavo.server.reply import to_json
from octavo.server.stream import EVENTS, STREAM_HEADERS
from octavo.store.values import Entry

log = logging.getLogger("octavo.gateway")

OVERFLOW_RETRIES = 2
"""How often a request that the provider found too large is made smaller and sent again."""
COLLECTED = 64 << 20
"""Bytes of an answer that are read on the side; a longer one only passes."""
LEARNED_FROM = 0.5
"""Share of the window from which bills are worth learning from: far from it nothing depends on them."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and all that is known about it."""

    hub: Hub
    dialect: Dialect
    caller: Caller
    asked: Asked
    target: Target
    place: Place
    meter: Meter
    settings: dict[str, Json]
    weight: Weight
    fitted: Fitted | None = None
    tip: str = ""
    """The node of the last message; empty as long as the request is not stored."""

    @property
    def headers(self) -> dict[str, str]:
        """What the client is told beside the answer."""
        after = self.fitted.tokens if self.fitted else self.weight.tokens
        return {
            "x-octavo-conversation": self.place.conversation,
            "x-octavo-compressed": "true" if self.compressed else "false",
            "x-octavo-tokens-before": str(self.weight.tokens),
            "x-octavo-tokens-after": str(after),
        }

    @property
    def compressed(self) -> bool:
        return self.fitted is not None and self.fitted.compressed

    @property
    def context(self) -> Context:
        """What was sent, as the meter sees it."""
        return self.fitted.context if self.fitted else plain_context(self.asked)

    def report(self) -> JsonObject:
        """Say what happened, for those who want it in the body."""
        return {
            "conversation": self.place.conversation,
            "compressed": self.compressed,
            "tokens_before": self.weight.tokens,
            "tokens_after": self.fitted.tokens if self.fitted else self.weight.tokens,
        }

    async def keep(self, *answers: Entry) -> Kept:
        """Store what is new of the request, and what was answered."""
        owner, format = self.caller.owner, self.dialect.name
        return await keep(self.hub, owner, self.asked, self.place, format, self.meter, answers)


async def relay(hub: Hub, dialect: Dialect, caller: Caller, raw: bytes, headers: Headers) -> Response:
    """Answer a request of a client."""
    asked = dialect.read(raw, headers)
    await hub.registry.refresh()
    target = find_target(hub, dialect, asked.model, headers, caller)
    if asked.options.off:
        response = await send(hub, target, _named(asked.onward, asked, target))
        return _passing(response)
    meter = await loaded(await hub.engine.models.meter(asked.model))
    # What fits at a glance is on its way while it is found out where it belongs.
    early = None
    if surely_fits(asked, meter) and not asked.options.conversation:
        early = hub.tasks.spawn(send(hub, target, _named(asked.onward, asked, target)))
    try:
        exchange = await _exchange(hub, dialect, caller, asked, target, meter)
    except BaseException:
        if early is not None:
            hub.tasks.spawn(_hang_up(early))
        raise
    return await _answer(exchange, early)


async def _exchange(
    hub: Hub, dialect: Dialect, caller: Caller, asked: Asked, target: Target, meter: Meter
) -> Exchange:
    place = await recognise(hub, caller.owner, asked)
    settings = await settings_for(hub, asked, place)
    return Exchange(
        hub=hub,
        dialect=dialect,
        caller=caller,
        asked=asked,
        target=target,
        place=place,
        meter=meter,
        settings=settings,
        weight=weigh(hub, asked, place, meter, settings),
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
    body = exchange.asked.onward if exchange.weight.fits or early else await _fitting(exchange)
    for attempt in range(OVERFLOW_RETRIES + 1):
        if exchange.asked.options.recall and exchange.compressed:
            return await _with_recall(exchange, body)
        if early is not None and attempt == 0:
            response = await early
        else:
            response = await send(
                exchange.hub, exchange.target, _named(body, exchange.asked, exchange.target)
            )
        if response.status_code < 400:
            return await _returned(exchange, response)
        failed = await response.aread()
        overflow = _overflow(exchange, response, failed)
        if overflow is None or attempt == OVERFLOW_RETRIES:
            return _failed(exchange, response, failed)
        await _learn_window(exchange, overflow)
        body = await _fitting(exchange, forced=True)
    raise AssertionError("the last attempt returns")


async def _fitting(exchange: Exchange, *, forced: bool = False) -> bytes:
    """Write the request with a context that fits."""
    asked, offered = exchange.asked, exchange.asked.options.recall
    settings = dict(exchange.settings)
    if offered:
        reply = settings.get("reply")
        settings["reply"] = (reply if isinstance(reply, int) else _usual_reply(exchange)) + recall.RESERVE
    exchange.tip = exchange.tip or (await exchange.keep()).tip
    exchange.fitted = await fit(
        exchange.hub,
        exchange.dialect,
        asked,
        exchange.place,
        exchange.tip,
        settings=settings,
        rules=exchange.target.rules,
        forced=forced,
    )
    more = (recall.TOOL,) if offered and exchange.fitted.compressed else ()
    return to_json(exchange.dialect.rewrite(asked, exchange.fitted.wired, more))


def _usual_reply(exchange: Exchange) -> int:
    card = exchange.meter.card
    return min(card.max_output, card.window // 4)


def _named(body: bytes, asked: Asked, target: Target) -> bytes:
    """Call the model what the provider calls it; a name without our prefix is left as it is, bytes and all."""
    if target.model == asked.model:
        return body
    return to_json({**json.loads(body), "model": target.model})


async def send(hub: Hub, target: Target, body: bytes) -> httpx2.Response:
    """Send a request; its answer has begun when this returns. Raise `ProviderError` when there is none."""
    try:
        request = hub.client.build_request("POST", target.url, content=body, headers=target.headers)
        return await hub.client.send(request, stream=True)
    except httpx2.TimeoutException:
        raise silent(target.provider) from None
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise unreachable(target.provider, error, target.secrets) from None


def _overflow(exchange: Exchange, response: httpx2.Response, body: bytes) -> WindowExceeded | None:
    """Tell whether the provider found the request too large."""
    try:
        said: Json = json.loads(body)
    except (ValueError, RecursionError):
        said = body[:1_000].decode("utf-8", "replace")
    fault = Fault(provider=exchange.target.provider, status=response.status_code, body=said)
    error = classify(fault)
    return error if isinstance(error, WindowExceeded) else None


async def _learn_window(exchange: Exchange, overflow: WindowExceeded) -> None:
    sent = exchange.fitted.tokens if exchange.fitted else exchange.weight.tokens
    models, model = exchange.hub.engine.models, exchange.asked.model
    await models.learn_window(model, overflow.window or int(sent * UNKNOWN_OVERFLOW))
    exchange.meter = await loaded(await models.meter(model))


def _failed(exchange: Exchange, response: httpx2.Response, body: bytes) -> Response:
    """Pass an error on as it came; a request without an answer is stored when it is repeated."""
    headers = {**returned(Headers(raw=response.headers.raw)), **exchange.headers}
    return Response(body, response.status_code, headers)


def _passing(response: httpx2.Response) -> Response:
    """Pass an answer on without reading it."""
    headers = {**returned(Headers(raw=response.headers.raw)), **STREAM_HEADERS}
    return StreamingResponse(_bytes(response), response.status_code, headers)


async def _bytes(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """Give what a provider sends, as it comes; closing this hangs up."""
    encoded = "content-encoding" in response.headers
    try:
        async for piece in response.aiter_bytes() if encoded else response.aiter_raw():
            yield piece
    finally:
        await response.aclose()


async def _returned(exchange: Exchange, response: httpx2.Response) -> Response:
    headers = {**returned(Headers(raw=response.headers.raw)), **exchange.headers}
    hub = exchange.hub
    hub.telemetry.relayed(
        compressed=exchange.compressed,
        before=exchange.weight.tokens,
        after=exchange.fitted.tokens if exchange.fitted else exchange.weight.tokens,
    )
    if response.headers.get("content-type", "").startswith(EVENTS):
        return StreamingResponse(_stream(exchange, response), 200, {**headers, **STREAM_HEADERS})
    try:
        async with aclosing(_bytes(response)) as pieces:
            raw = b"".join([piece async for piece in pieces])
    except httpx2.TransportError as error:
        raise unreachable(exchange.target.provider, error, exchange.target.secrets) from None
    await asyncio.shield(hub.tasks.spawn(finish(exchange, raw, streamed=False)))
    return Response(_with_report(exchange, raw), response.status_code, headers)


def _with_report(exchange: Exchange, raw: bytes) -> bytes:
    if not exchange.asked.options.usage:
        return raw
    try:
        return to_json({**json.loads(raw), "octavo": exchange.report()})
    except (ValueError, TypeError):
        return raw


async def _stream(exchange: Exchange, response: httpx2.Response) -> AsyncIterator[bytes]:
    """Pass a stream on, and hold its end back until everything is stored."""
    collected, size, sent_end = list[bytes](), 0, False
    hub, end = exchange.hub, exchange.dialect.end
    tail = b""
    try:
        async with aclosing(_bytes(response)) as pieces:
            async for piece in pieces:
                size += len(piece)
                if size <= COLLECTED:
                    collected.append(piece)
                at = (tail + piece).find(end)
                if at < 0 or sent_end:
                    tail = piece[-len(end) :]
                    yield piece
                    continue
                cut = max(0, at - len(tail))
                if cut:
                    yield piece[:cut]
                sent_end = True
                await asyncio.shield(hub.tasks.spawn(finish(exchange, b"".join(collected), streamed=True)))
                yield _report_event(exchange) + piece[cut:]
    except httpx2.TransportError as error:
        log.warning("%s: the answer broke off: %s", exchange.target.provider, type(error).__name__)
    finally:
        if not sent_end:
            # The client went away, or the provider did: what came by then is kept, by a task that outlives us.
            hub.tasks.spawn(finish(exchange, b"".join(collected), streamed=True))


def _report_event(exchange: Exchange) -> bytes:
    """Say what happened in an event that both libraries accept."""
    if not exchange.asked.options.usage:
        return b""
    if exchange.dialect.name == "anthropic":
        return b"event: ping\ndata: %s\n\n" % to_json({"type": "ping", "octavo": exchange.report()})
    chunk: JsonObject = {
        "id": "octavo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": exchange.asked.model,
        "choices": [],
        "octavo": exchange.report(),
    }
    return b"data: %s\n\n" % to_json(chunk)


async def finish(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Store an answer and learn from its bill; the client has it whatever happens here."""
    try:
        heard = exchange.dialect.hear(raw, streamed=streamed)
        kept = await _store(exchange, heard)
        if heard.complete and heard.usage.input:
            await _learn_bill(exchange, heard.usage.input)
        if exchange.weight.prepare and kept.answers:
            await _look_after(exchange, kept.answers[0])
    except OctavoError as error:
        log.warning("an answer in %s was not stored: %s", exchange.place.conversation, error)


async def _store(exchange: Exchange, heard: Heard) -> Kept:
    """Store a request and what was answered below it."""
    unit = exchange.meter.unit.name
    answers = [
        Entry(
            message=stored_form(message, exchange.dialect.name),
            status="complete" if heard.complete else "aborted",
            counts={unit: exchange.meter.count_message(plain(message))},
            input_tokens=heard.usage.input or None,
            output_tokens=heard.usage.output or None,
            model=heard.model or exchange.asked.model,
        )
        for message in heard.messages
    ]
    if exchange.tip:
        # It was stored before it was sent, to be compressed.
        known = replace(exchange.place, known=len(exchange.asked.messages), node=exchange.tip)
        exchange.place = known
    return await exchange.keep(*answers)


async def _learn_bill(exchange: Exchange, billed: int) -> None:
    models, model = exchange.hub.engine.models, exchange.asked.model
    meter = await models.meter(model)
    close = billed > meter.card.window * LEARNED_FROM
    if close or not meter.knows(exchange.context):
        await models.learn_bill(model, exchange.context, billed, dict(exchange.weight.known))


async def _look_after(exchange: Exchange, tip: str) -> None:
    """Get a snapshot ready while the client thinks."""
    engine = exchange.hub.engine
    chat = Chat(engine, exchange.place.conversation)
    scene = await chat.scene(tip, tools=exchange.asked.tools, override=exchange.settings)
    engine.look_after(chat, scene)


# With the recall tool an answer is passed on only when it is known to be meant for the client.


async def _with_recall(exchange: Exchange, body: bytes) -> Response:
    hub, dialect = exchange.hub, exchange.dialect
    rounds = 0
    while True:
        response = await send(hub, exchange.target, _named(body, exchange.asked, exchange.target))
        raw = await response.aread()
        if response.status_code >= 400:
            return _failed(exchange, response, raw)
        streamed = response.headers.get("content-type", "").startswith(EVENTS)
        heard = dialect.hear(raw, streamed=streamed)
        asked_back = [message for message in heard.messages if recall.calls_of(message)]
        if not asked_back or rounds == recall.ROUNDS:
            break
        rounds += 1
        body = await _looked_up(exchange, json.loads(body), asked_back[0])
    await asyncio.shield(hub.tasks.spawn(finish(exchange, raw, streamed=streamed)))
    headers = {
        **returned(Headers(raw=response.headers.raw)),
        **exchange.headers,
        "x-octavo-recalls": str(rounds),
    }
    return Response(raw, response.status_code, headers)


async def _looked_up(exchange: Exchange, body: dict[str, Any], called: Message) -> bytes:
    """Go on with the calls and their answers, as if the client had answered them."""
    covered = exchange.context.covered_to
    answered = await recall.answer(exchange.hub, exchange.place.conversation, exchange.tip, covered, called)
    more = write(exchange.dialect.name, [called, answered]).messages
    return to_json({**body, "messages": [*body["messages"], *more]})
