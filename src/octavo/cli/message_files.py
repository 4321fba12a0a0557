"""Message lists out of a file or a pipe, and back into the shape they came in.

Accepted: one JSON array of messages; one object that holds them, such as the body of a request to OpenAI, Anthropic
or Gemini; JSON Lines of messages; JSON Lines of such arrays or objects. Memory is bounded by one conversation, and a
conversation by `LARGEST`. Whatever is wrong is one `BadInput` that names the line.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NoReturn, cast

from octavo.core.json_values import Json, JsonObject
from octavo.errors import BadInput, UsageError

if TYPE_CHECKING:
    from octavo.core.wire import Format

LARGEST = 64 << 20
"""Bytes of one conversation: ten times what the largest window holds as text, with room for pictures."""
STDIN = "-"
_MESSAGES = ("messages", "contents")
_SYSTEM = ("system", "systemInstruction", "system_instruction")
_ESCAPED = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
"""Lone surrogates, which UTF-8 has no form for, and what some readers of JSON Lines take for the end of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A conversation as it was handed in."""

    where: str
    """The line it begins in; empty when it is all there is."""
    messages: list[JsonObject]
    body: JsonObject
    """The object that held it, without the messages; empty for bare lists."""
    shape: Literal["list", "lines", "object"]
    indent: int | None = None
    """How it was written: on one line, or indented."""

    @property
    def key(self) -> str:
        """The name its object gives the messages."""
        return "contents" if self.body.get("contents") is not None else "messages"

    @property
    def system(self) -> Json:
        return next((self.body[name] for name in _SYSTEM if self.body.get(name) is not None), None)

    @property
    def tools(self) -> list[JsonObject]:
        found = self.body.get("tools")
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(tool, dict) for tool in found):
            raise BadInput(_at(self.where, "tools"), "expected a list of tool definitions")
        return cast("list[JsonObject]", found)

    @property
    def format(self) -> Format:
        """Tell the format, from the object's own names first."""
        from octavo.core.wire import detect

        if self.body.get("contents") is not None or {"systemInstruction", "system_instruction"} & set(
            self.body
        ):
            return "gemini"
        if self.body.get("system") is not None:
            return "anthropic"
        return detect(self.messages)


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
    number, first = _first_line(file)
    value, whole = _decode_opening(first, number, file)
    if whole:
        yield _one(value, "", indent=2)
        return
    rest = _more_lines(file, number)
    following = next(rest, None)
    if following is None and not _is_message(value):
        yield _one(value, "", indent=None)
        return
    lines = _chained((number, value, len(first)), following, rest)
    yield from _loose(lines) if _is_message(value) else _each(lines)


def _first_line(file: IO[bytes]) -> tuple[int, bytes]:
    number = 0
    while raw := _read_line(file, number + 1):
        number += 1
        if raw.removeprefix(b"\xef\xbb\xbf").strip():
            return number, raw.removeprefix(b"\xef\xbb\xbf")
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


def _decode_opening(first: bytes, number: int, file: IO[bytes]) -> tuple[Json, bool]:
    """Decode the first line; if it just is not complete, the file is one value over many lines."""
    text = _text(first, number)
    try:
        return _parse(text), False
    except BadInput as error:
        raise BadInput(f"line {number}", error.problem) from error
    except json.JSONDecodeError as error:
        if error.pos < len(text.rstrip()) and not error.msg.startswith("Unterminated"):
            raise _not_json(error, number) from error
    with _unreadable(number + 1):
        rest = file.read(LARGEST - len(first) + 1)
    if len(first) + len(rest) > LARGEST:
        raise _too_large(number)
    return _decode(text + _text(rest, number), number), True


def _more_lines(file: IO[bytes], number: int) -> Iterator[tuple[int, Json, int]]:
    while raw := _read_line(file, number + 1):
        number += 1
        if raw.strip():
            yield number, _decode(_text(raw, number), number), len(raw)


def _chained(
    first: tuple[int, Json, int],
    second: tuple[int, Json, int] | None,
    rest: Iterator[tuple[int, Json, int]],
) -> Iterator[tuple[int, Json, int]]:
    yield first
    if second is not None:
        yield second
    yield from rest


