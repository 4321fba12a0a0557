"""Finds by a model's name what the engine needs of it: its card, its meter, and the provider that serves it.

Cards that people defined, windows learned from overflow errors and calibrations learned from bills are kept in the
store, so that every process knows them. If a person says how large a window is, that wins over what was learned.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from octavo.core.budget import ModelCard, Price
from octavo.core.message_json import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Chunk
from octavo.engine.settings import MODEL_FREE, SAME
from octavo.errors import BadInput, NotFound, UnknownModel
from octavo.meters.calibration import Calibration, dump, load
from octavo.meters.cards import CardBook, read_book, shipped
from octavo.meters.meter import Meter, Survey
from octavo.protocols import Provider

if TYPE_CHECKING:
    from octavo.core.context import Context
    from octavo.store.store import Store

log = logging.getLogger(__name__)

LEARNED = "learned:"
"""Notes in the store: what was found out about a model."""
NAMED = "named_window"
"""There: the window that an overflow error named."""
LOCAL = "local/"
"""How the names of models in this process begin."""
SAVED_EVERY = 5.0
"""Seconds between two times that calibrations are stored: what a crash loses, the next bills teach again."""
SMALLEST_WINDOW = 1_024
"""An overflow error that names a smaller window is not believed."""


@dataclass(slots=True)
class Models:
    """The models one engine has met."""

    CARDS: ClassVar[str] = "cards"
    """The note in the store that holds the users' cards."""

    store: Store
    open: Callable[[str], tuple[Provider, str]]
    """Opens the provider of a model; gives it with the name that it has for the model."""
    book: CardBook = field(default_factory=shipped)
    own: JsonObject = field(default_factory=dict)
    """Cards that people defined, by name: the fields they gave."""
    opened: dict[str, tuple[Provider, str]] = field(default_factory=dict)
    """By address: a card that names another provider leads to that one."""
    meters: dict[str, Meter] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _unsaved: set[str] = field(default_factory=set)
    _named: dict[str, int] = field(default_factory=dict)
    """Windows that errors named; what is only guessed lives as long as this process."""
    _taken: bool = False
    """Whether the users' cards were ever read."""
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
        address = self.address(model)
        if address not in self.opened:
            with self._opening:
                if address not in self.opened:
                    self.opened[address] = self.open(model)
        return self.opened[address]

    def is_opened(self, model: str) -> bool:
        """Tell whether the provider of a model was needed already."""
        return self.address(model) in self.opened

    def address(self, model: str) -> str:
        """Give a model's name, with its provider in front if only a user's card says which one it is.

        A provider that the card names itself wins over one that the name suggests; a provider taken over from another
        card (`like`) serves only names that suggest none.
        """
        given = self._given(model)
        if given is None:
            return model
        # Imported here: few people write cards, and everybody waits for what is imported.
        from octavo.providers.catalogue import PROVIDERS, is_known

        owner = self.book.find(model).provider
        if owner not in PROVIDERS or model.partition("/")[0] in PROVIDERS:
            return model
        return f"{owner}/{model}" if "provider" in given or not is_known(model) else model

    # Cards

    def take(self, cards: Json) -> None:
        """Use the cards of users as they are in the store now."""
        self._taken = True
        own = cards if isinstance(cards, dict) else {}
        if own == self.own:
            return
        before = {model: (self.book.find(model), self.is_set(model)) for model in self.meters}
        self.book, self.own = _read(own), own
        for model, known in before.items():
            if known != (self.book.find(model), self.is_set(model)):
                del self.meters[model]

    async def define(self, name: str, fields: JsonObject) -> None:
        """Define a card, for every process; raise `BadInput` naming the field that is wrong."""
        cards = {**await self._stored(), name: fields}
        read_book({"models": cards}, shipped())
        await self._put(cards)

    async def undefine(self, name: str) -> None:
        """Remove a card of somebody's own."""
        cards = await self._stored()
        if name not in cards:
            raise NotFound(f"there is no card of your own for {name!r}")
        await self._put({key: value for key, value in cards.items() if key != name})

    async def _stored(self) -> JsonObject:
        cards = await self.store.notes.get(self.CARDS)
        return cards if isinstance(cards, dict) else {}

    async def _put(self, cards: JsonObject) -> None:
        await self.save()
        await self.store.notes.put(self.CARDS, cards)
        self.take(cards)
        # Saying the same window again counts, too: sizes that a provider has refused since may be tried again.
        self.meters.clear()

    def is_set(self, model: str) -> bool:
        """Tell whether a person said how large a model's window is."""
        given = self._given(model)
        return given is not None and bool(given.keys() & {"window", "like"})

    def _given(self, model: str) -> JsonObject | None:
        """Give the fields of the user's card that holds for a model."""
        if not self.own:
            return None
        key = self.book.key(model)
        given = next((fields for name, fields in self.own.items() if name.lower() == key), None)
        return given if isinstance(given, dict) else None

    # Meters

    async def meter(self, model: str) -> Meter:
        """Give the meter of a model, with what was learned about it."""
        if not self._taken:
            self.take(await self.store.notes.get(self.CARDS))
        if model not in self.meters:
            card, learned = self._card(model), await self.store.notes.get(LEARNED + model)
            calibration = None
            if isinstance(learned, dict):
                calibration = _calibration(learned)
                card = self._narrowed(model, card, learned.get(NAMED))
            self.meters[model] = Meter(card, calibration)
        return self.meters[model]

    def _narrowed(self, model: str, card: ModelCard, named: Json) -> ModelCard:
        """Believe a window that an error named once, unless a person said better since."""
        if isinstance(named, int) and SMALLEST_WINDOW <= named < card.window:
            self._named[model] = named
            return card if self.is_set(model) else replace(card, window=named)
        return card

    def _card(self, model: str) -> ModelCard:
        """Give a model's card; a model in this process has the window it was started with, and needs nobody's key."""
        card = self.book.find(model)
        if not self.address(model).startswith(LOCAL):
            return card
        window = getattr(self.provider(model), "window", None)
        card = replace(card, window=window) if isinstance(window, int) else card
        # The cheap model of its family is somebody else's service, unless a person named it.
        return card if "summariser" in (self._given(model) or {}) else replace(card, summariser="")

    def writer_price(self, settings: Mapping[str, Json], card: ModelCard) -> Price | None:
        """Give what the summariser of a conversation costs; None if no model is asked, or its price is unknown.

        The model that answers has what it reads in its cache.
        """
        chosen = str(settings.get("summariser") or card.summariser)
        if chosen in ("", MODEL_FREE):
            return None
        if chosen in (SAME, card.name):
            own = card.price
            return own and replace(own, input=own.input if own.cached is None else own.cached)
        return self.book.find(chosen).price

    async def learn_bill(self, model: str, sent: Survey, billed: int) -> None:
        """Calibrate by what the provider billed for a context."""
        if billed <= 0:
            return
        meter = await self.meter(model)
        self.meters[model] = Meter(meter.card, meter.learn_from(sent, billed))
        self._unsaved.add(model)
        if self.clock() >= self._due:
            await self.save()

    async def learn_count(self, model: str, sent: Survey, counted: int) -> None:
        """Calibrate by what the provider counted, unless a bill has come in the meantime: the bill is what is paid."""
        if not (await self.meter(model)).knows(sent):
            await self.learn_bill(model, sent, counted)

    async def doubt(self, model: str, refused: Context, counts: Mapping[Message, int]) -> bool:
        """Forget what bills taught if it made a request look smaller than its count, and the request was refused."""
        meter = await self.meter(model)
        plain = meter.untaught()
        if plain.read(refused, counts).tokens <= meter.read(refused, counts).tokens:
            return False
        self.meters[model] = plain
        self._unsaved.add(model)
        await self.save()
        return True

    async def learn_window(self, model: str, window: int, *, named: bool = True) -> ModelCard:
        """Believe an overflow error about the size of the window.

        It is believed for good only if the error named it and no person did; a person's number is tried again by the
        next process.
        """
        meter = await self.meter(model)
        card = replace(meter.card, window=max(SMALLEST_WINDOW, min(window, meter.card.window)))
        self.meters[model] = Meter(card, meter.calibration)
        if named and not self.is_set(model) and card.window < self.book.find(model).window:
            self._named[model] = card.window
            self._unsaved.add(model)
            await self.save()
        return card

    async def set_window(self, model: str, window: int) -> None:
        """Believe the caller about the size of a window, as long as this process lives."""
        meter = await self.meter(model)
        if meter.card.window != window:
            card = replace(meter.card, window=window, assumed=False)
            self.meters[model] = Meter(card, meter.calibration)

    async def learned_windows(self) -> dict[str, int]:
        """Give the windows that are believed in by now, of the models that were used or that errors told about."""
        stored = await self.store.notes.starting(LEARNED)
        named = {
            key.removeprefix(LEARNED): learned.get(NAMED)
            for key, learned in stored.items()
            if isinstance(learned, dict)
        }
        found = {name: w for name, w in named.items() if isinstance(w, int) and not self.is_set(name)}
        return found | {model: meter.card.window for model, meter in self.meters.items()}

    async def save(self) -> None:
        """Keep in the store what was learned since the last time."""
        self._due = self.clock() + SAVED_EVERY
        while self._unsaved:
            model = self._unsaved.pop()
            meter = self.meters.get(model)
            if meter is None:
                continue  # its card was changed in the meantime, so what was learned belongs to another one
            learned: dict[str, Json] = {"calibration": dump(meter.calibration)}
            if model in self._named:
                learned[NAMED] = self._named[model]
            await self.store.notes.put(LEARNED + model, learned)

    async def close(self) -> None:
        await self.save()
        for provider in {id(provider): provider for provider, _ in self.opened.values()}.values():
            await provider.close()
        self.opened.clear()


def _calibration(learned: dict[str, Json]) -> Calibration | None:
    """Take over what bills taught, if it still makes sense to this version."""
    calibration = learned.get("calibration")
    try:
        return load(calibration) if isinstance(calibration, str) else None
    except BadInput:
        return None


def _read(own: JsonObject) -> CardBook:
    """Put users' cards before those that ship; one that this version cannot read is left out."""
    found = shipped()
    for name, fields in own.items():
        try:
            found = read_book({"models": {name: fields}}, found)
        except BadInput as error:
            log.warning("the card of %s is not used: %s", name, error)
    return found


async def close_stream(stream: AsyncIterator[Chunk]) -> None:
    """Stop a request at once, if its stream is one that can be closed."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
