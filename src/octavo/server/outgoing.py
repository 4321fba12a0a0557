"""The gateway's requests as they leave and come back: where they may go, and what the answers may not show.

Both hold for every request of the gateway, because they are tied to its one client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx2

from octavo.errors import BadInput
from octavo.providers.client import LONGEST_ERROR, Client
from octavo.providers.secret import HIDDEN, Secret
from octavo.server.cards import IpAddress, Registry, addresses_of, wrong_with
from octavo.server.config import ServerSettings

STALE = (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)
"""What a request meets on a connection that the other side has just closed."""


class Line(Client):
    """A client that does not mistake a closed idle connection for a service that is down.

    Services close connections that were idle for some seconds. A request that is sent in that very moment was never
    read by anybody; it is sent once more, on another connection. One that failed on a new connection is not.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        fresh = False

        async def note(event: str, _: dict[str, Any]) -> None:
            nonlocal fresh
            fresh = fresh or event == "connection.connect_tcp.started"

        request.extensions = {**request.extensions, "trace": note}
        while True:
            try:
                return await super().send(request, **options)
            except STALE:
                if fresh:
                    raise


Resolve = Callable[[str, int], Awaitable[list[IpAddress]]]


def guard(
    registry: Registry, settings: ServerSettings, resolve: Resolve = addresses_of
) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Make the check of requests to addresses that were set over HTTP.

    A name that led to a public address when it was set may lead into the private network now. So it is looked up
    again, and the request goes to the very address that was looked at.
    """
    told = settings.providers
    accounts = (told.openai, told.anthropic, told.google, told.azure, told.ollama)
    own = {urlsplit(account.base_url).hostname for account in accounts if account.base_url}

    async def check(request: httpx2.Request) -> None:
        host = request.url.host
        if host in own or not registry.leads_to(host):
            return
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            found = await resolve(host, port)
        except BadInput as error:
            if settings.private_upstreams:
                return
            raise httpx2.ConnectError(str(error), request=request) from None
        if wrong := wrong_with(found, private=settings.private_upstreams):
            raise httpx2.ConnectError(f"{host} {wrong}", request=request)
        if settings.private_upstreams:
            return
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=str(found[0]))

    return check


def blotter(settings: ServerSettings) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make the hook that blots the server's own keys out of errors: a service may repeat what it was sent."""
    told = settings.providers
    accounts = (told.openai, told.anthropic, told.google, told.azure)
    secrets = [account.key for account in accounts if account.key]

    async def blot(response: httpx2.Response) -> None:
        stream = response.stream
        if secrets and response.status_code >= 400 and isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Blotted(stream, secrets)

    return blot


class _Blotted(httpx2.AsyncByteStream):
    """An error, read whole, so that a key is found although it came in two pieces."""

    def __init__(self, stream: httpx2.AsyncByteStream, secrets: Sequence[Secret]) -> None:
        self._stream, self._secrets = stream, secrets

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = bytearray()
        async for piece in self._stream:
            body += piece
            if len(body) > LONGEST_ERROR:
                break
        said = bytes(body[:LONGEST_ERROR])
        for secret in self._secrets:
            said = said.replace(secret.reveal().encode(), HIDDEN.encode())
        yield said

    async def aclose(self) -> None:
        await self._stream.aclose()
