"""Facts: pieces of messages that can be looked for in another text, and the functions that look for them.

A fact is an identifier, a path, a number, a date, a name or a command; a sentence that decides, rules or prefers; or a
question that ends a message and that nobody took up. Each is given once, with the newest message that has it. Receipts
and evaluations both ask these functions, so what a user is told and what is measured are the same thing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Literal, NamedTuple, TypeVar, get_args

from octavo.core.extract import cues
from octavo.core.extract.fact_patterns import names
from octavo.core.extract.sources import Source, line_up
from octavo.core.extract.units import Analysis, TextUnit, Units, analyse, analyse_all, kept_with_units
from octavo.core.messages import Node, user
from octavo.core.snapshot import Channel

T = TypeVar("T")

FactKind = Literal[
    "identifier",
    "path",
    "number",
    "date",
    "name",
    "command",
    "decision",
    "constraint",
    "preference",
    "question",
]
KINDS: tuple[FactKind, ...] = get_args(FactKind)

TOLD = 0.6
"""Share of a sentence's informative words that two neighbouring sentences of a narrative must have to retell it."""
FEWEST_WORDS = 2
"""A sentence with fewer informative words decides and asks nothing that anybody would miss."""

RUN = 4
"""Words of a run: in any text, hardly one of another text stands in it by chance."""
READ_FOR = 100
"""Phrases that the whole text is read for; to list the places of all its words takes as long."""

PHRASES = 16_384
"""Phrases whose words are remembered: each compression of a conversation looks for the facts of the one before, too.
Some ten megabytes, if they are sentences."""

_SPEECH = ("user", "assistant")
_SETTLING = cues.DECISION | cues.CONSTRAINT | cues.PREFERENCE
_QUESTIONS = ("?", "？", "؟")
_WORD = re.compile(r"\w+")
_EITHER_OR = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+){1,2}")
"""Words parted by slashes in a sentence are alternatives more often than a path."""
_KIND_OF: Mapping[str, FactKind] = {
    "url": "identifier",
    "error": "identifier",
    "symbol": "identifier",
    "id": "identifier",
    "path": "path",
    "number": "number",
    "date": "date",
}


class Fact(NamedTuple):
    """Something a message says that can be looked for in another text."""

    kind: FactKind
    text: str
    source: str
    """The newest node that has it."""


Mention = tuple[tuple[FactKind, str], tuple[str, ...]]
"""The kind and the text of a fact; of a sentence, its informative words besides."""


def facts(nodes: Sequence[Node], analyses: Mapping[str, Analysis] | None = None) -> tuple[Fact, ...]:
    """List the facts of messages, each once, those of the newest message first."""
    sources = line_up(nodes, (), analyse_all(nodes, analyses))
    return tuple(fact for fact, _ in collect(sources))


def occurring(wanted: Iterable[Fact], text: str) -> tuple[Fact, ...]:
    """Choose the facts that stand in a text word for word."""
    wording = Wording(text)
    return tuple(fact for fact in wanted if wording.has(fact.text))


class FactTotals:
    """The facts of the first sources, each with the newest one that has it; `copy` goes on from there.

    A question waits for the reply that may take it up: it is counted, and what follows it, when that has come.
    """

    def __init__(self) -> None:
        self.found: dict[Mention, str] = {}
        """The node of each, that of the newest source last; of one source, its first fact last."""
        self.counted = 0
        """So many sources are."""

    def copy(self) -> FactTotals:
        """Go on counting, and leave this as it is."""
        copy = FactTotals()
        copy.found, copy.counted = dict(self.found), self.counted
        return copy

    def add(self, sources: Sequence[Source]) -> None:
        """Count on, as far as all replies are there; `sources` are all there are."""
        replies: dict[Channel, Sequence[TextUnit]] = {}
        newest: list[tuple[str, Sequence[Mention]]] = []
        stop = len(sources)
        for at in range(len(sources) - 1, self.counted - 1, -1):
            source = sources[at]
            said = _said(source.units)
            if _waits(source, said) and _other(said[-1].channel) not in replies:
                newest.clear()
                stop = at
            elif at < stop:
                newest.append((source.node, _mentions(source, said, replies)))
            if said:
                replies[said[0].channel] = said
        found = self.found
        for node, mentions in reversed(newest):
            for mention in reversed(mentions):
                found.pop(mention, None)
                found[mention] = node
        self.counted = stop


