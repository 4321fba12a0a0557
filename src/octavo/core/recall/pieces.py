"""Covered messages as pieces that can be recalled: a short text whole, a long one by sentences and lines.

A piece is a stretch of one text of its message, byte for byte; stretches that follow each other can be joined again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from octavo.core.extract.render import weigh
from octavo.core.extract.units import take_stamp
from octavo.core.messages import Message, Text, ToolResult
from octavo.core.snapshot import Channel

PIECE = 400
"""Bytes of a piece of a long text: about a paragraph, so that an answer stands beside what it answers."""
SHORT = 500
"""Bytes up to which a text is one piece."""

LOOKED_AT = 200_000
"""Characters of one text that are looked at: a tool that prints more prints data."""

_ENDS = re.compile(r"[.!?؟۔।॥…][\"'”’»)\]]*\s+|[。！？｡][」』”’）]*\s*|\n\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a covered message."""

    source: str
    """The node it stands in."""
    depth: int
    channel: Channel
    whole: str
    """The text it is a stretch of."""
    start: int
    stop: int
    part: int = 0
    """Which text of the message that is."""
    last: bool = True
    """Whether its text ends with it."""
    speaker: str = ""
    day: str = ""
    """The day it was said, where that is known; written as its stamp is, if it has one."""

    @property
    def text(self) -> str:
        return self.whole[self.start : self.stop]


def cut(
    source: str, depth: int, message: Message, *, day: str = "", names: Mapping[str, str] | None = None
) -> Iterator[Piece]:
    """Cut a message into pieces; `names` are those of the tools, by call id."""
    for number, (channel, speaker, whole) in enumerate(texts_of(message, names or {})):
        for start, stop in stretches(whole):
            yield Piece(
                source=source,
                depth=depth,
                channel=channel,
                whole=whole,
                start=start,
                stop=stop,
                part=number,
                last=stop == len(whole.rstrip()),
                speaker=speaker,
                day=day,
            )


def stamp_of(message: Message) -> str:
    """Give the day that a message opens with in brackets: it holds for what follows, as it does among extracts."""
    return take_stamp(message.text)[0]


def texts_of(message: Message, names: Mapping[str, str]) -> Iterator[tuple[Channel, str, str]]:
    """Give the texts of a message that can be recalled, each with its channel and who says it."""
    role: Channel = "result" if message.role == "tool" else message.role
    for part in message.parts:
        match part:
            case Text():
                yield role, message.name, part.text
            case ToolResult():
                name = part.name or names.get(part.call_id, "")
                yield from (("result", name, piece.text) for piece in part.content if isinstance(piece, Text))
            case _:
                pass


def stretches(text: str) -> Iterator[tuple[int, int]]:
    """Cut a text after sentences and lines; blanks at the ends of a stretch do not belong to it."""
    text = text[:LOOKED_AT]
    weight = weigh(text)
    if weight <= SHORT:
        yield from _bare(text, 0, len(text))
        return
    size = PIECE * len(text) // weight
    begin = end = 0
    for stop in _stops(text, size):
        if stop - begin > size and end > begin:
            yield from _bare(text, begin, end)
            begin = end
        end = stop
    yield from _bare(text, begin, len(text))


def _stops(text: str, size: int) -> Iterator[int]:
    """Give where a text may be cut: a sentence that is longer than a piece is cut at a blank, or anywhere."""
    at = 0
    for stop in (*(found.end() for found in _ENDS.finditer(text)), len(text)):
        while stop - at > size:
            blank = text.rfind(" ", at + size // 2, at + size)
            at = blank + 1 if blank >= 0 else at + size
            yield at
        if stop > at:
            at = stop
            yield at


def _bare(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Give a stretch without the blanks around it, if anything is left."""
    inner = text[start:stop]
    kept = inner.strip()
    if kept:
        begin = start + len(inner) - len(inner.lstrip())
        yield begin, begin + len(kept)
