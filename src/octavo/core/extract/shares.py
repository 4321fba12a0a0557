"""Choosing units: chat, work and intent each have a share of the room and a way of paying for it.

What is known already (retained messages, pins, a narrative) counts as chosen from the start. The choice depends on the
arguments alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from octavo.core.extract.greedy import ENDING, GreedyQueue
from octavo.core.extract.scan import identifiers
from octavo.core.extract.selection import Candidates, Selection
from octavo.core.extract.sources import between_people
from octavo.core.extract.value import (
    EFFORT,
    FADING_BETWEEN_PEOPLE,
    FADING_INTENT,
    FADING_WITH_ASSISTANT,
    Coverage,
    IdentifierValues,
    WordValues,
    at_age,
    chat_between_people,
    chat_with_assistant,
    focused_units,
    intents,
)

CHAT_SHARE = 2
"""Room of chat to room of work, per byte: what was said in chat is written nowhere else, outputs can be got again."""
INTENT_SHARE = 0.10
"""Part of the room of work for what was asked and decided: else code crowds out the reason it was written."""


class RoomShare(NamedTuple):
    """A queue's part of the room."""

    share: float
    """Of the room that the parts before it left."""
    queue: GreedyQueue
    ends: bool
    """Whether it is filled up to its end; else it takes the best units, and what does not fit is left to others."""


class SharedChoice:
    """What was chosen so far; `grow` and `end` go on choosing."""

    def __init__(self, candidates: Candidates, *, reserved: float = 0.0) -> None:
        self.selection = Selection(candidates)
        self.ended = False
        """Whether the last units are chosen."""
        self.complete = False
        """Whether nothing more fits."""
        self.rest = GreedyQueue(self.selection, range(len(candidates.units)), _Rest(self.selection))
        self.parts = [*_parts(self.selection, reserved), RoomShare(1.0, self.rest, ends=False)]
        self.spent = [0] * len(self.parts)
        """Bytes each has used."""
        self._takers: list[GreedyQueue] = []
        self._before_end: tuple[int, tuple[int, ...]] = (0, ())

    @property
    def chosen(self) -> list[int]:
        """Units in the order they were chosen."""
        return self.selection.chosen

    def grow(self, room: int) -> int:
        """Choose for so many bytes more, leaving what the ending needs; give back the rest of the room."""
        return self._divide(room, _fill)

    def end(self, room: int) -> None:
        """Choose for so many bytes more, up to the last units; then, with what is still left, whatever fits.

        If there are fewer bytes than none, the last units are chosen again.
        """
        if self.ended and room >= 0:
            self._divide(room, _crumble)
            self.complete = True
            return
        room = room + self._reopen() if self.ended else self.grow(room)
        self.ended = True
        self._before_end = len(self.chosen), tuple(self.spent)
        self._divide(room, _end)

    def _divide(self, room: int, fill: Callable[[RoomShare, int], int]) -> int:
        """Fill each part of all the room there was so far; the rest has its turn when all others are empty."""
        shared = room + sum(self.spent)
        for at, part in enumerate(self.parts):
            if part.queue is self.rest and not all(other.queue.empty for other in self.parts[:-1]):
                break
            own = min(room, int(shared * part.share) - self.spent[at])
            used = own - fill(part, own)
            self.spent[at] += used
            shared -= self.spent[at]
            room -= used
            self._takers += [part.queue] * (len(self.chosen) - len(self._takers))
        return room

    def _reopen(self) -> int:
        """Take the ending back; tell how many bytes that frees."""
        before, spent = self._before_end
        freed = sum(self.spent) - sum(spent)
        self.spent = list(spent)
        while len(self.chosen) > before:
            self._takers.pop().take_back()
        return freed


def _fill(part: RoomShare, room: int) -> int:
    return part.queue.fill(room, held=int(ENDING * part.share) if part.ends else 0)


def _end(part: RoomShare, room: int) -> int:
    return part.queue.end(room) if part.ends else room


