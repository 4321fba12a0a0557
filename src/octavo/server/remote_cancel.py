"""Cancels tasks that run at another replica: a note in the store asks for it, and the replica finds the note.

A note names the conversation too: the id of a task alone cancels nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time

from octavo.core.json_values import Json
from octavo.errors import StoreError
from octavo.server.tasks import Tasks
from octavo.store.store import Store

log = logging.getLogger("octavo.server")

STOP = "stop:"
"""How the names of these notes begin in the store."""
LOOK_SECONDS = 1.0
"""Seconds between two looks for notes while a task runs: the longest that a person waits after pressing Stop."""
STALE_SECONDS = 3_600.0
"""The age at which a note is removed: by then its task has ended."""


class RemoteCancel:
    """The notes of all replicas, and the tasks of this one."""

    def __init__(self, store: Store, tasks: Tasks) -> None:
        self._store, self._tasks = store, tasks

    async def request(self, task: str, conversation: str) -> None:
        """Ask the replica that runs a task to cancel it."""
        note: Json = {"conversation": conversation, "at": time.time()}
        await self._store.notes.put(STOP + task, note)

    async def poll(self) -> None:
        """Cancel the tasks of this replica that others ask to cancel."""
        if not self._tasks.running:
            return
        for task, note in (await self._store.notes.starting(STOP)).items():
            match note:
                case {"conversation": str(conversation)} if self._tasks.cancel(task, conversation):
                    await self._store.notes.remove(STOP + task)

    async def run(self) -> None:
        """Look for notes as long as the server runs; a database that no other replica can use has none."""
        while self._store.shared:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.poll()
            except StoreError as error:
                log.warning("cannot look for tasks to cancel: %s", error)

    async def remove_old(self) -> None:
        """Remove notes that no replica has acted on."""
        for task, note in (await self._store.notes.starting(STOP)).items():
            match note:
                case {"at": int() | float() as at} if time.time() - at < STALE_SECONDS:
                    continue
                case _:
                    await self._store.notes.remove(STOP + task)
