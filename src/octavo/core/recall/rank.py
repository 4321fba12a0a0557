"""The order of pieces: how much each has to do with a question.

`Ranker` is the one seam for people who rank otherwise, by embeddings say. `ByWords` needs no model: rare words count
more than common ones (BM25).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log
from typing import Protocol

from octavo.core.recall.pieces import Piece
from octavo.core.recall.question import Question
from octavo.core.recall.words import words, words_of_day

K1 = 1.2
"""How much a word counts that comes again: the usual value."""
B = 0.75
"""How much long pieces are held back: the usual value."""
FLOOR = 0.35
"""What a piece must match at least, as a share of what the question's rarest word is worth."""
MEANINGFUL = 0.4
"""What words are worth at least that can be a reason to recall something: one that most messages have is none."""
NEARBY = {-1: 0.7, 1: 0.5, -2: 0.35, 2: 0.25}
"""How much a word counts that stands so many pieces away: an answer follows what it answers. Measured on long chats."""
IMPACT = 15
"""The most that a word can count in an index: it fits `BITS`."""
BITS = IMPACT.bit_length()
"""Of a place in an index, `depth << BITS | impact`: where a word stands, and how much it counts there."""
USUAL_LENGTH = 30.0
"""Words of a piece, where nothing is known of the others."""


class Ranker(Protocol):
    """Says how much each piece has to do with a question: 0 is nothing, and more is more."""

    def score(self, question: Question, pieces: Sequence[Piece]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How common words are in the covered text."""

    count: int
    """Messages, or pieces, that were looked at."""
    frequency: Mapping[str, int]
    """In how many of them a word stands; words of the question only."""
    length: float = USUAL_LENGTH
    """Words of one, on average."""

    def worth(self, word: str) -> float:
        """Say how much a word tells: much if it is rare, and most if it is not there at all."""
        frequency = min(self.frequency.get(word, 0), self.count)
        return log(1 + (self.count - frequency + 0.5) / (frequency + 0.5))

    def worths(self, question: Question) -> dict[str, float]:
        """Say how much each word of a question tells, by its weight there."""
        return {word: weight * self.worth(word) for word, weight in question.weights.items()}


@dataclass(frozen=True, slots=True)
class ByWords:
    """Ranks by the words of the question, each counted once: where it stands, or a little less if it stands nearby.

    Pieces are given in the order of the conversation.
    """

    statistics: Statistics

    def score(self, question: Question, pieces: Sequence[Piece]) -> Sequence[float]:
        worth = self.statistics.worths(question)
        combine = _Combination(worth, floor=max(MEANINGFUL, FLOOR * max(worth.values(), default=0.0)))
        matched = [self._match(piece, worth) for piece in pieces]
        return [combine(_within_reach(pieces, matched, at)) for at in range(len(pieces))]

    def _match(self, piece: Piece, worth: Mapping[str, float]) -> dict[str, float]:
        """Say how much each word of the question counts in a piece."""
        said = [*words_of_day(piece.day), *words(piece.text)]
        there = worth.keys() & said
        if not there:
            return {}
        usual = self.statistics.length
        return {
            word: worth[word] * weight_of(said.count(word), len(said), usual)
            for word in worth
            if word in there
        }


def _within_reach(
    pieces: Sequence[Piece], matched: Sequence[Mapping[str, float]], at: int
) -> dict[str, float]:
    here = dict(matched[at])
    for away, share in NEARBY.items():
        there = at + away
        if not (0 <= there < len(pieces) and matched[there]):
            continue
        if abs(pieces[there].depth - pieces[at].depth) <= abs(away):
            for word, score in matched[there].items():
                here[word] = max(here.get(word, 0.0), share * score)
    return here


class _Combination:
    """Puts what the words of a question count at one place together: what covers more of the question gains by it."""

    def __init__(self, worth: Mapping[str, float], *, floor: float) -> None:
        self._worth = worth
        self._total = sum(worth.values())
        self._floor = floor

    def __call__(self, scores: Mapping[str, float]) -> float:
        reached = sum(map(self._worth.__getitem__, scores))
        return sum(scores.values()) * (1 + reached / self._total) if reached >= self._floor else 0.0


def best_places(
    found: Mapping[str, Sequence[int]], worth: Mapping[str, float], *, most: int, ahead: int
) -> list[int]:
    """Choose the depths that matter most by an index, the best first, by the rule that pieces are ranked by.

    `found` gives for each word the places where it stands, in order. The `ahead` best by themselves are looked at, with
    those around them. There is no floor: a ranker decides what is too little.
    """
    counted = {word: _by_depth(places, worth[word]) for word, places in found.items()}
    reached: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for depth in _best(_together(counted.values()), ahead):
        for word, known in counted.items():
            here = known.get(depth)
            if here is not None:
                _reach(reached[depth], word, here)
                for away, share in NEARBY.items():
                    _reach(reached[depth - away], word, share * here)
    combine = _Combination(worth, floor=0.0)
    scores = {depth: combine(words) for depth, words in reached.items()}
    return nlargest(most, scores, key=scores.__getitem__)


def _by_depth(places: Iterable[int], worth: float) -> dict[int, float]:
    """Say what a word counts at each depth where it stands."""
    value = [worth * impact for impact in range(IMPACT + 1)]
    return {place >> BITS: value[place & IMPACT] for place in places}


def _together(counted: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Add up what words count; most depths have one of them only."""
    total: dict[int, float] = {}
    for known in counted:
        both = {depth: total[depth] + known[depth] for depth in total.keys() & known.keys()}
        total |= known
        total |= both
    return total


def _best(scores: Mapping[int, float], most: int) -> list[int]:
    """Give the depths with the best scores; of equal ones, those that come first."""
    floor = min(nlargest(most, scores.values()), default=0.0)
    above = [depth for depth, score in scores.items() if score > floor]
    equal = [depth for depth, score in scores.items() if score == floor]
    return above + equal[: most - len(above)]


def _reach(scores: dict[str, float], word: str, score: float) -> None:
    if scores.get(word, 0.0) < score:
        scores[word] = score


def weight_of(times: int, length: int, usual: float) -> float:
    """Say how much it counts that a word stands `times` in a piece of `length` words."""
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / usual))


def count(question: Question, pieces: Iterable[Piece]) -> Statistics:
    """Count how common the words of a question are, where all covered pieces are at hand."""
    frequency: Counter[str] = Counter()
    number = length = 0
    asked = question.weights.keys()
    for piece in pieces:
        said = [*words_of_day(piece.day), *words(piece.text)]
        number += 1
        length += len(said)
        frequency.update(asked & set(said))
    return Statistics(count=number, frequency=frequency, length=max(1.0, length / max(1, number)))


def impacts(pieces: Iterable[Piece]) -> dict[str, int]:
    """Say for an index how much each word of a message counts, from 1 to `IMPACT`, where it counts most."""
    found: dict[str, int] = {}
    for piece in pieces:
        said = [*words_of_day(piece.day), *words(piece.text)]
        for word, times in Counter(said).items():
            share = weight_of(times, len(said), USUAL_LENGTH) / (K1 + 1)
            found[word] = max(found.get(word, 1), round(IMPACT * share))
    return found