def _crumble(part: RoomShare, room: int) -> int:
    return part.queue.crumble(room)


def _parts(selection: Selection, reserved: float) -> Iterator[RoomShare]:
    """Make a queue for each way of paying that has something to pay for, and give it its part."""
    candidates = selection.candidates
    near = [candidates.work[owner] for owner in candidates.owner]
    chat = [n for n, is_work in enumerate(near) if not is_work]
    work = [n for n, is_work in enumerate(near) if is_work]
    talked = _Chat(selection, chat) if chat else None
    paid = _Lines(selection) if work else None
    told = _Intent(selection, work, paid) if paid else None
    if candidates.standing:
        agreed = _Standing(selection, [told if is_work else talked for is_work in near])
        yield RoomShare(reserved, GreedyQueue(selection, sorted(candidates.standing), agreed), ends=False)
    if talked:
        talk, rest = (sum(selection.weight[n] for n in numbers) for numbers in (chat, work))
        share = CHAT_SHARE * talk / max(1, CHAT_SHARE * talk + rest)
        yield RoomShare(share, GreedyQueue(selection, talked.said, talked), ends=True)
    if paid and told:
        intent = GreedyQueue(selection, told.said, told)
        yield RoomShare(INTENT_SHARE, intent, ends=False)
        yield RoomShare(1.0, GreedyQueue(selection, paid.lines, paid), ends=True)
        yield RoomShare(1.0, intent, ends=True)


def _own_sources(candidates: Candidates, *, work: bool) -> Iterator[tuple[int, int]]:
    """Give the covered sources that are work, or chat: the number of the first unit, and of the source."""
    start = 0
    for at, source in enumerate(candidates.sources):
        if source.covered:
            if candidates.work[at] == work:
                yield start, at
            start += len(source.units)


class _Said:
    """What was said is paid for informative words, by its quality and by what is left of them."""

    def __init__(self, selection: Selection, left: WordValues, quality: Mapping[int, float]) -> None:
        self.selection, self.left, self._left = selection, left, left.left.__getitem__
        self.units = units = selection.candidates.units
        self.said = [number for number, value in quality.items() if value]
        # Thousands of gains are computed for one unit taken, mostly waiting for the memory: what they take lies dense.
        self._words = [unit.words for unit in units]
        self._quality = array("d", bytes(8 * len(units)))
        for number, value in quality.items():
            self._quality[number] = value
        self.gain = self._gain()

    def value(self, number: int) -> float:
        return self._quality[number] * sum(map(self._left, self._words[number]))

    def _gain(self) -> Callable[[int], float]:
        """Make the function that weighs a unit per byte: most of the time of a choice is spent in it."""
        quality, left, words, weight = self._quality, self._left, self._words, self.selection.weight

        def gain(number: int) -> float:
            return quality[number] * sum(map(left, words[number])) / (weight[number] + EFFORT)

        return gain


class _Chat(_Said):
    """Chat is paid for informative words."""

    def __init__(self, selection: Selection, numbers: Sequence[int]) -> None:
        candidates = selection.candidates
        people = between_people(candidates.sources)
        fading = FADING_BETWEEN_PEOPLE if people else FADING_WITH_ASSISTANT
        left = WordValues([candidates.units[n] for n in numbers], candidates.known, fading, candidates.focus)
        weighed = chat_between_people if people else chat_with_assistant
        newness, quality = candidates.newness, dict[int, float]()
        for start, at in _own_sources(candidates, work=False):
            for n, value in enumerate(weighed(candidates.sources[at].units), start):
                quality[n] = value * newness[n]
        super().__init__(selection, left, quality)

    def take(self, number: int) -> Iterable[int]:
        self.left.add(self.units[number].words)
        self.selection.put(number)
        return ()

    def take_back(self) -> None:
        self.left.take_back()
        self.selection.take_back()


