"""Goes on with what a dead replica left behind, and tidies up, now and then, as long as the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from octavo.engine.engine import Engine
from octavo.errors import OctavoError

log = logging.getLogger("octavo.server")

ROUND_SECONDS = 15.0
"""Half of a lease: a job is taken over soon after its worker's time ran out."""


async def run_maintenance(
    engine: Engine, every: float = ROUND_SECONDS, *, also: Sequence[Callable[[], Awaitable[object]]] = ()
) -> None:
    """Take over abandoned compressions until cancelled, and do what else is due."""
    if engine.store.read_only:
        return
    while True:
        try:
            found = await engine.resume_abandoned()
            if found:
                log.info("took over %d compressions and answers", found)
            for errand in also:
                await errand()
        except OctavoError as error:
            log.warning("cannot look for what is to be done: %s", error)
        await asyncio.sleep(every)
