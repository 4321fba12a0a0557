"""Providers' own counts: asked in the background before the first bill, or when a person wants to know.

A provider adds to a request what nobody sees, such as a prompt of its own for tools. The first bill tells how much, and
a count tells it while the first answer is still being written. Nothing waits for a count that nobody asked for, and one
that fails changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from octavo.core.messages import Message
from octavo.core.reply import Request
from octavo.errors import OctavoError, ProviderError, ProviderTimeout, UsageError
from octavo.protocols import Counting, Provider

if TYPE_CHECKING:
    from octavo.engine.models import Models
    from octavo.engine.state import TipState

log = logging.getLogger(__name__)

LIMIT = 20.0
"""Seconds: the bill comes sooner than a slower count."""
AT_ONCE = 4
"""Counts under way in the background: more would be a burden to the provider, and the bills tell the same."""
NOT_OFFERED = (404, 405, 501)
"""How a service says that it does not count at all."""
DID_NOT = "%s did not count a request; its first bill will do: %s"
REMEMBERED = 1_024
"""Combinations of a model, a system prompt and tools that are not asked for twice."""


class RemoteCounts:
    """What providers are asked to count."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[tuple[str, str], None] = {}
        self._useless: set[str] = set()
        """Models whose provider does not count."""

    def begin(self, state: TipState, messages: tuple[Message, ...]) -> None:
        """Have a request counted in the background, as it is sent, if its system prompt and tools are new.

        Each is asked for once in a process, and only of a provider that was opened to be sent something.
        """
        model, key = state.model, (state.model, state.survey.running.key)
        if (
            not self._models.is_opened(model)
            or model in self._useless
            or key in self._asked
            or len(self._tasks) >= AT_ONCE
            or not isinstance(self._models.provider(model), Counting)
        ):
            return
        self._asked[key] = None
        if len(self._asked) > REMEMBERED:
            del self._asked[next(iter(self._asked))]
        task = asyncio.create_task(self._in_background(state, messages))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_background(self, state: TipState, messages: tuple[Message, ...]) -> None:
        try:
            await self.ask(state, messages)
        except UsageError:
            self._useless.add(state.model)
        except OctavoError as error:
            if isinstance(error, ProviderError) and error.status in NOT_OFFERED:
                self._useless.add(state.model)
            log.warning(DID_NOT, state.model, error)
        except Exception:
            # A provider of somebody's own may raise anything; nobody waits for this.
            self._useless.add(state.model)
            log.warning(DID_NOT, state.model, "it raised", exc_info=True)

    async def ask(self, state: TipState, messages: tuple[Message, ...]) -> int:
        """Have a request counted now, as it is sent; raise `UsageError` where the provider offers no count."""
        models = self._models
        request = Request(model=models.name(state.model), messages=messages, tools=state.loaded.tools)
        tokens = await count(models.provider(state.model), request)
        await models.learn_count(state.model, state.survey, tokens)
        return tokens

    async def settled(self) -> None:
        """Wait until nothing is being counted in the background."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def count(provider: Provider, request: Request) -> int:
    """Ask a provider for its own count; raise `UsageError` if it offers none."""
    try:
        async with asyncio.timeout(LIMIT):
            tokens = await provider.count_request(request) if isinstance(provider, Counting) else None
    except TimeoutError:
        raise ProviderTimeout(f"{provider.name} did not count within {LIMIT:.0f} seconds") from None
    if tokens is None:
        raise UsageError(
            f"{provider.name} offers no count of its own; its bills correct what is counted here"
        )
    return tokens
