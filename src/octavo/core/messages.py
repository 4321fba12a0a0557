"""Messages as values, nodes as their places in the tree, turns and tool units as views of both.

A `Message` holds what was said and nothing about where it is stored: equal contents are equal values. A `Node`
places one in a conversation. Nothing here is ever edited; a change is a new node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Role = Literal["user", "assistant", "system", "tool"]
Status = Literal["complete", "streaming", "aborted", "error", "deleted"]
"""`error` is for people only and never sent; `deleted` is an emptied place that keeps the tree in shape."""
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")


@dataclass(frozen=True, slots=True)
class Wire:
    """What a wire format said beyond the value: carried along, read only by the format that wrote it."""

    format: str
    fields: str
    """A JSON object as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words, as they were written."""

    text: str
    wire: Wire | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """A model's thinking, kept for the record and for providers that want it back."""

    text: str
    wire: Wire | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture by address: an URL, a data URL, or a provider's file id."""

    source: str
    media_type: str = ""
    width: int = 0
    """Pixels; 0 when unknown."""
    height: int = 0
    wire: Wire | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message; `source` is where its content is, if anywhere."""

    name: str
    media_type: str = ""
    size: int = 0
    """Bytes; 0 when unknown."""
    source: str = ""
    wire: Wire | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's request to run a tool."""

    id: str
    name: str
    input: str
    """The arguments as JSON text, exactly as the model wrote them."""
    wire: Wire | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A part this version does not know; only the format that wrote it gets it back."""

    kind: str
    wire: Wire


Part: TypeAlias = Text | Reasoning | Image | Attachment | ToolCall | ToolResult | Opaque


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


def place(messages: Iterable[Message], *, prefix: str = "m") -> Branch:
    """Line messages up as one branch with ids `m1`, `m2`, ...: for callers that keep their own history."""
    nodes: list[Node] = []
    for depth, message in enumerate(messages, start=1):
        parent = nodes[-1].id if nodes else None
        nodes.append(Node(id=f"{prefix}{depth}", parent=parent, depth=depth, message=message))
    return tuple(nodes)


def opens_turn(message: Message) -> bool:
    """Tell whether a turn starts here: a user speaks (a tool's answer in a user's envelope does not)."""
    return message.role == "user" and not any(isinstance(part, ToolResult) for part in message.parts)


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and all that follows it up to the next one; `start:stop` index the messages."""

    start: int
    stop: int


def turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Divide messages into turns; what stands before the first user message is a turn of its own."""
    starts = [i for i, message in enumerate(messages) if i == 0 or opens_turn(message)]
    return tuple(Turn(a, b) for a, b in zip(starts, [*starts[1:], len(messages)], strict=True))


@dataclass(frozen=True, slots=True)
class ToolUnit:
    """A call with its result: indices of the messages that hold them; `result` is None while it is open."""

    call: int
    result: int | None
    id: str


def tool_units(messages: Sequence[Message]) -> tuple[ToolUnit, ...]:
    """Pair every call with its result, parallel or spread out; ids may be used again once answered.

    A result without an open call belongs to no unit.
    """
    opened: dict[str, list[int]] = {}
    units: list[ToolUnit] = []
    for index, part in _tool_parts(messages):
        if isinstance(part, ToolCall):
            opened.setdefault(part.id, []).append(len(units))
            units.append(ToolUnit(index, None, part.id))
        elif waiting := opened.get(part.call_id):
            at = waiting.pop(0)
            units[at] = ToolUnit(units[at].call, index, part.call_id)
    return tuple(units)


def _tool_parts(messages: Sequence[Message]) -> Iterator[tuple[int, ToolCall | ToolResult]]:
    for index, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall | ToolResult):
                yield index, part


def chain(previous: bytes, message: Message) -> bytes:
    """Extend the digest of a branch by one message.

    The digest covers what was said, not how a wire format dressed it, so the same conversation sent by another
    client, or with moving cache markers, has the same digest.
    """
    digest = hashlib.blake2b(previous, digest_size=16)
    for piece in (message.role, message.name, *_essence(message.parts)):
        data = piece.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def digest(messages: Iterable[Message]) -> bytes:
    """Digest a whole branch."""
    value = b""
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
