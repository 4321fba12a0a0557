"""The gateway's requests as they leave: idle connections that were closed meanwhile are no failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from octavo.gateway.upstreams import UpstreamClient

pytestmark = pytest.mark.anyio

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def service(answers: int) -> AsyncIterator[tuple[str, list[int]]]:
    """A service that hangs up on every connection instead of giving one more than so many answers on it."""
    asked: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(0)
        mine = len(asked) - 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")
            )
            await reader.readexactly(length)
            asked[mine] += 1
            if asked[mine] > answers:
                break
            writer.write(ANSWER)
        writer.close()

    async def safely(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(safely, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def test_a_request_that_met_a_connection_just_closed_is_sent_on_another_one() -> None:
    async with service(answers=1) as (url, asked), UpstreamClient() as line:
        for _ in range(3):
            assert (await line.post(url, content=b"x")).text == "ok"
        assert asked == [2, 2, 1]


async def test_a_service_that_hangs_up_on_a_new_connection_is_not_asked_again() -> None:
    async with service(answers=0) as (url, asked), UpstreamClient() as line:
        with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
            await line.post(url, content=b"x")
        assert asked == [1]
