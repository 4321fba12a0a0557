"""What a conversation says, counted once: running totals that are kept, and added to when it goes on.

A conversation is counted in blocks of messages from its beginning, so that later compressions of it, and of its other
branches, start from the same totals. What is counted depends on the messages alone: totals that were kept never change
a result, and where they do not fit, everything is counted anew.

In a long conversation most of what was said long ago never wins. Of the sentences of an old block only those are looked
at that were worth the most per byte when the block was counted, several times as many as its part of the room takes.
Tools' lines are all looked at: what is used later tells what a line was worth, and that is seldom known at the time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from operator import is_
from typing import NamedTuple

from octavo.core.extract.changes import Agreeing, GivenValues
from octavo.core.extract.facts import FactTotals
from octavo.core.extract.sources import NEAR, Lengths, LineUp, Openings, Source, between_people, near_tools
from octavo.core.extract.units import Analysis, TextUnit, kept_with_units, weights
from octavo.core.extract.value import (
    EFFORT,
    Mentions,
    NamingUnit,
    WordCounts,
    WordsLeft,
    add_mentions,
    chat_between_people,
    chat_with_assistant,
    intents,
    naming_units,
)
from octavo.core.messages import Branch, Node

BLOCK = 256
"""Messages that are counted at once."""
LOOKED_AT_WHOLE = 20_000
"""Units of a conversation of which all are looked at: some thousands of messages."""
SPARE = 4
"""Units of an old block that are looked at, in times what its part of the room takes."""
LEAST_OF_BLOCK = 2_000
"""Bytes of an old block that are looked at in any case."""


class OldBlock(NamedTuple):
    """Sentences of old messages by number, the best first, for each way of paying for words."""

    stop: int
    """The number of the first unit after them."""
    size: int
    """Their bytes."""
    chat: array[int]
    intent: array[int]


class Eligible(NamedTuple):
    """Sentences that are looked at, by number: all from one on, and of those before some, for each way of paying."""

    start: int
    chat: Sequence[int] = ()
    intent: Sequence[int] = ()

    @property
    def old(self) -> set[int]:
        """All those before."""
        return {*self.chat, *self.intent}


WHOLE = Eligible(0)


_COPIED = ("starts", "work", "units", "owner", "index", "weight", "words", "named", "outputs", "mentions")


class SourceCounts:
    """Totals of sources that follow each other; `copy` goes on from the same place."""

    def __init__(self, at: int = 0, number: int = 0) -> None:
        self.at, self.number = at, number
        """Of the next source, and of its first unit."""
        self.starts: list[int] = []
        self.work: list[bool] = []
        self.units: list[TextUnit] = []
        self.owner: list[int] = []
        self.index: list[int] = []
        self.weight: list[int] = []
        self.words: list[tuple[str, ...]] = []
        self.named: dict[int, tuple[str, ...]] = {}
        """What a unit of work is paid for, by its number."""
        self.outputs: dict[tuple[int, str], list[int]] = {}
        """Those that are lines of an output, by source and call."""
        self.talked, self.worked = 0, 0
        """Bytes of chat, and of work."""
        self.working: tuple[int, int] | None = None
        """The first and the last source of work."""
        self.task: int | None = None
        """The first of work in which a user speaks."""
        self.chat_words, self.intent_words = WordCounts(), WordCounts()
        self.mentions: Mentions = {}
        self.lengths = Lengths()
        self.given = GivenValues()
        self.agreeing = Agreeing()

    def copy(self) -> SourceCounts:
        """Go on counting, and leave this as it is."""
        found = copy(self)
        for name in _COPIED:
            setattr(found, name, getattr(self, name).copy())
        for name in ("chat_words", "intent_words"):
            setattr(found, name, copy(getattr(self, name)))
        for name in ("lengths", "given", "agreeing"):
            setattr(found, name, getattr(self, name).copy())
        return found

    def following(self) -> SourceCounts:
        """Count what follows apart; what later messages may change is gone on with."""
        found = SourceCounts(self.at, self.number)
        found.given, found.agreeing = self.given.copy(), self.agreeing.copy()
        return found

    def add(self, source: Source, *, work: bool) -> None:
        """Count one more source."""
        self.lengths.add(source)
        self.given.add(self.at, source)
        self.work.append(work)
        if work:
            add_mentions(self.mentions, self.at, source)
        if source.covered:
            self._cover(source, work=work)
        self.at += 1

    def _cover(self, source: Source, *, work: bool) -> None:
        units, weight = source.units, weights(source.units)
        self.agreeing.hear(self.at, source)
        self.starts.append(self.number)
        if work:
            self._name(naming_units(units))
        self.number += len(units)
        self.units += units
        self.owner += [self.at] * len(units)
        self.index += range(len(units))
        self.weight += weight
        words = words_of(units)
        self.words += words
        if not work:
            self.talked += sum(weight)
            self.chat_words.count(words)
        elif units:
            self.worked += sum(weight)
            self.intent_words.count([words[index] for index, _ in intents(units)])
            self.working = (self.working[0] if self.working else self.at), self.at
            if self.task is None and any(unit.channel == "user" for unit in units):
                self.task = self.at

    def _name(self, naming: Iterable[NamingUnit]) -> None:
        """Note what units of the next source are paid for."""
        for unit in naming:
            number = self.number + unit.at
            self.named[number] = unit.paid_for(self.at)
            if unit.call is not None:
                self.outputs.setdefault((self.at, unit.call), []).append(number)


@kept_with_units
def words_of(units: Sequence[TextUnit]) -> tuple[tuple[str, ...], ...]:
    """Give the informative words of each unit of a message."""
    return tuple([unit.words for unit in units])


class Totals:
    """The totals of the first blocks of covered messages; once made, they are not changed any more."""

    def __init__(self, names: frozenset[str] = frozenset()) -> None:
        self.nodes: Branch = ()
        self.openings = Openings()
        self.lining = LineUp(names)
        self.sources: list[Source] = []
        self.counts = SourceCounts()
        """Of these sources, without the last ones: what follows tells whether they are near tools."""
        self.facts = FactTotals()
        self.old: list[OldBlock] = []

    def copy(self) -> Totals:
        """Go on counting, and leave this as it is."""
        found = copy(self)
        found.openings, found.lining = self.openings.copy(), self.lining.copy()
        found.sources, found.counts = self.sources.copy(), self.counts.copy()
        found.facts, found.old = self.facts.copy(), self.old.copy()
        return found

    def begins(self, covered: Sequence[Node]) -> bool:
        """Tell whether these are the totals of a beginning of these very nodes."""
        return len(self.nodes) <= len(covered) and all(map(is_, self.nodes, covered))

    def work_from(self, sources: Sequence[Source]) -> Iterator[tuple[Source, bool]]:
        """Give of all sources those that are not counted yet, and whether each is part of work."""
        counted = self.counts.at
        start = max(0, counted - NEAR)
        near = near_tools(sources[start:])
        return zip(sources[counted:], near[counted - start :], strict=True)

    def add(self, block: Sequence[Node], analyses: Mapping[str, Analysis]) -> None:
        """Count one more block."""
        self.openings.add(block, analyses)
        self.nodes = (*self.nodes, *block)
        for node in block:
            self.sources += self.lining.add(node, analyses[node.id], covered=True)
        settled = max(self.counts.at, len(self.sources) - NEAR)
        for source, work in list(self.work_from(self.sources))[: settled - self.counts.at]:
            self.counts.add(source, work=work)
        self.facts.add(self.sources)
        if self.counts.number > LOOKED_AT_WHOLE:
            self._rank()

    def _rank(self) -> None:
        """Rank what is counted and is not ranked yet, by what it is worth now."""
        start, stop = self.old[-1].stop if self.old else 0, self.counts.number
        if start == stop:
            return
        ranks = Ranks(self.counts)
        found: tuple[Ranked, Ranked] = [], []
        for at in range(self.counts.owner[start], len(self.counts.work)):
            for kind, ranked in zip(found, ranks.of(self.sources[at], at), strict=True):
                kind += ranked
        for kind in found:
            kind.sort()
        chat, intent = (array("I", [number for _, number in kind]) for kind in found)
        self.old.append(OldBlock(stop, sum(self.counts.weight[start:stop]), chat, intent))


Ranked = list[tuple[float, int]]


class Ranks:
    """What units are worth per byte by the totals so far, negated, each with its number."""

    def __init__(self, counts: SourceCounts) -> None:
        self.counts = counts
        self.said = WordsLeft((counts.chat_words,), ())
        self.asked = WordsLeft((counts.intent_words,), ())
        self.weighed = chat_between_people if between_people(counts.lengths) else chat_with_assistant

    def of(self, source: Source, at: int) -> tuple[Ranked, Ranked]:
        """Rank the units of a source, for each way of paying."""
        start, units = self.counts.starts[at], source.units
        if not self.counts.work[at]:
            return self._spoken(start, units, enumerate(self.weighed(units)), self.said), []
        return [], self._spoken(start, units, intents(units), self.asked)

    def _spoken(
        self, start: int, units: Sequence[TextUnit], qualities: Iterable[tuple[int, float]], left: WordsLeft
    ) -> Ranked:
        worth, weight = left.__getitem__, self.counts.weight
        return [
            (-quality * sum(map(worth, units[n].words)) / (weight[start + n] + EFFORT), start + n)
            for n, quality in qualities
            if quality
        ]


def advance(
    totals: Totals | None, covered: Sequence[Node], retained: Sequence[Node], analyses: Mapping[str, Analysis]
) -> Totals:
    """Count on from totals that were kept, if they fit, as far as there are whole blocks."""
    if totals is None or not totals.begins(covered):
        totals = Totals()
    openings = totals.openings.copy()
    openings.add((*covered[len(totals.nodes) :], *retained), analyses)
    names = openings.names()
    if names != totals.lining.names:
        totals = Totals(names)
    stop = len(covered) // BLOCK * BLOCK
    if stop > len(totals.nodes):
        totals = totals.copy()
        for start in range(len(totals.nodes), stop, BLOCK):
            totals.add(covered[start : start + BLOCK], analyses)
    return totals


class CountedSources:
    """All sources of a conversation: totals of its beginning, and what follows them, counted apart."""

    def __init__(
        self,
        covered: Sequence[Node],
        retained: Sequence[Node],
        analyses: Mapping[str, Analysis],
        totals: Totals | None,
    ) -> None:
        self.totals = advance(totals, covered, retained, analyses)
        lining = self.totals.lining.copy()
        sources = self.totals.sources.copy()
        for node in covered[len(self.totals.nodes) :]:
            sources += lining.add(node, analyses[node.id], covered=True)
        for node in retained:
            sources += lining.add(node, analyses[node.id], covered=False)
        self.sources = tuple(sources)
        self.old = self.totals.counts
        self.new = self.old.following()
        for source, work in self.totals.work_from(self.sources):
            self.new.add(source, work=work)

    @property
    def parts(self) -> tuple[SourceCounts, SourceCounts]:
        return self.old, self.new

    @property
    def talked(self) -> int:
        """Bytes of chat."""
        return self.old.talked + self.new.talked

    @property
    def worked(self) -> int:
        """Bytes of work."""
        return self.old.worked + self.new.worked

    @property
    def work_span(self) -> tuple[int, int, int] | None:
        """The first and the last source of work, and the one of which it is about."""
        spans = [part.working for part in self.parts if part.working]
        if not spans:
            return None
        last = spans[-1][1]
        return spans[0][0], last, next((part.task for part in self.parts if part.task is not None), last)

    def eligible(self, room: int) -> Eligible:
        """Choose which units are looked at when there is room for so many bytes."""
        size = self.talked + self.worked
        found: tuple[list[int], list[int]] = [], []
        for block in self.totals.old:
            most = max(LEAST_OF_BLOCK, SPARE * room * block.size / size)
            for kind, ranked in zip(found, (block.chat, block.intent), strict=True):
                kind += self._first(ranked, most)
        if not self.totals.old:
            return WHOLE
        return Eligible(self.totals.old[-1].stop, *map(sorted, found))

    def _first(self, ranked: array[int], most: float) -> Iterator[int]:
        weight = self.old.weight
        for number in ranked:
            most -= weight[number]
            if most < 0:
                break
            yield number
