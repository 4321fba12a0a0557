"""Model cards say what is known of a model. A card is found by the longest beginning of the model's name.

The table is data (`models.toml`); the user's own cards come before it. Every name gets a card: an unknown one has a
small window, and says that it is assumed. A wrong card is refused when it is read, with the name of the wrong field,
and not when a request overflows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from octavo.core.budget import ASSUMED_WINDOW, ModelCard, Price, threshold
from octavo.errors import BadInput, UnknownModel
from octavo.meters.frames import FRAMES
from octavo.meters.images import MEDIA
from octavo.meters.tokenizers import names

TABLE = Path(__file__).with_name("models.toml")
ASSUMED_OUTPUT = 4_096
"""The longest answer of an unknown model: even small models write as much."""
LONGEST_NAME = 1_000
"""Characters: no model has a longer name, and a client may send anything."""

Fields: TypeAlias = Mapping[str, object]
Cards: TypeAlias = Mapping[str, ModelCard]
Source: TypeAlias = "Path | str | Fields"
"""Cards of the user's own: a TOML file, or the same as a mapping."""

_VENDORS = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic|meta|mistral|deepseek|qwen|openai|amazon)\.(?=\D)")
"""How a cloud names models of others: `us.anthropic.claude-...`."""
_NEWER = re.compile(r"[.-]\d{1,2}(?![0-9a-z])")
"""What follows a known name if the name is that of another version: `-6` after `claude-opus`, `.2` after `gpt-5`.
Dates and snapshots have more digits, sizes have a letter."""
_BOUNDARIES = frozenset("-.:@_/ ")


@dataclass(frozen=True, slots=True)
class CardBook:
    """All cards there are."""

    cards: Cards
    guesses: Mapping[str, str]
    """By the beginning of an unknown name, the model it is most likely to count like."""

    def find(self, name: str) -> ModelCard:
        """Give the card of a model; for an unknown name, one that is assumed."""
        if not isinstance(name, str) or not name.strip():
            raise UnknownModel(f"a model needs a name, got {name!r}")
        known = self.key(name)
        return self._assume(name) if known is None else replace(self.cards[known], name=name)

    def key(self, name: str) -> str | None:
        """Give the name that a model's card is filed under; None if there is none."""
        found = (longest(spelling, self.cards) for spelling in spellings(name))
        return next((known for known in found if known is not None), None)

    def _assume(self, name: str) -> ModelCard:
        assumed = ModelCard(name=name, window=ASSUMED_WINDOW, max_output=ASSUMED_OUTPUT, assumed=True)
        for spelling in spellings(name):
            like = [known for known in self.guesses if re.match(rf"{re.escape(known)}[-.\d]", spelling)]
            if like:
                card = self.cards[self.guesses[max(like, key=len)]]
                return replace(
                    card,
                    name=name,
                    window=assumed.window,
                    max_output=assumed.max_output,
                    price=None,
                    assumed=True,
                )
        return assumed


def spellings(name: str) -> tuple[str, ...]:
    """List the names a model may be known by: as given, and without the prefixes of those who serve it."""
    whole = name.strip().lower()
    tail = whole.rpartition("/")[2]
    return tuple(dict.fromkeys((whole, tail, _VENDORS.sub("", tail))))


def longest(name: str, known: Cards) -> str | None:
    """Find the longest known beginning of a name that is not a beginning of another version's name."""
    for end in range(min(len(name), LONGEST_NAME), 0, -1):
        if name[:end] not in known:
            continue
        rest = name[end:]
        if not rest or (rest[0] in _BOUNDARIES and not _NEWER.match(rest)):
            return name[:end]
    return None


@cache
def shipped() -> CardBook:
    """Read the table that comes with the package."""
    return read_book(TABLE)


def read_book(source: Source, base: CardBook | None = None) -> CardBook:
    """Read cards from a TOML file or a mapping; they come before those of `base`."""
    data = _document(source)
    cards: dict[str, ModelCard] = dict(base.cards) if base else {}
    for key in data:
        if key not in ("families", "models", "guesses"):
            raise BadInput(f"models.{key}", "unknown; expected families, models or guesses")
    for family, inner in _table(data, "families", "models").items():
        where = f"families.{family}"
        shared = {k: v for k, v in _object(inner, where).items() if k != "models"}
        for name, own in _table(_object(inner, where), "models", where).items():
            merged = {**shared, **_object(own, f"{where}.models.{name}")}
            cards[name.lower()] = card_of(name, merged, f"{where}.models.{name}")
    for name, own in _table(data, "models", "").items():
        cards[name.lower()] = card_of(name, _object(own, f"models.{name}"), f"models.{name}", cards)
    guesses = {**(base.guesses if base else {}), **_guesses(data, cards)}
    return CardBook(cards, guesses)


