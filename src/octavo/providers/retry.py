"""Trying again, as long as nothing of an answer was received.

An attempt raises only `ProviderError`s. Once something of an answer has come, a failure is final: the service may have
billed what it did, and half an answer followed by another one would be worse than an error. That it failed, in the
service's own words, is no answer.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from typing import TYPE_CHECKING

from octavo.core.reply import Chunk, Retrying
from octavo.errors import ProviderError, RateLimited
from octavo.providers.settings import WaitLimits

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

JITTER = 0.25
"""The part of a wait that is left to chance, so that clients turned away together do not come back together."""

Begun = Callable[[], None]
"""What an attempt calls when something of the answer has come."""
RESPONSES: ContextVar[list[httpx2.Response]] = ContextVar("octavo_responses")
"""The responses that the attempt in progress has received; its HTTP client notes them."""


async def persist(
    attempt: Callable[[Begun], AsyncGenerator[Chunk, None]], waits: WaitLimits
) -> AsyncGenerator[Chunk, None]:
    """Stream the first attempt that is answered, and tell of every further one; closing this closes the attempt."""
    clock = asyncio.get_running_loop().time
    start, tried, received = clock(), 0, False

    def begun() -> None:
        nonlocal received
        received = True

    while True:
        responses: list[httpx2.Response] = []
        RESPONSES.set(responses)
        async with aclosing(attempt(begun)) as chunks:
            try:
                first = await anext(chunks)
            except ProviderError as error:
                tried += 1
                final = received or (error.status is None and _anything(responses))
                wait = None if final else pause(error, tried, waits, clock() - start)
                if wait is None:
                    raise
                again = Retrying(
                    attempt=tried + 1,
                    attempts=waits.attempts,
                    wait=wait,
                    reason=str(error),
                    limited=isinstance(error, RateLimited),
                )
            else:
                yield first
                async for chunk in chunks:
                    yield chunk
                return
        log.info("try %d of %d in %.1f s: %s", again.attempt, again.attempts, wait, again.reason)
        yield again
        await asyncio.sleep(wait)


def _anything(responses: list[httpx2.Response]) -> bool:
    """Tell whether anything came that might be an answer, readable or not."""
    return any(response.is_success and response.num_bytes_downloaded for response in responses)


def pause(error: ProviderError, tried: int, waits: WaitLimits, waited: float = 0.0) -> float | None:
    """Tell how many seconds to wait before the next attempt; None if there is to be none.

    `waited` is how long it has taken until now: nobody is kept waiting for the first byte by try after try.
    """
    if not error.retryable or tried >= waits.attempts:
        return None
    if isinstance(error, RateLimited) and error.retry_after is not None:
        wait, longest = error.retry_after, waits.longest_retry_after
    else:
        grown = min(waits.first_wait * waits.growth ** (tried - 1), waits.longest_wait)
        wait, longest = grown * (1 - JITTER * random.random()), waits.longest_wait
    return wait if wait <= longest and waited + wait <= waits.first_byte else None
