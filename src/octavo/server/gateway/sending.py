"""A request on its way to a provider, and the bytes that come back; every failure on the line has one name.

Whoever takes a response in hand closes it: by reading all of it, or by closing the pieces.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import httpx2

from octavo.errors import ProviderError
from octavo.http.responses import to_json
from octavo.providers.faults import Fault, classify, silent, unreachable
from octavo.server.gateway.upstream import Target
from octavo.server.hub import Hub


async def send(hub: Hub, target: Target, body: bytes, *, streamed: bool) -> httpx2.Response:
    """Send a request; its answer has begun when this returns. Raise `ProviderError` when there is none.

    One that is not `streamed` begins when all of it is written.
    """
    patience = hub.settings.providers.patience
    first_byte = patience.first_byte if streamed and target.provider != "local" else patience.answer
    # As bytes: clients may put any of Latin-1 into a header, and the library would not.
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in target.headers.items()]
    try:
        request = hub.client.build_request("POST", target.url, content=body, headers=headers)
        response = await hub.client.send(request, stream=True, first_byte=first_byte)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        raise broken(target, error) from None
    if response.is_redirect:
        await response.aclose()
        raise classify(
            Fault(
                provider=target.provider,
                status=response.status_code,
                headers=response.headers,
                secrets=target.secrets,
            )
        )
    return response


async def receive(target: Target, response: httpx2.Response) -> bytes:
    """Read all of an answer; raise `ProviderError` when it breaks off."""
    try:
        return await response.aread()
    except httpx2.RequestError as error:
        raise broken(target, error) from None
    finally:
        await response.aclose()


async def arriving(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """Give what a provider sends, as it comes; closing this hangs up."""
    try:
        async for piece in response.aiter_raw():
            yield piece
    finally:
        await response.aclose()


def broken(target: Target, error: httpx2.RequestError | httpx2.InvalidURL) -> ProviderError:
    """Name what went wrong on the line, without any key."""
    if isinstance(error, httpx2.TimeoutException):
        return silent(target.provider, error)
    return unreachable(target.provider, error, target.secrets)


def named(body: bytes, model: str, target: Target) -> bytes:
    """Call the model what the provider calls it; a name without our prefix is left as it is, bytes and all."""
    if target.model == model:
        return body
    return to_json({**json.loads(body), "model": target.model})