def collect(
    sources: Sequence[Source], counted: FactTotals | None = None
) -> Iterator[tuple[Fact, tuple[str, ...]]]:
    """Give every fact of sources once, newest first; sentences with their informative words.

    Those of the sources that were `counted` are not looked for again.
    """
    counted = counted or FactTotals()
    seen: set[Mention] = set()
    replies: dict[Channel, Sequence[TextUnit]] = {}
    for source in reversed(sources[counted.counted :]):
        said = _said(source.units)
        for mention in _mentions(source, said, replies):
            if mention not in seen:
                seen.add(mention)
                yield Fact(*mention[0], source.node), mention[1]
        if said:
            replies[said[0].channel] = said
    for mention, node in reversed(counted.found.items()):
        if mention not in seen:
            yield Fact(*mention[0], node), mention[1]


def _mentions(
    source: Source, said: Sequence[TextUnit], replies: Mapping[Channel, Sequence[TextUnit]]
) -> Sequence[Mention]:
    """List what a source says that can be looked for, given what is said next."""
    mentions: Sequence[Mention] = _stated(source.units)
    if source.stamp:
        mentions = ((("date", source.stamp), ()), *mentions)
    if _waits(source, said) and not _taken_up(said[-1], replies):
        mentions = (*mentions, (("question", said[-1].text), said[-1].words))
    return mentions


def _waits(source: Source, said: Sequence[TextUnit]) -> bool:
    """Tell whether a source ends with a question, which may be taken up."""
    return bool(said) and not source.tools and _asks(said[-1])


@kept_with_units
def _said(units: Sequence[TextUnit]) -> tuple[TextUnit, ...]:
    return tuple([unit for unit in units if unit.channel in _SPEECH])


@kept_with_units
def _stated(units: Units) -> tuple[Mention, ...]:
    """List what units state by themselves, whatever was said before or after, once each."""
    found: dict[Mention, None] = {}
    call = None
    for unit in units:
        if unit.channel == "call" and unit.call != call:
            call = unit.call
            found[("command", unit.text), ()] = None
        for text, kind, whole in unit.identifiers:
            if whole and not (kind == "path" and unit.words and _EITHER_OR.fullmatch(text)):
                found[(_KIND_OF[kind], text), ()] = None
    for unit in _said(units):
        for name in names(unit.text, unit.cues):
            found[("name", name), ()] = None
        if settled := _settled(unit):
            found[(settled, unit.text), unit.words] = None
    return tuple(found)


def _settled(unit: TextUnit) -> FactKind | None:
    """Tell what a sentence settles, if anything; rules and likings are the user's."""
    if not unit.cues & _SETTLING or len(unit.words) < FEWEST_WORDS or unit.text.endswith(_QUESTIONS):
        return None
    if unit.cues & cues.DECISION and (unit.channel == "user" or unit.cues & cues.FIRST_PERSON):
        return "decision"
    if unit.channel == "user" and unit.cues & cues.CONSTRAINT:
        return "constraint"
    return "preference" if unit.channel == "user" and unit.cues & cues.PREFERENCE else None


def _asks(unit: TextUnit) -> bool:
    return len(unit.words) >= FEWEST_WORDS and unit.text.endswith(_QUESTIONS)


def _taken_up(question: TextUnit, replies: Mapping[Channel, Sequence[TextUnit]]) -> bool:
    """Tell whether the next message of the other side has any informative word of a question."""
    asked = set(question.words)
    reply = replies.get(_other(question.channel), ())
    return any(not asked.isdisjoint(unit.words) for unit in reply)


def _other(channel: Channel) -> Channel:
    """Name the side that answers."""
    return "assistant" if channel == "user" else "user"