def book(own: Source | None = None) -> CardBook:
    """Give all cards: those shipped, and before them the user's own."""
    return shipped() if own is None else read_book(own, shipped())


def find_card(name: str, own: Source | None = None) -> ModelCard:
    """Give the card of a model by its name."""
    return book(own).find(name)


def _document(source: Source) -> Fields:
    if not isinstance(source, Path | str):
        return _object(source, "models")
    try:
        return tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadInput(str(source), f"cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadInput(str(source), f"is not TOML: {problem}") from problem


def _object(value: object, where: str) -> Fields:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadInput(where, f"expected a table, got {type(value).__name__}")
    return value


def _table(data: Fields, key: str, where: str) -> Fields:
    return _object(data.get(key, {}), f"{where}.{key}".lstrip("."))


def _guesses(data: Fields, cards: Cards) -> dict[str, str]:
    found: dict[str, str] = {}
    for start, name in _table(data, "guesses", "").items():
        if not isinstance(name, str) or name not in cards:
            raise BadInput(f"guesses.{start}", f"no card is called {name!r}")
        found[start.lower()] = name
    return found


_KNOWN = {field.name for field in fields(ModelCard)} - {"name", "assumed"}


def card_of(name: str, given: Fields, where: str, cards: Cards | None = None) -> ModelCard:
    """Make a card from its fields; raise `BadInput` naming the one that is wrong."""
    base = ModelCard(name=name)
    given = dict(given)
    like = given.pop("like", None)
    if like is not None:
        if not isinstance(like, str) or (known := longest(like.lower(), cards or {})) is None:
            raise BadInput(f"{where}.like", f"no card is called {like!r}")
        base = replace((cards or {})[known], name=name)
    elif cards is not None and name.lower() in cards:
        base = replace(cards[name.lower()], name=name)
    for key in given:
        if key not in _KNOWN:
            raise BadInput(f"{where}.{key}", f"unknown field; one of {', '.join(sorted(_KNOWN))}")
    changes: dict[str, Any] = {k: _checked(k, value, f"{where}.{k}") for k, value in given.items()}
    card = replace(base, **changes)
    if "max_output" not in given:
        card = replace(card, max_output=min(card.max_output, card.window))
    if card.max_output > card.window:
        raise BadInput(f"{where}.max_output", f"{card.max_output:,} is more than the window {card.window:,}")
    return card


def _checked(key: str, value: object, where: str) -> object:
    match key:
        case "window" | "max_output" | "price_step" | "cache_seconds":
            return _whole(value, where, least=1)
        case "retained":
            return _whole(value, where, least=0)
        case "soft":
            return threshold(value, where)
        case "vision":
            return _switch(value, where)
        case "price":
            return _price(value, where)
        case "cache_write":
            return _times(value, where)
        case "tokenizer":
            return _choice(value, where, names())
        case "frame":
            return _choice(value, where, tuple(FRAMES))
        case "image_rule":
            return _choice(value, where, tuple(MEDIA))
        case _:
            return _text(value, where)


def _whole(value: object, where: str, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInput(where, f"expected a whole number of {least} or more, got {value!r}")
    return value


def _times(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise BadInput(where, f"expected a number above 0, got {value!r}")
    return float(value)


def _switch(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise BadInput(where, f"expected true or false, got {value!r}")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(where, f"expected text, got {value!r}")
    return value


def _choice(value: object, where: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise BadInput(where, f"unknown {value!r}; one of {', '.join(filter(None, known))}")
    return str(value)


def _price(value: object, where: str) -> Price:
    """Read `[input, output]` or `[input, output, cached]` in dollars per million tokens."""
    if not isinstance(value, list | tuple) or len(value) not in (2, 3):
        raise BadInput(where, f"expected [input, output] or [input, output, cached], got {value!r}")
    numbers: list[float] = []
    for each in value:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each < float("inf"):
            raise BadInput(where, f"expected dollars per million tokens, got {each!r}")
        numbers.append(float(each))
    return Price(input=numbers[0], output=numbers[1], cached=numbers[2] if len(numbers) > 2 else None)
