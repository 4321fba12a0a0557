"""Pairs calls and results where a format tells them by order only, or wants all results in one message.

Made-up ids depend only on what stands before them in the list, so a longer history gets the same ids again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from octavo.core.json_values import JsonObject, parse
from octavo.core.messages import Message, ToolCall, ToolResult
from octavo.core.wire.notes import notes

MADE_UP = re.compile(r"call_\d+")
"""The ids of calls that came without one."""
APART = "apart"
"""The mark of a tool message that was a message of its own although it could have been joined to the one before."""


@dataclass(slots=True)
class CallPairing:
    """The calls seen so far while a list is read: gives ids to those without, and finds which one a result answers."""

    _seen: set[str] = field(default_factory=set)
    _open: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """By name: the index of the message and the id of each call not answered yet."""

    def copy(self) -> CallPairing:
        """Go on from here, and leave this as it is."""
        return CallPairing(set(self._seen), {name: list(calls) for name, calls in self._open.items()})

    def opened(self, at: int, name: str, id: str = "") -> str:
        """Note a call in the message at index `at`; return its id, made up if it has none."""
        id = id or self._fresh()
        self._seen.add(id)
        self._open.setdefault(name, []).append((at, id))
        return id

    def answered(self, name: str, id: str = "") -> str:
        """Note a result; return the id of the call it answers: by name, the newest message's first open call."""
        waiting = self._open.get(name, [])
        if not id:
            newest = waiting[-1][0] if waiting else 0
            id = next((id for at, id in waiting if at == newest), "") or self._fresh()
        self._seen.add(id)
        self._open[name] = [call for call in waiting if call[1] != id]
        return id

    def _fresh(self) -> str:
        number = len(self._seen) + 1
        while f"call_{number}" in self._seen:
            number += 1
        return f"call_{number}"


def renumber(answer: Message, before: Iterable[Message]) -> Message:
    """Give the calls of an answer the made-up ids that they have when it is read after the messages `before` it."""
    if not any(MADE_UP.fullmatch(call.id) for call in answer.calls):
        return answer
    pairing = CallPairing()
    for message in before:
        for part in message.parts:
            if isinstance(part, ToolCall):
                pairing.opened(0, part.name, part.id)
            elif isinstance(part, ToolResult):
                pairing.answered(part.name, part.call_id)
    parts = (
        replace(part, id=pairing.opened(0, part.name, "" if MADE_UP.fullmatch(part.id) else part.id))
        if isinstance(part, ToolCall)
        else part
        for part in answer.parts
    )
    return replace(answer, parts=tuple(parts))


def input_of(call: ToolCall) -> JsonObject:
    """Give a call's input as the object that Anthropic and Gemini demand, whatever the model wrote."""
    if not call.input.strip():
        return {}
    try:
        value = parse(call.input)
    except ValueError:
        value = call.input
    return value if isinstance(value, dict) else {"input": value}


def joinable(previous: Message | None, message: Message) -> bool:
    """Tell whether a tool message may be joined to the one before: results stand first in a message."""
    return (
        previous is not None
        and previous.role == message.role == "tool"
        and all(isinstance(part, ToolResult) for part in previous.parts)
    )


def join_results(messages: Iterable[Message], format: str) -> tuple[Message, ...]:
    """Bring the results of parallel calls into one message, unless this very format had them apart."""
    joined: list[Message] = []
    for message in messages:
        previous = joined[-1] if joined else None
        if (
            previous is not None
            and joinable(previous, message)
            and not notes(message.wire, format).get(APART)
        ):
            joined[-1] = replace(previous, parts=previous.parts + message.parts)
        else:
            joined.append(message)
    return tuple(joined)
