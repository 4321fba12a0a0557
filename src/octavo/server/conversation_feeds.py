"""A conversation's own stream: background preparation, compressions, turns that begin and end, and what else changed.

What the engine does in this process is heard at once. Everything else is found in the database by looking at all
conversations that anybody watches, now and then and whenever this server was asked to change something: so one event,
`changed`, tells of every change, whoever made it. A snapshot is announced once, whoever noticed it first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from octavo.core.fields import JsonObject
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
"""Events of a channel that can still be read by somebody who was away."""
LOOK_SECONDS = 2.0
"""How often other replicas' work is looked for; compressions take longer than that."""
REST_SECONDS = 0.1
"""Between two looks at least, however much happens here."""
REST_SHARE = 9
"""Times as long as a look took, nothing is looked for: with very many watchers it takes a tenth of the time."""
GONE: JsonObject = {"tip": None, "jobs": [], "deleted": True}
"""How a conversation stands that is not there."""
OVERLAP_SECONDS = 60
"""How far back a look reaches: clocks of replicas differ, and a snapshot's id is made before it is stored."""
ANNOUNCED = 10_000
"""Snapshots remembered as announced."""


class ConversationFeeds:
    """The streams of all conversations that somebody watches."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._store = engine, engine.store
        self._feeds: dict[str, Feed] = {}
        self._watchers: dict[str, int] = {}
        self._statuses: dict[str, ConversationStatus] = {}
        """How each conversation that is watched stood at the last look."""
        self._busy: set[str] = set()
        """Conversations whose watchers were told of a compression and not of its end."""
        self._announced: OrderedDict[str, None] = OrderedDict()
        self._nudged = asyncio.Event()

    def tell(self, conversation: str, name: str, data: JsonObject) -> None:
        """Tell those who watch a conversation."""
        if feed := self._feeds.get(conversation):
            feed.put(name, data)

    def hear(self, conversation: str, event: Event) -> None:
        """Pass on what the engine tells, as far as it is news to people."""
        if not isinstance(event, NOTIFIED):
            return
        match event:
            case CompressionEnded(Compressed(snapshot=made)) if not self._first(made.id):
                return
            case Preparing() | CompressionStarted() if conversation in self._feeds:
                self._busy.add(conversation)
            case CompressionEnded():
                self._busy.discard(conversation)
        self.tell(conversation, *describe(event))

    def nudge(self) -> None:
        """Look soon: something may have changed."""
        self._nudged.set()

    def _first(self, snapshot: str) -> bool:
        """Tell whether a snapshot was not announced before; from now on it was."""
        if snapshot in self._announced:
            return False
        self._announced[snapshot] = None
        if len(self._announced) > ANNOUNCED:
            self._announced.popitem(last=False)
        return True

    async def open(self, conversation: str) -> None:
        """Prepare for the first who watches a conversation: what happened before is no news."""
        if conversation not in self._feeds:
            for _, snapshot in await self._store.snapshots.newer([conversation], _since()):
                self._first(snapshot.id)

    async def watch(
        self, conversation: str, after: int, ping: float, first: Callable[[], Awaitable[bytes]]
    ) -> AsyncGenerator[list[bytes], None]:
        """Follow a conversation until the client goes away; `first` tells how it stands when that begins.

        Followed before it is asked how things stand: what begins in between is told twice rather than not at all.
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

    async def stand(self, conversation: str) -> JsonObject:
        """Tell how a conversation stands now, to somebody who begins to watch."""
        found = await read_statuses(self._engine, [conversation])
        if conversation not in found:
            return GONE
        status = await with_jobs(self._engine, conversation, found[conversation])
        if status.jobs:
            self._busy.add(conversation)
        return status.told()

    async def look(self) -> None:
        """Announce what has changed, here or elsewhere."""
        if not self._feeds:
            return
        watched = list(self._feeds)
        for conversation, snapshot in await self._store.snapshots.newer(watched, _since()):
            if snapshot.state == "active" and self._first(snapshot.id):
                self.tell(conversation, "compression_ended", made_elsewhere(snapshot))
        found = await read_statuses(self._engine, watched)
        for conversation in watched:
            if (now := found.get(conversation)) is None:
                self._bury(conversation)
            else:
                await self._compare(conversation, now)

    async def _compare(self, conversation: str, now: ConversationStatus) -> None:
        """Tell what is not as it was at the last look."""
        if conversation not in self._feeds:
            return
        what = now.changes(self._statuses.get(conversation, now))
        self._statuses[conversation] = now
        if conversation in self._busy:
            now = await with_jobs(self._engine, conversation, now)
            # What this process is at begins before there is a job, and ends after.
            if not now.jobs and not self._engine.is_compressing(conversation):
                # It was stopped, or its worker died: nobody told its end.
                self._busy.discard(conversation)
                what.append("jobs")
        if what:
            self.tell(conversation, "changed", {"what": what, **now.told()})

    def _bury(self, conversation: str) -> None:
        """Tell that a conversation is gone for good; who comes back learns that it does not exist."""
        feed = self._feeds.get(conversation)
        if feed and not feed.ended:
            feed.put("changed", {"what": ["deleted"], **GONE})
            feed.end()

    async def run(self) -> None:
        """Look for news as long as the server runs."""
        loop = asyncio.get_running_loop()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudged.wait()
            self._nudged.clear()
            began = loop.time()
            try:
                await self.look()
            except OctavoError as error:
                log.warning("cannot look for news: %s", error)
            await asyncio.sleep(max(REST_SECONDS, REST_SHARE * (loop.time() - began)))

    def close(self) -> None:
        """End all streams; clients come back to another replica."""
        for feed in self._feeds.values():
            feed.end()


def _since() -> str:
    """Give the smallest id that may have been made since a while ago."""
    return f"{max(0, int((time.time() - OVERLAP_SECONDS) * 1_000)):012x}" + "0" * 20


def made_elsewhere(snapshot: Snapshot) -> JsonObject:
    """Tell of a compression by what it made."""
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
