"""Choosing units: chat, work and intent each have a share of the room and a way of paying for it.

What is known already (retained messages, pins, a narrative) counts as chosen from the start. The choice depends on the
arguments alone.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    intent_quality,
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
    candidates, counted = selection.candidates, selection.candidates.counted
    talked = _Chat(selection) if any(part.chat_words.units for part in counted.parts) else None
    span = counted.work_span
    paid = _Lines(selection) if span else None
    told = _Intent(selection, span, paid) if span and paid else None
    if candidates.standing:
        agreed = _Standing(selection, talked, told)
        yield RoomShare(reserved, GreedyQueue(selection, sorted(candidates.standing), agreed), ends=False)
    if talked:
        share = CHAT_SHARE * counted.talked / max(1, CHAT_SHARE * counted.talked + counted.worked)
        yield RoomShare(share, GreedyQueue(selection, talked.said, talked), ends=True)
    if paid and told:
        intent = GreedyQueue(selection, told.said, told)
        yield RoomShare(INTENT_SHARE, intent, ends=False)
        yield RoomShare(1.0, GreedyQueue(selection, paid.lines, paid), ends=True)
        yield RoomShare(1.0, intent, ends=True)


def _sources(candidates: Candidates, *, work: bool, start: int = 0) -> Iterator[tuple[int, int]]:
    """Give the covered sources that are work, or chat, from a unit on: the number of the first unit, and their own."""
    for at in range(bisect_left(candidates.starts, start), len(candidates.starts)):
        if candidates.work[at] == work:
            yield candidates.starts[at], at


class _Said:
    """What was said is paid for informative words, by its quality and by what is left of them."""

    def __init__(self, selection: Selection, left: WordValues, quality: Mapping[int, float]) -> None:
        self.selection, self.left, self._left = selection, left, left.left.__getitem__
        self.said = [number for number, value in quality.items() if value]
        # Thousands of gains are computed for one unit taken, mostly waiting for the memory: what they take lies dense.
        self.words = selection.candidates.words
        self._quality = array("d", bytes(8 * len(self.words)))
        for number, value in quality.items():
            self._quality[number] = value
        self.gain = self._gain()

    def value(self, number: int) -> float:
        return self._quality[number] * sum(map(self._left, self.words[number]))

    def _gain(self) -> Callable[[int], float]:
        """Make the function that weighs a unit per byte: most of the time of a choice is spent in it."""
        quality, left, words, weight = self._quality, self._left, self.words, self.selection.weight

        def gain(number: int) -> float:
            return quality[number] * sum(map(left, words[number])) / (weight[number] + EFFORT)

        return gain


class _Chat(_Said):
    """Chat is paid for informative words."""

    def __init__(self, selection: Selection) -> None:
        candidates, counted = selection.candidates, selection.candidates.counted
        people = between_people(*(part.lengths for part in counted.parts))
        fading = FADING_BETWEEN_PEOPLE if people else FADING_WITH_ASSISTANT
        words = [part.chat_words for part in counted.parts]
        left = WordValues(words, candidates.known, fading, candidates.focus)
        weighed = chat_between_people if people else chat_with_assistant
        newness, quality = candidates.newness, dict[int, float]()
        for n in candidates.eligible.chat:
            source = candidates.sources[candidates.owner[n]]
            quality[n] = weighed(source.units)[candidates.index[n]] * newness[n]
        for start, at in _sources(candidates, work=False, start=candidates.eligible.start):
            for n, value in enumerate(weighed(candidates.sources[at].units), start):
                quality[n] = value * newness[n]
        super().__init__(selection, left, quality)

    def take(self, number: int) -> Sequence[int]:
        self.left.add(self.words[number])
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
        counted = candidates.counted
        mentions = [part.mentions for part in counted.parts]
        values = IdentifierValues(mentions, len(candidates.sources), candidates.focus)
        self.coverage = Coverage(values, candidates.known)
        old, new = counted.parts
        self.named, self.outputs = {**old.named, **new.named}, {**old.outputs, **new.outputs}
        if candidates.focus:
            self.named, self.outputs = _focused(candidates)
        self.lines = list(self.named)

    def value(self, number: int) -> float:
        return self.newness[number] * self.coverage.value(self.named[number], self.units[number].bare)

    def gain(self, number: int) -> float:
        value = self.coverage.value(self.named[number], self.units[number].bare)
        return self.newness[number] * value / (self.selection.cost(number) + EFFORT)

    def take(self, number: int) -> Sequence[int]:
        unit, owner = self.candidates.units[number], self.candidates.owner[number]
        first = self.selection.put(number) and unit.channel == "result"
        # The header that the first line of an output brings along names things too, in a bare list.
        header = identifiers(self.candidates.sources[owner].origins.get(unit.call, "")) if first else ()
        self.coverage.add(self.named.get(number, ()), unit.bare, header)
        return self.outputs.get((owner, unit.call), ()) if first else ()

    def take_back(self) -> None:
        self.coverage.take_back()
        self.selection.take_back()


def _focused(
    candidates: Candidates,
) -> tuple[dict[int, tuple[str, ...]], dict[tuple[int, str], list[int]]]:
    """Say what units of work are paid for where there is a focus, and which of them are lines of an output."""
    named: dict[int, tuple[str, ...]] = {}
    outputs: dict[tuple[int, str], list[int]] = {}
    for start, at in _sources(candidates, work=True):
        for unit in focused_units(candidates.sources[at].units, candidates.focus):
            named[start + unit.at] = unit.paid_for(at)
            if unit.call is not None:
                outputs.setdefault((at, unit.call), []).append(start + unit.at)
    return named, outputs


class _Intent(_Said):
    """What was asked and decided in work is paid for informative words."""

    def __init__(self, selection: Selection, work: tuple[int, int, int], lines: _Lines) -> None:
        candidates = selection.candidates
        oldest, newest, task = work
        span = max(1, newest - oldest)
        newness, quality = candidates.newness, dict[int, float]()

        def factor(owner: int) -> float:
            # The first request is what all the work is for: it does not age.
            return at_age(((newest if owner == task else owner) - oldest) / span)

        for n in candidates.eligible.intent:
            quality[n] = newness[n] * (intent_quality(candidates.units[n]) * factor(candidates.owner[n]))
        for start, owner in _sources(candidates, work=True, start=candidates.eligible.start):
            age = factor(owner)
            for index, value in intents(candidates.sources[owner].units):
                quality[start + index] = newness[start + index] * (value * age)
        words = [part.intent_words for part in candidates.counted.parts]
        super().__init__(selection, WordValues(words, (), FADING_INTENT, candidates.focus), quality)
        self.lines = lines

    def take(self, number: int) -> Sequence[int]:
        self.left.add(self.words[number])
        return self.lines.take(number)

    def take_back(self) -> None:
        self.left.take_back()
        self.lines.take_back()


class _Standing:
    """What stands is worth the same whatever it says and however old it is; the others learn what was taken."""

    def __init__(self, selection: Selection, talked: _Chat | None, told: _Intent | None) -> None:
        self.selection, self.talked, self.told = selection, talked, told

    def value(self, number: int) -> float:
        return 0.0 if self.selection.has(number) else 1.0

    def gain(self, number: int) -> float:
        return 1.0 / (self.selection.weight[number] + EFFORT)

    def take(self, number: int) -> Sequence[int]:
        return self._other(number).take(number)

    def take_back(self) -> None:
        self._other(self.selection.chosen[-1]).take_back()

    def _other(self, number: int) -> _Chat | _Intent:
        candidates = self.selection.candidates
        other = self.told if candidates.work[candidates.owner[number]] else self.talked
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

    def take(self, number: int) -> Sequence[int]:
        self.selection.put(number)
        return ()

    def take_back(self) -> None:
        self.selection.take_back()
