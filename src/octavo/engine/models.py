"""From a model's name to what the engine needs of it: its card, its meter, the provider that serves it.

Windows learned from overflow errors and calibrations learned from bills are kept in the store, so that every process
knows what one has found out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from octavo.core.budget import ModelCard
from octavo.core.messages import Message
from octavo.core.plain import Json
from octavo.errors import BadInput, UnknownModel
from octavo.meters.calibration import Calibration, dump, load
from octavo.meters.cards import Book, shipped
from octavo.meters.meter import Meter, Survey
from octavo.protocols import Provider

if TYPE_CHECKING:
    from octavo.core.context import Context
    from octavo.store.store import Store

LEARNED = "learned:"
"""Notes in the store: what was found out about a model."""
LOCAL = "local/"
"""How the names of models in this process begin."""
SAVED_EVERY = 5.0
"""Seconds between two times that what bills taught is stored: what a crash loses of it, the next bills teach again."""
SMALLEST_WINDOW = 1_024
"""An overflow error that names a smaller window is not believed."""


@dataclass(slots=True)
class Models:
    """The models one engine has met."""

    store: Store
    open: Callable[[str], tuple[Provider, str]]
    """Opens the provider of a model, and tells the name it knows the model by."""
    book: Book = field(default_factory=shipped)
    opened: dict[str, tuple[Provider, str]] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _unsaved: set[str] = field(default_factory=set)
    _windows: dict[str, int] = field(default_factory=dict)
    """Windows as cards and errors name them; what is only guessed lives as long as this process."""
    _due: float = 0.0
    _opening: threading.Lock = field(default_factory=threading.Lock)
    """A server opens providers in threads; two that want the same one get one."""

    def provider(self, model: str) -> Provider:
        """Give the provider that serves a model, opened once."""
        return self._served(model)[0]

    def name(self, model: str) -> str:
        """Give the name that a model's provider knows it by."""
        return self._served(model)[1]

    def _served(self, model: str) -> tuple[Provider, str]:
        if not model:
            raise UnknownModel("no model is chosen: give one (model='gpt-4o'), or set the setting 'model'")
        if model not in self.opened:
            with self._opening:
                if model not in self.opened:
                    self.opened[model] = self.open(model)
        return self.opened[model]

    async def meter(self, model: str) -> Meter:
        """Give the meter of a model, with what was learned about it."""
        if model not in self.meters:
            card, learned = self._card(model), await self.store.note(LEARNED + model)
            calibration = None
            if isinstance(learned, dict):
                card, calibration = _apply(card, learned)
            self._windows[model] = card.window
            self.meters[model] = Meter(card, calibration)
        return self.meters[model]

    def _card(self, model: str) -> ModelCard:
        """Give a model's card; a model in this process has the window it was started with."""
        card = self.book.find(model)
        if model.startswith(LOCAL):
            window = getattr(self.provider(model), "window", None)
            card = replace(card, window=window) if isinstance(window, int) else card
        return card

    async def learn_bill(self, model: str, sent: Survey, billed: int) -> None:
        """Calibrate by what the provider billed for a context."""
        if billed <= 0:
            return
        meter = await self.meter(model)
        self.meters[model] = Meter(meter.card, meter.learn_from(sent, billed))
        self._unsaved.add(model)
        if self.clock() >= self._due:
            await self.save()

    async def doubt(self, model: str, refused: Context, counts: Mapping[Message, int]) -> bool:
        """Forget what bills taught if by their word a request was smaller than it counts, and it was refused."""
        meter = await self.meter(model)
        plain = meter.untaught()
        if plain.read(refused, counts).tokens <= meter.read(refused, counts).tokens:
            return False
        self.meters[model] = plain
        self._unsaved.add(model)
        await self.save()
        return True

    async def learn_window(self, model: str, window: int, *, named: bool = True) -> ModelCard:
        """Believe an overflow error about the size of the window; for good only if the error named it."""
        meter = await self.meter(model)
        card = replace(meter.card, window=max(SMALLEST_WINDOW, min(window, meter.card.window)))
        self.meters[model] = Meter(card, meter.calibration)
        if named:
            self._windows[model] = card.window
            self._unsaved.add(model)
            await self.save()
        return card

    async def save(self) -> None:
        """Keep in the store what was learned since the last time."""
        self._due = self.clock() + SAVED_EVERY
        while self._unsaved:
            model = self._unsaved.pop()
            meter = self.meters.get(model)
            if meter is None:
                continue  # its card was changed meanwhile: what was learned was learned of another one
            learned: dict[str, Json] = {
                "window": self._windows.get(model, meter.card.window),
                "calibration": dump(meter.calibration),
            }
            await self.store.set_note(LEARNED + model, learned)

    async def close(self) -> None:
        await self.save()
        for provider in {id(provider): provider for provider, _ in self.opened.values()}.values():
            await provider.close()
        self.opened.clear()


def _apply(card: ModelCard, learned: dict[str, Json]) -> tuple[ModelCard, Calibration | None]:
    """Take over what was learned, if it still makes sense to this version."""
    window = learned.get("window")
    if isinstance(window, int) and SMALLEST_WINDOW <= window < card.window:
        card = replace(card, window=window)
    calibration = learned.get("calibration")
    try:
        return card, load(calibration) if isinstance(calibration, str) else None
    except BadInput:
        return card, None
