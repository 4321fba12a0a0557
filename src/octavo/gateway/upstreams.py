"""Upstream addresses that administrators set, and the client that carries the gateway's requests to providers.

Addresses and model cards are notes in the store. Requests read them again every second, so a change made at one replica
holds at all of them by then, and at once where it was made. The client checks every address before it connects, and
removes the server's keys from every error.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2

from octavo.core.json_values import Json, JsonObject
from octavo.engine.models import Models
from octavo.engine.settings import SettingLevels
from octavo.errors import BadInput, NotFound
from octavo.providers.client import LONGEST_ERROR, Client
from octavo.providers.secret import HIDDEN, Secret
from octavo.providers.settings import ProviderSettings
from octavo.store.store import Store

UPSTREAMS = "upstreams"
UpstreamFormat = Literal["", "openai", "anthropic", "responses"]
FORMATS: tuple[UpstreamFormat, ...] = ("openai", "anthropic", "responses")
FRESH_SECONDS = 5.0
"""How long aliases are used: after that, a change made at another replica takes effect here."""
READ_EVERY = 1.0
"""Seconds for which requests use upstreams and cards without reading them again."""
CONNECTIONS = 1_000
"""Connections to providers: one for each stream a server is meant to hold."""
IDLE_SECONDS = 60.0
"""How long an idle connection to a provider is kept for the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where the requests for a model go instead of its provider."""

    base_url: str
    account: str = ""
    """The provider whose key of the server is sent there; empty: only the client's own key is."""
    format: UpstreamFormat = ""
    """The interface that the service speaks; empty: that of the client."""


class UpstreamRegistry:
    """Upstreams and model cards as the store has them."""

    def __init__(self, store: Store, models: Models, settings: SettingLevels) -> None:
        self._store, self._models, self._settings = store, models, settings
        self._upstreams: JsonObject = {}
        self._aliases: dict[str, str] = {}
        self._aliases_due = 0.0
        self._due = 0.0
        self._refreshing = asyncio.Lock()

    async def refresh_in_time(self) -> None:
        """Read them again if they were read a while ago; requests that come at once read them once."""
        if time.monotonic() < self._due:
            return
        async with self._refreshing:
            if time.monotonic() >= self._due:
                await self.refresh()

    async def refresh(self) -> None:
        """Read them again: another replica may have changed them."""
        due = time.monotonic() + READ_EVERY
        found = await self._store.notes.named(self._models.CARDS, UPSTREAMS)
        self._models.take(found[self._models.CARDS])
        upstreams = found[UPSTREAMS]
        self._upstreams = upstreams if isinstance(upstreams, dict) else {}
        self._due = due
        if time.monotonic() >= self._aliases_due:
            self._aliases = await self._settings.aliases()
            self._aliases_due = time.monotonic() + FRESH_SECONDS

    def forget_aliases(self) -> None:
        """Read the aliases again with the next request: one was changed."""
        self._aliases_due = 0.0

    @property
    def aliases(self) -> dict[str, str]:
        """The model that answers in place of another, by the name of the other."""
        return self._aliases

    @property
    def own_cards(self) -> frozenset[str]:
        return frozenset(self._models.own)

    def fields_of(self, name: str) -> JsonObject | None:
        """Give the fields of a card that a user defined; None if nobody defined one."""
        found = self._models.own.get(name)
        return found if isinstance(found, dict) else None

    def upstream(self, model: str) -> Upstream | None:
        """Find the upstream of a model: under its whole name, or under the longest prefix that ends in `*`."""
        starts = [n for n in self._upstreams if n.endswith("*") and model.startswith(n[:-1])]
        name = model if model in self._upstreams else max(starts, key=len, default="")
        return _upstream(self._upstreams.get(name))

    def upstreams(self) -> dict[str, Upstream]:
        found = {name: _upstream(value) for name, value in self._upstreams.items()}
        return {name: upstream for name, upstream in found.items() if upstream}

    def leads_to(self, host: str) -> bool:
        """Tell whether an upstream is at this host."""
        return any(urlsplit(each.base_url).hostname == host for each in self.upstreams().values())

    async def put_upstream(self, model: str, upstream: Upstream) -> None:
        await self.refresh()
        entry: JsonObject = {
            "base_url": upstream.base_url,
            "account": upstream.account,
            "format": upstream.format,
        }
        self._upstreams = {**self._upstreams, model: entry}
        await self._store.notes.put(UPSTREAMS, self._upstreams)

    async def remove_upstream(self, model: str) -> None:
        await self.refresh()
        if model not in self._upstreams:
            raise NotFound(f"there is no upstream for {model!r}")
        self._upstreams = {key: value for key, value in self._upstreams.items() if key != model}
        await self._store.notes.put(UPSTREAMS, self._upstreams)


