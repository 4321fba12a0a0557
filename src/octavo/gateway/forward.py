"""Sends requests to providers: to which address, with whose key, and what every failure on the way is called.

The key is the server's, or the client's own, which is passed on and stored nowhere.

Of the client's headers only those go on that the providers know. An Octavo key never leaves.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote, urlsplit

import httpx2
from starlette.datastructures import Headers

from octavo.core.protocol import ANTHROPIC as ANTHROPIC_RULES
from octavo.core.protocol import COMPATIBLE, Rules
from octavo.core.protocol import GEMINI as GEMINI_RULES
from octavo.core.protocol import OPENAI as OPENAI_RULES
from octavo.core.protocol import RESPONSES as RESPONSES_RULES
from octavo.errors import NotFound, ProviderError, UnknownModel
from octavo.gateway.dialects.dialect import Dialect, Name
from octavo.gateway.gateway import Gateway
from octavo.http.caller import Caller, bearer
from octavo.http.errors import refuse
from octavo.http.responses import to_json
from octavo.providers.catalogue import PROVIDERS, resolve
from octavo.providers.embedded import Embedded
from octavo.providers.error_mapping import Fault, classify, silent, unreachable
from octavo.providers.openai import OFFICIAL_HOSTS
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount
from octavo.store.keys import START

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
GOOGLE_URL = "https://generativelanguage.googleapis.com"
PASSED = ("content-type", "accept", "user-agent", "idempotency-key", "http-referer", "x-title")
PASSED_STARTS = ("anthropic-", "openai-", "x-stainless-", "x-goog-api-client", "x-goog-user-project")
RETURNED = ("content-type", "retry-after", "retry-after-ms", "x-request-id", "request-id", "x-should-retry")
RETURNED_STARTS = ("anthropic-", "openai-", "x-ratelimit-")
ENDPOINTS: Mapping[Name, str] = MappingProxyType(
    {"openai": "/chat/completions", "anthropic": "/messages", "responses": "/responses", "gemini": "/models"}
)
"""Where each interface is asked; Gemini's address goes on with the model."""
INTERFACES: Mapping[str, tuple[Name, ...]] = MappingProxyType(
    {
        "openai": ("openai", "responses"),
        "azure": ("openai", "responses"),
        "anthropic": ("anthropic",),
        "google": ("openai", "gemini"),
        "compatible": ("openai",),
        "ollama": ("openai",),
        "local": ("openai",),
    }
)
"""The interfaces of each provider; a client with another one is translated into the first."""
NATIVE: Mapping[Name, str] = MappingProxyType(
    {"openai": "openai", "responses": "openai", "anthropic": "anthropic", "gemini": "google"}
)
"""The provider that made each interface."""
ANTHROPIC_VERSION = "2023-06-01"
"""The version of Anthropic's interface, for clients that speak another one and do not name it."""
TITLES = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Google", "azure": "Azure OpenAI"}
VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a request is sent."""

    provider: str
    url: str
    model: str
    """The name by which the provider knows the model."""
    headers: dict[str, str] = field(repr=False)
    rules: Rules
    format: Name
    """The interface that the provider speaks."""
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    """Keys that no error and no log may show."""
    official: bool = False
    """Whether it is OpenAI itself, not a service that imitates it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """The service behind a model."""

    provider: str
    model: str
    base: str
    """The address that the routes of its interface begin with."""
    account: ProviderAccount
    format: Name
    """The interface in which it is asked."""
    query: str = ""
    """What every request to it has in its query."""


async def find_destination(
    gateway: Gateway,
    dialect: Dialect,
    model: str,
    headers: Headers,
    caller: Caller,
    *,
    path: str = "",
    query: str = "",
    route: str = "",
) -> Destination:
    """Find out where the requests for a model are sent; `path` names another endpoint than the one for chats.

    `route` names one that has nothing to do with chats. `query` is the query of the client's address, such as
    `beta=true`. It is meant for the provider.
    """
    service = await _find_service(gateway, dialect, model)
    # The path and the query of the client's interface mean nothing to a provider with another one.
    same = service.format == dialect.name
    end = route or ENDPOINTS[service.format].removeprefix("/")
    if service.format == "gemini" and not route:
        end += f"/{quote(service.model, safe='/')}"
    address = f"{service.base}/{end}{path if same and not route else ''}"
    asked = query if same or route else ""
    url = "?".join(filter(None, [address, "&".join(filter(None, [service.query, asked]))]))
    if service.provider == "local":
        assert service.account.key
        signed = {"authorization": f"Bearer {service.account.key.reveal()}"}
    else:
        signed = _auth_headers(gateway, service, headers, caller)
    return _destination(service, url, signed, headers)


