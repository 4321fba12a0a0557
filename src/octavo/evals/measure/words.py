"""Words as the measures compare them, and where in a text they stand together.

Lower case, number words as digits, endings cut off, function words left out. A word of one text is found in another
exactly if both have the same stem; scripts without spaces are cut into pairs of neighbouring characters. Positions
count function words too, so a window is as wide as a reader sees it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from octavo.core.extract.cues import FUNCTION_WORDS
from octavo.core.extract.scan import UNSPACED

WINDOW = 50
"""Words a reader takes in together: an answer scattered over more is not an answer any more."""
REMEMBERED = 200_000
"""Stems kept: more than the words of any language in use."""
SHORTEST_STEM = 3

_ASCII = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?")
_ANY = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+(?:\.[0-9]+)?")
_RUN = re.compile(f"[{UNSPACED}]")
_COUNTING = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTING.split())}
_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
)
_SMALL_WORDS = """
    a about again all also am an and any are as at be been being both but by can could d did do does done each few for
    from get got had has have having he her here him his how i if in into is it its just like ll m may me might more
    most must my no nor not of on one only or other our over own re s same shall she should so some such t than that
    the their them then there these they this those to too under us ve very was we were what when where which who whom
    why will with would you your
"""
_ENGLISH = frozenset(_SMALL_WORDS.split())


@lru_cache(maxsize=REMEMBERED)
def stem(word: str) -> str:
    """Cut a lower-case word to what its forms have in common."""
    word = _NUMBERS.get(word, word)
    if word.isdigit() or len(word) <= SHORTEST_STEM:
        return word
    if not word.endswith("ss"):
        for ending, instead in _ENDINGS:
            if word.endswith(ending) and len(word) >= len(ending) + SHORTEST_STEM:
                word = word.removesuffix(ending) + instead
                break
    return word[:-1] if len(word) > SHORTEST_STEM + 1 and word.endswith("e") else word


def words(text: str) -> list[str]:
    """List the stems of all words of a text, in order."""
    lowered = text.lower().replace("’", "'").replace("'s", "")
    if lowered.isascii():
        return [stem(word) for word in _ASCII.findall(lowered)]
    return [one for word in _ANY.findall(lowered) for one in _stems(word)]


def _stems(word: str) -> Iterator[str]:
    if not _RUN.match(word):
        yield stem(word)
        return
    yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))


def informative(word: str) -> bool:
    """Tell whether a stem says something by itself."""
    return word not in _ENGLISH and (word.isascii() or word not in FUNCTION_WORDS)


def content_words(text: str) -> list[str]:
    """List the words of a text that say something by themselves."""
    return [word for word in words(text) if informative(word)]


class WordIndex:
    """A text, prepared for the question which words stand together in it."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(words(text)):
            if informative(word):
                self._places.setdefault(word, []).append(place)

    def together(
        self, weights: Mapping[str, float], width: int = WINDOW, anchors: Collection[str] = ()
    ) -> frozenset[str]:
        """Find the heaviest set of words that stand in one window; with anchors, in one that has an anchor too."""
        events = sorted([*self._spots(weights), *self._spots(set(anchors) - set(weights))])
        best: frozenset[str] = frozenset()
        heaviest, weight, first = 0.0, 0.0, 0
        inside: Counter[str] = Counter()
        anchored = 0
        for place, word in events:
            inside[word] += 1
            anchored += word not in weights
            weight += weights.get(word, 0.0) if inside[word] == 1 else 0.0
            while place - events[first][0] > width:
                gone = events[first][1]
                inside[gone] -= 1
                anchored -= gone not in weights
                weight -= 0.0 if inside[gone] else weights.get(gone, 0.0)
                first += 1
            if weight > heaviest + EPSILON and (anchored or not anchors):
                heaviest, best = weight, frozenset(one for one in weights if inside[one])
        return best

    def _spots(self, wanted: Iterable[str]) -> Iterator[tuple[int, str]]:
        for word in wanted:
            for place in self._places.get(word, ()):
                yield place, word


EPSILON = 1e-9
"""Sums of the same weights in another order differ by less."""
