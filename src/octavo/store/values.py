"""What the store takes and gives besides the values of the core: plain records, no behaviour, no database.

Times are ISO 8601 text for people; they order nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from octavo.core.messages import Attachment, Branch, Message, Role, Status
from octavo.core.snapshot import Snapshot

TIP = "tip"
"""As a parent: wherever the conversation's tip is when the message is stored."""
CACHED = "billed:cached"
"""The count under which the part of a bill stands that came from the provider's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A tree of messages, and which of its nodes is shown."""

    id: str
    owner: str
    title: str
    tip: str | None
    messages: int
    """How many nodes the tree has, emptied ones included."""
    created: str
    updated: str
    archived: bool
    deleted: bool
    """In the bin: found by its id only, and removed for good when nobody brings it back in time."""
    revision: int
    """Grows when contexts of tips that exist may change: with snapshots, pins and deletions, not with new messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Messages as they were stored."""

    nodes: Branch
    revision: int
    """The conversation's revision at that moment: what was known of the parent at this revision still holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message to be stored, with what is known about it."""

    message: Message
    id: str | None = None
    """With an id of your own, an append can be repeated if its answer was lost: it is stored once."""
    status: Status = "complete"
    counts: Mapping[str, int] = field(default_factory=dict)
    """Tokens by tokenizer."""
    input_tokens: int | None = None
    """What the provider reported for the request that led to this message (FR-1.1.4)."""
    output_tokens: int | None = None
    model: str = ""
    created: str = ""
    """When it was really written, if that was not now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What is known about a node beyond its place and its message."""

    id: str
    conversation: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    created: str
    sibling: int
    """Its number among its siblings, from 1, in the order they were made."""
    siblings: int
    """How many there are, this node included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unloaded:
    """Messages of a branch that are not given with it, because there are too many: of all of them this is known."""

    above: int
    """They lie below this depth."""
    stop: int
    """The depth of the last of them."""
    last: str
    """Its id."""
    tokens: int = 0
    """What they would cost if they were sent."""

    @property
    def messages(self) -> int:
        return self.stop - self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContext:
    """What the context of a tip is built from: everything that the core's `ContextInputs` needs from the store."""

    leading: Branch
    """Nodes before the first covered one (system messages), which are always sent."""
    snapshot: Snapshot | None
    retained: Branch
    """The nodes after the snapshot's cutoff; the whole branch when there is no snapshot. Of very many, the newest."""
    carried: Branch
    """The nodes that `snapshot.sent_along` names."""
    unloaded: Unloaded | None = None
    """Those before the retained ones, if they are too many."""
    originals_wanted: bool = field(default=False, compare=False)
    """Whether a person undid the last compression of the branch: only what must be compressed is."""

    @property
    def branch(self) -> Branch:
        return self.leading + self.retained


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An attachment, and the node it came with."""

    node: str
    depth: int
    attachment: Attachment
    """Its metadata; the content stays with the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinPlace:
    """A pinned node, or the selection `start:stop` of its message's text."""

    node: str
    start: int = 0
    stop: int = 0
    """0 and 0: the whole message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that holds what was searched for."""

    conversation: str
    title: str
    node: str
    depth: int
    role: Role
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """Where in the snippet the words are."""


JobStatus = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A compression that a worker does; only the owner of this `worker` and `attempt` may finish it."""

    id: str
    conversation: str
    anchor: str
    trigger: str
    status: JobStatus
    worker: str
    attempt: int
    """Counts the owners: 2 after the first takeover."""
    lease: float
    """Seconds the owner has left, by the database's clock; negative when it has run out."""
    progress: str
    error: str
    snapshot: str | None


@dataclass(frozen=True, slots=True)
class Busy:
    """Somebody else is at it."""

    job: Job


@dataclass(frozen=True, slots=True)
class Stale:
    """Another snapshot serves the tip than the plan was made from: plan again."""

    snapshot: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A finished compression that is not stored, and why."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it can be shown; the secret is known only to whom it was given."""

    id: str
    name: str
    owner: str
    prefix: str
    scopes: tuple[str, ...]
    created: str
    used: str | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class Everywhere:
    """Settings that hold for all conversations."""


@dataclass(frozen=True, slots=True)
class ForModel:
    """Settings for one model, `provider/model`."""

    model: str


@dataclass(frozen=True, slots=True)
class ForConversation:
    """Settings for one conversation."""

    id: str


Scope: TypeAlias = Everywhere | ForModel | ForConversation


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """Something `check` found: what is wrong, and with what."""

    kind: str
    id: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledDay:
    """What one model billed in one conversation on one day."""

    conversation: str
    model: str
    day: str
    requests: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    saved: int = 0
    """Tokens that these requests were shorter because of compressions before them."""
    shortened: int = 0
    """How many of them were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionBill:
    """What one compression cost, and what it took off every later request."""

    id: str
    conversation: str
    day: str
    model: str
    """Who wrote the summary; empty if nobody did."""
    requests: int
    input: int
    output: int
    price: float | None
    saved: int
    """Tokens that each later request is shorter."""
    created: str
    cutoff: str = ""
    """The newest message that it covers."""
    cutoff_depth: int = 0
    active: bool = True
    """Whether it was not undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleBill:
    """What it cost to have a model write the title of a conversation."""

    conversation: str = ""
    day: str = ""
    model: str = ""
    requests: int = 0
    input: int = 0
    output: int = 0
    price: float | None = None
