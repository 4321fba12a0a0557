"""An answer that is being written: about once a second, the store is given what it says so far.

An answer that takes less than a second is stored once, when it ends. A failure here breaks no answer: what could not be
stored now is stored with the next piece, or at the end.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from octavo.core.messages import Message, Text
from octavo.errors import OctavoError
from octavo.store.values import Added, Entry, Job

if TYPE_CHECKING:
    from octavo.store.store import Store

log = logging.getLogger(__name__)

KEPT_EVERY = 1.0
"""Seconds between two pieces that are stored: what a crash may lose."""


@dataclass(slots=True, kw_only=True)
class AnswerDraft:
    """What an answer has said so far."""

    store: Store
    worker: str
    conversation: str
    parent: str
    id: str | None
    model: str
    said: list[str] = field(default_factory=list)
    _held: Job | None = None
    _waiting: asyncio.TimerHandle | None = None
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _keeping: asyncio.Task[None] | None = None

    @property
    def text(self) -> str:
        return "".join(self.said)

    def begin(self) -> None:
        """Start storing pieces, if the answer takes longer than a moment."""
        self._waiting = asyncio.get_running_loop().call_later(KEPT_EVERY, self._begin)

    def _begin(self) -> None:
        self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        while not self._ended.is_set():
            await self._store()
            with suppress(TimeoutError):
                async with asyncio.timeout(KEPT_EVERY):
                    await self._ended.wait()

    async def _store(self) -> None:
        if not self.text.strip():
            return
        try:
            if self._held is None:
                self._held = await self.store.answers.begin(
                    self.conversation, self._entry(), parent=self.parent, worker=self.worker
                )
            elif not await self.store.answers.go_on(self._held, self._entry()):
                # Another process closed it because our lease ran out: the whole answer is stored beside it.
                self._held, self.id = None, None
                self._ended.set()
        except OctavoError as error:
            log.warning("a part of an answer in %s is not stored yet: %s", self.conversation, error)

    def _entry(self) -> Entry:
        message = Message(role="assistant", parts=(Text(text=self.text),))
        return Entry(message=message, id=self.id, model=self.model)

    async def end(self) -> None:
        """Stop storing pieces; one that is on its way still arrives."""
        self._ended.set()
        if self._waiting is not None:
            self._waiting.cancel()
        if self._keeping is not None:
            await self._keeping

    async def finish(self, entry: Entry, *, select: bool) -> Added:
        """Store the answer as it ended."""
        await self.end()
        if self._held is not None:
            added = await self.store.answers.finish(self._held, entry, select=select)
            if added is not None:
                return added
            self.id = None
        entry = replace(entry, id=self.id)
        return await self.store.messages.add(self.conversation, [entry], parent=self.parent, select=select)

    async def stop(self, *, select: bool) -> Added | None:
        """Store what the answer had said when it was stopped; None if it had said nothing."""
        await self.end()
        if not self.text.strip():
            return None
        return await self.finish(replace(self._entry(), status="aborted"), select=select)
