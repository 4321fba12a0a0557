"""Regular maintenance: closes what a dead replica left behind, and removes what has expired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from octavo.engine.engine import Engine
from octavo.errors import OctavoError

log = logging.getLogger("octavo.server")

ROUND_SECONDS = 15.0
"""Half of a lease, so that a job is taken over soon after its lease has expired."""


async def run_maintenance(
    engine: Engine, every: float = ROUND_SECONDS, *, also: Sequence[Callable[[], Awaitable[object]]] = ()
) -> None:
    """Take over abandoned jobs and run all other chores, again and again, until cancelled."""
    if engine.store.read_only:
        return
    while True:
        try:
            found = await engine.resume_abandoned()
            if found:
                log.info("took over %d compressions and answers", found)
            for chore in also:
                await chore()
        except OctavoError as error:
            log.warning("maintenance failed: %s", error)
        await asyncio.sleep(every)