async def _find_service(gateway: Gateway, dialect: Dialect, model: str) -> _Service:
    """Find the service of a model: an upstream that an administrator set, or the provider of its name."""
    own = gateway.upstreams.upstream(model)
    if own is not None:
        base = own.base_url.rstrip("/")
        format: Name = own.format or ("openai" if dialect.name == "gemini" else dialect.name)
        return _Service(
            provider=own.account or "compatible",
            model=model,
            base=f"{_root(base)}/v1" if format == "anthropic" else base,
            account=getattr(gateway.providers, own.account) if own.account else ProviderAccount(),
            format=format,
        )
    provider, name = _provider(gateway, dialect, model)
    spoken = INTERFACES[provider]
    format = dialect.name if dialect.name in spoken else spoken[0]
    if provider == "local":
        return await _embedded(gateway, model, format)
    account = gateway.providers.openai if provider == "compatible" else getattr(gateway.providers, provider)
    query = f"api-version={account.api_version}" if provider == "azure" else ""
    return _Service(
        provider=provider,
        model=name,
        base=_base(gateway, provider, name, format),
        account=account,
        format=format,
        query=query,
    )


async def _embedded(gateway: Gateway, model: str, format: Name) -> _Service:
    """Find the model that runs inside the server. It listens on this machine only, behind a key of its own."""
    provider = await asyncio.to_thread(gateway.engine.models.provider, model)
    if not isinstance(provider, Embedded):
        raise NotFound(f"{model} does not run inside this server")
    account = await provider.account()
    return _Service(
        provider="local", model=provider.path.stem, base=account.base_url, account=account, format=format
    )


def _destination(service: _Service, url: str, signed: dict[str, str], headers: Headers) -> Destination:
    host = urlsplit(url).hostname or ""
    official = any(host == known or host.endswith("." + known) for known in OFFICIAL_HOSTS)
    match service.format:
        case "anthropic":
            rules = ANTHROPIC_RULES
        case "responses":
            rules = RESPONSES_RULES
        case "gemini":
            rules = GEMINI_RULES
        case "openai":
            rules = OPENAI_RULES if official else COMPATIBLE
    foreign = "openai-" if service.format == "anthropic" else "anthropic-"
    passed = {
        name: value
        for name, value in headers.items()
        if (name in PASSED or name.startswith(PASSED_STARTS)) and not name.startswith(foreign)
    }
    if service.format == "anthropic":
        passed.setdefault("anthropic-version", ANTHROPIC_VERSION)
    keys = tuple(Secret(value.removeprefix("Bearer "), "request") for value in signed.values())
    # The gateway reads answers while it passes them on, so they must not be compressed.
    sent = {**passed, "content-type": "application/json", "accept-encoding": "identity", **signed}
    account = service.account
    return Destination(
        provider=service.provider,
        url=url,
        model=service.model,
        headers={**sent, **account.headers},
        rules=rules,
        format=service.format,
        secrets=(account.key, *keys) if account.key else keys,
        official=official,
    )


def _provider(gateway: Gateway, dialect: Dialect, model: str) -> tuple[str, str]:
    """Find the provider of a model; an unknown name goes to the provider whose interface the client uses."""
    try:
        found = resolve(gateway.engine.models.address(model))
    except UnknownModel:
        return NATIVE[dialect.name], model
    if found.provider == "compatible" and not gateway.providers.openai.base_url:
        raise NotFound(f"{model} needs the address of a server: set OPENAI_BASE_URL")
    prefixed = model.partition("/")[0] in PROVIDERS
    return found.provider, found.model if prefixed else model


def _base(gateway: Gateway, provider: str, model: str, format: Name) -> str:
    settings = gateway.providers
    match provider:
        case "anthropic":
            return f"{_root(settings.anthropic.base_url or ANTHROPIC_URL)}/v1"
        case "ollama":
            return f"{settings.ollama.base_url.rstrip('/')}/v1"
        case "google":
            base = f"{(settings.google.base_url or GOOGLE_URL).rstrip('/')}/v1beta"
            return base if format == "gemini" else f"{base}/openai"
        case "azure":
            base = f"{settings.azure.base_url.rstrip('/')}/openai"
            return base if format == "responses" else f"{base}/deployments/{quote(model, safe='')}"
        case _:
            return (settings.openai.base_url or OPENAI_URL).rstrip("/")


def _root(base: str) -> str:
    return base.rstrip("/").removesuffix("/v1")


