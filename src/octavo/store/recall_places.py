"""Where words stand, as bytes: pages of one word each, and for each lane a few hundred messages' places together.

A place is a number: the depth of a message, and in its last bits how much the word counts there. A page has four bytes
for each, in order. Most words stand at two or three places only, and a row for each of those would be mostly overhead.
So new places are kept together, two bytes each if the depths allow it, until they are many; then those of the words
that have most of them go into pages.

All numbers are written in one order of bytes, whatever the machine: those of a page so that bytes compare as they do.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain
from typing import NamedTuple
from zlib import crc32

from octavo.core.recall.rank import BITS

RECENT = 0
"""Stands for all words: the key of the places that are kept together."""
PAGE = 240
"""Places of a page: it fits a node of SQLite's tree. The rest of a larger value stands in a page of the file that is
mostly empty."""
WIDTH = 4
"""Bytes of a place in a page."""
TOGETHER = 16_384
"""Places that are kept together at most: those of some hundred messages, about 70 kB that a lookup reads."""
LEFT = 0.5
"""Of those, how many stay together when there are more."""

_HEAD, _KEY, _END = 8, 4, 2
"""Bytes of what opens places that are kept together, and of what is written for each of their words."""
_SHORT = 1 << 16

Together = dict[int, "array[int]"]
"""Places, in order, by the keys of words."""


class Page(NamedTuple):
    """Places of one word."""

    word: int
    first: int
    """The depth that its key says: none of its places lies above."""
    before: int
    """Places of the word in the pages before it, when it was written."""
    places: bytes


def key_of(word: str) -> int:
    """Give the number that stands for a word: two words hardly ever share one, and then they count as one."""
    number = crc32(word.encode("utf-8", "surrogatepass")) or 1
    return number - (1 << 32) if number >> 31 else number


def pack(places: Iterable[int]) -> bytes:
    return _swapped(array("I", places), "big").tobytes()


def unpack(places: bytes) -> array[int]:
    return _swapped(array("I", places), "big")


def pages(word: int, last: Page | None, places: array[int]) -> Iterator[Page]:
    """Write further places of a word into pages: its last one, as far as it has room, and new ones."""
    before = last.before if last else 0
    known = unpack(last.places) if last else array("I")
    for at in range(0, len(known) + len(places), PAGE):
        # A page that was full is left as it is.
        if at or len(known) < PAGE:
            written = (known + places)[at : at + PAGE]
            first = last.first if last and not at else written[0] >> BITS
            yield Page(word, first, before + at, pack(written))


def part(together: Together, most: int) -> Together:
    """Take the words out that have most places, so that few are left; give those. The rarest would make most pages."""
    apart: Together = {}
    number = sum(map(len, together.values()))
    if number > most:
        for word in sorted(together, key=lambda word: len(together[word]), reverse=True):
            if number <= most * LEFT:
                break
            number -= len(together[word])
            apart[word] = together.pop(word)
    return apart


def pack_together(together: Mapping[int, array[int]]) -> bytes:
    """Write places of many words: the words' keys in order, where each one's places end, the places."""
    keys = sorted(together)
    found = [together[key] for key in keys]
    origin = min((places[0] for places in found), default=0) >> BITS << BITS
    short = max((places[-1] for places in found), default=0) - origin < _SHORT
    parts = (
        array("I", (origin, len(keys))),
        array("i", keys),
        array("H", accumulate(map(len, found))),
        array("H" if short else "I", (place - origin for place in chain.from_iterable(found))),
    )
    return b"".join(_swapped(part, "little").tobytes() for part in parts)


def unpack_together(packed: bytes) -> Together:
    """Read places of many words."""
    origin, keys, ends, places = _parts(packed)
    whole = array("I", (origin + place for place in places))
    starts = chain((0,), ends)
    return {key: whole[start:end] for key, start, end in zip(keys, starts, ends, strict=False)}


def find_together(packed: bytes, words: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    """Find the places of some words among those of many."""
    origin, keys, ends, places = _parts(packed)
    for word in words:
        at = bisect_left(keys, word)
        if at < len(keys) and keys[at] == word:
            yield word, [origin + place for place in places[ends[at - 1] if at else 0 : ends[at]]]


def _parts(packed: bytes) -> tuple[int, array[int], array[int], array[int]]:
    origin, number = _swapped(array("I", packed[:_HEAD]), "little")
    keys, ends = _HEAD + number * _KEY, _HEAD + number * (_KEY + _END)
    last = _swapped(array("H", packed[keys:ends]), "little")
    width = (len(packed) - ends) // last[-1] if number else 1
    return (
        origin,
        _swapped(array("i", packed[_HEAD:keys]), "little"),
        last,
        _swapped(array("I" if width == WIDTH else "H", packed[ends:]), "little"),
    )


def _swapped(numbers: array[int], order: str) -> array[int]:
    """Bring numbers into an order of bytes, or back from it."""
    if sys.byteorder != order:
        numbers.byteswap()
    return numbers