class Wording:
    """A text, prepared for the question whether it has a phrase.

    Most phrases it does not have are told by their runs of neighbouring words. The others are sought at the rarest of
    their pairs, so that a long text is not read for each; `lines` are phrases that stand in it, as is known already.
    """

    def __init__(self, text: str, lines: Iterable[str] = ()) -> None:
        self.text = text
        self._lines = frozenset([*lines, *text.split("\n")])
        self._words = _WORD.findall(text)
        self._vocabulary = frozenset(self._words)
        self._runs: dict[int, frozenset[tuple[str, ...]]] = {}
        self._expected: dict[str, bool] = {}
        """Whether the runs of a phrase stand here."""
        self._read_for = 0

    def expect(self, phrases: Iterable[str]) -> None:
        """Tell of many phrases at once whether their runs stand here: those of the text need not all be kept then.

        Most phrases that are not here are found out by their last run.
        """
        words = {
            phrase: _words(phrase)
            for phrase in phrases
            if phrase.isascii() and phrase not in self._vocabulary and phrase not in self._lines
        }
        words = {phrase: found for phrase, found in words.items() if len(found) > 1}
        last = self._known_runs({found[-RUN:] for found in words.values()})
        likely = {phrase: found for phrase, found in words.items() if found[-RUN:] in last}
        runs = {phrase: [*_runs(found, RUN)] for phrase, found in likely.items() if len(found) > RUN}
        known = self._known_runs(set(chain.from_iterable(runs.values())))
        for phrase in words:
            self._expected[phrase] = phrase in likely and known.issuperset(runs.get(phrase, ()))

    def _known_runs(self, wanted: Collection[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
        """Choose the runs that stand here; one pass over the text for each length tells of all."""
        found: set[tuple[str, ...]] = set()
        for length in {len(run) for run in wanted}:
            found.update(
                {run for run in wanted if len(run) == length}.intersection(_runs(self._words, length))
            )
        return frozenset(found)

    def has(self, phrase: str) -> bool:
        """Tell whether the phrase stands in the text, and not inside a longer word."""
        if self._expected.get(phrase) is False:
            return False
        if phrase in self._vocabulary or phrase in self._lines:
            return True
        return any(self._stands_alone(at, at + len(phrase)) for at in self._occurrences(phrase))

    def _occurrences(self, phrase: str) -> Iterable[int]:
        """Give where the phrase may stand."""
        words = _words(phrase)
        if not words or not phrase.isascii():
            return self._read(phrase)
        if not self._vocabulary.issuperset(words):
            return ()
        if phrase not in self._expected and not self._has_runs(words):
            return ()
        self._read_for += 1
        return self._read(phrase) if self._read_for <= READ_FOR else self._places(phrase, words)

    def _has_runs(self, words: Sequence[str]) -> bool:
        """Tell whether every few words that follow each other here do so in the text."""
        length = min(RUN, len(words))
        if length == 1:
            return True
        if length not in self._runs:
            self._runs[length] = frozenset(_runs(self._words, length))
        return self._runs[length].issuperset(_runs(words, length))

    def _places(self, phrase: str, words: Sequence[str]) -> Iterable[int]:
        """Give the places of a phrase, from those of its rarest pair of words."""
        places, offset = self._rarest(words)
        starts, text, lead = self._starts, self.text, phrase.index(words[0])
        return [
            at
            for place in places
            if place >= offset and text.startswith(phrase, at := starts[place - offset] - lead) and at >= 0
        ]

    def _rarest(self, words: Sequence[str]) -> tuple[Sequence[int], int]:
        """Give the numbers that the rarest pair of these words has, and its own among them."""
        if len(words) == 1:
            return self._places_of_words[words[0]], 0
        fewest = min(
            range(len(words) - 1), key=lambda at: len(self._places_of_pairs[words[at], words[at + 1]])
        )
        return self._places_of_pairs[words[fewest], words[fewest + 1]], fewest

    def _read(self, phrase: str) -> Iterator[int]:
        """Find a phrase in the whole text."""
        at = self.text.find(phrase)
        while at >= 0:
            yield at
            at = self.text.find(phrase, at + 1)

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start() for word in _WORD.finditer(self.text)]

    @cached_property
    def _places_of_pairs(self) -> Mapping[tuple[str, str], list[int]]:
        return _numbered(pairwise(self._words))

    @cached_property
    def _places_of_words(self) -> Mapping[str, list[int]]:
        return _numbered(self._words)

    def _stands_alone(self, start: int, stop: int) -> bool:
        around = self.text[max(0, start - 1) : start], self.text[stop : stop + 1]
        return not _joined(around[0], self.text[start]) and not _joined(self.text[stop - 1], around[1])


@lru_cache(PHRASES)
def _words(phrase: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(phrase))


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Give all runs of so many neighbouring words."""
    return zip(*(words[start:] for start in range(length)), strict=False)


def _numbered(pieces: Iterable[T]) -> Mapping[T, list[int]]:
    """Give the numbers that each piece has."""
    places: defaultdict[T, list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        places[piece].append(number)
    return places


def _joined(one: str, other: str) -> bool:
    # Only ASCII letters join: scripts without spaces put words next to each other.
    return bool(
        one and other and one.isascii() and other.isascii() and _WORD.match(one) and _WORD.match(other)
    )


class Retelling:
    """A narrative, prepared for the question whether it retells a sentence."""

    def __init__(self, text: str) -> None:
        sentences = [unit.words for unit in analyse(user(text)).units]
        self._windows: dict[str, list[int]] = {}
        for window, (one, other) in enumerate(zip([(), *sentences], [*sentences, ()], strict=True)):
            for word in {*one, *other}:
                self._windows.setdefault(word, []).append(window)

    def tells(self, words: Sequence[str]) -> bool:
        """Tell whether two neighbouring sentences have most of the words."""
        if not self._windows:
            return False
        known = [windows for word in words if (windows := self._windows.get(word))]
        if not words or len(known) < TOLD * len(words):
            return False
        return max(Counter(window for windows in known for window in windows).values()) >= TOLD * len(words)