def _auth_headers(gateway: Gateway, service: _Service, headers: Headers, caller: Caller) -> dict[str, str]:
    """Make the headers with the key: the client's own, or the server's."""
    provider, account = service.provider, service.account
    theirs = _their_key(headers, caller)
    explicit = caller.apart or gateway.upstream_keys == "client"
    if theirs and (explicit or account.key is None):
        return theirs if _is_in_style(theirs, service) else _signed(service, _key_in(theirs))
    if account.key is not None:
        return _signed(service, account.key.reveal())
    if provider in VARIABLES and not account.base_url:
        raise refuse(
            401,
            "unauthorized",
            f"there is no key for {TITLES[provider]}: neither the server has one nor did you send your own",
            f"set {VARIABLES[provider]} at the server, or send your key, and the one for Octavo as x-octavo-key",
        )
    return {}


def _signed(service: _Service, key: str) -> dict[str, str]:
    """Write a key into the header where the provider looks for it."""
    if service.provider == "azure":
        return {"api-key": key}
    if service.format == "gemini":
        return {"x-goog-api-key": key}
    return {"x-api-key": key} if service.format == "anthropic" else {"authorization": f"Bearer {key}"}


def _is_in_style(theirs: dict[str, str], service: _Service) -> bool:
    """Tell whether a client's key stands where the provider looks for it; Anthropic also reads bearer tokens."""
    match service.format:
        case "gemini":
            return "x-goog-api-key" in theirs
        case "anthropic":
            return bool(theirs.keys() & {"x-api-key", "authorization"})
        case _:
            return "authorization" in theirs


def _key_in(theirs: dict[str, str]) -> str:
    return next(iter(theirs.values())).removeprefix("Bearer ")


def _their_key(headers: Headers, caller: Caller) -> dict[str, str]:
    """Find the client's own provider key in its headers; an Octavo key is not one."""
    if caller.account not in ("local",) and not caller.apart:
        return {}
    found: dict[str, str] = {}
    if (token := bearer(headers)) and not token.startswith(START):
        found["authorization"] = headers["authorization"]
    if (key := headers.get("x-api-key")) and not key.startswith(START):
        found["x-api-key"] = key
    if (key := headers.get("x-goog-api-key")) and not key.startswith(START):
        found["x-goog-api-key"] = key
    return found


def returned_headers(headers: Headers) -> dict[str, str]:
    """Choose the provider's headers that are passed on to the client, whatever the case of their names."""
    named = {name.lower(): value for name, value in headers.items()}
    return {
        name: value for name, value in named.items() if name in RETURNED or name.startswith(RETURNED_STARTS)
    }


async def send(
    gateway: Gateway, destination: Destination, body: bytes, *, streamed: bool, method: str = "POST"
) -> httpx2.Response:
    """Send a request, and return when its answer begins; raise `ProviderError` if there is none.

    An answer that is not `streamed` begins when the provider has written all of it.
    """
    waits = gateway.providers.waits
    first_byte = waits.first_byte if streamed and destination.provider != "local" else waits.answer
    # As bytes: clients may use all of Latin-1 in a header, which the library refuses in text.
    headers = [
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in destination.headers.items()
    ]
    try:
        request = gateway.client.build_request(method, destination.url, content=body, headers=headers)
        response = await gateway.client.send(request, stream=True, first_byte=first_byte)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        raise connection_error(destination, error) from None
    if response.is_redirect:
        await response.aclose()
        raise classify(
            Fault(
                provider=destination.provider,
                status=response.status_code,
                headers=response.headers,
                secrets=destination.secrets,
            )
        )
    return response


async def receive(destination: Destination, response: httpx2.Response) -> bytes:
    """Read a whole answer; raise `ProviderError` if it breaks off."""
    try:
        return await response.aread()
    except httpx2.RequestError as error:
        raise connection_error(destination, error) from None
    finally:
        await response.aclose()


async def stream_body(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of an answer as they arrive; closing the generator closes the connection."""
    try:
        async for piece in response.aiter_raw():
            yield piece
    finally:
        await response.aclose()


def connection_error(
    destination: Destination, error: httpx2.RequestError | httpx2.InvalidURL
) -> ProviderError:
    """Name what went wrong on the connection, without showing a key."""
    if isinstance(error, httpx2.TimeoutException):
        return silent(destination.provider, error)
    return unreachable(destination.provider, error, destination.secrets)


def with_model_name(body: bytes, model: str, destination: Destination) -> bytes:
    """Put the provider's name of the model into a body; a body that has it already stays byte for byte."""
    if destination.model == model or destination.format == "gemini":
        return body
    return to_json({**json.loads(body), "model": destination.model})
