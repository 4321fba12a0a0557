"""Makes any list of messages valid for a provider, and reports every repair.

`check(harden(messages, rules).messages, rules)` is empty for every input, and a list that is valid already comes
back as it was. Nothing a person or a tool said is dropped: what cannot stay in its place is sent as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from octavo.core.messages import (
    Image,
    Message,
    Part,
    Reasoning,
    Spot,
    Text,
    ToolCall,
    ToolResult,
    pair_tools,
    user,
)
from octavo.core.protocol import Rules, pair_problems, says_something, side
from octavo.core.split import lead
from octavo.core.transcript import describe

NO_RESULT = "[no result: the call was interrupted]"
OPENER = "[The conversation goes on.]"
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The strictest provider's idea of a call id."""

Fix = Literal["dropped", "text", "result", "moved", "renamed", "role", "opener", "merged", "image"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was changed so that a provider accepts the messages."""

    fix: Fix
    index: int
    """The message it was made in, counted in the list that was handed in or, for later steps, in the list so far."""
    detail: str


@dataclass(frozen=True, slots=True)
class Hardened:
    """Valid messages, and what it took."""

    messages: tuple[Message, ...]
    repairs: tuple[Repair, ...]

    @property
    def faults(self) -> tuple[Repair, ...]:
        """The repairs of real faults.

        Joining two messages of one side is none, because it only changes their layout.
        """
        return tuple(repair for repair in self.repairs if repair.fix != "merged")


@dataclass(slots=True)
class _Log:
    repairs: list[Repair] = field(default_factory=list)

    def __call__(self, fix: Fix, index: int, detail: str) -> None:
        self.repairs.append(Repair(fix, index, detail))


def harden(messages: Sequence[Message], rules: Rules) -> Hardened:
    """Repair what a provider would reject."""
    log = _Log()
    result = tuple(messages)
    if not rules.vision:
        result = _without_images(result, log)
    result = _with_content(result, log)
    paired = _paired(result, log)
    if rules.followed:
        # After the pairing: an answer that moves behind its call may have been all that followed a thought.
        paired = _without_last_thoughts(paired, log)
    # It may also have been all that a message said.
    result = paired if paired == result else _with_content(paired, log)
    if rules.unique_ids:
        result = _with_unique_ids(result, log)
    if rules.system_front:
        result = _with_system_in_front(result, log)
    if rules.user_first:
        result = _with_user_first(result, log)
    if rules.alternate:
        result = _alternating(result, log)
    return Hardened(result, tuple(log.repairs))


_Tell = Callable[[Fix, int, str], None]


def _without_images(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    def marker(image: Image, index: int) -> Text:
        tell("image", index, "an image became a marker: the model does not look at images")
        return Text(text=describe(image))

    def blind(part: Part, index: int) -> Part:
        match part:
            case Image():
                return marker(part, index)
            case ToolResult() if any(isinstance(piece, Image) for piece in part.content):
                content = (marker(p, index) if isinstance(p, Image) else p for p in part.content)
                return replace(part, content=tuple(content))
            case _:
                return part

    return tuple(
        replace(message, parts=tuple(blind(part, i) for part in message.parts))
        if any(isinstance(part, Image | ToolResult) for part in message.parts)
        else message
        for i, message in enumerate(messages)
    )


def _with_content(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    kept: list[Message] = []
    for i, message in enumerate(messages):
        if len(message.parts) == 1 and says_something(message.parts[0]):
            kept.append(message)
            continue
        blank = [part for part in message.parts if isinstance(part, Text) and not part.text.strip()]
        if not any(says_something(part) for part in message.parts):
            tell("dropped", i, f"an empty {message.role} message was left out")
        elif blank:
            kept.append(replace(message, parts=tuple(part for part in message.parts if part not in blank)))
            tell("dropped", i, "blank text was left out")
        else:
            kept.append(message)
    return tuple(kept)


def _without_last_thoughts(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    """Leave out thoughts at the end of a message: a provider refuses a thought that nothing follows."""
    out: list[Message] = []
    for i, message in enumerate(messages):
        end = len(message.parts)
        while end and isinstance(message.parts[end - 1], Reasoning):
            end -= 1
        if end < len(message.parts):
            tell("dropped", i, "a thought without what it led to was left out")
        if end:
            out.append(message if end == len(message.parts) else replace(message, parts=message.parts[:end]))
    return tuple(out)


def _paired(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    """Put every result right behind its call, invent the missing ones, turn the others into text."""
    if not any(pair_problems(messages)):
        return messages
    pairing = pair_tools(messages)
    calls_allowed = {i for i, message in enumerate(messages) if message.role == "assistant"}
    answers = {call: result for call, result in pairing.answers.items() if call[0] in calls_allowed}
    placed = set(answers.values())
    out: list[Message] = []
    for i, message in enumerate(messages):
        rest = _rest(message, i, placed, tell)
        if rest:
            out.append(_remainder(message, rest))
        if i in calls_allowed and message.calls:
            out.extend(_answers(messages, i, answers, tell))
    return tuple(out)


def _remainder(message: Message, rest: tuple[Part, ...]) -> Message:
    """Make a message of the parts that are left; words that are left of a tool message become the user's."""
    return replace(message, parts=rest, role="user" if message.role == "tool" else message.role)


def _rest(message: Message, index: int, placed: set[Spot], tell: _Tell) -> tuple[Part, ...]:
    """Give what stays of a message when its paired results have moved behind their calls."""
    rest: list[Part] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, ToolResult):
            if (index, at) not in placed:
                tell("text", index, f"a result without its call {part.call_id!r} became text")
                rest.append(Text(text=describe(part)))
        elif isinstance(part, ToolCall) and message.role != "assistant":
            tell("text", index, f"a tool call by the {message.role} became text")
            rest.append(Text(text=describe(part)))
        else:
            rest.append(part)
    return tuple(rest)


