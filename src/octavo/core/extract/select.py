"""Choosing units: lazy greedy over what each is worth per byte, until the room is used up.

What is known already (retained messages, pins, a narrative) counts as chosen from the start. The choice depends on the
arguments alone. A unit's gain falls while others are chosen, except that a header one line paid for is free for the
next, so gains are computed anew only for the unit on top of the heap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from octavo.core.extract.render import GAP, MARKS, MEANINGS, NAMELESS, weigh
from octavo.core.extract.scan import identifiers
from octavo.core.extract.sources import Source, between_people
from octavo.core.extract.units import Unit
from octavo.core.extract.worth import (
    FADING_BETWEEN_PEOPLE,
    FADING_INTENT,
    FADING_WITH_ASSISTANT,
    Coverage,
    Needs,
    Words,
    chat_quality,
    features,
    intent_quality,
)
from octavo.core.snapshot import Channel

CHAT_SHARE = 2
"""Room of chat to room of work, per byte: what was said in chat is written nowhere else, outputs can be got again."""
INTENT_SHARE = 0.10
"""Part of the room of work for what was asked and decided: else code crowds out the reason it was written."""
EFFORT = 5
"""Bytes added to every unit's cost: reading has a price, else the shortest lines win."""
LEAST = 12
"""Bytes in which nothing worth having fits."""
STALE = 0.9
"""A gain that fell below this share of what the heap says is put back. Each unit is put back a bounded number of times
so, and the time grows with the text; with 1, the exact greedy, it grows faster where all units share their words."""
_NOT_LETTERS = re.compile(r"[\W_]+")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """All units of the covered sources, numbered in order, and what is known besides them."""

    sources: tuple[Source, ...]
    work: list[bool]
    """Whether each source is part of work with tools; the others are chat."""
    units: list[Unit]
    owner: list[int]
    """Which source each unit belongs to."""
    index: list[int]
    """Its number within that source."""
    newness: list[float]
    """1, or less for a unit that says nothing new."""
    known: list[Unit]
    """Units of what is sent anyway."""
    focus: tuple[str, ...]


class Page:
    """What is chosen so far, and what one more unit would add to the text."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.weight = [weigh(unit.text) for unit in ground.units]
        self.chosen: list[int] = []
        self._taken: set[int] = set()
        self._texts = {skeleton(unit.text) for unit in ground.known}
        self._lines: set[tuple[int, int]] = set()
        self._opened: set[tuple[int, str]] = set()
        self._days: set[str] = set()
        self._channels: set[Channel] = set()
        self._headers: dict[tuple[int, str], int] = {}

    def cost(self, number: int) -> int:
        """Count the bytes the text grows by."""
        ground = self.ground
        unit, owner = ground.units[number], ground.owner[number]
        cost = self.weight[number]
        if (owner, unit.line) in self._lines:
            near = number - 1 in self._taken or number + 1 in self._taken
            return cost + (_JOIN if near else _GAP)
        opening = (owner, unit.call)
        if opening in self._opened:
            return cost + _FURTHER[unit.channel]
        source = ground.sources[owner]
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
        origin = self.ground.sources[owner].origins.get(call, "") or NAMELESS
        return self._headers.setdefault(opening, _FIRST["result"] + weigh(origin))

    def has(self, number: int) -> bool:
        """Tell whether a unit, or one that says the same, is chosen."""
        return number in self._taken or skeleton(self.ground.units[number].text) in self._texts

    def put(self, number: int) -> bool:
        """Choose a unit; tell whether it is the first of its call or of its message."""
        unit, owner = self.ground.units[number], self.ground.owner[number]
        self.chosen.append(number)
        self._taken.add(number)
        self._texts.add(skeleton(unit.text))
        self._lines.add((owner, unit.line))
        self._days.add(self.ground.sources[owner].day)
        self._channels.add(unit.channel)
        first = (owner, unit.call) not in self._opened
        self._opened.add((owner, unit.call))
        return first


def skeleton(text: str) -> str:
    """Reduce a text to its letters and digits: what is equal in these is said once."""
    return _NOT_LETTERS.sub(" ", text.casefold())


class Queue:
    """Units in the order of their worth, as one way of paying sees it; it can go on when there is more room."""

    def __init__(
        self,
        page: Page,
        units: Iterable[int],
        gain: Callable[[int], float],
        take: Callable[[int], Iterable[int]],
    ) -> None:
        """`take` counts a unit as chosen and names those that became cheaper by it."""
        self.page, self.gain, self.take = page, gain, take
        self.units: Iterable[int] | None = units
        self.heap: list[tuple[float, int]] = []

    @property
    def empty(self) -> bool:
        return self.units is None and not self.heap

    def fill(self, room: int, *, patient: bool = False) -> int:
        """Take the best unit until nothing fits, or, if patient, until the best does not fit; give back the rest."""
        if room > LEAST:
            self._rank()
        page, heap, too_long = self.page, self.heap, list[tuple[float, int]]()
        while heap and room > LEAST:
            best, number = heap[0]
            gain = self.gain(number)
            if gain < STALE * -best:
                heapreplace(heap, (-gain, number))
                continue
            cost = page.cost(number)
            there = gain <= 0 or page.has(number)
            if patient and cost > room and not there:
                break
            heappop(heap)
            if there:
                continue
            if cost > room:
                too_long.append((-gain, number))
                continue
            room -= cost
            for cheaper in self.take(number):
                heappush(heap, (-self.gain(cheaper), cheaper))
        for entry in too_long:
            heappush(heap, entry)
        return room

    def _rank(self) -> None:
        """Put the units on the heap, the first time there is room for any."""
        if self.units is not None:
            self.heap = [(-worth, number) for number in self.units if (worth := self.gain(number)) > 0]
            heapify(self.heap)
            self.units = None


class Choice:
    """What was chosen so far; `grow` goes on choosing."""

    def __init__(self, ground: Ground) -> None:
        self.page = Page(ground)
        self.complete = False
        """Whether nothing more fits."""
        self.queues: list[tuple[float, Queue]] = []
        """Each with its share of the room that the ones before it left."""
        chat = [n for n, owner in enumerate(ground.owner) if not ground.work[owner]]
        work = [n for n, owner in enumerate(ground.owner) if ground.work[owner]]
        if chat:
            talk, rest = (sum(self.page.weight[n] for n in part) for part in (chat, work))
            self.queues.append((CHAT_SHARE * talk / max(1, CHAT_SHARE * talk + rest), _chat(self.page, chat)))
        if work:
            lines, intent = _work(self.page, work)
            self.queues += [(INTENT_SHARE, intent), (1.0, lines), (1.0, intent)]
        self.rest = _rest(self.page)

    @property
    def chosen(self) -> list[int]:
        """Units in the order they were chosen."""
        return self.page.chosen

    def grow(self, room: int) -> bool:
        """Choose for so many bytes more, leaving room that the next best unit does not fit into; tell if it helped."""
        before = len(self.chosen)
        self._fill(room, patient=True)
        return len(self.chosen) > before

    def go_on(self, room: int) -> None:
        """Choose for so many bytes more; if the next best does not fit, smaller ones have the room, and that is it."""
        if not self.grow(room):
            self._fill(room, patient=False)
            self.complete = True

    def _fill(self, room: int, *, patient: bool) -> None:
        for share, queue in self.queues:
            part = int(room * share)
            room -= part - queue.fill(part, patient=patient)
        if all(queue.empty for _, queue in self.queues):
            self.rest.fill(room)


def _rest(page: Page) -> Queue:
    """Once everything worth a price is there, the rest has the room: what was said, then tools' lines, newest first."""
    ground = page.ground
    newest = len(ground.sources)

    def gain(number: int) -> float:
        said = ground.units[number].channel not in ("call", "result")
        return 1.0 + ground.owner[number] + (newest if said else 0)

    def take(number: int) -> Iterable[int]:
        page.put(number)
        return ()

    return Queue(page, range(len(ground.units)), gain, take)


