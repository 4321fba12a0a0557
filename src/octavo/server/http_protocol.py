"""HTTP on the socket: closes connections that send no request in time, and answers what is not HTTP.

The answer has the format of every other error.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from octavo.http.errors import ApiError
from octavo.http.responses import JSON, to_json
from octavo.store.ids import new_id

HEAD_SECONDS = 20.0
"""The longest time for the head of a request; a client that sends a byte a minute would hold a socket for ever."""


class TimedHttpProtocol(HttpToolsProtocol):
    """One connection."""

    patience = HEAD_SECONDS
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._relax()
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._relax()
        self._alarm = self.loop.call_later(self.patience, self._hang_up)

    def _relax(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _hang_up(self) -> None:
        # A client may send its next request while the last one is being answered. That answer is not cut off.
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_head()
        elif not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        id = new_id()
        api_error = ApiError(
            status=400,
            type="bad_request",
            message=msg,
            hint="an address has at most 65,535 bytes; long texts belong into the body",
        )
        body = to_json(api_error.body(id))
        head = (
            f"HTTP/1.1 400 Bad Request\r\ncontent-type: {JSON}\r\ncontent-length: {len(body)}\r\n"
            f"x-request-id: {id}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
