"""Compresses one line of a large file: a conversation as JSON goes in, and comes out made to fit.

A plain function from text to a flat tuple. It needs nothing but its arguments, so it runs as it is in a process pool,
in Ray Data and in PySpark. A line that cannot be compressed is a result that says why: in a million there are some.
"""

from __future__ import annotations

from typing import NamedTuple, Unpack

from octavo.core.history_json import History, decode_text, decode_value, read_history, rewrap
from octavo.engine.stateless import CompressionOptions, Result, acompress, compress
from octavo.errors import BadInput, ContextOverflow, OctavoError


class CompressedLine(NamedTuple):
    """What became of a line."""

    text: str
    """The conversation in the shape it came in, as one line of JSON without its end; empty where there is none."""
    before: int = 0
    """Tokens."""
    after: int = 0
    messages: int = 0
    covered: int = 0
    """How many of the messages are compressed; 0 when they fitted."""
    summary: str = ""
    receipt: str = ""
    """JSON; empty when they fitted."""
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why there is no text."""


def compress_line(line: str | bytes, **options: Unpack[CompressionOptions]) -> CompressedLine:
    """Compress a conversation that is one line of JSON: an array of messages, or an object with `messages`.

    Tools and system prompt are taken from the object.
    """
    try:
        history = read_line(line)
        return written_line(history, compress(history.messages, **options_for(history, options)))
    except OctavoError as error:
        return CompressedLine("", error=str(error))


async def acompress_line(line: str | bytes, **options: Unpack[CompressionOptions]) -> CompressedLine:
    """Do what `compress_line` does, inside an event loop."""
    try:
        history = read_line(line)
        return written_line(history, await acompress(history.messages, **options_for(history, options)))
    except OctavoError as error:
        return CompressedLine("", error=str(error))


def read_line(line: str | bytes) -> History:
    """Read a conversation out of a line; raise `BadInput` if there is none."""
    try:
        value = decode_value(line if isinstance(line, str) else decode_text(line, 1), 1)
    except BadInput as error:
        raise BadInput("", error.problem) from error
    return read_history(value, "", indent=None)


def options_for(history: History, options: CompressionOptions) -> CompressionOptions:
    """Add what the conversation brings along to what is asked."""
    return {"format": history.format, "tools": history.tools, "system": history.system, **options}


def written_line(history: History, result: Result) -> CompressedLine:
    """Write a result as a line."""
    check_left(history, result)
    return CompressedLine(
        text=rewrap(history, result.messages, result.system).rstrip("\n"),
        before=result.before,
        after=result.after,
        messages=len(history.messages),
        covered=result.covered,
        summary=result.snapshot.summary if result.snapshot else "",
        receipt=result.receipt.to_json() if result.receipt else "",
        notes=result.notes,
    )


def check_left(history: History, result: Result) -> None:
    """Refuse a result that no longer says anything: no provider takes it, and nobody wants it."""
    if history.messages and not result.messages:
        raise ContextOverflow(
            "no message fits: give a larger budget or ratio", {"needed": result.before, "left": result.after}
        )
