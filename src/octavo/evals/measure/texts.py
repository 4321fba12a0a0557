"""Messages as the text that is measured, line by line.

What is said stands as it is; a call is its tool's name and its arguments without quoting, one to a line. Compressors
that answer alike are measured alike, however they dress their answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from octavo.core.messages import Message, ToolCall
from octavo.core.split import lead


def message_text(message: Message) -> str:
    """Write out one message."""
    return "\n".join(piece for piece in _pieces(message) if piece)


def text_of(messages: Iterable[Message]) -> str:
    """Write out messages."""
    return "\n".join(message_text(message) for message in messages)


def divide(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Part the leading system messages from the conversation."""
    start = lead(messages)
    return tuple(messages[:start]), tuple(messages[start:])


def _pieces(message: Message) -> Iterator[str]:
    yield message.text
    for result in message.results:
        yield result.text
    for call in message.calls:
        yield call_text(call)


def call_text(call: ToolCall) -> str:
    """Write a call: the tool, then each argument."""
    try:
        given = json.loads(call.input)
        body = "\n".join(f"{key}: {_spelled(value)}" for key, value in given.items())
    except (ValueError, AttributeError, RecursionError):  # not JSON, not an object, or nested without end
        body = call.input
    return f"{call.name} {body}"


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
