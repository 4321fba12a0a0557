"""Messages as labelled blocks of text, and blocks divided into chunks that a small window holds.

Nothing is lost and nothing comes twice: every block is in exactly one chunk, in order, unless it alone is too large;
then its pieces, put together, are the block. A chunk ends between turns if it can, between messages if it must.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from octavo.core.context import UNSENT
from octavo.core.messages import Branch, Message, Part, Spot, ToolCall, ToolResult, opens_turn, pair_tools
from octavo.core.transcript import LABELS, RESULT_CAP, shorten, transcript

JOINT = 4
"""Tokens a block may cost beyond its own text: the blank line before it, and a token torn at either end."""
CONTINUED = "[continued] "
"""Opens a chunk that begins in the middle of a message."""
SHRINK = 0.9
"""What is tried next of a piece that is too large because its characters cost more than the message's on average."""
NEAR_END = 5
"""A piece is cut at the last line break or blank of its last fifth; further back, too much room would be wasted."""

Measure: TypeAlias = Callable[[str], int]

_LABEL = re.compile(
    rf"([\n\r\u2028\u2029])(?=[ \t]*(?:{'|'.join(LABELS.values())})(?: \([^()\n]*\))?:)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A message as text, or a piece of one."""

    source: str
    """The node it shows."""
    text: str
    opens: bool = False
    """Whether a turn begins here."""
    piece: int = 0
    """Which piece of its message it is, if that had to be divided."""


Chunk: TypeAlias = tuple[TextBlock, ...]


def blocks(branch: Branch) -> tuple[TextBlock, ...]:
    """Show the messages of a branch that say something, long tool results and arguments by head and tail."""
    nodes = [node for node in branch if node.status not in UNSENT]
    shown = _named([node.message for node in nodes])
    return tuple(
        TextBlock(source=node.id, text=text, opens=opens_turn(node.message))
        for node, message in zip(nodes, shown, strict=True)
        if (text := _LABEL.sub(r"\1| ", transcript([message])))
    )


def text_of(chunk: Sequence[TextBlock]) -> str:
    """Put the blocks of a chunk together."""
    text = "\n\n".join(block.text for block in chunk)
    return CONTINUED + text if chunk and chunk[0].piece else text


def _named(messages: Sequence[Message]) -> list[Message]:
    """Say with every result which tool it came from, and bound what calls were given."""
    names = {
        result: part.name
        for call, result in pair_tools(messages).answers.items()
        if isinstance(part := messages[call[0]].parts[call[1]], ToolCall)
    }
    return [
        replace(message, parts=tuple(_part(part, (i, at), names) for at, part in enumerate(message.parts)))
        for i, message in enumerate(messages)
    ]


def _part(part: Part, spot: Spot, names: dict[Spot, str]) -> Part:
    match part:
        case ToolResult(name=""):
            return replace(part, name=names.get(spot, ""))
        case ToolCall():
            return replace(part, input=shorten(part.input, RESULT_CAP))
        case _:
            return part


def divide(blocks: Sequence[TextBlock], room: int, measure: Measure) -> tuple[Chunk, ...]:
    """Divide blocks into chunks of at most `room`."""
    chunks: list[Chunk] = []
    size = room
    for unit, cost in _units(blocks, room, measure):
        if size + cost > room:
            chunks.append(unit)
            size = cost
        else:
            chunks[-1] += unit
            size += cost
    return tuple(chunks)


def _units(blocks: Sequence[TextBlock], room: int, measure: Measure) -> Iterator[tuple[Chunk, int]]:
    """Give what is not to be parted, with its cost: turns; messages of turns that are too large; pieces of those."""
    for turn in _turns(blocks):
        costs = [measure(block.text) + JOINT for block in turn]
        if sum(costs) <= room:
            yield turn, sum(costs)
            continue
        for block, cost in zip(turn, costs, strict=True):
            pieces = [(block, cost)] if cost <= room else _pieces(block, room, measure)
            yield from (((piece,), each) for piece, each in pieces)


def _turns(blocks: Sequence[TextBlock]) -> list[Chunk]:
    turns: list[Chunk] = []
    for block in blocks:
        if block.opens or not turns:
            turns.append((block,))
        else:
            turns[-1] += (block,)
    return turns


def _pieces(block: TextBlock, room: int, measure: Measure) -> Iterator[tuple[TextBlock, int]]:
    text, start, number = block.text, 0, 0
    most = max(1, room - JOINT - measure(CONTINUED))
    step = max(1, len(text) * most // max(1, measure(text)))
    while start < len(text):
        end = min(len(text), start + step)
        while (cost := measure(text[start:end])) > most and end - start > 1:
            end = start + int((end - start) * SHRINK)
        if end < len(text):
            end = _gentle(text, start, end)
            cost = measure(text[start:end])
        opens = block.opens and number == 0
        piece = replace(block, text=text[start:end], opens=opens, piece=number)
        yield piece, cost + JOINT + measure(CONTINUED)
        start, number = end, number + 1


def _gentle(text: str, start: int, end: int) -> int:
    """Move a cut back to a line break or a blank, if one is near."""
    earliest = end - (end - start) // NEAR_END
    for mark in ("\n", " "):
        at = text.rfind(mark, earliest, end)
        if at > start:
            return at + 1
    return end
