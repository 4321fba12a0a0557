"""Messages as values, nodes as their places in the tree, turns and tool units as views of both.

A `Message` holds what was said and nothing about where it is stored: equal contents are equal values. A `Node`
places one in a conversation. Nothing here is ever edited; a change is a new node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from octavo.core.pickled import pickled_quickly

Role = Literal["user", "assistant", "system", "tool"]
Status = Literal["complete", "streaming", "aborted", "error", "deleted"]
"""`error` is for people only and never sent; `deleted` is an emptied place that keeps the tree in shape."""
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")


@pickled_quickly
@dataclass(frozen=True, slots=True)
class Wire:
    """What a wire format said beyond the value: carried along, read only by the format that wrote it."""

    format: str
    fields: str
    """A JSON object as text."""


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words, as they were written."""

    text: str
    wire: Wire | None = None


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """A model's thinking, kept for the record and for providers that want it back."""

    text: str
    wire: Wire | None = None


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture by address: an URL, a data URL, or a provider's file id."""

    source: str
    media_type: str = ""
    width: int = 0
    """Pixels; 0 when unknown."""
    height: int = 0
    wire: Wire | None = None


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message; `source` is where its content is, if anywhere."""

    name: str
    media_type: str = ""
    size: int = 0
    """Bytes; 0 when unknown."""
    source: str = ""
    wire: Wire | None = None


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to run a tool."""

    id: str
    name: str
    input: str
    """The arguments as JSON text, exactly as the model wrote them."""
    wire: Wire | None = None


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered to the call of that id."""

    call_id: str
    content: tuple[Text | Image | Attachment | Opaque, ...]
    name: str = ""
    error: bool = False
    wire: Wire | None = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A part this version does not know; only the format that wrote it gets it back."""

    kind: str
    wire: Wire


Part: TypeAlias = Text | Reasoning | Image | Attachment | ToolCall | ToolResult | Opaque


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: who said it, and its parts in order."""

    role: Role
    parts: tuple[Part, ...]
    name: str = ""
    """The speaker's name, where a provider has such a field."""
    wire: Wire | None = None

    @property
    def text(self) -> str:
        """The words of the message itself; tool results and reasoning are not among them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return tuple(part for part in self.parts if isinstance(part, Attachment))


def user(text: str) -> Message:
    """Make a user message of one text."""
    return Message(role="user", parts=(Text(text=text),))


def assistant(text: str) -> Message:
    """Make an assistant message of one text."""
    return Message(role="assistant", parts=(Text(text=text),))


def system(text: str) -> Message:
    """Make a system message of one text."""
    return Message(role="system", parts=(Text(text=text),))


@pickled_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A message's place in a conversation."""

    id: str
    parent: str | None
    depth: int
    """How many messages the branch to this node has: 1 for a root."""
    message: Message
    status: Status = "complete"
    counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Tokens by tokenizer, as far as they were counted."""


Branch: TypeAlias = tuple[Node, ...]
"""The path from a root to a tip, oldest first."""


def place(messages: Iterable[Message], *, prefix: str = "m", after: Branch = ()) -> Branch:
    """Line messages up as one branch with ids `m1`, `m2`, ...: for callers that keep their own history.

    `after`: the branch goes on from these, and begins with them.
    """
    nodes: list[Node] = [*after]
    for depth, message in enumerate(messages, start=len(nodes) + 1):
        parent = nodes[-1].id if nodes else None
        nodes.append(Node(id=f"{prefix}{depth}", parent=parent, depth=depth, message=message))
    return tuple(nodes)


def opens_turn(message: Message) -> bool:
    """Tell whether a turn starts here: a user speaks (a tool's answer in a user's envelope does not)."""
    return message.role == "user" and not has_results(message)


def has_results(message: Message) -> bool:
    """Tell whether a message holds a tool's answer. Asked of every message of a branch, hence the plain loop."""
    for part in message.parts:  # noqa: SIM110 - `any` with a generator costs three times as much
        if part.__class__ is ToolResult:
            return True
    return False


