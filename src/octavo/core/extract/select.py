"""Choosing units: lazy greedy over what each is worth per byte, until the room is used up.

What is known already (retained messages, pins, a narrative) counts as chosen from the start. The choice depends on the
arguments alone. A unit's gain falls while others are chosen, except that a header one line paid for is free for the
next, so gains are computed anew only for the unit on top of the heap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace

from octavo.core.extract.render import GAP, MARKS, MEANINGS, weigh
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """All units of the covered sources, numbered in order, and what is known besides them."""

    sources: tuple[Source, ...]
    units: list[Unit]
    owner: list[int]
    """Which source each unit belongs to."""
    index: list[int]
    """Its number within that source."""
    weight: list[int]
    newness: list[float]
    """1, or less for a unit whose value was changed later."""
    known: list[Unit]
    """Units of what is sent anyway."""
    focus: tuple[str, ...]


@dataclass(slots=True)
class Page:
    """What is chosen so far, and what one more unit would add to the text."""

    ground: Ground
    chosen: list[int] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    lines: set[tuple[int, int]] = field(default_factory=set)
    breaths: set[tuple[int, str]] = field(default_factory=set)
    outputs: set[tuple[int, str]] = field(default_factory=set)
    days: set[str] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)

    def cost(self, number: int) -> int:
        """Count the bytes the text grows by."""
        ground = self.ground
        unit, owner = ground.units[number], ground.owner[number]
        cost = ground.weight[number]
        if (owner, unit.line) in self.lines:
            return cost + (1 if number - 1 in self.taken or number + 1 in self.taken else len(GAP) + 2)
        source = ground.sources[owner]
        if unit.channel not in self.channels:
            cost += len(f"{MARKS[unit.channel]}: {MEANINGS[unit.channel]}, ")
        if source.day and source.day not in self.days:
            cost += weigh(source.day) + 3
        if unit.channel != "result":
            return cost + (2 if (owner, unit.call) in self.breaths else 4)
        if (owner, unit.call) in self.outputs:
            return cost + 1
        return cost + weigh(source.origins.get(unit.call, "")) + 4

    def has(self, number: int) -> bool:
        """Tell whether a unit, or one that says the same, is chosen."""
        return number in self.taken or skeleton(self.ground.units[number].text) in self.texts

    def put(self, number: int) -> bool:
        """Choose a unit; tell whether it opened the output of a call."""
        unit, owner = self.ground.units[number], self.ground.owner[number]
        self.chosen.append(number)
        self.taken.add(number)
        self.texts.add(skeleton(unit.text))
        self.lines.add((owner, unit.line))
        self.days.add(self.ground.sources[owner].day)
        self.channels.add(unit.channel)
        if unit.channel != "result":
            self.breaths.add((owner, unit.call))
            return False
        if (owner, unit.call) in self.outputs:
            return False
        self.outputs.add((owner, unit.call))
        return True


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

    def fill(self, room: int) -> int:
        """Take the best unit until nothing fits; give back the room that is left."""
        if room > LEAST and self.units is not None:
            self.heap = [(-worth, number) for number in self.units if (worth := self.gain(number)) > 0]
            heapify(self.heap)
            self.units = None
        page, heap, too_long = self.page, self.heap, list[tuple[float, int]]()
        while heap and room > LEAST:
            best, number = heap[0]
            gain = self.gain(number)
            if gain < STALE * -best:
                heapreplace(heap, (-gain, number))
                continue
            heappop(heap)
            if gain <= 0 or page.has(number):
                continue
            cost = page.cost(number)
            if cost > room:
                too_long.append((-gain, number))
                continue
            room -= cost
            for cheaper in self.take(number):
                heappush(heap, (-self.gain(cheaper), cheaper))
        for entry in too_long:
            heappush(heap, entry)
        return room


class Choice:
    """What was chosen so far; `grow` goes on choosing."""

    def __init__(self, ground: Ground) -> None:
        self.page = Page(ground, texts={skeleton(unit.text) for unit in ground.known})
        self.queues: list[tuple[float, Queue]] = []
        """Each with its share of the room that the ones before it left."""
        chat = [n for n, owner in enumerate(ground.owner) if not ground.sources[owner].trace]
        work = [n for n, owner in enumerate(ground.owner) if ground.sources[owner].trace]
        if chat:
            talk, rest = (sum(ground.weight[n] for n in part) for part in (chat, work))
            self.queues.append((CHAT_SHARE * talk / max(1, CHAT_SHARE * talk + rest), _chat(self.page, chat)))
        if work:
            lines, intent = _work(self.page, work)
            self.queues += [(INTENT_SHARE, intent), (1.0, lines), (1.0, intent)]
        self.speech = _speech(self.page)

    @property
    def chosen(self) -> list[int]:
        """Units in the order they were chosen."""
        return self.page.chosen

    def grow(self, room: int) -> None:
        """Choose for so many bytes more."""
        for share, queue in self.queues:
            part = int(room * share)
            room -= part - queue.fill(part)
        if not any(queue.heap for _, queue in self.queues):
            self.speech.fill(room)


def _speech(page: Page) -> Queue:
    """Once everything worth a price is there, what else was said has the rest of the room, the newest first."""
    ground = page.ground
    said = [n for n, unit in enumerate(ground.units) if unit.channel not in ("call", "result")]

    def take(number: int) -> Iterable[int]:
        page.put(number)
        return ()

    return Queue(page, said, lambda number: 1.0 + ground.owner[number], take)


def _chat(page: Page, numbers: Sequence[int]) -> Queue:
    ground = page.ground
    people = between_people(ground.sources)
    fading = FADING_BETWEEN_PEOPLE if people else FADING_WITH_ASSISTANT
    left = Words([ground.units[n] for n in numbers], ground.known, fading, ground.focus)
    quality = {n: chat_quality(ground.units[n], people=people) * ground.newness[n] for n in numbers}

    def gain(number: int) -> float:
        worth = left.worth(ground.units[number].words)
        return quality[number] * worth / (ground.weight[number] + EFFORT)

    def take(number: int) -> Iterable[int]:
        left.add(ground.units[number].words)
        page.put(number)
        return ()

    return Queue(page, numbers, gain, take)


def _work(page: Page, numbers: Sequence[int]) -> tuple[Queue, Queue]:
    ground = page.ground
    coverage = Coverage(Needs(ground.sources, ground.focus), ground.known)
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
        if not page.put(number):
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
        # The first request is what all the work is for: it does not age.
        at = newest if ground.owner[n] == task else ground.owner[n]
        quality[n] = intent_quality(ground.units[n], (at - oldest) / max(1, newest - oldest))
    said = [n for n in numbers if quality[n]]
    left = Words([ground.units[n] for n in said], (), FADING_INTENT, ground.focus)

    def gain(number: int) -> float:
        return quality[number] * left.worth(ground.units[number].words) / (ground.weight[number] + EFFORT)

    def take(number: int) -> Iterable[int]:
        left.add(ground.units[number].words)
        return take_line(number)

    return Queue(page, said, gain, take)
