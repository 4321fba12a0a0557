"""Trying again, as long as nobody has seen anything of the answer yet.

An attempt raises only `ProviderError`s. Once its first chunk has been passed on, a failure is final: half an answer
followed by another one would be worse than an error.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from octavo.core.reply import Chunk
from octavo.errors import ProviderError, RateLimited
from octavo.providers.settings import Patience

JITTER = 0.25
"""The part of a wait that is left to chance, so that clients turned away together do not come back together."""


async def persist(
    attempt: Callable[[], AsyncGenerator[Chunk, None]], patience: Patience
) -> AsyncIterator[Chunk]:
    """Stream the first attempt that gives a chunk; closing this closes that attempt."""
    tried = 0
    while True:
        async with aclosing(attempt()) as chunks:
            try:
                first = await anext(chunks)
            except ProviderError as error:
                tried += 1
                wait = pause(error, tried, patience)
                if wait is None:
                    raise
            else:
                yield first
                async for chunk in chunks:
                    yield chunk
                return
        await asyncio.sleep(wait)


def pause(error: ProviderError, tried: int, patience: Patience) -> float | None:
    """Tell how many seconds to wait before the next attempt; None if there is to be none."""
    if not error.retryable or tried >= patience.attempts:
        return None
    if isinstance(error, RateLimited) and error.retry_after is not None:
        return error.retry_after if error.retry_after <= patience.longest_retry_after else None
    wait = min(patience.first_wait * patience.growth ** (tried - 1), patience.longest_wait)
    return wait * (1 - JITTER * random.random())
