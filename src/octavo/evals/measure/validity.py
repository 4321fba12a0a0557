"""Tells whether a compressor's result can be sent, by the rules that hold for every provider.

`octavo.core.protocol` is the judge of messages; added here is what only a comparison shows, that the system prompt came
through, and what only a foreign compressor can break, arguments that are JSON no more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from octavo.core.messages import Message
from octavo.core.protocol import Rules, check
from octavo.evals.measure.texts import divide, message_text

COMMON = Rules(name="common", alternate=False, user_first=True, system_front=True, unique_ids=False)
"""What no provider forgives: an orphaned result, an open call, an empty turn, a system message in the middle."""
TOLERANCE = 1.02
SLACK = 8
"""A compressor may be off by this share and so many tokens: it cannot foresee how its own message is framed."""


def problems(messages: Sequence[Message], original: Sequence[Message]) -> tuple[str, ...]:
    """List everything that forbids sending messages made of the original ones."""
    return (*check(messages, COMMON), *_arguments(messages), *_system(messages, original))


def overruns(tokens: int, budget: int) -> bool:
    """Tell whether a result is larger than it may be."""
    return tokens > budget * TOLERANCE + SLACK


def _arguments(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        for call in message.calls:
            try:
                json.loads(call.input)
            except (ValueError, RecursionError):
                yield f"messages[{index}]: the arguments of {call.name} are not JSON"


def _system(messages: Sequence[Message], original: Sequence[Message]) -> Iterator[str]:
    prompt = next((message_text(message) for message in divide(original)[0]), "")
    if (
        not any(prompt in message_text(message) for message in messages if message.role == "system")
        and prompt
    ):
        yield "the system prompt is lost"
