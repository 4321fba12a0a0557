"""Passes answers on to the client byte for byte, and stores them before they end.

The last event of a stream is held back until request and answer are stored: an answer that a client has seen in full
is never lost, and the next request finds it. If the client goes away, the request to the provider is closed and the
partial answer is stored. If the provider breaks off, the stream ends in an error that its own library understands.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus

import httpx2
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse

from octavo.core.json_values import JsonObject
from octavo.errors import ProviderError
from octavo.gateway.dialects.dialect import Dialect, EventSplitter
from octavo.gateway.errors import anthropic_error, error_writer, gemini_error, openai_error
from octavo.gateway.exchange import Exchange
from octavo.gateway.forward import connection_error, receive, returned_headers, stream_body
from octavo.gateway.save import finish, finish_and_wait
from octavo.gateway.translate.translator import AnswerTranslator
from octavo.http.errors import ApiError, explain
from octavo.http.responses import EVENTS, JSON, STREAM_HEADERS, to_json
from octavo.providers.error_mapping import unreadable

log = logging.getLogger("octavo.gateway")

LONGEST_ERROR = 1_000
"""Bytes shown of an error that is not JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResponse:
    """The answer of a provider: all of it, or only its headers so far."""

    response: httpx2.Response
    raw: bytes | None = None
    """The body; None while it is still arriving."""
    recalls: int | None = None
    """How often the model called the recall tool; None if it was not offered."""

    @property
    def failed(self) -> bool:
        return self.response.status_code >= 400

    @property
    def streamed(self) -> bool:
        return self.response.headers.get("content-type", "").lower().startswith(EVENTS)


def pass_through(response: httpx2.Response, translator: AnswerTranslator | None = None) -> Response:
    """Pass an answer on without reading it, or in the client's interface."""
    headers = {**returned_headers(_headers(response)), **STREAM_HEADERS}
    passed = stream_body(response)
    if translator is not None and response.status_code < HTTPStatus.BAD_REQUEST:
        passed = _translated(passed, translator, streamed=ProviderResponse(response=response).streamed)
    return StreamingResponse(passed, response.status_code, headers)


async def _translated(
    pieces: AsyncGenerator[bytes, None], translator: AnswerTranslator, *, streamed: bool
) -> AsyncGenerator[bytes, None]:
    """Translate an answer that is not stored."""
    async with aclosing(pieces):
        if not streamed:
            yield translator.whole(b"".join([piece async for piece in pieces]))
            return
        yield translator.start()
        async for piece in pieces:
            if written := translator.feed(piece):
                yield written
        yield translator.end()


async def pass_on(exchange: Exchange, answer: ProviderResponse) -> Response:
    """Pass an answer on, and store it."""
    response = answer.response
    headers = {**returned_headers(_headers(response)), **exchange.headers}
    if answer.recalls is not None:
        headers["x-octavo-recalls"] = str(answer.recalls)
    if answer.failed:
        # A failed request is not stored. The client repeats it, and it is stored with its answer.
        if exchange.translated:
            headers["content-type"] = JSON
        return Response(_error(exchange, answer), response.status_code, headers)
    gateway = exchange.gateway
    gateway.host.record_request(compressed=exchange.compressed)
    if answer.streamed and answer.raw is None:
        passing = (pass_translated if exchange.translated else pass_stream)(exchange, response)
        return StreamingResponse(passing, response.status_code, {**headers, **STREAM_HEADERS})
    raw = await receive(exchange.destination, response) if answer.raw is None else answer.raw
    if not answer.streamed:
        _check_json(exchange, raw)
    await finish_and_wait(exchange, raw, streamed=answer.streamed)
    if exchange.translated:
        translator = exchange.translator()
        raw = translator.whole_stream(raw) if answer.streamed else translator.whole(raw)
    if exchange.request.options.usage:
        raw = _with_report_event(exchange, raw) if answer.streamed else _with_report(exchange, raw)
    return Response(raw, response.status_code, headers)


