"""Reads message lists from a file or a pipe.

Accepted: one JSON array of messages; one object that holds them, such as the body of a request to OpenAI, Anthropic
or Gemini; JSON Lines of messages; JSON Lines of such arrays or objects. Memory is bounded by one conversation, and a
conversation by `LARGEST`. Whatever is wrong is one `BadInput` that names the line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from octavo.core.history_json import (
    History,
    decode_text,
    decode_value,
    is_message,
    not_json,
    parse_value,
    read_history,
)
from octavo.core.json_values import Json, JsonObject
from octavo.errors import BadInput, UsageError

LARGEST = 64 << 20
"""Bytes of one conversation: ten times what the largest window holds as text, with room for pictures."""
STDIN = "-"


class RawLine(NamedTuple):
    """A line that is not blank, as it was read."""

    number: int
    raw: bytes
    problem: BadInput | None = None
    """Why there is nothing to read in it."""


@contextmanager
def open_input(name: str) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for `-`."""
    if name == STDIN:
        if sys.stdin.isatty():
            raise UsageError(
                "nothing is piped in: give a file, or pipe one in (octavo compress - < chat.json)"
            )
        yield sys.stdin.buffer
        return
    with _opened(Path(name)) as file:
        yield file


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


def read_text(name: str) -> str:
    """Read a whole file, or all of standard input, as text."""
    with open_input(name) as file:
        try:
            return file.read().decode("utf-8", "replace")
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror or error}") from error


def read_histories(file: IO[bytes]) -> Iterator[History]:
    """Read conversations, one after the other, as they are needed."""
    found = read_opening(file)
    if isinstance(found, History):
        yield found
        return
    for line in found:
        if line.problem is not None:
            raise line.problem
        yield read_history(_value(line), f"line {line.number}", indent=None)


def read_opening(file: IO[bytes]) -> History | Iterator[RawLine]:
    """Read the only conversation of a file; of one that has a conversation in each line, give the lines, unread."""
    first = _first_line(file)
    value, whole = _decode_opening(first, file)
    if whole:
        return read_history(value, "", indent=2)
    rest = _more_lines(file, first.number)
    if isinstance(value, dict) and is_message(value):
        return _gathered(chain([first], rest))
    following = next(rest, None)
    if following is None:
        return read_history(value, "", indent=None)
    _check_kind(value, first, following)
    return chain([first, following], rest)


def _check_kind(value: Json, first: RawLine, following: RawLine) -> None:
    """Refuse a file of another kind: one bad line may be passed over, but two at the beginning mean a wrong file."""
    try:
        read_history(value, f"line {first.number}", indent=None)
    except BadInput as refusal:
        try:
            read_history(_value(following), "", indent=None)
        except BadInput:
            raise refusal from None


def _first_line(file: IO[bytes]) -> RawLine:
    number = 0
    while raw := _read_line(file, number + 1):
        number += 1
        if raw.removeprefix(b"\xef\xbb\xbf").strip():
            return RawLine(number, raw.removeprefix(b"\xef\xbb\xbf"))
    raise BadInput("", "the file is empty; give messages as JSON or JSON Lines")


def _read_line(file: IO[bytes], number: int) -> bytes:
    with _unreadable(number):
        raw = file.readline(LARGEST + 1)
    if len(raw) > LARGEST:
        raise _too_large(number)
    return raw


@contextmanager
def _unreadable(number: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"line {number}", f"cannot be read: {error.strerror or error}") from error


def _too_large(number: int) -> BadInput:
    return BadInput(
        f"line {number}",
        f"a conversation of more than {LARGEST >> 20} MB; split it, or give one conversation in each line",
    )


def _decode_opening(first: RawLine, file: IO[bytes]) -> tuple[Json, bool]:
    """Decode the first line; if it just is not complete, the file is one value over many lines."""
    number, text = first.number, decode_text(first.raw, first.number)
    try:
        return parse_value(text), False
    except BadInput as error:
        raise BadInput(f"line {number}", error.problem) from error
    except json.JSONDecodeError as error:
        if error.pos < len(text.rstrip()) and not error.msg.startswith("Unterminated"):
            raise not_json(error, number) from error
    with _unreadable(number + 1):
        rest = file.read(LARGEST - len(first.raw) + 1)
    if len(first.raw) + len(rest) > LARGEST:
        raise _too_large(number)
    return decode_value(text + decode_text(rest, number), number), True


def _more_lines(file: IO[bytes], number: int) -> Iterator[RawLine]:
    while True:
        number += 1
        try:
            raw = _read_line(file, number)
        except BadInput as error:
            yield RawLine(number, b"", error)
            if not _skip_line(file):
                return
            continue
        if not raw:
            return
        if raw.strip():
            yield RawLine(number, raw)


def _skip_line(file: IO[bytes]) -> bool:
    """Go to the end of a line that is too large; tell whether there is one, and it can be read."""
    try:
        while part := file.readline(LARGEST):
            if part.endswith(b"\n"):
                return True
    except OSError:
        pass  # said already: that is why the line was given up
    return False


def _value(line: RawLine) -> Json:
    if line.problem is not None:
        raise line.problem
    return decode_value(decode_text(line.raw, line.number), line.number)


def _gathered(lines: Iterable[RawLine]) -> History:
    """Gather messages that stand one in a line: together they are one conversation."""
    messages: list[JsonObject] = []
    size = 0
    for line in lines:
        value, size = _value(line), size + len(line.raw)
        if size > LARGEST:
            raise _too_large(line.number)
        if not isinstance(value, dict) or not is_message(value):
            raise BadInput(
                f"line {line.number}", "expected a message like those before: an object with a role"
            )
        messages.append(value)
    return History(where="", messages=messages, body={}, shape="lines")
