"""Conversations that are deleted in a while: out of sight at once, gone for good when nobody changed their mind.

What is waiting is noted in the store, so any replica brings it back or deletes it. A conversation that somebody goes
on with meanwhile comes back: what was stored and acknowledged is not deleted by an order that was given before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from octavo.core.fields import Json
from octavo.errors import NotFound, UsageError
from octavo.store.store import Store
from octavo.store.values import Conversation

TRASH = "trash:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What was noted when a conversation was deleted."""

    until: float
    archived: bool
    messages: int


class Trash:
    """The conversations of a store that wait to be deleted."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock

    async def put(self, id: str, seconds: float) -> None:
        """Hide a conversation, and have it deleted after so many seconds."""
        found = await self._store.conversation(id)
        before = _waiting(await self._store.note(TRASH + id))
        archived = before.archived if before else found.archived
        note: Json = {
            "until": self._clock() + seconds,
            "archived": archived,
            "messages": found.messages,
        }
        await self._store.set_note(TRASH + id, note)
        await self._store.archive(id)

    async def take_back(self, id: str) -> None:
        """Bring a conversation back as it was."""
        waiting = _waiting(await self._store.note(TRASH + id))
        if waiting is None:
            raise UsageError("this conversation was not deleted: there is nothing to bring back")
        await self._store.archive(id, archived=waiting.archived)
        await self._store.remove_note(TRASH + id)

    async def ids(self) -> frozenset[str]:
        """Tell which conversations are out of sight."""
        return frozenset(await self._store.notes(TRASH))

    async def of_owner(self, owner: str) -> list[Conversation]:
        """List what an owner can bring back, the last changed first."""
        ids = sorted(await self.ids())
        return [*await self._store.conversations(owner=owner, archived=None, limit=len(ids), ids=ids)]

    async def empty(self) -> list[str]:
        """Delete what has waited long enough; gives what is gone."""
        gone = []
        for id, note in (await self._store.notes(TRASH)).items():
            waiting = _waiting(note)
            if waiting is not None and waiting.until > self._clock():
                continue
            if await self._delete(id, waiting):
                gone.append(id)
        return gone

    async def _delete(self, id: str, waiting: Waiting | None) -> bool:
        try:
            now = await self._store.conversation(id)
            if waiting is not None and now.messages > waiting.messages:
                await self.take_back(id)
                return False
            await self._store.delete_conversation(id)
        except NotFound:
            # Another replica was faster.
            pass
        await self._store.remove_note(TRASH + id)
        return True

    async def forget(self, id: str) -> None:
        """Note that a conversation is gone already."""
        await self._store.remove_note(TRASH + id)


def _waiting(note: Json) -> Waiting | None:
    match note:
        case {"until": int() | float() as until, "archived": bool(archived), "messages": int(messages)}:
            return Waiting(until=until, archived=archived, messages=messages)
        case _:
            return None
