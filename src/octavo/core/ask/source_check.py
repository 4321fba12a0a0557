"""Checks what a summary names: numbers, paths, addresses and identifiers have to occur in the source.

A model that rewords cannot be checked word by word, but a number or a path is either there or invented. Notation is
forgiven (1,234.50 and 1234.5, 16 GB and 16GB, 10.03.2024 and 2024-03-10), values are not. A bare digit is not looked
at: a summary may count, and any longer text contains all ten.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from octavo.core.extract.scan import ATOM, Identifier, atom
from octavo.core.messages import Message, ToolCall
from octavo.core.transcript import describe

SHORTEST_WORD = 3
"""A word of one or two letters in a code span is an option or a variable."""
GROUP = 3
"""Digits between thousands separators."""

_NUMBER = re.compile(r"\d+(?:[.,'’_\u00a0\u202f]\d+)*")
_NOT_DIGITS = re.compile(r"\D")
_BLANKS = re.compile(r"\s+")
_TAG = re.compile(r"</?[A-Za-z_][^<>]*>")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]\s+)?(?:\(?\d{1,3}[.):]\s+)?")
_SPAN = re.compile(r"`([^`\n]+)`")
_SPAN_WORD = re.compile(rf"[^\W_][\w./\\-]{{{SHORTEST_WORD - 1},}}")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")
_AMOUNT = re.compile(r"[#$€£¥₹₽~]?\d+(?:[.,]\d+)*(?:[^\W\d_]{1,4}|%)?")
_ALTERNATIVES = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)+")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}|\d{4}\.\d{1,2}\.\d{1,2}")
_FRACTION = re.compile(r"[\d/.]+")
_SIGNED = re.compile(r"[$€£¥₹₽#]\s?\Z")
_UNIT = re.compile(r"\s?[%‰°]|(?!(?:st|nd|rd|th)\b)[A-Za-z]")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source, prepared for the question whether it names something."""

    text: str
    """All of it, case-folded."""
    squeezed: str
    """The same without blanks."""
    numbers: frozenset[str]

    def name(self, text: str) -> bool:
        folded = text.casefold()
        return folded in self.text or _BLANKS.sub("", folded) in self.squeezed


def source_text(texts: Iterable[str]) -> SourceText:
    """Prepare texts as a source."""
    text = "\n".join(texts).casefold()
    numbers = frozenset(
        form for raw in set(_NUMBER.findall(text)) for form in (*_forms(raw), *_components(raw))
    )
    return SourceText(text, _BLANKS.sub("", text), numbers)


def said(messages: Iterable[Message]) -> Iterator[str]:
    """Give all that messages say, whole; arguments of calls also as they read without their JSON escapes."""
    for message in messages:
        yield message.name
        for part in message.parts:
            yield describe(part)
            if isinstance(part, ToolCall):
                yield from _arguments(part.input)


def _arguments(text: str) -> Iterator[str]:
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return
    while waiting:
        match waiting.pop():
            case str(value):
                yield value
            case dict(values):
                waiting += values.values()
            case list(values):
                waiting += values


def unfounded(line: str, source: SourceText) -> tuple[str, ...]:
    """List what a line of a summary names and the source does not."""
    return tuple(name for name, founded in _names(line, source).items() if not founded)


def evidence(text: str, source: SourceText) -> int:
    """Count what a text names and the source does too: hardly anything, unless the one is about the other."""
    founded = {name for line in text.split("\n") for name, known in _names(line, source).items() if known}
    return len(founded)


def _names(line: str, source: SourceText) -> dict[str, bool]:
    """Find the numbers and identifiers of a line, and whether the source has them."""
    bare = _LIST_MARK.sub("", _TAG.sub(" ", line), count=1)
    names: dict[str, bool] = {}
    for identifier in _identifiers(bare):
        names[identifier.text] = _founded(identifier, source)
        bare = bare.replace(identifier.text, " ")
    for span in _SPAN.findall(line):
        names |= {word: source.name(word.rstrip("./\\-")) for word in _SPAN_WORD.findall(span)}
    return names | {raw: _known(raw, source) for raw in _numbers(bare)}


def _identifiers(text: str) -> list[Identifier]:
    """Find the identifiers that stand for themselves, longest first, so that none is taken out of another."""
    found = {
        identifier.text: identifier
        for piece in ATOM.findall(text)
        for identifier in atom(piece).identifiers
        if identifier.whole and not _is_prose(identifier)
    }
    return sorted(found.values(), key=lambda identifier: len(identifier.text), reverse=True)


def _is_prose(identifier: Identifier) -> bool:
    """Tell what merely looks like an identifier: amounts and dates (numbers are checked as such), abbreviations."""
    text = identifier.text
    return (
        identifier.kind in ("number", "date")
        or _AMOUNT.fullmatch(text) is not None
        or _FRACTION.fullmatch(text) is not None
        or _ABBREVIATION.fullmatch(text) is not None
    )


def _founded(identifier: Identifier, source: SourceText) -> bool:
    if source.name(identifier.text.removeprefix("./").rstrip("/")):
        return True
    words = identifier.text.split("/")
    return _ALTERNATIVES.fullmatch(identifier.text) is not None and all(source.name(word) for word in words)


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        counted = len(match[0]) == 1 and not (
            _SIGNED.search(text, 0, match.start()) or _UNIT.match(text, match.end())
        )
        if not counted:
            yield match[0]


def _known(raw: str, source: SourceText) -> bool:
    if not source.numbers.isdisjoint(_forms(raw)):
        return True
    return _DATE.fullmatch(raw) is not None and source.numbers.issuperset(_components(raw))


def _forms(raw: str) -> tuple[str, ...]:
    """Read a number in every way its notation allows: separators may be of thousands or of decimals."""
    head, *tails = _split(raw)
    if not tails:
        return (_plain(head),)
    *middle, last = tails
    forms = [".".join((head, *tails))]
    if all(len(tail) == GROUP for tail in tails):
        forms.append(_plain(head + "".join(tails)))
    if all(len(tail) == GROUP for tail in middle):
        decimals = last.rstrip("0")
        forms.append(_plain(head + "".join(middle)) + (f".{decimals}" if decimals else ""))
    return tuple(forms)


def _components(raw: str) -> tuple[str, ...]:
    return tuple(_plain(piece) for piece in _split(raw))


def _split(raw: str) -> list[str]:
    digits = raw if raw.isascii() else "".join(_ascii(sign) for sign in raw)
    return _NOT_DIGITS.split(digits)


def _ascii(sign: str) -> str:
    return str(unicodedata.decimal(sign, sign))


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"