def _text(raw: bytes, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + raw.count(b"\n", 0, error.start)
        raise BadInput(
            f"line {line}", f"not UTF-8 text (byte 0x{raw[error.start]:02x}); is this a JSON file?"
        ) from None


def _refuse(constant: str) -> NoReturn:
    raise BadInput("", f"{constant} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def _parse(text: str) -> Json:
    try:
        return cast("Json", _decoder.decode(text.strip()))
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise BadInput("", "nested too deeply") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise BadInput("", str(error)) from error


def _decode(text: str, number: int) -> Json:
    try:
        return _parse(text)
    except json.JSONDecodeError as error:
        raise _not_json(error, number) from error
    except BadInput as error:
        raise BadInput(f"line {number}", error.problem) from error


def _not_json(error: json.JSONDecodeError, number: int) -> BadInput:
    cut_off = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
    why = "the text ends inside a value: it was cut off" if cut_off else error.msg
    return BadInput(f"line {number + error.lineno - 1}", f"not JSON: {why}")


def _is_message(value: Json) -> bool:
    return isinstance(value, dict) and "role" in value and not _messages_key(value)


def _messages_key(value: JsonObject) -> str:
    return next((name for name in _MESSAGES if value.get(name) is not None), "")


def _loose(lines: Iterable[tuple[int, Json, int]]) -> Iterator[History]:
    """Gather messages that stand one in a line: together they are one conversation."""
    messages: list[JsonObject] = []
    size = 0
    for number, value, length in lines:
        size += length
        if size > LARGEST:
            raise _too_large(number)
        if not isinstance(value, dict) or not _is_message(value):
            raise BadInput(f"line {number}", "expected a message like those before: an object with a role")
        messages.append(value)
    yield History(where="", messages=messages, body={}, shape="lines")


def _each(lines: Iterable[tuple[int, Json, int]]) -> Iterator[History]:
    for number, value, _ in lines:
        yield _one(value, f"line {number}", indent=None)


def _one(value: Json, where: str, *, indent: int | None) -> History:
    """Take one value as a conversation."""
    match value:
        case list():
            return History(where=where, messages=_listed(value, where), body={}, shape="list", indent=indent)
        case dict() if key := _messages_key(value):
            messages = _listed(value[key], _at(where, key))
            return History(where=where, messages=messages, body=value, shape="object", indent=indent)
        case dict() if "role" in value:
            return History(where=where, messages=[value], body={}, shape="lines")
    raise BadInput(
        where,
        "expected messages: an array of them, an object with `messages` or `contents`, or one in each line",
    )


def _listed(value: Json, where: str) -> list[JsonObject]:
    if not isinstance(value, list):
        raise BadInput(where, f"expected an array of messages, got {_kind(value)}")
    for i, message in enumerate(value):
        if not isinstance(message, dict):
            raise BadInput(
                f"{where}[{i}]" if where else f"messages[{i}]", f"expected a message, got {_kind(message)}"
            )
    return cast("list[JsonObject]", value)


def _kind(value: Json) -> str:
    names = {str: "text", bool: "true or false", dict: "an object", list: "an array", type(None): "null"}
    return names.get(type(value), "a number")


def _at(where: str, name: str) -> str:
    return f"{where}: {name}" if where else name


def rewrap(history: History, messages: Sequence[JsonObject], system: Json) -> str:
    """Write messages in the shape the conversation came in."""
    if system != history.system and history.shape != "object":
        raise UsageError(
            "this policy speaks in the system prompt, which a bare list of messages has no place for in this "
            "format; give an object with `messages`, or another --policy"
        )
    match history.shape:
        case "lines":
            return "".join(f"{dumped(message)}\n" for message in messages)
        case "list":
            return dumped(cast("Json", list(messages)), indent=history.indent) + "\n"
        case "object":
            return dumped(_refilled(history, messages, system), indent=history.indent) + "\n"


def _refilled(history: History, messages: Sequence[JsonObject], system: Json) -> JsonObject:
    body: JsonObject = {**history.body, history.key: cast("list[Json]", list(messages))}
    if system != history.system:
        name = next((name for name in _SYSTEM if name in body), "")
        body[name or ("systemInstruction" if history.format == "gemini" else "system")] = system
    return body


def dumped(value: Json, *, indent: int | None = None) -> str:
    """Write JSON that any reader takes, also one that cuts it into lines first."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
