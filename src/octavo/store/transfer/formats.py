"""The formats that can be read, by name, and how to tell one from the first value of a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Literal, get_args

from octavo.core.json_values import Json
from octavo.errors import BadInput
from octavo.store.transfer.chatgpt import read_chatgpt
from octavo.store.transfer.claude import read_claude
from octavo.store.transfer.items import Item, Reader
from octavo.store.transfer.lists import read_list, read_openassistant, read_plain
from octavo.store.transfer.native import read_native
from octavo.store.transfer.source import SourceValue

Format = Literal[
    "octavo", "openai", "anthropic", "gemini", "wave", "chatgpt", "claude", "openassistant", "plain"
]
FORMATS: tuple[Format, ...] = get_args(Format)

_READERS: dict[Format, Reader] = {
    "octavo": read_native,
    "openai": partial(read_list, "openai"),
    "anthropic": partial(read_list, "anthropic"),
    "gemini": partial(read_list, "gemini"),
    "wave": partial(read_list, "wave"),
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "openassistant": read_openassistant,
    "plain": read_plain,
}


def read_items(values: Iterator[SourceValue], format: Format | None = None) -> Iterator[Item]:
    """Read a file in a format, or in the one it seems to be in."""
    if format is not None:
        if format not in _READERS:
            raise BadInput("format", f"unknown format {format!r}; one of {', '.join(FORMATS)}")
        return _READERS[format](values)
    first = next(values, None)
    if first is None:
        raise BadInput("", "the file is empty")
    return _guess(first.value, first.where)(chain([first], values))


def _guess(value: Json, where: str) -> Reader:
    match value:
        case {"octavo": _, "type": _}:
            return read_native
        case {"mapping": _}:
            return read_chatgpt
        case {"chat_messages": _}:
            return read_claude
        case {"message_tree_id": _} | {"tree_id": _, "messages": _}:
            return read_openassistant
        case {"role": _, "id": _, "parent_id": _}:
            return read_plain
        case (
            {"messages": _}
            | {"role": _, "content": _}
            | {"role": _, "parts": _}
            | {"role": _, "blocks": _}
            | {"type": "compress", "content": _}
        ):
            return partial(read_list, None)
    raise BadInput(where, f"cannot tell the format of this file; name it: one of {', '.join(FORMATS)}")
