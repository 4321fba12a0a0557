"""Says what a unit is worth: three ways of paying, each with few weights, each weight with its reason.

In *work* (tools near) a line is paid for the identifiers that nothing chosen names yet. In *chat* a sentence is paid
for its informative words, times what its cues say. *Intent* pays sentences of work for their words, because what was
asked and decided names few identifiers. A worth only ever falls while other units are chosen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from octavo.core.extract import cues
from octavo.core.extract.sources import Source
from octavo.core.extract.standing import LIKELY
from octavo.core.extract.units import TextUnit, kept_with_units

EFFORT = 5
"""Bytes added to every unit's cost: reading has a price, else the shortest lines win."""
FOCUS = 4.0
"""Added to 1 for words and identifiers that the focus names."""
NOTHING_NEW = 0.25
"""Factor of a line whose value a later message changed, and of a sentence that the narrative retells."""

HEARD = 0.1
"""Worth of an identifier that only tools named: one of hundreds in a listing."""
SPOKEN = 0.9
"""Added for each of user, assistant and call that named it: what was used will be used."""
REPEATED = 0.25
"""Added times the logarithm of the messages naming it."""
AGEING = 0.2
"""Worth falls with age to this power: halved after 32 messages, never gone."""
FIGURE = 0.5
"""Factor of numbers and dates, against names: most are line numbers and counts."""
OUTCOME = 0.3
"""Worth of the first line that says how a call ended: about that of a name seen once."""
LOGGED = 0.9
"""Worth of the first error that an output logs: as much as if somebody had spoken of it, which is sure to happen."""
AFTER_LIST = 0.3
"""What a mention is worth after one in a bare list: the circumstances are still missing. After any other, nothing."""
BARE = (0.1, 0.4)
"""Factor of a line with no or one ordinary word: a name without circumstances is hard to use."""

LASTING = 3.0
"""Added to 1 when people speak of themselves, or name a path, an address or another identifier: most lasting facts of a
chat are of these kinds."""
CONCRETE = 0.5
"""Added for a name inside the sentence, for a figure or a time, and for a decision, rule, liking or change."""
MAY_STAND = 8.0
"""Added for a user's sentence that has a form in which rules are often said: more than twice what a lasting fact gets.
One sentence in some hundreds of ordinary talk has one."""
QUESTION = 0.35
"""Factor of a question: the answer says it too."""
ASSISTANT = 0.35
"""Factor of an assistant's sentence in chat: it can be written again, what the user told cannot."""
FADING_BETWEEN_PEOPLE = 0.6
FADING_WITH_ASSISTANT = 0.8
"""What is left of a word's worth each time it is chosen; to an assistant, sentences on one topic each add a fact."""

WORN_OUT = 0.01
"""Worth below which a word does not fade, a hundredth of that of a common word. Sentences that repeat a few words would
otherwise fall in worth for ever, and each fall is another look at all of them."""

USER_INTENT = 3.0
"""Factor of what users wrote, against an assistant's prose."""
SETTLED = 2.0
"""Factor of a decision, a rule, a liking or a change."""
FADING_INTENT = 0.4
"""Requests are short and few: one mention of a word nearly settles it."""
FEWEST_INTENT_WORDS = 3
"""A shorter sentence ("Let me check.") asks and decides nothing."""
FEWEST_CHAT_WORDS = 2
"""One informative word tells nothing about anything."""
OLDEST = 0.5
"""Factor of the oldest intent against 1.5 of the newest."""

_QUESTIONS = ("?", "？", "؟")
_FIGURES = cues.FIGURE | cues.TIME
_STATEMENTS = cues.DECISION | cues.CONSTRAINT | cues.PREFERENCE | cues.CHANGE
_ENDED = cues.OUTCOME | cues.LOGGED
_SMALL = ("number", "date")
_OUTCOME, _LOGGED = "\0outcome", "\0logged"
_BIT = {"result": 0, "call": 1, "assistant": 2, "user": 4, "system": 4}


Mentions = dict[str, tuple[int, bool, int, int]]
"""By identifier: who named it (bits), whether it is a figure, the newest source naming it, how many did."""
_NO_MENTION = (0, False, 0, 0)


