"""Finds values that changed: several messages give a key different values, and only the newest holds.

A key belongs to what was said, or to the output of one call (a file read twice, a command run again). A key that one
message gives two values is a column of a table, not a setting, and is left alone.

Sentences that stand change too: a later one replaces an older one if it says that something changed and is about the
same, or if there can be only one of its kind. Where that is not clear both stay, each with its day.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from octavo.core.extract.cues import CAPITAL, FIGURE, MONTH, TIME
from octavo.core.extract.scan import atom, atoms
from octavo.core.extract.sources import Source, line_up
from octavo.core.extract.standing import CHANGE, DEADLINE, NAME, OWNER, STANDS, denies, lifts, without_change
from octavo.core.extract.standing_words import COUNTS
from octavo.core.extract.units import TextUnit, analyse_all, kept_with_units, sentences, skeleton
from octavo.core.messages import Node
from octavo.core.snapshot import DroppedLine

NEAREST = 32
"""Sentences that a later one is compared with, per word: the newest that have it."""
COMPARED = 16
"""Those that share the most words are compared."""
FORGIVEN = 4
"""A sentence of so many words may miss one of them and be retold all the same."""
RETOLD = 0.7
"""Share of what a sentence is about that a line of a narrative has to name to be about the same."""
FEWEST_RETOLD = 2
"""One word in common tells nothing."""


Place = tuple[int, int]
"""Of a unit: `sources[source].units[unit]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenValue:
    """What a key was given, and where: `sources[source].units[unit]`."""

    key: str
    value: str
    source: int
    unit: int


class GivenValues:
    """Which values each key was given, by whom, in order; `copy` goes on from the same place."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[GivenValue]] = {}
        """The first value of each message."""
        self._earlier: Mapping[tuple[str, str], list[GivenValue]] = {}
        self._tables = set[tuple[str, str]]()
        """Keys that one message gave two values."""
        self._varied: dict[tuple[str, str], None] = {}
        """Keys that were given different ones."""

    def copy(self) -> GivenValues:
        """Go on from here, and leave this as it is."""
        copy = GivenValues()
        copy._earlier = {**self._earlier, **self._found} if self._found else self._earlier
        copy._tables, copy._varied = set(self._tables), dict(self._varied)
        return copy

    def add(self, at: int, source: Source) -> None:
        """Add what a source says."""
        for index, unit, (key, value) in _settings(source.units):
            scope = source.origins.get(unit.call, "") if unit.channel == "result" else "said"
            where = scope, key
            if where not in self._tables:
                self._give(where, GivenValue(key=key, value=value, source=at, unit=index))

    def _give(self, where: tuple[str, str], given: GivenValue) -> None:
        values = self._found.get(where)
        if values is None:
            values = self._found[where] = [*self._earlier.get(where, ())]
        if values and values[-1].source == given.source:
            if values[-1].value != given.value:
                self._tables.add(where)
                self._varied.pop(where, None)
            return
        values.append(given)
        if given.value != values[0].value:
            self._varied[where] = None

    def changed(self) -> list[tuple[GivenValue, ...]]:
        """Give for each key whose value changed all its values, oldest first."""
        found = [tuple(self._found.get(where) or self._earlier[where]) for where in self._varied]
        return sorted(found, key=lambda values: (values[0].source, values[0].unit))

    def superseded(self) -> frozenset[Place]:
        """Name the units whose value a later message changed."""
        return frozenset(
            [
                (value.source, value.unit)
                for values in self.changed()
                for value in values
                if value.value != values[-1].value
            ]
        )


@kept_with_units
def _settings(units: Sequence[TextUnit]) -> tuple[tuple[int, TextUnit, tuple[str, str]], ...]:
    """List the units that give something a value, with their numbers."""
    return tuple([(index, unit, unit.setting) for index, unit in enumerate(units) if unit.setting])


class Agreements(NamedTuple):
    """What stands, and what did."""

    standing: tuple[Place, ...]
    """Sentences that hold, in order."""
    dated: frozenset[Place]
    """Those that another one may have changed."""
    replaced: frozenset[Place]
    dropped: frozenset[Place] = frozenset()
    """Units that a person took out, whether they stood or not."""


class _Sentence(NamedTuple):
    place: Place
    speaker: str
    bits: int
    words: frozenset[str]
    """Informative words, without those that say that something changed."""
    values: frozenset[str]
    """Of these, numbers, times, names and identifiers: what may differ between two sentences about the same."""
    lifts: bool


class Agreeing:
    """Hears the sentences of covered sources that settle something, one after another; `copy` goes on from there."""

    def __init__(self) -> None:
        self._sentences: list[_Sentence] = []
        self._alive: dict[int, None] = {}
        self._dated, self._replaced = set[Place](), set[Place]()
        self._having: dict[str, deque[int]] = {}

    def copy(self) -> Agreeing:
        """Go on from here, and leave this as it is."""
        copy = Agreeing()
        copy._sentences, copy._alive = list(self._sentences), dict(self._alive)
        copy._dated, copy._replaced = set(self._dated), set(self._replaced)
        copy._having = {word: places.copy() for word, places in self._having.items()}
        return copy

    def hear(self, at: int, source: Source) -> None:
        """Hear what a source settles."""
        for index, unit in _settling_units(source.units):
            self._hear(_sentence((at, index), source, unit), unit)

    def _hear(self, new: _Sentence, unit: TextUnit) -> None:
        sentences, alive = self._sentences, self._alive
        older = [at for at in _nearest(new, self._having) if at in alive]
        gone = [at for at in older if _replaces(new, sentences[at])]
        unclear = [at for at in older if at not in gone and _may_replace(new, sentences[at])]
        if not (gone or unclear or unit.standing & STANDS):
            return
        for at in gone:
            del alive[at]
            self._replaced.add(sentences[at].place)
        if unclear:
            self._dated.update([new.place, *(sentences[at].place for at in unclear)])
        alive[len(sentences)] = None
        for word in (*new.words, *(("\0name",) if new.bits & NAME else ())):
            self._having.setdefault(word, deque(maxlen=NEAREST)).append(len(sentences))
        sentences.append(new)

    def agreed(self, sources: Sequence[Source], dropped: Sequence[DroppedLine] = ()) -> Agreements:
        """Tell what stands now, without what a person dropped.

        A sentence that was dropped has replaced what it replaced all the same: what it took back does not return.
        """
        by_hand = _dropped(sources, dropped)
        places = [self._sentences[at].place for at in self._alive]
        standing = tuple([place for place in places if place not in by_hand])
        return Agreements(standing, frozenset(self._dated), frozenset(self._replaced), by_hand)


def agreements(sources: Sequence[Source], dropped: Sequence[DroppedLine] = ()) -> Agreements:
    """Tell which sentences of the covered sources stand, and which were replaced by later ones."""
    heard = Agreeing()
    for at, source in enumerate(sources):
        if source.covered:
            heard.hear(at, source)
    return heard.agreed(sources, dropped)


def _dropped(sources: Sequence[Source], dropped: Sequence[DroppedLine]) -> frozenset[Place]:
    if not dropped:
        return frozenset()
    depths: dict[str, int] = {}
    for line in dropped:
        said = skeleton(line.text)
        depths[said] = max(line.depth, depths.get(said, 0))
    return frozenset(
        (at, index)
        for at, source in enumerate(sources)
        if source.covered
        for index, unit in enumerate(source.units)
        if source.depth <= depths.get(skeleton(unit.text), 0)
    )


@kept_with_units
def _settling_units(units: Sequence[TextUnit]) -> tuple[tuple[int, TextUnit], ...]:
    return tuple([(index, unit) for index, unit in enumerate(units) if unit.standing & (STANDS | CHANGE)])


def _sentence(place: Place, source: Source, unit: TextUnit) -> _Sentence:
    changes = bool(unit.standing & CHANGE)
    named = bool(unit.standing & OWNER)
    words, values = _terms(without_change(unit.text) if changes else unit.text, named=named)
    return _Sentence(place, source.speaker, unit.standing, words, values, changes and lifts(unit.text))


def _terms(text: str, *, named: bool = False) -> tuple[frozenset[str], frozenset[str]]:
    """Give the informative words of a sentence, and those that are values; `named`: it may begin with a name."""
    found: set[str] = set()
    values: set[str] = set()
    for number, piece in enumerate(atoms(text)):
        looked = atom(piece)
        found.update(looked.words)
        telling = looked.cues & (FIGURE | TIME | MONTH | (CAPITAL if number or named else 0))
        if telling or looked.identifiers or piece.isupper() or piece.lower().rstrip(".!") in COUNTS:
            values.update(looked.words)
    return frozenset(found), frozenset(values)


def _nearest(new: _Sentence, having: dict[str, deque[int]]) -> list[int]:
    """Give the older sentences that share the most words with a new one, in order."""
    shared = Counter(at for word in new.words for at in having.get(word, ()))
    near = {at for at, _ in shared.most_common(COMPARED)}
    if new.bits & NAME:
        near.update(having.get("\0name", ()))
    return sorted(near)


def _replaces(new: _Sentence, old: _Sentence) -> bool:
    """Tell whether a later sentence takes an older one back, or gives it another value."""
    if new.bits & old.bits & NAME:
        return new.speaker == old.speaker
    shared = new.words & old.words
    if not shared or new.words == old.words:
        return bool(shared) and bool(new.bits & CHANGE)
    alike = _alike(new, old)
    if alike and new.bits & old.bits & DEADLINE:
        return True
    if not new.bits & CHANGE:
        return False
    missing = len(old.words - new.words)
    retold = missing == 0 or (missing == 1 and len(old.words) >= FORGIVEN and not old.values - new.words)
    return alike or retold or (new.lifts and new.words <= old.words)


def _may_replace(new: _Sentence, old: _Sentence) -> bool:
    shared = new.words & old.words
    if not new.bits & CHANGE or len(shared) < FEWEST_RETOLD:
        return bool(new.bits & STANDS) and _alike(new, old)
    return _alike(new, old) or 2 * len(shared) > min(len(new.words), len(old.words))


def _alike(new: _Sentence, old: _Sentence) -> bool:
    """Tell whether two sentences say the same of something, with other values."""
    return (
        bool(new.words & old.words)
        and new.words - old.words <= new.values
        and old.words - new.words <= old.values
        and new.words != old.words
    )


class StandingLine(NamedTuple):
    """A sentence that stands, and the message that says it."""

    text: str
    source: str


class ChangedLine(NamedTuple):
    """A line of a narrative that says something else than a sentence that stands."""

    told: str
    text: str
    source: str


def standing_lines(sources: Sequence[Source], agreed: Agreements | None = None) -> tuple[StandingLine, ...]:
    """List the sentences that stand, in order; `agreed` spares finding out again."""
    places = (agreed or agreements(sources)).standing
    return tuple(StandingLine(sources[at].units[unit].text, sources[at].node) for at, unit in places)


def standing_in(nodes: Sequence[Node]) -> tuple[StandingLine, ...]:
    """List the sentences of messages that stand, in order."""
    return standing_lines(line_up(nodes, (), analyse_all(nodes)))


def contradictions(narrative: str, standing: Sequence[StandingLine]) -> Iterator[ChangedLine]:
    """Find the lines of a narrative that retell a sentence that stands with another sense or another value."""
    if not narrative or not standing:
        return
    told = [line for text in narrative.splitlines() for line in sentences(text.strip()) if line]
    terms = [_terms(line) for line in told]
    naming: dict[str, list[int]] = {}
    for at, (words, _) in enumerate(terms):
        for word in words:
            naming.setdefault(word, []).append(at)
    for line in standing:
        words, values = _terms(line.text)
        about = words - values
        shared = Counter(at for word in about for at in naming.get(word, ())[-NEAREST:])
        near = [at for at, times in shared.items() if times >= max(FEWEST_RETOLD, RETOLD * len(about))]
        if near and all(_differs(told[at], terms[at], line.text, values) for at in near):
            yield ChangedLine(told[near[0]], line.text, line.source)


def _differs(
    told: str, terms: tuple[frozenset[str], frozenset[str]], said: str, values: frozenset[str]
) -> bool:
    words, other = terms
    if denies(told) != denies(said):
        return True
    return bool(values) and values.isdisjoint(words) and bool(other)