def last_turn(messages: Sequence[Message]) -> int | None:
    """Find where the last turn starts; None if nobody has spoken yet."""
    return next((i for i in reversed(range(len(messages))) if opens_turn(messages[i])), None)


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and all that follows it up to the next one; `start:stop` index the messages."""

    start: int
    stop: int


def turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Divide messages into turns; what stands before the first user message is a turn of its own."""
    starts = [i for i, message in enumerate(messages) if i == 0 or opens_turn(message)]
    return tuple(Turn(start, stop) for start, stop in pairwise([*starts, len(messages)]))


Spot: TypeAlias = tuple[int, int]
"""Where a part stands: the index of its message, and its own."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which tool result answers which call."""

    answers: Mapping[Spot, Spot]
    """From a call to its result."""
    open: tuple[Spot, ...]
    """Calls without a result."""
    orphans: tuple[Spot, ...]
    """Results without a call."""


def pair_tools(messages: Sequence[Message]) -> Pairing:
    """Pair every call with its result, parallel or spread out.

    Ids may come again in later messages (some clients number anew in each turn), so a result answers the newest
    message that has an open call of its id, and there the first such call.
    """
    waiting: dict[str, list[Spot]] = {}
    answers: dict[Spot, Spot] = {}
    orphans: list[Spot] = []
    for index, message in enumerate(messages):
        for at, part in enumerate(message.parts):
            kind = part.__class__
            if kind is ToolCall:
                waiting.setdefault(part.id, []).append((index, at))  # type: ignore[union-attr]
            elif kind is ToolResult:
                call = _answered(waiting, part.call_id)  # type: ignore[union-attr]
                if call is None:
                    orphans.append((index, at))
                else:
                    answers[call] = (index, at)
    return Pairing(
        answers, tuple(sorted(spot for calls in waiting.values() for spot in calls)), tuple(orphans)
    )


def _answered(waiting: dict[str, list[Spot]], id: str) -> Spot | None:
    calls = waiting.get(id)
    if not calls:
        return None
    if len(calls) == 1:
        return waiting.pop(id)[0]
    newest = calls[-1][0]
    return calls.pop(next(n for n, spot in enumerate(calls) if spot[0] == newest))


@dataclass(frozen=True, slots=True)
class ToolUnit:
    """An assistant message with calls, together with the messages that hold all their results."""

    start: int
    stop: int
    """One past the last message with a result; nothing may be cut off in between."""
    open: bool
    """Whether a result is still missing."""


def tool_units(messages: Sequence[Message]) -> tuple[ToolUnit, ...]:
    """Find the stretches of messages that belong together because a call and its result lie at their ends."""
    pairing = pair_tools(messages)
    stops: dict[int, int] = {}
    for (call, _), (result, _) in pairing.answers.items():
        stops[call] = max(stops.get(call, call + 1), result + 1)
    unanswered = {call for call, _ in pairing.open}
    for call in unanswered:
        stops.setdefault(call, call + 1)
    return tuple(ToolUnit(start, stop, start in unanswered) for start, stop in sorted(stops.items()))


def chain(previous: bytes, message: Message) -> bytes:
    """Extend the digest of a branch by one message.

    The digest covers what was said, not how a wire format dressed it, so the same conversation sent by another
    client, or with moving cache markers, has the same digest.
    """
    pieces = [previous]
    for piece in (message.role, message.name, *_essence(message.parts)):
        data = piece.encode("utf-8", "surrogatepass")
        pieces += (len(data).to_bytes(8, "big"), data)
    return hashlib.blake2b(b"".join(pieces), digest_size=16).digest()


def digest(messages: Iterable[Message], *, start: bytes = b"") -> bytes:
    """Digest a branch from its root, or on from the digest `start` of what stands before."""
    value = start
    for message in messages:
        value = chain(value, message)
    return value


def _essence(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        yield type(part).__name__
        match part:
            case Text() | Reasoning():
                yield part.text
            case Image():
                yield part.source
            case Attachment():
                yield from (part.name, part.media_type, str(part.size), part.source)
            case ToolCall():
                yield from (part.id, part.name, part.input)
            case ToolResult():
                yield from (part.call_id, str(part.error), str(len(part.content)))
                yield from _essence(part.content)
            case Opaque():
                yield from (part.kind, part.wire.fields)
