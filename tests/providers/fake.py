"""A small HTTP service that answers as it was told to, for shapes and accidents that aimock does not have.

It speaks plain HTTP/1.1: a `Say` is one response, sent event by event; it notices when the client hangs up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from octavo.core.json_values import Json, JsonObject


@dataclass(frozen=True, kw_only=True)
class Say:
    """One response."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    """Sent as JSON, whole."""
    events: tuple[str | bytes, ...] = ()
    """Sent as server-sent events, one after another."""
    then: str = "end"
    """What follows the events: `end` finishes the response, `drop` breaks the connection, `hang` says nothing more,
    `repeat` says the last one again and again."""
    before: float = 0.0
    """Seconds until it begins."""
    pause: float = 0.0
    """Seconds between two of them then."""


@dataclass
class Asked:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: JsonObject


@dataclass
class FakeService:
    """Answers from a script, in order; the last answer is repeated."""

    script: list[Say]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    mute: bool = False
    """Whether requests are heard and nothing is said."""
    written: int = 0
    """Bytes of bodies."""
    called: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a request has come in."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client closes the connection before a response is complete."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while asked := await _read(reader):
                self.asked.append(asked)
                self.called.set()
                if self.mute:
                    await reader.read()
                    break
                say = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                if not await self._answer(say, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            writer.close()

    async def _answer(self, say: Say, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(say.before)
        kind = "text/event-stream" if say.events else "application/json"
        headers = {"content-type": kind, "transfer-encoding": "chunked", **say.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {say.status} Fake\r\n{lines}\r\n".encode())
        events = say.events or (json.dumps(say.body),)
        for event in events:
            await self._write(event, writer)
        while say.then == "repeat":
            await asyncio.sleep(say.pause)
            await self._write(events[-1], writer)
        if say.then == "end":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        elif say.then == "hang":
            await reader.read()  # returns when the client hangs up
            self.hung_up.set()
        return say.then == "end"

    async def _write(self, event: str | bytes, writer: asyncio.StreamWriter) -> None:
        data = event.encode("utf-8", "surrogatepass") if isinstance(event, str) else event
        self.written += len(data)
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(path=first.split()[1], headers=headers, body=json.loads(body or b"{}"))


@asynccontextmanager
async def fake_service(*script: Say) -> AsyncIterator[FakeService]:
    """Run a service on a free port."""
    service = FakeService([*script])
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(service.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield service
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def data(*values: Json) -> tuple[str, ...]:
    """Write events as OpenAI and Gemini do."""
    return tuple(f"data: {json.dumps(value)}\n\n" for value in values)


def named(*values: JsonObject) -> tuple[str, ...]:
    """Write events as Anthropic does: each named by its type."""
    return tuple(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in values)


DONE = "data: [DONE]\n\n"
