"""The selection: which units are chosen, and what one more would add to the text.

Costs are counted in bytes of the rendered text, marks and headers included, without rendering it. The last choice can
be taken back, which leaves the selection as it was before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from octavo.core.extract.render import GAP, MARKS, MEANINGS, NAMELESS, STANDING_HEAD, weigh
from octavo.core.extract.sources import Source
from octavo.core.extract.totals import WHOLE, CountedSources, Eligible
from octavo.core.extract.units import TextUnit, skeletons
from octavo.core.snapshot import Channel

_JOIN, _GAP = len(" "), weigh(GAP)
_FURTHER: dict[Channel, int] = {**dict.fromkeys(MARKS, len("\n ")), "result": len("\n")}
_FIRST: dict[Channel, int] = {
    **dict.fromkeys(MARKS, len("\nU: ")),
    "call": len("\n> "),
    "result": len("\n< \n"),
}
"""Bytes of the marks before a further and before the first line of a message or an output."""
_LEGEND = {channel: len(f"{MARKS[channel]}: {MEANINGS[channel]}, ") for channel in MARKS}
_DAY = len("[]\n")
_STANDING = len("\nU: ")
_STANDING_LEGEND = weigh(STANDING_HEAD) + len(" U: user]\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All units of the covered sources, numbered in order, and what is known besides them."""

    sources: tuple[Source, ...]
    work: list[bool]
    """Whether each source is part of work with tools; the others are chat."""
    units: list[TextUnit]
    owner: list[int]
    """Which source each unit belongs to."""
    index: list[int]
    """Its number within that source."""
    weight: list[int]
    """The bytes of its text."""
    words: list[tuple[str, ...]]
    """Its informative words."""
    starts: list[int]
    """The number of the first unit of each covered source."""
    newness: list[float]
    """1, or less for a unit that says nothing new."""
    known: list[TextUnit]
    """Units of what is sent anyway."""
    said: frozenset[int]
    """The numbers of their skeletons."""
    focus: tuple[str, ...]
    counted: CountedSources
    """The totals of these sources."""
    standing: frozenset[int] = frozenset()
    """Units that stand: they are rendered apart."""
    dated: frozenset[int] = frozenset()
    """Those among them that are rendered with their day."""
    passed_over: frozenset[int] = frozenset()
    """Units that are not chosen: they stood until a later one changed what they say, or a person dropped them."""
    eligible: Eligible = WHOLE
    """Those that are looked at."""


class Selection:
    """What is chosen so far, and what one more unit would add to the text."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.weight = candidates.weight
        self.chosen: list[int] = []
        self._taken = set[object]()
        self._texts: set[object] = {*candidates.said}
        self._lines = set[object]()
        self._opened = set[object]()
        self._days = set[object]()
        self._channels = set[object]()
        self._sets = (self._taken, self._texts, self._lines, self._opened, self._days, self._channels)
        self._headers: dict[tuple[int, str], int] = {}
        self._added: list[Sequence[tuple[set[object], object]]] = []

    def cost(self, number: int) -> int:
        """Count the bytes the text grows by."""
        candidates = self.candidates
        unit, owner = candidates.units[number], candidates.owner[number]
        cost = self.weight[number]
        if number in candidates.standing:
            cost += _STANDING if _STANDING in self._opened else _STANDING + _STANDING_LEGEND
            return cost + (_DAY + weigh(candidates.sources[owner].day) if number in candidates.dated else 0)
        if (owner, unit.line) in self._lines:
            near = number - 1 in self._taken or number + 1 in self._taken
            return cost + (_JOIN if near else _GAP)
        opening = (owner, unit.call)
        if opening in self._opened:
            return cost + _FURTHER[unit.channel]
        source = candidates.sources[owner]
        if unit.channel not in self._channels:
            cost += _LEGEND[unit.channel]
        if source.day and source.day not in self._days:
            cost += _DAY + weigh(source.day)
        if unit.channel != "result":
            return cost + _FIRST[unit.channel]
        return cost + (self._headers.get(opening) or self._header(opening))

    def _header(self, opening: tuple[int, str]) -> int:
        """Count the bytes of the line that says which call an output came from; once for all its lines."""
        owner, call = opening
        origin = self.candidates.sources[owner].origins.get(call, "") or NAMELESS
        return self._headers.setdefault(opening, _FIRST["result"] + weigh(origin))

    def has(self, number: int) -> bool:
        """Tell whether a unit, or one that says the same, is chosen."""
        if number in self._taken or number in self.candidates.passed_over:
            return True
        return self.skeleton(number) in self._texts

    def skeleton(self, number: int) -> int:
        """Give the number of a unit's skeleton."""
        candidates = self.candidates
        return skeletons(candidates.sources[candidates.owner[number]].units)[candidates.index[number]]

    def put(self, number: int) -> bool:
        """Choose a unit; tell whether it is the first of its call or of its message."""
        unit, owner = self.candidates.units[number], self.candidates.owner[number]
        line, opening, day = (owner, unit.line), (owner, unit.call), self.candidates.sources[owner].day
        first, said = opening not in self._opened, self.skeleton(number)
        marks: tuple[object, ...] = (number, said, line, opening, day, unit.channel)
        if number in self.candidates.standing:
            # Rendered apart, it opens no line and pays for no header of others.
            first, marks = False, (number, said, None, _STANDING, None, None)
        added: list[tuple[set[object], object]] = []
        for known, mark in zip(self._sets, marks, strict=True):
            if mark not in known:
                known.add(mark)
                added.append((known, mark))
        self.chosen.append(number)
        self._added.append(added)
        return first

    def take_back(self) -> None:
        """Undo the last choice."""
        self.chosen.pop()
        for known, mark in self._added.pop():
            known.discard(mark)
