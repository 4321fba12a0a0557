"""The HTTP client for services, with limits on how long it waits and how much it accepts.

Limits hold for bytes, so a sign of life that an SDK never shows counts as one. Redirects are not followed, because they
would take the request and its key somewhere else.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

from octavo.providers.error_mapping import GivenUp
from octavo.providers.retry import RESPONSES
from octavo.providers.settings import WaitLimits

MIB = 1 << 20
LONGEST_LINE = 16 * MIB
"""Bytes of one line of a stream: a picture of ten megabytes, written as text, is one line."""
LONGEST_ANSWER = 64 * MIB
"""Bytes of an answer: the longest that a model writes, word by word in events of its own, take half of that."""
LONGEST_ERROR = MIB
"""Bytes of an error that are read; services' own have a few hundred."""
UNPACKED = MIB
"""Bytes that are unpacked at once."""
PLAIN = {"accept-encoding": "identity"}
"""Answers are read as they come, and a few packed bytes can become any number."""
PACKINGS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
"""Compressions that some services use anyway, and zlib's numbers for them."""
CONNECTIONS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=100)
"""As many as the services' own libraries open."""


class Late(GivenUp, httpx2.ReadTimeout):
    """Nothing arrived for too long, or the whole answer took too long."""


class TooMuch(GivenUp, httpx2.TransportError):
    """More came than any answer has."""


class Client(httpx2.AsyncClient):
    """A client with limits."""

    def __init__(self, waits: WaitLimits = WaitLimits(), **options: Any) -> None:  # noqa: B008 - a value
        self._waits = waits
        super().__init__(
            **{
                "timeout": timeout(waits),
                "limits": CONNECTIONS,
                "headers": PLAIN,
                **options,
                "follow_redirects": False,
            }
        )

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        first_byte: float | None = None,
        **options: Any,
    ) -> httpx2.Response:
        """Send a request; `first_byte` is how many seconds its answer may take to begin, if not as many as usual."""
        waits = self._waits
        first_byte = waits.first_byte if first_byte is None else first_byte
        until = asyncio.get_running_loop().time() + waits.answer
        options["follow_redirects"] = False
        try:
            async with asyncio.timeout(min(first_byte, waits.answer)):
                response = await super().send(request, stream=True, **options)
        except TimeoutError:
            raise Late(f"no answer within {first_byte:g} seconds", request=request) from None
        response.stream = _Watched(response, waits, until)
        RESPONSES.get([]).append(response)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response


def timeout(waits: WaitLimits) -> httpx2.Timeout:
    """Give the limits that the library itself keeps; how long an answer may take is limited here."""
    return httpx2.Timeout(None, connect=waits.connect, write=waits.silence, pool=waits.silence)


class _Watched(httpx2.AsyncByteStream):
    """The body of an answer, unpacked; refused if it stalls, takes too long, or is too large."""

    def __init__(self, response: httpx2.Response, waits: WaitLimits, until: float) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream, self._request = response.stream, response.request
        self._waits, self._until = waits, until
        self._failed = response.status_code >= 400
        self._lines = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        self._size = self._line = 0
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        self._packing = None if packing in ("", "identity") else packing
        self._unpacker = zlib.decompressobj(PACKINGS[packing]) if packing in PACKINGS else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._stream)
        while (piece := await self._next(pieces)) is not None:
            for plain in self._unpacked(piece):
                self._size += len(plain)
                if self._failed and self._size > LONGEST_ERROR:
                    # What went wrong is said at the beginning.
                    return
                self._weigh(plain)
                yield plain

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        now, silence = asyncio.get_running_loop().time(), self._waits.silence
        try:
            async with asyncio.timeout_at(min(now + silence, self._until)):
                return await anext(pieces)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            if now + silence <= self._until:
                raise self._late(f"the answer stopped: nothing came for {silence:g} seconds") from None
            raise self._late(f"the answer took more than {self._waits.answer:g} seconds") from None

    def _late(self, words: str) -> Late:
        return Late(words, request=self._request)

    def _unpacked(self, piece: bytes) -> Iterator[bytes]:
        if self._packing is None:
            yield piece
            return
        if self._unpacker is None:
            raise httpx2.DecodingError(f"the answer is packed ({self._packing})", request=self._request)
        try:
            while piece:
                yield self._unpacker.decompress(piece, UNPACKED)
                piece = self._unpacker.unconsumed_tail
        except zlib.error as error:
            raise httpx2.DecodingError(
                f"the answer is badly packed: {error}", request=self._request
            ) from None

    def _weigh(self, piece: bytes) -> None:
        if self._size > LONGEST_ANSWER:
            raise TooMuch(f"the answer has more than {LONGEST_ANSWER // MIB} MiB", request=self._request)
        if not self._lines:
            return
        # A piece is far shorter than a line may be: only the one that goes on in it, or after it, can be too long.
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        self._line = len(piece) - end if end else self._line + len(piece)
        if self._line > LONGEST_LINE:
            raise TooMuch(
                f"a line of the answer has more than {LONGEST_LINE // MIB} MiB", request=self._request
            )

    async def aclose(self) -> None:
        await self._stream.aclose()
