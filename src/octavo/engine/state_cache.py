"""A cache of tip states, the last one of each conversation, so that a turn costs what is new in it.

A state is used again only at the same tip of the same revision of its conversation, under the same settings. What
another process changed meanwhile raises the revision, and then the state is loaded anew. The cache never gives
anything that the store would not give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.core.lru_cache import LruCache
from octavo.core.message_json import Json
from octavo.core.price_rule import CacheUse, cache_prices
from octavo.core.tools import Tool
from octavo.engine.state import Revision, TipState, grown, load_state, renewed
from octavo.store.values import Added

if TYPE_CHECKING:
    from octavo.core.budget import ModelCard
    from octavo.core.reply import Usage
    from octavo.core.snapshot import Snapshot
    from octavo.engine.models import Models
    from octavo.meters.meter import Meter
    from octavo.store.store import Store

MOST = 32
"""Conversations remembered: each may hold a whole window of text."""
PLACE = 5_000
"""Messages beyond which a conversation takes the place of another one, and so on."""
MOST_USES = 1_024
"""Conversations of which it is remembered how well their provider's cache works: a few numbers each."""


@dataclass(frozen=True, slots=True)
class CachedState:
    """A state, and the revision of its conversation at which it was true."""

    state: TipState
    revision: int


class TipStateCache:
    """The last state of each conversation."""

    def __init__(self, store: Store, models: Models, most: int = MOST) -> None:
        self._store, self._models = store, models
        self._states = LruCache[str, CachedState](most)
        self._uses = LruCache[str, CacheUse](MOST_USES)

    async def load(
        self,
        conversation: str,
        tip: str | None,
        revision: Revision,
        *,
        tools: tuple[Tool, ...] = (),
        without: Snapshot | None = None,
    ) -> TipState:
        """Give the state of a tip: the cached one if it is still true, else load it; `without`: see `load_state`."""
        settings = revision.settings
        model = str(settings.get("model") or "")
        meter = await self._models.meter(model)
        if tip is not None and without is None:
            number = revision.number
            known = self.find(conversation, tip, number, settings=settings, tools=tools, meter=meter)
            if known is not None:
                return known
        state = await load_state(
            self._store,
            self._models,
            conversation=conversation,
            tip=tip,
            model=model,
            settings=settings,
            tools=tools,
            without=without,
            misses=await self.misses(conversation, meter.card),
        )
        if without is None:
            self.keep(state, revision.number)
        return state

    async def misses(self, conversation: str, card: ModelCard) -> float:
        """Give the share of a conversation's tokens that its provider's cache should have had and did not."""
        if cache_prices(card) is None:
            return 0.0
        use = self._uses.get(conversation)
        if use is None:
            use = CacheUse()
            for model, sent, cached in await self._store.costs.newest(conversation):
                use = use.after(model, sent=sent, cached=cached)
            self._uses.put(conversation, use)
        return use.misses

    def billed(self, conversation: str, model: str, usage: Usage) -> None:
        """Learn how much of a request came from the cache. What nobody has asked for yet is left to the store."""
        if usage.input and (use := self._uses.get(conversation)) is not None:
            self._uses.put(conversation, use.after(model, sent=usage.input, cached=usage.cached))

    def keep(self, state: TipState, revision: int) -> None:
        """Keep a state; those used longest ago are dropped for it, the more of them the longer its branch is."""
        places = 1 + len(state.loaded.branch) // PLACE
        self._states.put(state.conversation, CachedState(state, revision), places)

    def replace(self, before: TipState, after: TipState, revision: int) -> None:
        """Keep a state in place of the one that it was made from, by the one change that made this revision.

        If anything else was changed since that one was loaded, neither is true any more.
        """
        seen = self._states.get(after.conversation)
        if seen is not None and seen.state is before and seen.revision == revision - 1:
            self.keep(after, revision)

    def grow(self, conversation: str, added: Added, meter: Meter) -> None:
        """Bring the cached state down to messages that were added below its tip."""
        seen = self._states.get(conversation)
        if seen is None or seen.revision != added.revision:
            return
        # The state takes over what the meter has learned of its tip, before it grows: below the tip nobody would find
        # it.
        state = renewed(seen.state, meter) if meter.card.name == seen.state.meter.card.name else None
        use = self._uses.get(conversation)
        if state is not None and use is not None:
            state = replace(state, habits=replace(state.habits, misses=use.misses))
        for node in added.nodes:
            state = grown(state, node) if state else None
        if state is not None:
            self.keep(state, added.revision)

    def find(
        self,
        conversation: str,
        tip: str,
        revision: int,
        *,
        settings: Mapping[str, Json],
        tools: tuple[Tool, ...],
        meter: Meter,
    ) -> TipState | None:
        """Give the state of a tip if it is known and still true."""
        seen = self._states.get(conversation)
        if seen is None or (seen.state.tip, seen.revision) != (tip, revision):
            return None
        state = seen.state
        if state.settings != settings or state.loaded.tools != tools:
            return None
        return renewed(state, meter)
