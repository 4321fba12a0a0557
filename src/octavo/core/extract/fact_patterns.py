"""Facts that take more than one word: names, dates in words, numbers with separators, and settings.

Each is found only where a cue says that it may be there, so plain sentences cost nothing. What is found stands in the
text as it is given here.
"""

from __future__ import annotations

import re
from functools import cache

from octavo.core.extract.cues import CAPITAL, FIGURE, FUNCTION_WORDS, MONTH, MONTHS, TIME, WORD_CUES
from octavo.core.extract.scan import UNSPACED, Identifier

LONGEST_KEY = 40
LONGEST_VALUE = 60
LONGEST_VALUE_WORDS = 4
"""What is longer on either side of a colon is a sentence, not a setting."""
LONGEST_SETTING = LONGEST_KEY + LONGEST_VALUE + 10
"""Characters of both, with the sign and some blanks."""


def _name_pattern(capital: str, letter: str) -> re.Pattern[str]:
    word = rf"{capital}(?:['’]{capital})?{letter}+(?:-{letter}+)*"
    return re.compile(rf"(?<!\w){word}(?: {word})*")


@cache
def _any_name() -> re.Pattern[str]:
    # Made when it is first needed, like the dates: to compile them takes longer than to import all this.
    capitals = "".join(letter for letter in map(chr, range(0x0590)) if letter.isupper())
    return _name_pattern(f"[{capitals}]", rf"(?:(?![{UNSPACED}])[^\W\d_])")


@cache
def _date() -> re.Pattern[str]:
    month = "|".join(sorted(MONTHS, key=len, reverse=True))
    return re.compile(
        rf"\b\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(?:{month})\b(?:\.(?!\s*\Z))?(?:,?\s+(?:de\s+)?\d{{4}}\b)?"
        rf"|\b(?:{month})\b\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?"
        rf"|\b(?:{month})\b\.?,?\s+\d{{4}}\b"
        r"|(?:\d{4}\s?[年년]\s?)?\d{1,2}\s?[月월](?:\s?\d{1,2}\s?[日일号號])?",
        re.IGNORECASE,
    )


_ASCII_NAME = _name_pattern("[A-Z]", "[A-Za-z]")
_TITLE = re.compile(r"《([^《》\n]{1,40})》|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』")
_SEPARATED = re.compile(r"\d[,’\u00a0\u202f]\d")
_GROUPED = re.compile(r"[$€£¥₹₽]?(?<![\d.,])\d{1,3}(?:[,’\u00a0\u202f]\d{3})+(?:\.\d+)?(?![\d,])")
_ASSIGNS = re.compile("[=:：]")
_KEY = re.compile(rf"[^\W_][\w -]{{1,{LONGEST_KEY - 1}}}")
_SENTENCE_END = ".!?。！？؟।"
_CODE = frozenset("(){}[]")


def figures(text: str, cues: int) -> list[Identifier]:
    """Find the dates in words and the numbers with separators of a sentence."""
    if not cues & FIGURE:
        return []
    found: list[Identifier] = []
    if _SEPARATED.search(text):
        found += [Identifier(match[0], "number", whole=True) for match in _GROUPED.finditer(text)]
    if cues & MONTH:
        found += [Identifier(match[0], "date", whole=True) for match in _date().finditer(text)]
    return found


def names(text: str, cues: int) -> list[str]:
    """Find the names in a sentence: runs of capitalised words, and titles in their own brackets.

    The first word of a sentence says nothing, and shouting is no name.
    """
    found: list[str] = []
    if not cues & CAPITAL and text.isascii():
        return found
    pattern = _ASCII_NAME if text.isascii() else _any_name()
    for run in pattern.finditer(text) if cues & CAPITAL else ():
        parts = run[0].split(" ")[0 if run.start() else 1 :]
        shouted = len(parts) > 1 and all(part.isupper() for part in parts)
        while parts and not _can_name(parts[0]):
            parts.pop(0)
        if parts and not shouted:
            found.append(" ".join(parts))
    if not text.isascii():
        found += [max(match.groups(""), key=len) for match in _TITLE.finditer(text)]
    return found


def _can_name(word: str) -> bool:
    folded = word.casefold()
    return folded not in FUNCTION_WORDS and not WORD_CUES.get(folded, 0) & (TIME | MONTH)


def setting(text: str) -> tuple[str, str] | None:
    """Read a line that gives something a value: `key: value`, `key = value`; neither a sentence nor code is one."""
    if len(text) > LONGEST_SETTING or text[-1] in _SENTENCE_END:
        return None
    sign = _ASSIGNS.search(text, 0, LONGEST_KEY + len(": "))
    if sign is None:
        return None
    key, value = text[: sign.start()].strip(), text[sign.end() :].strip(" ,;")
    if not 0 < len(value) <= LONGEST_VALUE or value.count(" ") >= LONGEST_VALUE_WORDS:
        return None
    return (key.casefold(), value) if _KEY.fullmatch(key) and _CODE.isdisjoint(value) else None
