"""The event feeds of conversations: turns that begin and end, compressions, and every other change.

Events of the engine in this process are published at once. All other changes are found by polling the database for the
conversations that somebody follows, every few seconds and after each request that may have changed something. The event
`changed` reports every such change, whoever made it. A snapshot is announced once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from octavo.core.json_values import JsonObject
from octavo.core.lru_cache import LruCache
from octavo.core.receipt import Receipt
from octavo.core.snapshot import Snapshot
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed, CompressionEnded, CompressionStarted, Event, Preparing
from octavo.errors import OctavoError
from octavo.server.conversation_status import ConversationStatus, read_statuses, with_jobs
from octavo.server.events import NOTIFIED, describe
from octavo.server.show import show_snapshot
from octavo.server.stream import Feed

log = logging.getLogger("octavo.server")

CAPACITY = 256
"""Events of a feed that are kept for clients that reconnect."""
LOOK_SECONDS = 2.0
"""Seconds between two polls; a compression takes longer than that."""
REST_SECONDS = 0.1
"""The shortest pause between two polls, however much happens here."""
REST_SHARE = 9
"""The pause is this many times as long as the poll took, so that polling takes at most a tenth of the time."""
GONE: JsonObject = {"tip": None, "jobs": [], "deleted": True}
"""The status of a conversation that was deleted."""
OVERLAP_SECONDS = 60
"""How far back a poll reaches: clocks of replicas differ, and a snapshot gets its id before it is stored."""
ANNOUNCED = 10_000
"""Announced snapshots that are remembered."""


class ConversationFeeds:
    """The feeds of all conversations that somebody follows."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._store = engine, engine.store
        self._feeds: dict[str, Feed] = {}
        self._watchers: dict[str, int] = {}
        self._statuses: dict[str, ConversationStatus] = {}
        """The status of each conversation at the last poll."""
        self._busy: set[str] = set()
        """Conversations whose followers know of a compression that has not ended."""
        self._announced = LruCache[str, bool](ANNOUNCED)
        self._nudged = asyncio.Event()

    def publish(self, conversation: str, name: str, data: JsonObject) -> None:
        """Send an event to those who follow a conversation."""
        if feed := self._feeds.get(conversation):
            feed.put(name, data)

    def publish_event(self, conversation: str, event: Event) -> None:
        """Publish an event of the engine, if people want to know it."""
        if not isinstance(event, NOTIFIED):
            return
        match event:
            case CompressionEnded(Compressed(snapshot=made)) if not self._mark_announced(made.id):
                return
            case Preparing() | CompressionStarted() if conversation in self._feeds:
                self._busy.add(conversation)
            case CompressionEnded():
                self._busy.discard(conversation)
        self.publish(conversation, *describe(event))

    def nudge(self) -> None:
        """Poll soon: something may have changed."""
        self._nudged.set()

    def _mark_announced(self, snapshot: str) -> bool:
        """Mark a snapshot as announced; tell whether it was not before."""
        if snapshot in self._announced:
            return False
        self._announced.put(snapshot, value=True)
        return True

    async def open(self, conversation: str) -> None:
        """Mark existing snapshots as announced before the first client follows a conversation."""
        if conversation not in self._feeds:
            for _, snapshot in await self._store.snapshots.newer([conversation], _since()):
                self._mark_announced(snapshot.id)

    async def watch(
        self, conversation: str, after: int, ping: float, first: Callable[[], Awaitable[bytes]]
    ) -> AsyncGenerator[list[bytes], None]:
        """Follow a conversation until the client goes away; `first` makes the event with its status.

        The feed is opened before `first` is called, so a change in between is told twice rather than not at all.
        """
        feed = self._feeds.setdefault(conversation, Feed(CAPACITY))
        self._watchers[conversation] = self._watchers.get(conversation, 0) + 1
        try:
            start = after or feed.count
            if conversation not in self._statuses:
                self._statuses |= await read_statuses(self._engine, [conversation])
            yield [await first()]
            async with aclosing(feed.frames(start, ping)) as pieces:
                async for frames in pieces:
                    yield frames
        finally:
            self._watchers[conversation] -= 1
            if not self._watchers[conversation]:
                del self._watchers[conversation], self._feeds[conversation]
                self._statuses.pop(conversation, None)
                self._busy.discard(conversation)

    async def current_status(self, conversation: str) -> JsonObject:
        """Give the current status, for a client that begins to follow."""
        found = await read_statuses(self._engine, [conversation])
        if conversation not in found:
            return GONE
        status = await with_jobs(self._engine, conversation, found[conversation])
        if status.jobs:
            self._busy.add(conversation)
        return status.as_event()

    async def poll(self) -> None:
        """Poll the store once, and announce what has changed."""
        if not self._feeds:
            return
        watched = list(self._feeds)
        for conversation, snapshot in await self._store.snapshots.newer(watched, _since()):
            if snapshot.state == "active" and self._mark_announced(snapshot.id):
                self.publish(conversation, "compression_ended", describe_snapshot(snapshot))
        found = await read_statuses(self._engine, watched)
        for conversation in watched:
            if (now := found.get(conversation)) is None:
                self._announce_deleted(conversation)
            else:
                await self._compare(conversation, now)

    async def _compare(self, conversation: str, now: ConversationStatus) -> None:
        """Announce the difference from the last poll."""
        if conversation not in self._feeds:
            return
        what = now.changes(self._statuses.get(conversation, now))
        self._statuses[conversation] = now
        if conversation in self._busy:
            now = await with_jobs(self._engine, conversation, now)
            # A compression of this process begins before its job exists, and ends after it.
            if not now.jobs and not self._engine.is_compressing(conversation):
                # It was cancelled, or its worker died, so nothing has announced its end.
                self._busy.discard(conversation)
                what.append("jobs")
        if what:
            self.publish(conversation, "changed", {"what": what, **now.as_event()})

    def _announce_deleted(self, conversation: str) -> None:
        """Announce that a conversation was deleted, and end its feed."""
        feed = self._feeds.get(conversation)
        if feed and not feed.ended:
            feed.put("changed", {"what": ["deleted"], **GONE})
            feed.end()

    async def run(self) -> None:
        """Poll as long as the server runs."""
        loop = asyncio.get_running_loop()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudged.wait()
            self._nudged.clear()
            began = loop.time()
            try:
                await self.poll()
            except OctavoError as error:
                log.warning("cannot poll for changes: %s", error)
            await asyncio.sleep(max(REST_SECONDS, REST_SHARE * (loop.time() - began)))

    def close(self) -> None:
        """End all feeds; clients connect to another replica."""
        for feed in self._feeds.values():
            feed.end()


def _since() -> str:
    """Give the smallest id that a snapshot of the last while can have."""
    return f"{max(0, int((time.time() - OVERLAP_SECONDS) * 1_000)):012x}" + "0" * 20


def describe_snapshot(snapshot: Snapshot) -> JsonObject:
    """Describe a compression of another process by the snapshot that it made."""
    paper = Receipt.from_json(snapshot.receipt) if snapshot.receipt else None
    measured = paper or snapshot
    return {
        "outcome": "compressed",
        "urgency": "soft" if snapshot.kind == "auto" else "manual",
        "messages": snapshot.messages,
        "before": measured.tokens_before,
        "after": measured.tokens_after,
        "saved": measured.tokens_before - measured.tokens_after,
        "snapshot": show_snapshot(snapshot).model_dump(),
        "problems": [],
    }
