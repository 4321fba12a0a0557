"""How a message lies in its row: searchable words in one column, the rest of its structure as JSON in another.

Words are stored once: where the JSON form of a message has a text, the stored structure has only its length, and the
words stand in the text column in the same order. A plain message has no structure at all. Strings that are too long
for a row lie in their own table, cut into chunks, and leave a reference and their beginning behind.
`unpack(pack(message)) == message` for every message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from octavo.core.json_values import Json, JsonObject, compact
from octavo.core.message_json import dump, load
from octavo.core.messages import Message, Role, Text
from octavo.errors import StoreError

LARGE = 32_000
"""Characters from which a string is kept apart: about ten times a long answer, so that only outputs and files are."""
ROW = 96_000
"""Characters of text a row holds at most: PostgreSQL's text search refuses a row of more than 1 MB of words."""
CHUNK = 96_000
"""Characters of a chunk of large text; bounded by the same limit."""
HEAD = 500
"""Characters of a large text that stay with the message as its preview."""

_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_EMPTY = '{"parts":[]}'


@dataclass(frozen=True, slots=True)
class Packed:
    """A message as it lies in its row; `large` goes to the table of large texts."""

    text: str
    parts: str | None
    large: tuple[str, ...] = ()


EMPTIED = Packed("", _EMPTY)
"""What is left of a deleted message."""


def admit(message: Message) -> Message:
    """Join characters that arrived in two halves (an emoji cut by a stream): JSON could not keep the halves apart."""
    match message:
        case Message(parts=(Text(text=text, wire=None),), name="", wire=None) if text.isascii():
            return message
    whole = compact(dump(message))
    if whole.isascii() or not _HALVES.search(whole):
        return message
    return load(json.loads(_HALVES.sub(_join, whole)))


def _join(halves: re.Match[str]) -> str:
    return halves[0].encode("utf-16", "surrogatepass").decode("utf-16")


def pack(message: Message) -> Packed:
    """Lay a message out for its row."""
    match message:
        case Message(parts=(Text(text=text, wire=None),), name="", wire=None) if len(text) <= LARGE:
            return Packed(text, None)
    body = dump(message)
    del body["role"]
    shelf = _Shelf([], [])
    shelf.clear(body)
    return Packed("\n".join(shelf.words), compact(body), tuple(shelf.large))


@dataclass(slots=True)
class _Shelf:
    """Takes the strings out of a message's JSON form, leaving lengths and references."""

    words: list[str]
    large: list[str]
    room: int = ROW

    def clear(self, value: JsonObject) -> None:
        searchable = value.get("type") == "text"
        for key, item in value.items():
            if isinstance(item, dict):
                self.clear(item)
            elif isinstance(item, list):
                for piece in item:
                    if isinstance(piece, dict):
                        self.clear(piece)
            elif isinstance(item, str):
                value[key] = self._take(item, searchable=searchable and key == "text")

    def _take(self, text: str, *, searchable: bool) -> Json:
        if len(text) > LARGE or (searchable and len(text) >= self.room):
            self.large.append(text)
            return {"large": len(self.large) - 1, "chars": len(text), "head": text[:HEAD]}
        if not searchable:
            return text
        self.words.append(text)
        self.room -= len(text) + 1
        return len(text)


def unpack(role: Role, packed: Packed, *, previews: bool = False) -> Message:
    """Put a message together again; with `previews`, large texts are represented by their beginning."""
    if packed.parts is None:
        return Message(role=role, parts=(Text(text=packed.text),))
    body = json.loads(packed.parts)
    _Filling(packed.text, None if previews else packed.large).fill(body)
    return load({"role": role, **body})


@dataclass(slots=True)
class _Filling:
    """Puts strings back where `_Shelf` took them out."""

    words: str
    large: Sequence[str] | None
    at: int = 0

    def fill(self, value: JsonObject) -> None:
        searchable = value.get("type") == "text"
        for key, item in value.items():
            if isinstance(item, dict):
                if "large" in item:
                    value[key] = self._whole(key, item)
                else:
                    self.fill(item)
            elif isinstance(item, list):
                for piece in item:
                    if isinstance(piece, dict):
                        self.fill(piece)
            elif searchable and key == "text" and isinstance(item, int):
                value[key] = self.words[self.at : self.at + item]
                self.at += item + 1

    def _whole(self, key: str, reference: Mapping[str, Json]) -> str:
        if self.large is None:
            return preview(key, reference)
        index, chars = reference["large"], reference["chars"]
        if not isinstance(index, int) or index >= len(self.large) or len(self.large[index]) != chars:
            raise StoreError(
                f"a large text of {chars} characters is not there as it was stored: run the store's check"
            )
        return self.large[index]


def preview(key: str, reference: Mapping[str, Json]) -> str:
    """Say in place of a large text how it begins and how much there is; a file's content is left out."""
    head, chars = str(reference["head"]), reference["chars"]
    if key == "fields":
        return "{}"
    if key != "text" or not isinstance(chars, int):
        return ""
    return f"{head}\n[… {chars - len(head):,} more characters are stored]"


def chunks(text: str) -> list[str]:
    """Cut a large text into chunks, after white space where there is some, so that no word is cut."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > CHUNK:
        stop = start + CHUNK
        space = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop))
        stop = space + 1 if space > start + CHUNK // 2 else stop
        pieces.append(text[start:stop])
        start = stop
    return [*pieces, text[start:]]