class IdentifierValues(dict[str, float]):
    """Worth of identifiers: how likely each is needed again; worked out when it is asked for."""

    def __init__(self, counted: Sequence[Mentions], sources: int, focus: Collection[str]) -> None:
        super().__init__({_focus(word): FOCUS for word in focus})
        self._counted, self._sources, self._of_focus = counted, sources, focus

    def __missing__(self, text: str) -> float:
        value = self[text] = self._ending(text) if text[0] == "\0" else self._identifier(text)
        return value

    def _identifier(self, text: str) -> float:
        bits = small = last = times = 0
        for counted in self._counted:
            who, figure, newest, sources = counted.get(text, _NO_MENTION)
            if sources:
                small, last = figure if not times else small, newest
                bits, times = bits | who, times + sources
        value = HEARD + SPOKEN * bits.bit_count() + REPEATED * math.log1p(times)
        age: float = (self._sources - last) ** -AGEING
        value *= age * (FIGURE if small else 1.0)
        return value * (1 + FOCUS) if self._of_focus and _named(text, self._of_focus) else value

    def _ending(self, text: str) -> float:
        kind, _, position = text.rpartition(" ")
        age: float = (self._sources - int(position)) ** -AGEING
        return (OUTCOME if kind == _OUTCOME else LOGGED) * age


def add_mentions(counted: Mentions, position: int, source: Source) -> None:
    """Count which identifiers a source names, and how."""
    for text, (bits, small) in _named_by(source.units).items():
        who, figure, _, times = counted.get(text, (0, small, 0, 0))
        counted[text] = who | bits, figure, position, times + 1


@kept_with_units
def _named_by(units: Sequence[TextUnit]) -> Mapping[str, tuple[int, bool]]:
    """Tell by identifier who of a message named it (bits), and whether it is a figure."""
    found: dict[str, tuple[int, bool]] = {}
    for unit in units:
        bit = _BIT[unit.channel] if unit.identifiers else 0
        for text, kind, _ in unit.identifiers:
            bits, small = found.get(text, (0, kind in _SMALL))
            found[text] = bits | bit, small
    return found


def _named(text: str, focus: Collection[str]) -> bool:
    folded = text.casefold()
    return any(word in folded for word in focus)


def _focus(word: str) -> str:
    return f"\0focus {word}"


def _outcome(position: int) -> str:
    return f"{_OUTCOME} {position}"


def _logged(position: int) -> str:
    return f"{_LOGGED} {position}"


class NamingUnit(NamedTuple):
    """A unit of work that is paid for something."""

    at: int
    """Its number among the units of its message."""
    names: tuple[str, ...]
    """Its identifiers."""
    ended: bool
    """Whether it says how a call ended."""
    logged: bool
    """Whether it is an error that an output logs."""
    call: str | None
    """Which call's output it is a line of, if it is one."""
    focus: tuple[str, ...] = ()
    """What it has of the focus."""

    def paid_for(self, position: int) -> tuple[str, ...]:
        """Name what it is paid for, as a unit of this source."""
        if not (self.ended or self.logged or self.focus):
            return self.names
        ended = (_outcome(position),) if self.ended else ()
        return (*self.names, *ended, *((_logged(position),) if self.logged else ()), *self.focus)


@kept_with_units
def naming_units(units: Sequence[TextUnit]) -> tuple[NamingUnit, ...]:
    """List the units of a message that are paid for something in work, where there is no focus."""
    return tuple(_naming(units, ()))


def focused_units(units: Sequence[TextUnit], focus: Collection[str]) -> tuple[NamingUnit, ...]:
    """List the units of a message that are paid for something in work, where there is a focus."""
    return tuple(_naming(units, focus))


def _naming(units: Sequence[TextUnit], focus: Collection[str]) -> Iterator[NamingUnit]:
    for index, unit in enumerate(units):
        if not (unit.identifiers or unit.cues & _ENDED or focus):
            continue
        output = unit.channel == "result"
        folded = unit.text.casefold() if focus else ""
        found = NamingUnit(
            index,
            tuple([identifier[0] for identifier in unit.identifiers]),
            ended=output and bool(unit.cues & cues.OUTCOME),
            logged=bool(unit.cues & cues.LOGGED),
            call=unit.call if output else None,
            focus=tuple([_focus(word) for word in focus if word in folded]),
        )
        if found.names or found.ended or found.logged or found.focus:
            yield found


class Coverage:
    """How well the chosen lines name each identifier."""

    def __init__(self, needs: IdentifierValues, known: Iterable[TextUnit]) -> None:
        self.values = needs
        self.level: dict[str, float] = {}
        self._past: list[list[tuple[str, float]]] = []
        for unit in known:
            if unit.identifiers:
                self.add([identifier[0] for identifier in unit.identifiers], unit.bare)
        self._past.clear()

    def value(self, named: Iterable[str], bare: int) -> float:
        total, values, level = 0.0, self.values, self.level
        for name in named:
            covered = level.get(name)
            if not covered:
                total += values[name]
            elif covered < 1:
                total += values[name] * AFTER_LIST
        return total if bare >= len(BARE) else total * BARE[bare]

    def add(self, named: Iterable[str], bare: int, listed: Iterable[str] = ()) -> None:
        """Count a line with its identifiers as chosen, and those listed in its header."""
        self._past.append([])
        self._raise(named, 1.0 if bare >= len(BARE) else BARE[-1])
        self._raise(listed, BARE[-1])

    def _raise(self, named: Iterable[str], level: float) -> None:
        past = self._past[-1]
        for name in named:
            before = self.level.get(name, 0.0)
            past.append((name, before))
            self.level[name] = before + level

    def take_back(self) -> None:
        """Undo the last addition."""
        for name, before in reversed(self._past.pop()):
            self.level[name] = before


