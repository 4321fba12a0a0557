"""Identifiers, words and cues of a text, in any script.

A text is cut into atoms: what stands between blanks, quotes, brackets and commas, with runs of scripts whose words
cannot be told by blanks (Chinese, Japanese, Thai, ..., and Korean for its particles) apart from everything else. Atoms
repeat a lot, so what an atom holds is remembered. The memory is bounded and holds results of a pure function only: it
changes the speed, never the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from octavo.core.extract.cues import (
    CAPITAL,
    FIGURE,
    FUNCTION_WORDS,
    MONTH,
    PART_CUES,
    START_CUES,
    TIME,
    WORD_CUES,
)

IdentifierKind = Literal["url", "path", "error", "symbol", "id", "date", "number"]

STEM = 6
"""Letters that tell words apart: cutting the rest off joins inflected forms in most languages, and needs no grammar."""
MEMORY = 100_000
"""Atoms remembered: more than a long coding conversation has, some tens of megabytes at most."""
LONGEST_REMEMBERED = 64
"""Longer atoms are hashes and minified code, which do not come again."""
SHORTEST = 3
"""An identifier of one or two characters is a loop variable."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
)
UNSPACED += "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts that put no blanks between words, and Korean, as a range of a pattern."""
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
"""Vowel signs and accents: letters to a reader, not to `\\w`."""
_STOPS = r"\s'\"<>()\[\]{}`,;=|*，。！？；：、（）「」『』《》【】“”„‘’«»‹›؟،؛।॥۔…｡"

ATOM = re.compile(f"[{UNSPACED}]+|[^{_STOPS}{UNSPACED}]+")
_ASCII_ATOM = re.compile(r"[^ \t-\r\x1c-\x1f'\"<>()\[\]{}`,;=|*]+")
"""What `ATOM` finds in ASCII, found faster."""
_RUN = re.compile(f"[{UNSPACED}]")
_KOREAN = re.compile("[가-힣]").match
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+(?:\.\d+)?")
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*[.:!?]?\Z")
_EXTENSIONS = (
    "py|pyi|ts|tsx|js|jsx|mjs|json|jsonl|md|rst|txt|toml|yaml|yml|cfg|ini|sh|go|rs|java|c|h|cpp|hpp|cc|cs|css|scss|html|"
    "sql|lock|xml|csv|diff|patch|ipynb|vue|rb|php|kt|swift|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|log|env|tf|proto|zip|gz"
)
_HUMP = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")
"""Where a name like ChecksumMismatch has its next word, as checksum_mismatch has at its sign."""
_DIGIT = re.compile(r"\d").search
_INNER_CAPITAL = re.compile(r"[._]|.[A-Z]").search
_ENDED = re.compile("ror|ption|rning").search
_IDENTIFIERS: tuple[tuple[IdentifierKind, Callable[[str], object], re.Pattern[str]], ...] = (
    (
        "url",
        re.compile(r"//|www").search,
        re.compile(r"(?:https?|ftp|ssh|git|wss?|file|s3|postgres(?:ql)?|redis)://\S+|www\.[\w-]+\.\S+"),
    ),
    ("id", re.compile("@").search, re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "date",
        _DIGIT,
        re.compile(
            r"(?<![\w./-])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})(?![\d./-])"
            r"|(?<![\d:])\d{1,2}:\d{2}(?:[ap]m)?(?![\d:])"
        ),
    ),
    (
        "path",
        re.compile(rf"[/\\]|\.(?:{_EXTENSIONS})\b").search,
        re.compile(
            r"(?<![\w/.:@+-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*[\w@+-]"
            r"|(?<![\w/.-])[\w-]+\.(?:" + _EXTENSIONS + r")\b"
            r"|\b[A-Za-z]:\\[\w\\.@+-]+"
        ),
    ),
    ("error", _ENDED, re.compile(r"(?<![\w.])\.*[A-Za-z_][\w.]*(?:Error|Exception|Warning)\b")),
    (
        "symbol",
        _INNER_CAPITAL,
        re.compile(
            r"\b(?!\w\.\w\b)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b"
            r"|\b_{0,2}[A-Za-z]\w*_\w+\b"
            r"|\b[a-z]+(?:[A-Z][a-z0-9]+)+\w*\b"
            r"|\b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b"
        ),
    ),
    ("number", _DIGIT, re.compile(r"\b\d+(?:st|nd|rd|th|s)\b")),
    (
        "id",
        _DIGIT,
        re.compile(
            r"\b(?=[A-Za-z0-9]{4})(?=[A-Za-z0-9-]{0,64}\d)(?=[A-Za-z0-9-]{0,64}[A-Za-z])[A-Za-z0-9]{4,}(?:-[A-Za-z0-9]+)*\b"
            r"|#\d+\b"
        ),
    ),
    (
        "number",
        _DIGIT,
        re.compile(
            r"(?<![\w.])v?\d+(?:\.\d+){2,}(?:[-+.]?[A-Za-z0-9]++)*+"
            r"|(?<![\w.])\d{3,}(?:\.\d+)?(?!\w)|(?<![\w.])\d+\.\d+(?![\w.])|[$€£¥₹₽]\d+|(?<![\w.])\d+%"
        ),
    ),
)
"""Kinds in the order in which they are looked for, each with a quick look whether it can be there at all."""
_WITHOUT_DIGITS = tuple(kind for kind in _IDENTIFIERS if kind[1] is not _DIGIT)
"""Those that an atom without a digit can hold."""
_TRIM = ".,:;'\"`)(-"


