"""Stopping a task that another replica runs: the wish is noted in the store, and whoever runs the task finds it there.

A wish names the conversation too: the id of a task alone stops nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time

from octavo.core.fields import Json
from octavo.errors import StoreError
from octavo.server.tasks import Tasks
from octavo.store.store import Store

log = logging.getLogger("octavo.server")

STOP = "stop:"
LOOK_SECONDS = 1.0
"""How often wishes are looked for while something runs: a person who presses a button waits no longer."""
STALE_SECONDS = 3_600.0
"""After that a wish is forgotten: whatever it was about has ended."""


class RemoteCancel:
    """The wishes of all replicas, and the tasks of this one."""

    def __init__(self, store: Store, tasks: Tasks) -> None:
        self._store, self._tasks = store, tasks

    async def ask(self, task: str, conversation: str) -> None:
        """Ask whoever runs a task to stop it."""
        wish: Json = {"conversation": conversation, "at": time.time()}
        await self._store.notes.put(STOP + task, wish)

    async def look(self) -> None:
        """Stop what others want to be stopped here."""
        if not self._tasks.running:
            return
        for task, wish in (await self._store.notes.starting(STOP)).items():
            match wish:
                case {"conversation": str(conversation)} if self._tasks.cancel(task, conversation):
                    await self._store.notes.remove(STOP + task)

    async def run(self) -> None:
        """Look for wishes as long as the server runs; nobody else can have any where there is but one machine."""
        while self._store.shared:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except StoreError as error:
                log.warning("cannot look for tasks to stop: %s", error)

    async def tidy(self) -> None:
        """Forget wishes that nobody heard."""
        for task, wish in (await self._store.notes.starting(STOP)).items():
            match wish:
                case {"at": int() | float() as at} if time.time() - at < STALE_SECONDS:
                    continue
                case _:
                    await self._store.notes.remove(STOP + task)