def _upstream(value: Json) -> Upstream | None:
    match value:
        case {"base_url": str(url), "account": str(account), **rest}:
            said = rest.get("format")
            format: UpstreamFormat = next((name for name in FORMATS if name == said), "")
            return Upstream(base_url=url, account=account, format=format)
        case _:
            return None


IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
BROADCAST = ipaddress.IPv4Address("255.255.255.255")


async def check_address(url: str, *, private: bool) -> None:
    """Refuse an address that is invalid, is not of a single machine, or lies in a private network.

    Without this check, whoever may set an upstream could make the server fetch what only the server can reach.
    `private`: private networks are allowed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme not in ("http", "https") or parts.username or parts.query or parts.fragment:
        raise BadInput(
            "base_url", "expected an address like https://host/v1, without user, query or fragment"
        )
    try:
        found = await addresses_of(host, port)
    except BadInput:
        if private:
            return  # a name that only a proxy of the private network knows
        raise
    if wrong := wrong_with(found, private=private):
        hint = "" if private else "; start the server with OCTAVO_PRIVATE_UPSTREAMS=1 to allow private ones"
        raise BadInput("base_url", f"{host} {wrong}{hint}")


def wrong_with(addresses: Sequence[IpAddress], *, private: bool) -> str:
    """Say why no request may go to these addresses; empty if one may."""
    plain = [getattr(address, "ipv4_mapped", None) or address for address in addresses]
    if any(address.is_multicast or address.is_unspecified or address == BROADCAST for address in plain):
        return "is no address of a single machine"
    if not plain or (not private and not all(address.is_global for address in plain)):
        return "lies in a private network"
    return ""


async def addresses_of(host: str, port: int) -> list[IpAddress]:
    """Look a host up; raise `BadInput` if there is none."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadInput("base_url", f"there is no host {host[:200]!r}") from None
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


STALE = (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)
"""The errors of a request on a connection that the other side has just closed."""


class UpstreamClient(Client):
    """A client that repeats a request if the idle connection it was sent on had just been closed.

    Services close idle connections after some seconds. Nobody has read a request that is sent at that moment, so it is
    sent once more on another connection. A request that fails on a new connection is not repeated.
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


def check_upstream(
    registry: UpstreamRegistry, providers: ProviderSettings, *, private: bool, resolve: Resolve = addresses_of
) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Make the hook that checks requests to upstreams.

    A host name that was public when the upstream was set may lead into a private network now. So the hook looks the
    name up again, and sends the request to the address that it has checked.
    """
    accounts = (providers.openai, providers.anthropic, providers.google, providers.azure, providers.ollama)
    own = {urlsplit(account.base_url).hostname for account in accounts if account.base_url}

    async def check(request: httpx2.Request) -> None:
        host = request.url.host
        if host in own or not registry.leads_to(host):
            return
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            found = await resolve(host, port)
        except BadInput as error:
            if private:
                return
            raise httpx2.ConnectError(str(error), request=request) from None
        if wrong := wrong_with(found, private=private):
            raise httpx2.ConnectError(f"{host} {wrong}", request=request)
        if private:
            return
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=str(found[0]))

    return check


def redact_errors(providers: ProviderSettings) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make the hook that removes the server's keys from errors: a service may repeat what it was sent."""
    accounts = (providers.openai, providers.anthropic, providers.google, providers.azure)
    secrets = [account.key for account in accounts if account.key]

    async def redact(response: httpx2.Response) -> None:
        stream = response.stream
        if secrets and response.status_code >= 400 and isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _RedactedError(stream, secrets)

    return redact


class _RedactedError(httpx2.AsyncByteStream):
    """The body of an error, read whole, so that a key is found even if it arrives in two pieces."""

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


def open_client(
    registry: UpstreamRegistry,
    providers: ProviderSettings,
    *,
    private: bool,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> UpstreamClient:
    """Open the one client that carries the gateway's requests; `transport` stands in for the network in tests."""
    return UpstreamClient(
        providers.waits,
        transport=transport,
        limits=httpx2.Limits(
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
        ),
        event_hooks={
            "request": [check_upstream(registry, providers, private=private)],
            "response": [redact_errors(providers)],
        },
    )