def _error(exchange: Exchange, answer: ProviderResponse) -> bytes:
    """Give the error of a provider unchanged, or in the client's format if it came in another."""
    raw = answer.raw or b""
    theirs = exchange.dialect.name == "anthropic"
    if not exchange.translated and not theirs:
        return raw
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        said = {}
    if not exchange.translated and isinstance(said, dict) and said.get("type") == "error":
        return raw
    inner = said.get("error") if isinstance(said, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else inner
    if not isinstance(message, str):
        if not exchange.translated:
            return raw
        message = raw[:LONGEST_ERROR].decode("utf-8", "replace") or "the provider gave no reason"
    api_error = ApiError(status=answer.response.status_code, type="provider_error", message=message)
    write = error_writer(exchange.dialect.name)
    return to_json(write(api_error, ProviderError(message), exchange.id))


def _check_json(exchange: Exchange, raw: bytes) -> None:
    """Refuse an answer that is not JSON, such as the login page of a proxy."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        raise unreadable(exchange.destination.provider, "it is not JSON") from None


def _headers(response: httpx2.Response) -> Headers:
    return Headers(raw=response.headers.raw)


async def pass_stream(exchange: Exchange, response: httpx2.Response) -> AsyncIterator[bytes]:
    """Pass a stream on; its last event waits until everything is stored."""
    copy, stored = list[bytes](), False
    ending = _ending(exchange.dialect)
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
            # Some services end a stream without a last event.
            stored = True
            await finish_and_wait(exchange, b"".join(copy), streamed=True)
            yield ending.held + _report_event(exchange)
    except httpx2.RequestError as error:
        log.warning("%s: an answer broke off: %s", exchange.destination.provider, type(error).__name__)
        if not stored:
            stored = True
            await finish_and_wait(exchange, b"".join(copy), streamed=True)
            yield _error_event(exchange, connection_error(exchange.destination, error))
    finally:
        if not stored:
            # The client went away. A task of the server stores the partial answer.
            exchange.gateway.host.spawn(finish(exchange, b"".join(copy), streamed=True))


async def pass_translated(exchange: Exchange, response: httpx2.Response) -> AsyncIterator[bytes]:
    """Pass a stream on in the client's interface; its end waits until everything is stored."""
    copy, stored, translator = list[bytes](), False, exchange.translator()
    try:
        yield translator.start()
        async with aclosing(stream_body(response)) as pieces:
            async for piece in pieces:
                copy.append(piece)
                if written := translator.feed(piece):
                    yield written
        stored = True
        await finish_and_wait(exchange, b"".join(copy), streamed=True)
        if translator.failure:
            yield _error_event(exchange, ProviderError(translator.failure))
        else:
            yield _report_event(exchange) + translator.end()
    except httpx2.RequestError as error:
        log.warning("%s: an answer broke off: %s", exchange.destination.provider, type(error).__name__)
        stored = True
        await finish_and_wait(exchange, b"".join(copy), streamed=True)
        yield _error_event(exchange, connection_error(exchange.destination, error))
    finally:
        if not stored:
            exchange.gateway.host.spawn(finish(exchange, b"".join(copy), streamed=True))


class StreamEnd:
    """Finds where the last event of a stream begins, although the stream arrives in arbitrary pieces.

    The event begins a line. No text inside an event can do that: JSON escapes line ends.
    """

    def __init__(self, marks: tuple[bytes, ...], *, whole: bool = False) -> None:
        self._marks = marks
        self._whole = whole
        """Whether the last event is reached only when all of it is there."""
        self._inside = False
        """Whether the last piece that was passed on ended in the middle of a line."""
        self.held = b""
        """Bytes that are not passed on yet: the last event, or what may be its beginning."""
        self.reached = False

    def feed(self, piece: bytes) -> bytes:
        """Take a piece, and give the bytes that can be passed on."""
        data = self.held + piece
        at = self._find(data)
        self.reached = at is not None and (not self._whole or bool(EventSplitter().feed(data[at:])))
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


class MarkedEnd:
    """Finds the last event of a stream by what it has in it; every event is passed on when it is complete."""

    def __init__(self, mark: re.Pattern[bytes]) -> None:
        self._mark = mark
        self._splitter = EventSplitter()
        self.held = b""
        self.reached = False

    def feed(self, piece: bytes) -> bytes:
        """Take a piece, and give the bytes that can be passed on."""
        found = self._splitter.feed(piece)
        last = next((i for i, event in enumerate(found) if self._mark.search(event)), len(found))
        self.reached = last < len(found)
        self.held = b"".join(found[last:]) + self._splitter.left
        return b"".join(found[:last])


def _ending(dialect: Dialect) -> StreamEnd | MarkedEnd:
    if dialect.last_event is not None:
        return MarkedEnd(dialect.last_event)
    return StreamEnd(dialect.ends, whole=dialect.ends_whole)


def _with_report(exchange: Exchange, raw: bytes) -> bytes:
    try:
        return to_json({**json.loads(raw), "octavo": exchange.report()})
    except (ValueError, TypeError):
        return raw


def _with_report_event(exchange: Exchange, raw: bytes) -> bytes:
    ending = _ending(exchange.dialect)
    passed = ending.feed(raw)
    return passed + _report_event(exchange) + ending.held


def _data(value: JsonObject) -> bytes:
    return b"data: %s\n\n" % to_json(value)


def _report_event(exchange: Exchange) -> bytes:
    """Write the report as an event that both client libraries accept."""
    if not exchange.request.options.usage:
        return b""
    if exchange.dialect.name == "gemini":
        return _data({"octavo": exchange.report()})
    if exchange.dialect.name == "anthropic":
        return b"event: ping\ndata: %s\n\n" % to_json({"type": "ping", "octavo": exchange.report()})
    if exchange.dialect.name == "responses":
        report = {"type": "octavo.report", "octavo": exchange.report()}
        return b"event: octavo.report\ndata: %s\n\n" % to_json(report)
    chunk: JsonObject = {
        "id": "octavo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": exchange.request.model,
        "choices": [],
        "octavo": exchange.report(),
    }
    return b"data: %s\n\n" % to_json(chunk)


def _error_event(exchange: Exchange, cause: ProviderError) -> bytes:
    """Write an event that says that the answer broke off. The empty line ends the event that was cut."""
    api_error = explain(cause)
    if exchange.dialect.name == "gemini":
        return b"\n\n" + _data(gemini_error(api_error, cause, exchange.id))
    if exchange.dialect.name == "anthropic":
        return b"\n\nevent: error\ndata: %s\n\n" % to_json(anthropic_error(api_error, cause, exchange.id))
    error_body = openai_error(api_error, cause, exchange.id)
    if exchange.dialect.name == "responses":
        said = {"type": "error", "code": api_error.type, "message": api_error.message, "param": None}
        return b"\n\nevent: error\ndata: %s\n\n" % to_json({**said, **error_body})
    return b"\n\ndata: %s\n\n" % to_json(error_body)
