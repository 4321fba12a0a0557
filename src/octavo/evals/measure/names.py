"""Names a later turn has to write exactly: addresses, paths, errors, symbols, ids, numbers; and the words around them.

A name is present where it stands alone, not inside a longer one. It is grounded where its line also says something
that the lines it came from said: a bare list of names grounds none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Literal

from octavo.evals.measure.words import content_words

NameKind = Literal["url", "path", "error", "symbol", "id", "number"]

SHORTEST = 3
GROUND = 2
"""Ordinary words a line must share with where its name came from; one is shared by chance too often."""
REMEMBERED = 50_000
"""Messages whose names are kept: cuts of one conversation ask again."""

_WORD = r"[A-Za-z_]\w*"
_STEP = r"[\w.@+-]+"
_FILES = (
    "py|pyi|ts|tsx|js|jsx|mjs|json|jsonl|md|rst|txt|toml|yaml|yml|cfg|ini|sh|go|rs|java|c|h|cpp|hpp|cc|css|scss|html|"
    "sql|lock|xml|csv|diff|patch|ipynb|vue|rb|php|kt|swift"
)
_SHAPES: Mapping[NameKind, tuple[str, ...]] = {
    "url": (r"https?://[^\s'\"<>)\]}`,]+",),
    "path": (
        rf"(?<![\w/.:@+-])(?:~|\.{{1,2}})?/?(?:{_STEP}/)+[\w.@+-]*[\w@+-]",
        rf"(?<![\w/.-])[\w-]+\.(?:{_FILES})\b",
    ),
    "error": (r"(?<![\w.])\.*[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b",),
    "symbol": (
        rf"\b{_WORD}(?:\.{_WORD})+\b",
        r"\b_{0,2}[A-Za-z]\w*_\w+\b",
        r"\b[a-z]+(?:[A-Z][a-z0-9]+)+\w*\b",
        r"\b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b",
    ),
    "id": (
        r"\b(?=[A-Za-z0-9]{4})(?=[A-Za-z0-9-]{0,64}\d)(?=[A-Za-z0-9-]{0,64}[A-Za-z])[A-Za-z0-9]{4,}(?:-[A-Za-z0-9]+)*\b",
        r"#\d+\b",
    ),
    "number": (r"(?<![\w.])\d{3,}(?:\.\d+)?(?!\w)", r"(?<![\w.])\d+\.\d+(?![\w.])"),
}
_PATTERNS = {kind: re.compile("|".join(shapes)) for kind, shapes in _SHAPES.items()}
_EDGES = ".,:;'\"`)(-"


@lru_cache(maxsize=REMEMBERED)
def names(text: str) -> Mapping[str, NameKind]:
    """Find the names of a text, each with the first kind it looks like."""
    found: dict[str, NameKind] = {}
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            name = match[0].strip(_EDGES)
            if len(name) >= SHORTEST:
                found.setdefault(name, kind)
    return found


def is_present(name: str, text: str) -> bool:
    """Tell whether a name stands in a text by itself."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not _continues(before) and not _continues(after):
            return True
        at = text.find(name, at + 1)
    return False


def _continues(character: str) -> bool:
    return character.isalnum() or character == "_"


def ordinary_words(line: str) -> frozenset[str]:
    """List the words of a line that belong to no name."""
    for pattern in _PATTERNS.values():
        line = pattern.sub(" ", line)
    return frozenset(word for word in content_words(line) if len(word) > 1)


def surroundings(text: str, wanted: Collection[str]) -> dict[str, frozenset[str]]:
    """Give for every wanted name that is present the ordinary words of the lines it stands in."""
    found: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        here = [name for name in wanted if name in line and is_present(name, line)]
        said = ordinary_words(line) if here else frozenset()
        for name in here:
            found[name] = found.get(name, frozenset()) | said
    return found


def grounded(
    wanted: Iterable[str],
    found: Mapping[str, frozenset[str]],
    origin: Mapping[str, frozenset[str]],
) -> frozenset[str]:
    """Choose the names that stand among enough words of their origin."""
    return frozenset(
        name
        for name in wanted
        if name in found
        and len(found[name] & origin.get(name, frozenset())) >= min(GROUND, len(origin.get(name, ())))
    )
