"""Snapshots: the stored records that stand for the older part of a branch.

Which of them serves a branch is said in `snapshot_rule.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from octavo.core.message_json import Json, JsonObject
from octavo.core.messages import Branch, Node, digest, opens_turn
from octavo.core.pickled import pickled_quickly
from octavo.core.split import lead
from octavo.core.transcript import newest_files, shared_files
from octavo.errors import NotOnBranch

Kind = Literal["auto", "manual", "edited", "regenerated"]
State = Literal["active", "undone", "retired"]
"""`undone` can be redone; `retired` cannot: a message it covered was deleted."""


Channel = Literal["user", "assistant", "system", "call", "result"]
"""Where a line comes from: what somebody said, a call of a tool, or what the tool answered."""


@pickled_quickly
@dataclass(frozen=True, slots=True)
class Extract:
    """A verbatim piece of a covered message, chosen by code, with what is needed to show where it stood."""

    source: str
    """The node it was taken from."""
    text: str
    channel: Channel = "user"
    depth: int = 0
    """The node's depth: extracts are sorted by it."""
    line: int = 0
    """The line of the message it stands in; pieces of one line are shown in one line."""
    at: int = 0
    """Its number among the pieces of the message: two that follow each other stood together."""
    block: int = 0
    """Which message of an earlier compression it comes from, if the node holds one; 0 is the node's own."""
    day: str = ""
    """The day it was said, where the conversation says so."""
    origin: str = ""
    """The call a tool's line belongs to, in a few words."""
    speaker: str = ""
    """The speaker's name, where it is known."""
    standing: bool = False
    """Whether it is a rule, a preference, a responsibility, a deadline or a decision of a user that still holds."""


Extracts: TypeAlias = tuple[Extract, ...]
"""Extracts in the order of the conversation, those that stand before the others."""


class DroppedLine(NamedTuple):
    """A line that a person took out: later compressions do not find it again in what was said before that."""

    text: str
    depth: int
    """The cutoff's depth at that time: if somebody says it again further down, it counts again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What stands for the covered messages: a summary, extracts, and where they belong in the tree."""

    id: str
    first: str
    """The first covered node."""
    cutoff: str
    """The last covered node."""
    cutoff_depth: int
    anchor: str
    """The deepest node that anything here can come from; the snapshot is true for every branch that contains it."""
    anchor_depth: int
    summary: str
    extracts: tuple[Extract, ...] = ()
    dropped: tuple[DroppedLine, ...] = ()
    """Lines that are left out because a person dropped them."""
    files: tuple[str, ...] = ()
    """Files and pictures that came with covered messages, one line each: the newest of very many."""
    earlier_files: int = 0
    """How many files there are besides those."""
    earlier_pictures: int = 0
    """How many pictures without a name there are besides those."""
    carried: str | None = None
    """The covered user message whose turn is still going on: it is sent verbatim all the same."""
    answers: tuple[str, ...] = ()
    """So are these covered messages of that turn: what was looked up in it, each answer with its call."""
    previous: str | None = None
    """The snapshot whose summary this one started from."""
    kind: Kind = "auto"
    version: int = 1
    """Counts the snapshots made for one cutoff; the newest active one serves."""
    state: State = "active"
    messages: int = 0
    """How many messages are covered."""
    tokens_before: int = 0
    """Tokens of the covered messages as they would have been sent."""
    tokens_after: int = 0
    """Tokens of what is sent in their place."""
    model: str = ""
    """Who wrote the summary; empty when there is none and the extracts speak."""
    prompt: str = ""
    """Name and version of the prompt, such as `default@3`."""
    instructions: str = ""
    """The focus a person asked for."""
    receipt: str = ""
    """What was kept and lost, as JSON text."""
    digest: bytes = b""
    """Digest of the covered messages: a snapshot whose originals changed is found out."""
    created: str = ""
    """ISO 8601, for people; it orders nothing."""

    @property
    def sent_along(self) -> tuple[str, ...]:
        """All covered messages that are sent verbatim, in their order."""
        return (*([self.carried] if self.carried else []), *self.answers)