class _Lines:
    """Lines of work are paid for identifiers."""

    def __init__(self, selection: Selection) -> None:
        candidates = selection.candidates
        self.selection, self.candidates = selection, candidates
        self.units, self.newness = candidates.units, candidates.newness
        self.coverage = Coverage(
            IdentifierValues(candidates.sources, candidates.work, candidates.focus), candidates.known
        )
        self.named: dict[int, tuple[str, ...]] = {}
        self.outputs: dict[tuple[int, str], list[int]] = {}
        for start, at in _own_sources(candidates, work=True):
            for unit in focused_units(candidates.sources[at].units, candidates.focus):
                n = start + unit.at
                self.named[n] = unit.paid_for(at)
                if unit.call is not None:
                    self.outputs.setdefault((at, unit.call), []).append(n)
        self.lines = list(self.named)

    def value(self, number: int) -> float:
        return self.newness[number] * self.coverage.value(self.named[number], self.units[number].bare)

    def gain(self, number: int) -> float:
        value = self.coverage.value(self.named[number], self.units[number].bare)
        return self.newness[number] * value / (self.selection.cost(number) + EFFORT)

    def take(self, number: int) -> Iterable[int]:
        unit, owner = self.candidates.units[number], self.candidates.owner[number]
        first = self.selection.put(number) and unit.channel == "result"
        # The header that the first line of an output brings along names things too, in a bare list.
        header = identifiers(self.candidates.sources[owner].origins.get(unit.call, "")) if first else ()
        self.coverage.add(self.named.get(number, ()), unit.bare, header)
        return self.outputs.get((owner, unit.call), ()) if first else ()

    def take_back(self) -> None:
        self.coverage.take_back()
        self.selection.take_back()


class _Intent(_Said):
    """What was asked and decided in work is paid for informative words."""

    def __init__(self, selection: Selection, numbers: Sequence[int], lines: _Lines) -> None:
        candidates = selection.candidates
        oldest, newest = candidates.owner[numbers[0]], candidates.owner[numbers[-1]]
        span = max(1, newest - oldest)
        task = next((candidates.owner[n] for n in numbers if candidates.units[n].channel == "user"), newest)
        quality: dict[int, float] = {}
        for start, owner in _own_sources(candidates, work=True):
            # The first request is what all the work is for: it does not age.
            factor = at_age(((newest if owner == task else owner) - oldest) / span)
            for index, value in intents(candidates.sources[owner].units):
                quality[start + index] = candidates.newness[start + index] * (value * factor)
        left = WordValues([candidates.units[n] for n in quality], (), FADING_INTENT, candidates.focus)
        super().__init__(selection, left, quality)
        self.lines = lines

    def take(self, number: int) -> Iterable[int]:
        self.left.add(self.units[number].words)
        return self.lines.take(number)

    def take_back(self) -> None:
        self.left.take_back()
        self.lines.take_back()


class _Standing:
    """What stands is worth the same whatever it says and however old it is; the others learn what was taken."""

    def __init__(self, selection: Selection, others: Sequence[_Chat | _Intent | None]) -> None:
        self.selection, self.others = selection, others

    def value(self, number: int) -> float:
        return 0.0 if self.selection.has(number) else 1.0

    def gain(self, number: int) -> float:
        return 1.0 / (self.selection.weight[number] + EFFORT)

    def take(self, number: int) -> Iterable[int]:
        return self._other(number).take(number)

    def take_back(self) -> None:
        self._other(self.selection.chosen[-1]).take_back()

    def _other(self, number: int) -> _Chat | _Intent:
        other = self.others[number]
        assert other is not None
        return other


class _Rest:
    """When everything with a price is chosen, the rest gets the room: what was said, then tools' newest lines."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def value(self, number: int) -> float:
        candidates = self.selection.candidates
        said = candidates.units[number].channel not in ("call", "result")
        return 1.0 + candidates.owner[number] + (len(candidates.sources) if said else 0)

    def gain(self, number: int) -> float:
        return self.value(number)

    def take(self, number: int) -> Iterable[int]:
        self.selection.put(number)
        return ()

    def take_back(self) -> None:
        self.selection.take_back()