class Identifier(NamedTuple):
    """A string that stands for one thing and loses its meaning when it is rephrased."""

    text: str
    kind: IdentifierKind
    whole: bool
    """False for a part of a longer one, such as a name inside a path."""


class Atom(NamedTuple):
    """What a piece of text between blanks holds."""

    identifiers: tuple[Identifier, ...]
    words: tuple[str, ...]
    """All informative words, cut to their stems."""
    bare: tuple[str, ...]
    """The words that stand outside identifiers."""
    cues: int


NOTHING = Atom((), (), (), 0)
"""What function words and operators hold: a third of all atoms."""
_atoms: dict[str, Atom] = {}
_stems: dict[str, str] = {}
"""Of the atoms remembered, those that are one word without cues, by its stem, or hold nothing at all."""
stem_of = _stems.get
"""Looks most atoms up without a detour: None for those that `atom` has to be asked for."""


def atoms(text: str) -> list[str]:
    """Cut a text into atoms."""
    return (_ASCII_ATOM if text.isascii() else ATOM).findall(text)


def atom(piece: str) -> Atom:
    """Look into one atom."""
    known = _atoms.get(piece)
    if known is None:
        known = _spaceless(piece) if _RUN.match(piece) else _spaced(piece)
        known = NOTHING if known == NOTHING else known
        if len(piece) <= LONGEST_REMEMBERED:
            if len(_atoms) >= MEMORY:
                forget()
            _atoms[piece] = known
            if known.words == known.bare and len(known.words) <= 1 and not (known.identifiers or known.cues):
                _stems[piece] = known.words[0] if known.words else ""
    return known


def forget() -> None:
    """Forget all atoms."""
    _atoms.clear()
    _stems.clear()


def words(text: str) -> tuple[str, ...]:
    """List the informative words of a text, once each, in order."""
    found: dict[str, None] = {}
    for piece in atoms(text):
        for word in atom(piece).words:
            found[word] = None
    return tuple(found)


def identifiers(text: str) -> tuple[str, ...]:
    """List the identifiers of a text, once each, in order."""
    return tuple(dict.fromkeys(found.text for piece in atoms(text) for found in atom(piece).identifiers))


def _spaceless(run: str) -> Atom:
    # Without a dictionary, pairs of neighbouring characters are what comes closest to words.
    pairs = tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)
    cues = WORD_CUES.get(run, 0)
    if _KOREAN(run):
        found = [cue for start, cue in START_CUES if run.startswith(start)]
    else:
        found = [cue for part, cue in PART_CUES if part in run]
    for cue in found:
        cues |= cue
    return Atom((), pairs, pairs, cues)


def _spaced(piece: str) -> Atom:
    if _PLAIN.match(piece):
        return _plain(piece)
    if piece.isdecimal():
        return _number(piece)
    folded, cues = _fold(piece)
    if not piece.isascii() and piece.isalpha():
        return Atom((), folded, folded, cues)
    found: dict[str, Identifier] = {}
    rest = piece
    digits = cues & FIGURE or _DIGIT(piece)
    for kind, hint, pattern in _IDENTIFIERS if digits else _WITHOUT_DIGITS:
        matches = pattern.findall(piece) if hint is _DIGIT or hint(piece) else None
        if not matches:
            continue
        whole = matches if rest is piece else pattern.findall(rest)
        for match in matches:
            text = match.rstrip(_TRIM) if kind == "path" else match.strip(_TRIM)
            if len(text) >= SHORTEST and text not in found:
                found[text] = Identifier(text, kind, match in whole)
        rest = pattern.sub(" ", rest)
    bare = folded if rest is piece else () if rest.isspace() else _fold(rest)[0]
    return Atom(tuple(found.values()), folded, tuple(word for word in bare if len(word) > 1), cues)


def _plain(piece: str) -> Atom:
    """Look into what is one Latin word and nothing else: most atoms are."""
    word = piece.rstrip(".:!?").lower()
    cues = WORD_CUES.get(word, 0)
    if cues & MONTH:
        cues |= TIME
    if len(word) > 1 and piece[0].isupper():
        cues |= CAPITAL
    if not word or word in FUNCTION_WORDS:
        return Atom((), (), (), cues) if cues else NOTHING
    folded = (word[:STEM],)
    return Atom((), folded, folded if len(word) > 1 else (), cues)


def _number(piece: str) -> Atom:
    if len(piece) < SHORTEST:
        return Atom((), (piece,), (piece,) if len(piece) > 1 else (), FIGURE)
    return Atom((Identifier(piece, "number", whole=True),), (piece,), (), FIGURE)


def _fold(piece: str) -> tuple[tuple[str, ...], int]:
    folded: list[str] = []
    cues = CAPITAL if piece[:1].isupper() and piece[1:2].islower() else 0
    for word in _WORD.findall(_HUMP.sub(" ", piece).casefold()):
        cues |= WORD_CUES.get(word, 0)
        if word[0].isdigit():
            cues |= FIGURE
            folded.append(word)
        elif word not in FUNCTION_WORDS:
            folded.append(word[:STEM])
    return tuple(folded), cues | (TIME if cues & MONTH else 0)
