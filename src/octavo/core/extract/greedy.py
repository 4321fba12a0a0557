"""Units in the order of their worth per byte, taken until the room is used up: lazy greedy, with a planned ending.

A unit's gain falls while others are chosen, except that a header one line paid for is free for the next, so gains are
computed anew only for the unit that ranks first. The best per byte, taken first, may leave a gap at the end that
costs more than it saved; so the last units are chosen together: each of the next best is tried in front, and what adds
up to the most is taken. The ending depends on a few units only, and so does its time.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import frexp
from typing import Protocol

from octavo.core.extract.selection import Selection
from octavo.core.extract.value import EFFORT

LEAST = 12
"""Bytes in which nothing worth having fits."""
STALE = 0.9
"""A gain that fell below this share of what the ranking says is put back. Each unit is put back a bounded number of
times so, and the time grows with the text; with 1, the exact greedy, it grows faster where all units share their words.
"""
BUCKETS = 32
"""Buckets of a ranking per power of two: a few percent wide, so that what is put back falls into a later one."""
ENDING = 320
"""Bytes at the end of the room whose units are chosen together: some units, or all of a tiny budget."""
RIVALS = 16
"""Units the ending is chosen from: several times as many as fit."""
PASSED = 4 * RIVALS
"""Units that may be passed over because they do not fit: then all that is left to fill is a crumb."""
ALIKE = 0.9
"""Share of the best gain that is as good: what units are worth is a guess, and one that stands out is not given up."""
ENOUGH = 0.9
"""An ending worth this share of what room could be worth is not improved on: in long conversations the first one is."""

_NONE = sys.maxsize
_WORTHLESS = -sys.maxsize
"""Numbers no bucket has: that of none, and one below all others."""


class Valuation(Protocol):
    """A way of paying for units; what it pays for one depends on those taken before."""

    def value(self, number: int) -> float:
        """Weigh a unit."""

    def gain(self, number: int) -> float:
        """Weigh a unit per byte."""

    def take(self, number: int) -> Sequence[int]:
        """Choose a unit; name those that became cheaper by it."""

    def take_back(self) -> None:
        """Undo the last choice."""


class Ranking:
    """Units by their gains, the best first, of equals the one with the lowest number.

    They lie in buckets, each of which is sorted when its turn comes. In a long conversation thousands of units are put
    back for one that is taken; into a bucket that costs the same however many there are, into a heap it does not.
    """

    def __init__(self) -> None:
        self._buckets: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        """Negated gains with numbers; in the sorted bucket, the best is the last."""
        self._sorted = _NONE

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def __iter__(self) -> Iterator[int]:
        return (number for bucket in self._buckets.values() for _, number in bucket)

    def put(self, entries: Iterable[tuple[float, int]]) -> None:
        """Put units, as negated gains with numbers, where their gains belong."""
        buckets = self._buckets
        for entry in entries:
            mantissa, exponent = frexp(entry[0])
            at = BUCKETS * exponent - int(2 * BUCKETS * mantissa) if mantissa else _WORTHLESS
            buckets[at].append(entry)
            if at >= self._sorted:
                self._sorted = _NONE

    def rank(self, numbers: Iterable[int], gain: Callable[[int], float]) -> None:
        """Put units that gain anything into an empty ranking."""
        buckets, scale = self._buckets, 2 * BUCKETS
        for number in numbers:
            now = gain(number)
            if now > 0:
                mantissa, exponent = frexp(now)
                buckets[BUCKETS * exponent + int(scale * mantissa)].append((-now, number))

    def first(self, gain: Callable[[int], float]) -> tuple[float, int] | None:
        """Put units back until the best one gains about what it is ranked by; give its entry, which stays."""
        while self._buckets:
            bucket = self._best()
            fallen: list[tuple[float, int]] = []
            while bucket:
                entry = bucket[-1]
                now = gain(entry[1])
                if now >= STALE * -entry[0]:
                    break
                bucket.pop()
                fallen.append((-now, entry[1]))
            if fallen:
                self.put(fallen)
            if bucket:
                return bucket[-1]
            self._forget()
        return None

    def drop(self) -> None:
        """Take the unit away that `first` gave."""
        bucket = self._buckets[self._sorted]
        bucket.pop()
        if not bucket:
            self._forget()

    def _forget(self) -> None:
        """Remove the first bucket: it is empty."""
        del self._buckets[self._sorted]
        self._sorted = _NONE

    def _best(self) -> list[tuple[float, int]]:
        """Give the first bucket, sorted."""
        if self._sorted == _NONE:
            self._sorted = max(self._buckets)
            self._buckets[self._sorted].sort(reverse=True)
        return self._buckets[self._sorted]


class GreedyQueue:
    """Units as one way of paying ranks them; it can go on when there is more room."""

    def __init__(self, selection: Selection, units: Iterable[int], paying: Valuation) -> None:
        self.selection, self.paying, self.gain = selection, paying, paying.gain
        self.units: Iterable[int] | None = units
        self.ranking = Ranking()

    @property
    def empty(self) -> bool:
        return self.units is None and not self.ranking

    def fill(self, room: int, *, held: int = 0) -> int:
        """Take the best unit while it fits and leaves the held bytes; give back the rest of the room."""
        while room - held > LEAST and (entry := self._next()) is not None:
            number = entry[1]
            cost = self.selection.cost(number)
            if cost > room - held:
                break
            self.ranking.drop()
            self._take(number)
            room -= cost
        return room

    def end(self, room: int) -> int:
        """Choose the last units together; give back the rest of the room."""
        room = self.fill(room, held=ENDING)
        rivals = self._rivals(room)
        last = self._ending(rivals, room)
        for number in last:
            room -= self.selection.cost(number)
            self._take(number)
        for number in rivals:
            if number not in last:
                self.ranking.put([(-self.gain(number), number)])
        return room

    def crumble(self, room: int) -> int:
        """Take the best of the units that fit until none does; give back the rest."""
        too_long: list[tuple[float, int]] = []
        while room > LEAST and (entry := self._next()) is not None:
            self.ranking.drop()
            cost = self.selection.cost(entry[1])
            if cost > room:
                too_long.append(entry)
                continue
            self._take(entry[1])
            room -= cost
        self.ranking.put(too_long)
        return room

    def _next(self) -> tuple[float, int] | None:
        """Find the best unit; give its entry in the ranking."""
        self._rank()
        first, gain, has = self.ranking.first, self.gain, self.selection.has
        while entry := first(gain):
            # What it gains is about what it is ranked by.
            if entry[0] < 0 and not has(entry[1]):
                return entry
            self.ranking.drop()
        return None

    def _rank(self) -> None:
        """Rank the units, the first time there is room for any."""
        if self.units is not None:
            self.ranking.rank(self.units, self.gain)
            self.units = None

    def _take(self, number: int) -> None:
        if cheaper := self.paying.take(number):
            self.ranking.put([(-self.gain(one), one) for one in cheaper])

    def take_back(self) -> None:
        """Put the unit that was chosen last back into the queue; it must have been this one's."""
        number = self.selection.chosen[-1]
        self.paying.take_back()
        self.ranking.put([(-self.gain(number), number)])

    def _rivals(self, room: int) -> list[int]:
        """Take those of the next best units that fit out of the ranking; of several that say the same, one."""
        found: dict[int, int] = {}
        others: list[tuple[float, int]] = []
        while room > LEAST and len(found) < RIVALS and len(others) < PASSED:
            if (entry := self._next()) is None:
                break
            self.ranking.drop()
            number = entry[1]
            said = self.selection.skeleton(number)
            if said in found or self.selection.cost(number) > room:
                others.append(entry)
            else:
                found[said] = number
        self.ranking.put(others)
        return list(found.values())

    def _ending(self, rivals: Sequence[int], room: int) -> list[int]:
        """Choose which of the rivals are worth the most together; reading has the same price as in the gains.

        Each that is about as good as the best is tried in front. After it come the others by what they are worth per
        byte, or, among those about as good as the best that fits, by what they are worth at all.
        """
        best, most = list[int](), 0.0
        price = self.gain(rivals[0]) if rivals else 0.0
        for first, alike in product(self._alike(rivals, ALIKE), (1.0, ALIKE)):
            # No byte is worth more than the price, so this is how much is still to be won.
            if most >= ENOUGH * price * room:
                break
            chosen, value = self._try(first, rivals, room, alike)
            value -= price * EFFORT * len(chosen)
            if value > most:
                best, most = chosen, value
        return best

    def _try(self, first: int, rivals: Sequence[int], room: int, alike: float) -> tuple[list[int], float]:
        """Take one unit and then the best of the others while they fit; tell which, and their worth; undo it all."""
        chosen, value, left = list[int](), 0.0, list(rivals)
        number: int | None = first
        while number is not None:
            value += self.paying.value(number)
            room -= self.selection.cost(number)
            self.paying.take(number)
            chosen.append(number)
            left.remove(number)
            fitting = [rival for rival in left if self.selection.cost(rival) <= room] if room > LEAST else []
            number = max(self._alike(fitting, alike), key=self.paying.value, default=None)
        for _ in chosen:
            self.paying.take_back()
        return chosen, value

    def _alike(self, numbers: Sequence[int], share: float) -> list[int]:
        """Choose the units whose gain is this share of the best one's."""
        gains = [self.gain(number) for number in numbers]
        least = share * max(gains, default=0.0)
        return [number for number, gain in zip(numbers, gains, strict=True) if gain >= least]
