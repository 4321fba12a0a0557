"""What was said, without how it was dressed: the form in which messages are recognised and stored.

Clients drop thinking, empty texts and the spaces a model wrote into its arguments, and send the rest back. Two
messages that differ in nothing else have one canonical form, and so one digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from octavo.core.fields import Json, compact, parse
from octavo.core.messages import Message, Part, Reasoning, Text, ToolCall, Wire, chain, opens_turn
from octavo.core.wire import Format, write

THOUGHTS = "thoughts"
"""Where a stored message keeps the thinking that came with it: beside what was said."""


def bare(message: Message) -> Message:
    """Leave out thinking and empty texts; the rest is what is counted."""
    said = tuple(part for part in message.parts if not _is_dressing(part))
    return message if len(said) == len(message.parts) else replace(message, parts=said)


def _is_dressing(part: Part) -> bool:
    return isinstance(part, Reasoning) or (isinstance(part, Text) and not part.text)


def plain(message: Message) -> Message:
    """Give the canonical form of a message."""
    said = bare(message)
    if not any(isinstance(part, ToolCall) for part in said.parts):
        return said
    parts = tuple(_respaced(part) if isinstance(part, ToolCall) else part for part in said.parts)
    return said if parts == said.parts else replace(said, parts=parts)


def _respaced(call: ToolCall) -> ToolCall:
    """Write arguments as our own reading would: libraries parse them, and write them again with other spaces."""
    try:
        input = compact(parse(call.input))
    except ValueError:
        return call
    return call if input == call.input else replace(call, input=input)


def stored_form(message: Message, format: Format) -> Message:
    """Give a message as it is stored: its thinking is kept, as a note that is not part of what was said."""
    said = plain(message)
    thinking = tuple(part for part in message.parts if isinstance(part, Reasoning))
    if not thinking:
        return said
    thoughts = replace(message, parts=thinking, wire=None)
    noted: Json = {THOUGHTS: [*write(format, [thoughts]).messages]}
    return replace(said, wire=Wire(format, compact(noted)))


def digests_of(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Digest every beginning of a list of messages."""
    found: list[bytes] = []
    value = b""
    for message in messages:
        value = chain(value, plain(message))
        found.append(value)
    return tuple(found)


def first_turn(messages: Sequence[Message]) -> int:
    """How many messages there are up to the first question: what has less in common is another conversation."""
    return next((i + 1 for i, message in enumerate(messages) if opens_turn(message)), 1)
