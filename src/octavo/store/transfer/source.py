"""JSON values of a file with the lines they stand in: JSON Lines, one array, or one object, read piece by piece.

Memory is bounded by the largest value, not by the file. Whatever is wrong is a `BadInput` that names the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TextIO

from octavo.core.json_values import Json
from octavo.errors import BadInput, UsageError

PIECE = 1 << 20
"""Characters read at a time."""


@dataclass(frozen=True, slots=True)
class SourceValue:
    """A JSON value and where it begins."""

    line: int
    value: Json

    @property
    def where(self) -> str:
        return f"line {self.line}"


def read_values(path: Path) -> Iterator[SourceValue]:
    """Read the values of a file: the elements of its array, or the value of each line."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            if _opens_array(file):
                yield from _elements(file)
            else:
                yield from _lines(file)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


def _opens_array(file: TextIO) -> bool:
    first = " "
    try:
        while first.isspace():
            first = file.read(1)
    except UnicodeDecodeError as error:
        raise _not_text(1, error) from error
    file.seek(0)
    return first == "["


def _not_text(line: int, error: UnicodeDecodeError) -> BadInput:
    return BadInput(
        f"line {line}", f"not UTF-8 text (byte 0x{error.object[error.start]:02x}); is this a JSON file?"
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_VISIBLE = re.compile(r"[^ \t\r\n]")
_OPEN = re.compile(r"[-+.eE\d]*\Z")
"""What stands behind a value that may go on where the text ends: of `6.5e1`, the `6` alone is a number, too."""
_decoder = json.JSONDecoder(parse_constant=_refuse)


def _decode(text: str, line: int) -> Json:
    try:
        value: Json = _decoder.decode(text.strip())
    except RecursionError:
        raise BadInput(f"line {line}", "nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"line {line + error.lineno - 1}", f"not JSON: {error.msg}") from error
    except ValueError as error:
        raise BadInput(f"line {line}", str(error)) from error
    return value


def _lines(file: TextIO) -> Iterator[SourceValue]:
    number = 0
    try:
        for number, line in enumerate(file, start=1):
            if line.isspace():
                continue
            try:
                value = _decode(line, number)
            except BadInput:
                # One object over many lines is no JSON Lines, but it is a file people have.
                rest = file.read() if line.strip() in ("{", "[") else ""
                if not rest:
                    raise
                value = _decode(line + rest, number)
            yield SourceValue(number, value)
    except UnicodeDecodeError as error:
        raise _not_text(number + 1, error) from error


def _elements(file: TextIO) -> Iterator[SourceValue]:
    """Read the elements of one array, without holding more than one of them."""
    text = _Window(file)
    text.step()
    if text.next() != "]":
        yield text.value()
        while text.next() == ",":
            text.step()
            yield text.value()
    match text.next():
        case "]":
            text.step()
        case "":
            raise BadInput(f"line {text.line}", "the file ends inside its array: it was cut off")
        case other:
            raise BadInput(f"line {text.line}", f"expected a comma or the end of the array, found {other!r}")
    if text.next():
        raise BadInput(
            f"line {text.line}", "something follows the array; give one array, or one value in each line"
        )


class _Window:
    """The part of a file that was read but not used yet."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._complete = False
        self.line = 1

    def next(self) -> str:
        """Give the next character that is no white space; empty at the end of the file."""
        while True:
            found = _VISIBLE.search(self._text, self._at)
            self._go_to(found.start() if found else len(self._text))
            if found or self._complete:
                return found[0] if found else ""
            self._read_on()

    def step(self) -> None:
        self.next()
        self._go_to(self._at + 1)

    def value(self) -> SourceValue:
        """Decode the next value, reading on as long as it may just not be complete yet."""
        self.next()
        while True:
            try:
                value, stop = _decoder.raw_decode(self._text, self._at)
                if self._complete or not _OPEN.match(self._text, stop):
                    found = SourceValue(self.line, value)
                    self._go_to(stop)
                    return found
            except RecursionError:
                raise BadInput(f"line {self.line}", "nested too deeply") from None
            except json.JSONDecodeError as error:
                if self._complete:
                    self._go_to(error.pos)
                    raise BadInput(f"line {self.line}", f"not JSON: {error.msg}") from error
            except ValueError as error:
                raise BadInput(f"line {self.line}", str(error)) from error
            self._read_on()

    def _go_to(self, place: int) -> None:
        self.line += self._text.count("\n", self._at, place)
        self._at = place

    def _read_on(self) -> None:
        """Read as much again as is waiting, so that a large value is not decoded again and again."""
        waiting = self._text[self._at :]
        try:
            read = self._file.read(max(PIECE, len(waiting)))
        except UnicodeDecodeError as error:
            raise _not_text(self.line, error) from error
        self._text, self._at, self._complete = waiting + read, 0, not read
