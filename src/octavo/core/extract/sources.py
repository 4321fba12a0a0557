"""A conversation as the selection sees it: one source after another, each with its day, speaker and kind of content.

A message alone does not tell which word is a speaker's name, which day it is, or whether tools are near; all messages
together do, and they are read here. Extracts of an earlier compression inside a message become sources of their own, so
a conversation whose originals are lost is treated as if its extracts had been its messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from octavo.core.extract.standing import STANDS, find_standing
from octavo.core.extract.units import Analysis, TextUnit, Units, kept_with_units, reread, say
from octavo.core.messages import Node
from octavo.core.snapshot import Extract

NEAR = 8
"""A message this close to a tool's call or answer is part of work in progress, not of a chat."""
REOPENED = "reopened"
"""The name under which the units of a message are kept with what looked like a speaker put back."""
NO_ORIGINS: Mapping[str, str] = MappingProxyType({})
ASSISTANT_LENGTH = 2.5
"""A side whose texts are this many times longer than the other's is an assistant; people write texts of similar
length."""


class Source(NamedTuple):
    """A message, or a line of an earlier compression."""

    node: str
    depth: int
    units: Units
    covered: bool
    """False for what is sent verbatim anyway."""
    day: str
    stamp: str
    """The day, if it says so itself; else it is that of a message before it."""
    speaker: str
    origins: Mapping[str, str]
    """Headers of the calls made or answered here, by call id."""
    tools: bool
    """Whether a tool is called or answers here."""
    block: int = 0
    """Which message of an earlier compression it is; 0 for the node's own."""
    start: int = 0
    """The number of the first unit among those of its node."""

    def extract(self, index: int, *, standing: bool | None = None, day: str | None = None) -> Extract:
        """Make an extract of one of the units; whether it stands and its day may be told otherwise."""
        unit = self.units[index]
        return Extract(
            source=self.node,
            text=unit.text,
            channel=unit.channel,
            depth=self.depth,
            line=unit.line,
            at=self.start + index,
            block=self.block,
            day=self.day if day is None else day,
            origin=self.origins.get(unit.call, ""),
            speaker=self.speaker,
            standing=bool(unit.standing & STANDS) if standing is None else standing,
        )


class LineUp:
    """Turns nodes into sources, oldest first; `copy` goes on from the same place."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.day = ""
        self._origins: dict[str, str] = {}
        self._earlier: Mapping[str, str] = NO_ORIGINS

    def copy(self) -> LineUp:
        """Go on from here, and leave this as it is."""
        copy = LineUp(self.names)
        copy.day = self.day
        copy._earlier = {**self._earlier, **self._origins} if self._origins else self._earlier
        return copy

    def add(self, node: Node, analysis: Analysis, *, covered: bool) -> list[Source]:
        """Line a node up: give the extracts of an earlier compression that it holds, and what it says itself."""
        carried = _carried(node, analysis.carried, covered=covered) if analysis.carried else []
        self.day = day = analysis.day or (carried[-1].day if carried else self.day)
        if analysis.labels:
            self._origins.update(analysis.labels)
        is_name = not analysis.opening or analysis.speaker in self.names
        own = Source(
            node.id,
            node.depth,
            analysis.units if is_name else _reopened(analysis),
            covered,
            day,
            analysis.day,
            analysis.speaker if is_name else "",
            {call: self._origin(call) for call in analysis.calls} if analysis.calls else NO_ORIGINS,
            analysis.tools,
            start=_next(carried),
        )
        return [*carried, own]

    def _origin(self, call: str) -> str:
        found = self._origins.get(call)
        return self._earlier.get(call, "") if found is None else found


def line_up(
    covered: Sequence[Node], retained: Sequence[Node], analyses: Mapping[str, Analysis]
) -> tuple[Source, ...]:
    """Turn nodes into sources, oldest first."""
    openings = Openings()
    openings.add((*covered, *retained), analyses)
    lining = LineUp(openings.names())
    sources: list[Source] = []
    for nodes, folded in ((covered, True), (retained, False)):
        for node in nodes:
            sources += lining.add(node, analyses[node.id], covered=folded)
    return tuple(sources)


def near_tools(sources: Sequence[Source]) -> list[bool]:
    """Tell for each source whether it is part of work with tools."""
    far = len(sources) + NEAR + 1
    ahead = [far] * (len(sources) + 1)
    for index in range(len(sources) - 1, -1, -1):
        ahead[index] = index if sources[index].tools else ahead[index + 1]
    near: list[bool] = []
    behind = -far
    for index, source in enumerate(sources):
        behind = index if source.tools else behind
        near.append(min(index - behind, ahead[index] - index) <= NEAR)
    return near


class Openings:
    """With which names messages open, by the role of who speaks."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def copy(self) -> Openings:
        """Go on counting, and leave this as it is."""
        copy = Openings()
        copy._counts = {role: counts.copy() for role, counts in self._counts.items()}
        return copy

    def add(self, nodes: Iterable[Node], analyses: Mapping[str, Analysis]) -> None:
        counted = self._counts
        for node in nodes:
            analysis = analyses[node.id]
            if analysis.units:
                role = node.message.role
                counts = counted.get(role)
                if counts is None:
                    counts = counted[role] = Counter()
                counts[analysis.speaker] += 1

    def names(self) -> frozenset[str]:
        """Tell names from other words before a colon.

        A name opens at least half of what its side says, more than once, and somebody else has one too: a single label
        on every message ("Thought: ...") is a habit of writing.
        """
        names: set[str] = set()
        for counts in self._counts.values():
            named = {name: times for name, times in counts.items() if name and times > 1}
            if 2 * sum(named.values()) >= counts.total():
                names.update(named)
        return frozenset(names if len(names) > 1 else ())


