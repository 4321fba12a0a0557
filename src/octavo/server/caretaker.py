"""Goes on with what a dead replica left behind, now and then, as long as the server runs."""

from __future__ import annotations

import asyncio
import logging

from octavo.engine.engine import Engine
from octavo.errors import OctavoError

log = logging.getLogger("octavo.server")

ROUND_SECONDS = 15.0
"""Half of a lease: a job is taken over soon after its worker's time ran out."""


async def care(engine: Engine, every: float = ROUND_SECONDS) -> None:
    """Take over abandoned compressions until cancelled."""
    while True:
        try:
            found = await engine.take_over()
            if found:
                log.info("took over %d compressions", found)
        except OctavoError as error:
            log.warning("cannot look for abandoned compressions: %s", error)
        await asyncio.sleep(every)
