"""Server-sent events: a feed that many clients can follow, each at its own pace, and continue after a lost connection.

An event is rendered once and kept; a follower holds a number, not a queue, so a slow one costs nothing and a lost
connection is resumed by the id of the last event it saw. The generator behind a response never owns any work: when a
client goes away it is cancelled, and nothing else is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from sys import getsizeof
from typing import Annotated

from fastapi import Header, Query
from starlette.responses import StreamingResponse

from octavo.core.json_values import JsonObject
from octavo.http.responses import EVENTS, STREAM_HEADERS, to_json

PING = b": ping\n\n"


def frame(number: int, name: str, data: JsonObject) -> bytes:
    """Render an event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), to_json(data))


class Feed:
    """Events in order, numbered from 1; the newest `capacity` are kept."""

    def __init__(self, capacity: int | None = None) -> None:
        self._frames: deque[bytes] = deque(maxlen=capacity)
        self._ended = False
        self._news = asyncio.Event()
        self.count = 0
        """The number of the last event."""
        self.size = 0
        """Bytes of memory of all events so far, Python's own overhead included."""

    @property
    def ended(self) -> bool:
        return self._ended

    def put(self, name: str, data: JsonObject) -> None:
        """Add an event for all who follow."""
        self.count += 1
        rendered = frame(self.count, name, data)
        self.size += getsizeof(rendered)
        self._frames.append(rendered)
        self._wake()

    def end(self) -> None:
        """End the feed."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def follow(self, after: int, ping: float) -> AsyncGenerator[bytes, None]:
        """Yield the events after a number, then new ones as they come, and a ping after a while of silence."""
        async with aclosing(self.frames(after, ping)) as pieces:
            async for frames in pieces:
                yield b"".join(frames)

    async def frames(self, after: int, ping: float) -> AsyncGenerator[list[bytes], None]:
        """Yield the same as `follow`, as lists of events."""
        seen = max(after, self.count - len(self._frames)) if after <= self.count else self.count
        while True:
            news = self._news
            if seen < self.count:
                waiting = [self._frames[i] for i in range(seen - self.count, 0)]
                seen = self.count
                yield waiting
            elif self._ended:
                return
            else:
                try:
                    async with asyncio.timeout(ping):
                        await news.wait()
                except TimeoutError:
                    yield [PING]


def event_stream(source: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> StreamingResponse:
    """Respond with events."""
    return StreamingResponse(source, media_type=EVENTS, headers={**STREAM_HEADERS, **(headers or {})})


async def resume_point(
    after: Annotated[
        int, Query(ge=0, le=2**53, description="The id of the last event that you have seen.")
    ] = 0,
    last_event_id: Annotated[str, Header(description="The same, as browsers send it.")] = "",
) -> int:
    """Read the number of the last event that a client has seen."""
    return int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 16 else after
