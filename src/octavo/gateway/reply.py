"""The answer on its way back: passed on byte for byte, read on the side, and stored before its end.

The last event of a stream is held back until the request and the answer are stored: what a client has seen in full is
never lost, and its next request finds it. When a client goes away, so does the request to the provider, and what was
answered by then is kept. A stream that breaks off ends in an error that the provider's own library understands.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse

from octavo.core.fields import JsonObject
from octavo.errors import ProviderError
from octavo.gateway.errors import anthropic_error, openai_error
from octavo.gateway.exchange import Exchange
from octavo.gateway.forward import connection_error, receive, returned_headers, stream_body
from octavo.gateway.save import finish, finish_and_wait
from octavo.http.errors import ApiError, explain
from octavo.http.responses import EVENTS, STREAM_HEADERS, to_json
from octavo.providers.error_mapping import unreadable

log = logging.getLogger("octavo.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResponse:
    """What a provider answered: all of it, or as far as its head."""

    response: httpx2.Response
    raw: bytes | None = None
    """The body; None while it is still coming."""
    recalls: int | None = None
    """How often the model looked into what was folded away; None if it could not."""

    @property
    def failed(self) -> bool:
        return self.response.status_code >= 400

    @property
    def streamed(self) -> bool:
        return self.response.headers.get("content-type", "").lower().startswith(EVENTS)


def pass_through(response: httpx2.Response) -> Response:
    """Pass an answer on without reading it."""
    headers = {**returned_headers(_headers(response)), **STREAM_HEADERS}
    return StreamingResponse(stream_body(response), response.status_code, headers)


async def pass_on(exchange: Exchange, answer: ProviderResponse) -> Response:
    """Pass an answer on, and store it."""
    response = answer.response
    headers = {**returned_headers(_headers(response)), **exchange.headers}
    if answer.recalls is not None:
        headers["x-octavo-recalls"] = str(answer.recalls)
    if answer.failed:
        # Nothing is stored: the request is when it is repeated and answered.
        return Response(_error(exchange, answer), response.status_code, headers)
    gateway = exchange.gateway
    gateway.host.record_request(compressed=exchange.compressed)
    if answer.streamed and answer.raw is None:
        passing = pass_stream(exchange, response)
        return StreamingResponse(passing, response.status_code, {**headers, **STREAM_HEADERS})
    raw = await receive(exchange.destination, response) if answer.raw is None else answer.raw
    if not answer.streamed:
        _check_json(exchange, raw)
    await finish_and_wait(exchange, raw, streamed=answer.streamed)
    if exchange.request.options.usage:
        raw = _with_report_event(exchange, raw) if answer.streamed else _with_report(exchange, raw)
    return Response(raw, response.status_code, headers)


def _error(exchange: Exchange, answer: ProviderResponse) -> bytes:
    """Give an error as it came, unless a service that only imitates Anthropic words its errors in its own way."""
    raw = answer.raw or b""
    if exchange.dialect.name != "anthropic":
        return raw
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    inner = said.get("error") if isinstance(said, dict) and said.get("type") != "error" else None
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return raw
    api_error = ApiError(status=answer.response.status_code, type="provider_error", message=inner["message"])
    return to_json(anthropic_error(api_error, ProviderError(api_error.message), exchange.id))


def _check_json(exchange: Exchange, raw: bytes) -> None:
    """Refuse an answer that no client could read: a page to log in at, or what a proxy made of it."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        raise unreadable(exchange.destination.provider, "it is no JSON") from None


def _headers(response: httpx2.Response) -> Headers:
    return Headers(raw=response.headers.raw)


async def pass_stream(exchange: Exchange, response: httpx2.Response) -> AsyncIterator[bytes]:
    """Pass a stream on, and hold its end back until everything is stored."""
    copy, ending, stored = list[bytes](), StreamEnd(exchange.dialect.ends), False
    try:
        async with aclosing(stream_body(response)) as pieces:
            async for piece in pieces:
                if stored:
                    yield piece
                    continue
                copy.append(piece)
                if now := ending.feed(piece):
                    yield now
                if ending.reached:
                    stored = True
                    await finish_and_wait(exchange, b"".join(copy), streamed=True)
                    yield _report_event(exchange) + ending.held
        if not stored:
            # Some services just stop.
            stored = True
            await finish_and_wait(exchange, b"".join(copy), streamed=True)
            yield ending.held + _report_event(exchange)
    except httpx2.RequestError as error:
        log.warning("%s: an answer broke off: %s", exchange.destination.provider, type(error).__name__)
        if not stored:
            stored = True
            await finish_and_wait(exchange, b"".join(copy), streamed=True)
            yield _error_event(exchange, error)
    finally:
        if not stored:
            # The client went away: what came by then is kept, by a task that outlives us.
            exchange.gateway.host.spawn(finish(exchange, b"".join(copy), streamed=True))


class StreamEnd:
    """Finds where the last event of a stream begins, in pieces that are cut anywhere.

    It begins a line, which no text inside an event can: in JSON there are no bare line ends.
    """

    def __init__(self, marks: tuple[bytes, ...]) -> None:
        self._marks = marks
        self._inside = False
        """Whether what was passed on ended in the middle of a line."""
        self.held = b""
        """What is not passed on yet: perhaps the beginning of the end, or all of it."""
        self.reached = False

    def feed(self, piece: bytes) -> bytes:
        """Take a piece; give what can be passed on."""
        data = self.held + piece
        at = self._find(data)
        self.reached = at is not None
        cut = len(data) if at is None else at
        if at is None:
            start = data.rfind(b"\n") + 1
            begins_line = start > 0 or not self._inside
            if begins_line and any(mark.startswith(data[start:]) for mark in self._marks):
                cut = start
        passed, self.held = data[:cut], data[cut:]
        if passed:
            self._inside = not passed.endswith(b"\n")
        return passed

    def _find(self, data: bytes) -> int | None:
        if not self._inside and data.startswith(self._marks):
            return 0
        found = [at + 1 for mark in self._marks if (at := data.find(b"\n" + mark)) >= 0]
        return min(found, default=None)


def _with_report(exchange: Exchange, raw: bytes) -> bytes:
    try:
        return to_json({**json.loads(raw), "octavo": exchange.report()})
    except (ValueError, TypeError):
        return raw


def _with_report_event(exchange: Exchange, raw: bytes) -> bytes:
    ending = StreamEnd(exchange.dialect.ends)
    passed = ending.feed(raw)
    return passed + _report_event(exchange) + ending.held


def _report_event(exchange: Exchange) -> bytes:
    """Say what happened in an event that both libraries accept."""
    if not exchange.request.options.usage:
        return b""
    if exchange.dialect.name == "anthropic":
        return b"event: ping\ndata: %s\n\n" % to_json({"type": "ping", "octavo": exchange.report()})
    chunk: JsonObject = {
        "id": "octavo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": exchange.request.model,
        "choices": [],
        "octavo": exchange.report(),
    }
    return b"data: %s\n\n" % to_json(chunk)


def _error_event(exchange: Exchange, error: httpx2.RequestError) -> bytes:
    """Say that the answer broke off; the empty line ends whatever event it broke off in."""
    cause = connection_error(exchange.destination, error)
    api_error = explain(cause)
    if exchange.dialect.name == "anthropic":
        return b"\n\nevent: error\ndata: %s\n\n" % to_json(anthropic_error(api_error, cause, exchange.id))
    return b"\n\ndata: %s\n\n" % to_json(openai_error(api_error, cause, exchange.id))
