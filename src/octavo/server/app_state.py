"""The state that all routes of one server share: the engine, the callers, the tasks, the feeds and the gateway.

All of it may be lost with the process. What must not be lost is in the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar, cast

import httpx2
from fastapi import Depends, Path
from starlette.requests import Request

from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import CompressionEnded, Event, Preparing
from octavo.errors import NotFound
from octavo.gateway.gateway import Gateway
from octavo.gateway.upstreams import UpstreamRegistry, open_client
from octavo.http.caller import Caller, TheCaller
from octavo.http.errors import refuse
from octavo.server.auth import Authenticator
from octavo.server.config import ServerSettings
from octavo.server.conversation_feeds import ConversationFeeds
from octavo.server.maintenance import run_maintenance
from octavo.server.rate_limiter import RateLimiter
from octavo.server.remote_cancel import RemoteCancel
from octavo.server.schemas.base import Id
from octavo.server.tasks import Tasks
from octavo.server.telemetry import Telemetry, open_telemetry

T = TypeVar("T")


READERS = 2
"""Documents that are read at a time; others wait."""


class AppState:
    """The state of one server."""

    def __init__(
        self,
        engine: Engine,
        settings: ServerSettings,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.engine, self.settings = engine, settings
        limits = settings.limits
        self.authenticator = Authenticator(engine.store, keyed=settings.keyed, admin=settings.admin_key)
        self.rate_limiter = RateLimiter(limits)
        self.tasks = Tasks(limits.keep_seconds)
        self.remote_cancel = RemoteCancel(engine.store, self.tasks)
        self.feeds = ConversationFeeds(engine)
        self.registry = UpstreamRegistry(engine.store, engine.models, engine.settings)
        self.telemetry = telemetry or open_telemetry()
        self.closing = False
        self.readers = asyncio.Semaphore(READERS)
        """Lets a document be read: each takes a process, up to a gigabyte and a minute."""
        self.gateway = Gateway(
            engine=engine,
            providers=settings.providers,
            upstream_keys=settings.upstream_keys,
            upstreams=self.registry,
            client=open_client(
                self.registry,
                settings.providers,
                private=settings.private_upstreams,
                transport=transport,
            ),
            host=self,
        )
        self._loops: list[asyncio.Task[None]] = []
        self._preparing: set[str] = set()
        """Conversations that are being compressed in the background."""
        engine.listeners.append(self.announce)
        engine.watchers.append(self.telemetry.attempted)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run work that goes on when its request is gone."""
        return self.tasks.spawn(work)

    def record_request(self, *, compressed: bool) -> None:
        """Count an answered request of the gateway."""
        self.telemetry.relayed(compressed=compressed)

    def announce(self, conversation: str, event: Event) -> None:
        """Tell feeds and telemetry what happens in a conversation."""
        match event:
            case Preparing():
                self._preparing.add(conversation)
            case CompressionEnded():
                self._preparing.discard(conversation)
        self.feeds.publish_event(conversation, event)
        self.telemetry.record_event(conversation, event)

    def start(self) -> None:
        """Start the background loops."""
        chores = (self._empty_bin, self.remote_cancel.remove_old)
        loops = (run_maintenance(self.engine, also=chores), self.feeds.run(), self.remote_cancel.run())
        self._loops = [asyncio.create_task(loop) for loop in loops]

    async def _empty_bin(self) -> None:
        for conversation in await self.engine.store.bin.remove_due():
            await self.forget(conversation)

    async def forget(self, conversation: str) -> None:
        """Stop the tasks of a conversation, and forget what is cached about it."""
        await self.tasks.drop(conversation)
        self.gateway.cache.forget(conversation)

    def stop_accepting(self) -> None:
        """Refuse new work, and end all feeds, so that clients connect to another replica."""
        self.closing = True
        self.feeds.close()

    async def close(self) -> None:
        """Stop: finish what runs within the grace period, and close everything but the engine."""
        self.stop_accepting()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        grace = self.settings.limits.grace_seconds
        await asyncio.gather(self.tasks.close(grace), self._settle(grace))
        await self.gateway.close()
        self.engine.listeners.remove(self.announce)
        self.engine.watchers.remove(self.telemetry.attempted)
        self.telemetry.close()

    async def _settle(self, grace: float) -> None:
        """Wait for compressions in the background. The next turn repeats what does not finish in time."""
        waiting = [asyncio.create_task(self.engine.wait_until_idle(id)) for id in self._preparing]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def check_open(self) -> None:
        """Refuse new work while the server stops."""
        if self.closing:
            raise refuse(
                503, "stopping", "this server is stopping", "try again: another one answers", retry_after="1"
            )

    async def chat(self, id: str, caller: Caller) -> Chat:
        """Give a conversation to its owner; to everybody else it does not exist."""
        conversation = await self.engine.store.conversations.get(id)
        if conversation.owner != caller.owner:
            raise NotFound(f"there is no conversation {id}")
        return Chat(self.engine, conversation.id)


async def the_app_state(request: Request) -> AppState:
    return cast(AppState, request.app.state.octavo)


# Asynchronous although they wait for nothing: the framework runs plain functions in a thread.
TheAppState = Annotated[AppState, Depends(the_app_state)]


async def the_chat(conversation: Annotated[Id, Path()], app_state: TheAppState, caller: TheCaller) -> Chat:
    return await app_state.chat(conversation, caller)


TheChat = Annotated[Chat, Depends(the_chat)]
"""The conversation of the path, if it is the caller's."""


async def the_admin(caller: TheCaller) -> Caller:
    if not caller.may("admin"):
        raise refuse(403, "forbidden", "this key may not administer", "use a key with the scope 'admin'")
    return caller


TheAdmin = Annotated[Caller, Depends(the_admin)]