def look_ahead(branch: Branch, cut: int, *, question: bool = False) -> Branch:
    """Give what a summariser of `branch[:cut]` is shown besides, to know what matters.

    It ends before the newest user message: answers that are generated again and another wording of the question share
    the snapshot. With `question` that message is shown too.
    """
    rest = branch[cut:]
    for at in reversed(range(len(rest))):
        if opens_turn(rest[at].message):
            return rest[: at + question]
    return ()


def carried_of(branch: Sequence[Node], cut: int) -> Node | None:
    """Find the user message that `branch[:cut]` covers although its turn goes on after the cut."""
    if cut == len(branch) or any(opens_turn(node.message) for node in branch[cut:]):
        return None
    return next((node for node in reversed(branch[:cut]) if opens_turn(node.message)), None)


def draft(
    branch: Branch,
    cut: int,
    *,
    id: str,
    summary: str,
    extracts: Iterable[Extract] = (),
    previous: Snapshot | None = None,
    shown: Branch = (),
    covers: bytes | None = None,
) -> Snapshot:
    """Place a new snapshot that covers everything up to `branch[cut - 1]`; `covers` is the digest of that, if known.

    `shown` is what the author of the summary saw beyond that; extracts come from covered messages only. With a
    `previous` snapshot the branch may begin after its cutoff: what it covered is taken over. Counts and provenance are
    added with `dataclasses.replace`.
    """
    new = [node for node in branch[:cut] if previous is None or node.depth > previous.cutoff_depth]
    covered = new if previous else new[lead([node.message for node in new]) :]
    if not covered or cut > len(branch):
        raise NotOnBranch(f"nothing to cover: cut {cut} of a branch of {len(branch)} messages")
    cutoff, carried = branch[cut - 1], carried_of(branch, cut)
    anchor, anchor_depth = _anchor(branch, shown[-1] if shown else cutoff, previous)
    shared = [name for node in covered for name in shared_files(node.message)]
    known = dict.fromkeys([*(previous.files if previous else ()), *shared])
    files, earlier, pictures = newest_files([*known])
    return Snapshot(
        id=id,
        first=previous.first if previous else covered[0].id,
        cutoff=cutoff.id,
        cutoff_depth=cutoff.depth,
        anchor=anchor,
        anchor_depth=anchor_depth,
        summary=summary,
        extracts=tuple(extracts),
        dropped=previous.dropped if previous else (),
        files=files,
        earlier_files=earlier + (previous.earlier_files if previous else 0),
        earlier_pictures=pictures + (previous.earlier_pictures if previous else 0),
        carried=carried.id if carried else None,
        previous=previous.id if previous else None,
        messages=len(covered) + (previous.messages if previous else 0),
        digest=covers or digest((node.message for node in new), start=previous.digest if previous else b""),
    )


def silenced(snapshot: Snapshot) -> Snapshot:
    """Keep only the place of a snapshot, so that nothing of it is sent."""
    return replace(snapshot, summary="", extracts=(), files=(), earlier_files=0, earlier_pictures=0)


def says_nothing(snapshot: Snapshot) -> bool:
    """Tell whether a snapshot says nothing about what it covers; such a snapshot is never stored."""
    return not snapshot.summary.strip() and not snapshot.extracts


def _anchor(branch: Branch, seen: Node, previous: Snapshot | None) -> tuple[str, int]:
    """Give the deepest node that a snapshot can know of: what was shown, or what the one it started from knew."""
    if previous is None or previous.anchor_depth <= seen.depth:
        return seen.id, seen.depth
    if not any(node.id == previous.anchor for node in reversed(branch)):
        raise NotOnBranch(
            f"the snapshot {previous.id} belongs to another branch: it cannot be continued here"
        )
    return previous.anchor, previous.anchor_depth


def export(snapshot: Snapshot, text: str | None = None) -> JsonObject:
    """Write the record in the JSON shape of FR-4.2.1; `text` replaces the bare summary."""
    span: dict[str, Json] = {"firstMessageId": snapshot.first, "lastMessageId": snapshot.cutoff}
    return {
        "summaryText": snapshot.summary if text is None else text,
        "messageRange": span,
        "compressionTimestamp": snapshot.created,
        "compressionType": "auto" if snapshot.kind == "auto" else "manual",
        "originalTokenCount": snapshot.tokens_before,
        "summaryTokenCount": snapshot.tokens_after,
        "messagesIncluded": snapshot.messages,
    }
