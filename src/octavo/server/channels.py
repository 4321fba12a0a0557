"""A conversation's own stream: background preparation, automatic compressions, turns that begin and end.

What happens in this process is heard at once; what another replica does is found in the database, by one question
for all conversations that anybody watches. A snapshot is announced once, whoever noticed it first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from octavo.core.fields import JsonObject
from octavo.core.receipt import Receipt
from octavo.core.snapshot import Snapshot
from octavo.engine.outcome import Compressed, CompressionEnded, Event
from octavo.errors import StoreError
from octavo.server.events import NOTIFIED, describe
from octavo.server.show import show_snapshot
from octavo.server.stream import Feed
from octavo.store.store import Store

log = logging.getLogger("octavo.server")

CAPACITY = 256
"""Events of a channel that can still be read by somebody who was away."""
LOOK_SECONDS = 2.0
"""How often other replicas' work is looked for; compressions take longer than that."""
OVERLAP_SECONDS = 60
"""How far back a look reaches: clocks of replicas differ, and a snapshot's id is made before it is stored."""
ANNOUNCED = 10_000
"""Snapshots remembered as announced."""


class Channels:
    """The streams of all conversations that somebody watches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._feeds: dict[str, Feed] = {}
        self._watchers: dict[str, int] = {}
        self._announced: OrderedDict[str, None] = OrderedDict()

    def tell(self, conversation: str, name: str, data: JsonObject) -> None:
        """Tell those who watch a conversation."""
        if feed := self._feeds.get(conversation):
            feed.put(name, data)

    def hear(self, conversation: str, event: Event) -> None:
        """Pass on what the engine tells, as far as it is news to people."""
        if not isinstance(event, NOTIFIED):
            return
        made = event.outcome if isinstance(event, CompressionEnded) else None
        if isinstance(made, Compressed) and not self._first(made.snapshot.id):
            return
        self.tell(conversation, *describe(event))

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
            yield [await first()]
            async with aclosing(feed.frames(start, ping)) as pieces:
                async for frames in pieces:
                    yield frames
        finally:
            self._watchers[conversation] -= 1
            if not self._watchers[conversation]:
                del self._watchers[conversation], self._feeds[conversation]

    async def look(self) -> None:
        """Announce what other replicas have done."""
        if not self._feeds:
            return
        for conversation, snapshot in await self._store.snapshots.newer(list(self._feeds), _since()):
            if snapshot.state == "active" and self._first(snapshot.id):
                self.tell(conversation, "compression_ended", _made_elsewhere(snapshot))

    async def run(self) -> None:
        """Look for news as long as the server runs."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except StoreError as error:
                log.warning("cannot look for news: %s", error)

    def close(self) -> None:
        """End all streams; clients come back to another replica."""
        for feed in self._feeds.values():
            feed.end()


def _since() -> str:
    """Give the smallest id that may have been made since a while ago."""
    return f"{max(0, int((time.time() - OVERLAP_SECONDS) * 1_000)):012x}" + "0" * 20


def _made_elsewhere(snapshot: Snapshot) -> JsonObject:
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