class Lengths:
    """How much the two sides of a chat write."""

    def __init__(self) -> None:
        self.length = {"user": 0, "assistant": 0}
        self.count = {"user": 0, "assistant": 0}

    def copy(self) -> Lengths:
        """Go on adding, and leave this as it is."""
        copy = Lengths()
        copy.length, copy.count = dict(self.length), dict(self.count)
        return copy

    def add(self, source: Source) -> None:
        if source.units and not source.block and (channel := source.units[0].channel) in self.length:
            self.length[channel] += letters(source.units)
            self.count[channel] += 1


@kept_with_units
def letters(units: Sequence[TextUnit]) -> int:
    """Count the letters of a message's units."""
    return sum([len(unit.text) for unit in units])


def between_people(*parts: Lengths) -> bool:
    """Tell a chat between people from one with an assistant, by who writes how much."""
    mean = {
        channel: sum(part.length[channel] for part in parts)
        / max(1, sum(part.count[channel] for part in parts))
        for channel in ("user", "assistant")
    }
    return mean["assistant"] <= ASSISTANT_LENGTH * mean["user"]


def _reopened(analysis: Analysis) -> Units:
    """Put back what looked like a speaker and is none; it is kept with the units, like all that is known of them."""
    kept = analysis.units.__dict__
    if REOPENED not in kept:
        first, *rest = analysis.units
        whole = analysis.opening + first.text
        standing = find_standing(whole) | first.standing if analysis.own else 0
        kept[REOPENED] = Units((say(whole, first.channel, first.line, standing), *rest))
    found: Units = kept[REOPENED]
    return found


def _carried(node: Node, extracts: Sequence[Extract], *, covered: bool) -> list[Source]:
    """Make a source of each extract of an earlier compression; their units are numbered on, with gaps between."""
    sources: list[Source] = []
    for extract in extracts:
        sources.append(
            Source(
                node=node.id,
                depth=node.depth,
                units=Units(reread(extract)),
                covered=covered,
                day=extract.day,
                stamp=extract.day,
                speaker=extract.speaker,
                origins={extract.origin: extract.origin},
                tools=extract.channel in ("call", "result"),
                block=extract.block,
                start=_next(sources),
            )
        )
    return sources


def _next(sources: Sequence[Source]) -> int:
    return sources[-1].start + len(sources[-1].units) + 1 if sources else 0