def _answers(
    messages: Sequence[Message], index: int, answers: dict[Spot, Spot], tell: _Tell
) -> Iterable[Message]:
    """Give the tool messages that answer all calls of one message, as they were if they were right."""
    calls = [(at, part) for at, part in enumerate(messages[index].parts) if isinstance(part, ToolCall)]
    spots = [answers.get((index, at)) for at, _ in calls]
    home = [spot for spot in spots if spot is not None]
    if len(home) == len(calls) and (original := _in_place(messages, index, home)) is not None:
        return original
    results: list[Message] = []
    for (_, call), spot in zip(calls, spots, strict=True):
        if spot is None:
            tell("result", index, f"the call {call.id!r} got the result that it was interrupted")
            missing = ToolResult(call_id=call.id, name=call.name, content=(Text(text=NO_RESULT),), error=True)
            results.append(Message(role="tool", parts=(missing,)))
        else:
            tell("moved", spot[0], f"the result of {call.id!r} was put behind its call")
            results.append(Message(role="tool", parts=(messages[spot[0]].parts[spot[1]],)))
    return results


def _in_place(messages: Sequence[Message], index: int, home: list[Spot]) -> list[Message] | None:
    """Give the messages right behind a call that hold its results and nothing else, in order; None if they do not."""
    expected: list[Spot] = []
    holders: list[Message] = []
    for i in range(index + 1, len(messages)):
        if len(expected) >= len(home) or not messages[i].results:
            break
        results = [(i, at) for at, part in enumerate(messages[i].parts) if isinstance(part, ToolResult)]
        expected.extend(results)
        holders.append(
            replace(messages[i], role="tool", parts=tuple(messages[i].parts[at] for _, at in results))
        )
    return holders if expected == home else None


def _with_unique_ids(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    """Give every call an id of its own; after pairing, a result belongs to the calls right before it."""
    used: set[str] = set()
    current: dict[str, list[str]] = {}
    out: list[Message] = []
    for i, message in enumerate(messages):
        parts: list[Part] = []
        for part in message.parts:
            match part:
                case ToolCall():
                    new = _fresh(part.id, used)
                    used.add(new)
                    current.setdefault(part.id, []).append(new)
                    if new != part.id:
                        tell("renamed", i, f"the call id {part.id!r} became {new!r}")
                    parts.append(part if new == part.id else replace(part, id=new))
                case ToolResult():
                    new = current[part.call_id].pop(0)
                    parts.append(part if new == part.call_id else replace(part, call_id=new))
                case _:
                    parts.append(part)
        out.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return tuple(out)


def _fresh(id: str, used: set[str]) -> str:
    base = id if SAFE_ID.fullmatch(id) else re.sub(r"[^A-Za-z0-9_-]", "_", id)[:48] or "call"
    new, n = base, 1
    while new in used:
        n += 1
        new = f"{base[:48]}-{n}"
    return new


def _with_system_in_front(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    start = lead(messages)
    out = list(messages[:start])
    for i in range(start, len(messages)):
        if messages[i].role == "system":
            tell("role", i, "a system message in the middle was sent as the user's")
            parts = (Text(text="[Note from the system]"), *messages[i].parts)
            out.append(replace(messages[i], role="user", parts=parts, wire=None))
        else:
            out.append(messages[i])
    return tuple(out)


def _with_user_first(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    start = lead(messages)
    if start == len(messages) or messages[start].role == "user":
        return messages
    tell("opener", start, "the first turn is the user's: an opening line was put before it")
    return (*messages[:start], user(OPENER), *messages[start:])


def _alternating(messages: tuple[Message, ...], tell: _Tell) -> tuple[Message, ...]:
    start = lead(messages)
    out = list(messages[:start])
    for i in range(start, len(messages)):
        message = messages[i]
        if len(out) > start and side(out[-1]) == side(message):
            if not (message.role == "tool" and out[-1].role == "tool"):
                tell("merged", i, f"joined with the {side(message)} message before it")
            out[-1] = _joined(out[-1], message)
        else:
            out.append(message)
    return tuple(out)


def _joined(first: Message, second: Message) -> Message:
    """Join two messages of one side; paired results come before other words, so the order of both is right."""
    name = first.name if first.name == second.name else ""
    return Message(role=first.role, parts=first.parts + second.parts, name=name)
