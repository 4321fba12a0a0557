"""A conversation as JSON, in whatever shape it came, and back into the same shape.

Accepted: an array of messages, or an object that holds them, such as the body of a request to OpenAI, Anthropic or
Gemini. Whatever is wrong is one `BadInput`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, cast

from octavo.core.json_values import Json, JsonObject
from octavo.errors import BadInput, UsageError

if TYPE_CHECKING:
    from octavo.core.wire import Format

_MESSAGES = ("messages", "contents")
_SYSTEM = ("system", "systemInstruction", "system_instruction")
_ESCAPED = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
"""Lone surrogates, which UTF-8 cannot hold, and characters that some readers of JSON Lines take for the end of a
line."""


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


def decode_text(raw: bytes, number: int) -> str:
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


def parse_value(text: str) -> Json:
    try:
        return cast("Json", _decoder.decode(text.strip()))
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise BadInput("", "nested too deeply") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise BadInput("", str(error)) from error


def decode_value(text: str, number: int) -> Json:
    try:
        return parse_value(text)
    except json.JSONDecodeError as error:
        raise not_json(error, number) from error
    except BadInput as error:
        raise BadInput(f"line {number}", error.problem) from error


def not_json(error: json.JSONDecodeError, number: int) -> BadInput:
    cut_off = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
    why = "the text ends inside a value: it was cut off" if cut_off else error.msg
    return BadInput(f"line {number + error.lineno - 1}", f"not JSON: {why}")


def is_message(value: Json) -> bool:
    return isinstance(value, dict) and "role" in value and not _messages_key(value)


def _messages_key(value: JsonObject) -> str:
    return next((name for name in _MESSAGES if value.get(name) is not None), "")


def read_history(value: Json, where: str, *, indent: int | None) -> History:
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
