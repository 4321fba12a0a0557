"""The gateway as its routes share it: the engine, the connections to providers, and what it remembers.

The server makes one and mounts its routes. What the server does for it (run a task, announce an event, count a request)
is passed in, so the gateway knows nothing of the server. Everything it remembers can be forgotten at any time: it is
found again in the store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from fastapi import Depends
from starlette.requests import Request

from octavo.core.json_values import Json
from octavo.core.lru_cache import LruCache
from octavo.core.tools import Tool
from octavo.engine.engine import Engine
from octavo.engine.outcome import Event
from octavo.gateway.upstreams import UpstreamClient, UpstreamRegistry
from octavo.providers.settings import ProviderSettings

CACHED_NODES = 50_000
"""Prefixes of conversations that are remembered: the last few of ten thousand conversations."""
CACHED_SIZES = 200_000
"""Prefixes whose size is remembered; an entry takes about a hundred bytes."""
CACHED_TOOLS = 1_000
CACHED_SETTINGS = 10_000
FRESH_SECONDS = 5.0
"""How long cached settings are used: after that, a change made at another replica takes effect here."""


@dataclass(frozen=True, slots=True)
class CachedNode:
    """Where a prefix of a conversation is stored."""

    conversation: str
    node: str


class GatewayCache:
    """What the gateway remembers, so that the next request of a conversation needs no query."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.nodes: LruCache[tuple[str, bytes], CachedNode] = LruCache(CACHED_NODES)
        """By owner and by the digest of a prefix."""
        self.sizes: LruCache[tuple[str, bytes], int] = LruCache(CACHED_SIZES)
        """Tokens of all messages of a prefix, by token unit and digest."""
        self.tools: LruCache[tuple[str, tuple[Tool, ...]], int] = LruCache(CACHED_TOOLS)
        self.rebound: LruCache[str, bool] = LruCache(CACHED_SETTINGS)
        """Conversations that are known to have thinking which is bound to a snapshot."""
        self.no_binding: LruCache[str, bool] = LruCache(CACHED_TOOLS)
        """Addresses that do not know how to leave such thinking out."""
        self.created: LruCache[str, str] = LruCache(CACHED_SETTINGS)
        """Conversations that this process has created, by the id that was derived from their first messages."""
        self._creating: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._settings: LruCache[str, tuple[float, Mapping[str, Json]]] = LruCache(CACHED_SETTINGS)

    def creating(self, conversation: str) -> asyncio.Lock:
        """Give the lock under which a conversation is created."""
        return self._creating.setdefault(conversation, asyncio.Lock())

    def forget(self, conversation: str) -> None:
        """Forget the nodes of a conversation: something in it was deleted."""
        self.created.drop(lambda made: made == conversation)
        self.rebound.pop(conversation)
        self.nodes.drop(lambda cached: cached.conversation == conversation)

    def settings(self, conversation: str) -> Mapping[str, Json] | None:
        until, settings = self._settings.get(conversation) or (0.0, {})
        return settings if self._clock() < until else None

    def keep_settings(self, conversation: str, settings: Mapping[str, Json]) -> None:
        self._settings.put(conversation, (self._clock() + FRESH_SECONDS, settings))

    def forget_settings(self) -> None:
        self._settings.clear()


T = TypeVar("T")


class Host(Protocol):
    """What the server does for the gateway."""

    def check_open(self) -> None:
        """Raise `Refusal` while the server stops."""

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run work that goes on when its request is gone."""

    def announce(self, conversation: str, event: Event) -> None:
        """Tell those who watch a conversation what happens in it."""

    def record_request(self, *, compressed: bool) -> None:
        """Count an answered request of the gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The shared things of one gateway."""

    engine: Engine
    providers: ProviderSettings
    upstream_keys: Literal["server", "client"]
    """Whose key goes to a provider when both the server and the client have one."""
    upstreams: UpstreamRegistry
    client: UpstreamClient
    host: Host
    cache: GatewayCache = field(default_factory=GatewayCache)

    async def close(self) -> None:
        await self.client.aclose()


# Asynchronous although it waits for nothing: the framework runs plain functions in a thread.
async def the_gateway(request: Request) -> Gateway:
    return cast(Gateway, request.app.state.gateway)


TheGateway = Annotated[Gateway, Depends(the_gateway)]
"""The gateway, for a route."""
