"""What happens when a provider refuses a request as too large although our count said that it fits.

A turn of a chat and a request of the gateway follow the same rule:

- An error that names a smaller window teaches that window, for good.
- Any other refusal says only that this request was too large. The next attempt leaves more tokens free, and nothing
  is learned yet: the bill of the attempt that gets through tells whether the provider counts more than we do.
- If that bill does not explain the refusal, or if no attempt gets through, this process assumes a smaller window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from octavo.engine.state import divided
from octavo.errors import BadBudget, WindowExceeded

if TYPE_CHECKING:
    from octavo.core.context import Context
    from octavo.core.messages import Message
    from octavo.engine.models import Models
    from octavo.engine.state import TipState

OVERFLOW_RETRIES = 2
"""How often a request that the provider found too large is made smaller and sent again."""
SPARED_SHARE = 5
"""Each attempt sends a fifth less than what was refused: two reach a provider that counts half as much again."""
UNKNOWN_OVERFLOW = 0.9
"""The window assumed after refusals that nothing explains: a tenth less than the smallest request refused."""
EXPLAINED = 0.9
"""A bill explains a refusal if, by its measure, the refused request came this close to the window."""


@dataclass(slots=True)
class OverflowRetry:
    """The attempts to send one request."""

    models: Models
    model: str
    spare: int = 0
    """Tokens that the next attempt leaves free beyond its usual margin."""
    refusals: int = 0
    _too_large: int = 0
    """Tokens, by our count, of the smallest request that was refused without naming a smaller window."""

    async def refused(
        self, error: WindowExceeded, context: Context, counts: Mapping[Message, int], tokens: int, mark: int
    ) -> bool:
        """Learn from a refusal; tell whether another attempt is worth making.

        The refused context has `tokens` by our count, and `mark` is the hard mark that it had to fit under.
        """
        self.refusals += 1
        window = (await self.models.meter(self.model)).card.window
        if error.window is not None and error.window < window:
            await self.models.learn_window(self.model, error.window)
        elif not await self.models.doubt(self.model, context, counts):
            self.spare += max(0, mark - tokens) + tokens // SPARED_SHARE
            # A service that refuses a body by its bytes says nothing about tokens.
            if error.status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                self._too_large = tokens
        if self.refusals <= OVERFLOW_RETRIES:
            return True
        await self._believe_in_less()
        return False

    async def accepted(self, tokens: int, billed: int, reply: int) -> None:
        """Learn from the bill of the attempt that got through: `tokens` by our count, `reply` left for the answer."""
        if not self._too_large or not tokens or not billed:
            return
        window = (await self.models.meter(self.model)).card.window
        if self._too_large * billed / tokens < EXPLAINED * (window - reply):
            await self._believe_in_less()

    async def _believe_in_less(self) -> None:
        if self._too_large:
            window = int(self._too_large * UNKNOWN_OVERFLOW)
            await self.models.learn_window(self.model, window, named=False)


def leave_free(state: TipState, tokens: int) -> TipState:
    """Divide the window so that a request leaves that many more tokens free, or as many as the window can spare."""
    reply = state.budget.reply
    while tokens:
        try:
            budget = divided(state, state.meter, state.budget.overhead, spare=tokens)
            return replace(state, budget=replace(budget, reply=reply, margin=budget.margin + tokens))
        except BadBudget:
            tokens //= 2
    return state