def _chat(page: Page, numbers: Sequence[int]) -> Queue:
    ground = page.ground
    people = between_people(ground.sources)
    fading = FADING_BETWEEN_PEOPLE if people else FADING_WITH_ASSISTANT
    left = Words([ground.units[n] for n in numbers], ground.known, fading, ground.focus)
    quality = {n: chat_quality(ground.units[n], people=people) * ground.newness[n] for n in numbers}

    def gain(number: int) -> float:
        worth = left.worth(ground.units[number].words)
        return quality[number] * worth / (page.weight[number] + EFFORT)

    def take(number: int) -> Iterable[int]:
        left.add(ground.units[number].words)
        page.put(number)
        return ()

    return Queue(page, numbers, gain, take)


def _work(page: Page, numbers: Sequence[int]) -> tuple[Queue, Queue]:
    ground = page.ground
    coverage = Coverage(Needs(ground.sources, ground.work, ground.focus), ground.known)
    named = {n: features(ground.units[n], ground.owner[n], ground.focus) for n in numbers}
    lines = [n for n in numbers if named[n]]
    outputs: dict[tuple[int, str], list[int]] = {}
    for n in lines:
        if ground.units[n].channel == "result":
            outputs.setdefault((ground.owner[n], ground.units[n].call), []).append(n)

    def gain(number: int) -> float:
        worth = coverage.worth(named[number], ground.units[number].bare)
        return ground.newness[number] * worth / (page.cost(number) + EFFORT)

    def take(number: int) -> Iterable[int]:
        unit = ground.units[number]
        coverage.add(named[number], unit.bare)
        if not page.put(number) or unit.channel != "result":
            return ()
        source = ground.sources[ground.owner[number]]
        coverage.add(identifiers(source.origins.get(unit.call, "")), 0)
        return outputs.get((ground.owner[number], unit.call), ())

    return Queue(page, lines, gain, take), _intent(page, numbers, take)


def _intent(page: Page, numbers: Sequence[int], take_line: Callable[[int], Iterable[int]]) -> Queue:
    ground = page.ground
    oldest, newest = ground.owner[numbers[0]], ground.owner[numbers[-1]]
    task = next((ground.owner[n] for n in numbers if ground.units[n].channel == "user"), newest)
    quality: dict[int, float] = {}
    for n in numbers:
        if ground.units[n].channel in ("call", "result"):
            continue
        # The first request is what all the work is for: it does not age.
        at = newest if ground.owner[n] == task else ground.owner[n]
        age = (at - oldest) / max(1, newest - oldest)
        quality[n] = ground.newness[n] * intent_quality(ground.units[n], age)
    said = [n for n, worth in quality.items() if worth]
    left = Words([ground.units[n] for n in said], (), FADING_INTENT, ground.focus)

    def gain(number: int) -> float:
        return quality[number] * left.worth(ground.units[number].words) / (page.weight[number] + EFFORT)

    def take(number: int) -> Iterable[int]:
        left.add(ground.units[number].words)
        return take_line(number)

    return Queue(page, said, gain, take)