class WordCounts(Counter[str]):
    """In how many units each word stands, and how many units there are."""

    units = 0

    def __copy__(self) -> WordCounts:
        copy = WordCounts(self)
        copy.units = self.units
        return copy

    def count(self, units: Sequence[Sequence[str]]) -> None:
        """Count the words of units."""
        self.units += len(units)
        self.update(chain.from_iterable(units))


class WordsLeft(dict[str, float]):
    """What is left of each word's worth; worked out when it is asked for the first time."""

    def __init__(self, counted: Sequence[WordCounts], focus: Collection[str]) -> None:
        super().__init__()
        self._counted, self._focus = counted, focus
        self._units = sum(counts.units for counts in counted)

    def __missing__(self, word: str) -> float:
        times = 0
        for counts in self._counted:
            times += counts.get(word, 0)
        worth = (
            math.log(1 + self._units / times) * (1 + FOCUS if word in self._focus else 1.0) if times else 0.0
        )
        self[word] = worth
        return worth


class WordValues:
    """Worth of informative words: rare ones more, chosen ones less each time."""

    def __init__(
        self,
        counted: Sequence[WordCounts],
        known: Iterable[TextUnit],
        fading: float,
        focus: Collection[str],
    ) -> None:
        self.left: dict[str, float] = WordsLeft(counted, focus)
        self.fading = fading
        self._past: list[list[tuple[str, float]]] = []
        self.add(set(chain.from_iterable([unit.words for unit in known])))
        self._past.clear()

    def add(self, found: Iterable[str]) -> None:
        left, fading = self.left, self.fading
        past = [(word, worth) for word in found if (worth := left[word]) > WORN_OUT]
        self._past.append(past)
        for word, before in past:
            left[word] = before * fading

    def take_back(self) -> None:
        """Undo the last addition."""
        self.left.update(self._past.pop())


def chat_quality(unit: TextUnit, *, people: bool) -> float:
    """Weigh a sentence of a chat by its cues."""
    if len(unit.words) < FEWEST_CHAT_WORDS:
        return 0.0
    person = people or unit.channel == "user"
    quality = 1.0
    if person and (
        unit.cues & cues.FIRST_PERSON or any(kind not in _SMALL for _, kind, _ in unit.identifiers)
    ):
        quality += LASTING
    if unit.standing & LIKELY:
        quality += MAY_STAND
    if unit.text.endswith(_QUESTIONS):
        quality *= QUESTION
    if unit.cues & cues.CAPITAL:
        quality += CONCRETE
    if unit.cues & _FIGURES:
        quality += CONCRETE
    if unit.cues & _STATEMENTS:
        quality += CONCRETE
    return quality if person else quality * ASSISTANT


@kept_with_units
def chat_between_people(units: Sequence[TextUnit]) -> tuple[float, ...]:
    """Weigh the sentences of a message between people."""
    return tuple([chat_quality(unit, people=True) for unit in units])


@kept_with_units
def chat_with_assistant(units: Sequence[TextUnit]) -> tuple[float, ...]:
    """Weigh the sentences of a message to or from an assistant."""
    return tuple([chat_quality(unit, people=False) for unit in units])


@kept_with_units
def intents(units: Sequence[TextUnit]) -> tuple[tuple[int, float], ...]:
    """Weigh what a message says in work by who said it, and whether it settles something; tools say nothing."""
    return tuple(
        [
            (index, intent_quality(unit))
            for index, unit in enumerate(units)
            if len(unit.words) >= FEWEST_INTENT_WORDS and unit.channel not in ("call", "result")
        ]
    )


def intent_quality(unit: TextUnit) -> float:
    """Weigh a sentence of work by who said it, and whether it settles something."""
    quality = USER_INTENT if unit.channel == "user" else 1.0
    return quality * SETTLED if unit.cues & _STATEMENTS or unit.standing & LIKELY else quality


def at_age(newness: float) -> float:
    """Give the factor of an intent that is so new: from 0, the oldest, to 1."""
    return OLDEST + newness
