"""Draws a conversation as a tree: runs of messages, forks between them, covered messages counted in one line.

Every message is drawn, or counted in such a line, exactly once. Nothing here recurses: a branch may be 100,000
messages long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from octavo.cli.lines import Line, Piece, clean, line, summary_of
from octavo.core.messages import Message, Node, Reasoning, Text
from octavo.core.snapshot import Snapshot
from octavo.core.transcript import LABELS, describe

ROLE_WIDTH = max(len(label) for label in LABELS.values())
LEAST = 20
"""Columns left for a text, however deep the fork is indented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn."""

    nodes: Sequence[Node]
    """The whole tree, parents before children."""
    tip: str | None
    snapshot: Snapshot | None = None
    """The one that serves the tip."""
    covered: frozenset[str] = frozenset()
    """The nodes it stands for, unless they are to be shown."""
    pinned: frozenset[str] = frozenset()
    columns: int = 80
    whole: bool = False
    """Show messages in full."""


@dataclass(slots=True)
class _Fork:
    """A place still to be drawn: a child, and what stands before its lines."""

    node: Node
    lead: str
    """Before its first line."""
    under: str
    """Before the lines below."""


@dataclass(slots=True)
class _Drawing:
    picture: Picture
    children: Mapping[str | None, list[Node]]
    branch: frozenset[str]
    waiting: list[_Fork] = field(default_factory=list)


def draw(picture: Picture) -> Iterator[Line]:
    """Draw the tree from its roots."""
    children: dict[str | None, list[Node]] = {}
    for node in picture.nodes:
        children.setdefault(node.parent, []).append(node)
    drawing = _Drawing(picture, children, _branch(picture))
    roots = children.get(None, [])
    _branch_off(drawing, roots, "", forked=len(roots) > 1)
    while drawing.waiting:
        yield from _run(drawing, drawing.waiting.pop())


def _branch(picture: Picture) -> frozenset[str]:
    parents = {node.id: node.parent for node in picture.nodes}
    found, at = set(), picture.tip
    while at is not None and at in parents:
        found.add(at)
        at = parents[at]
    return frozenset(found)


def _branch_off(drawing: _Drawing, nodes: Sequence[Node], under: str, *, forked: bool) -> None:
    """Line the children of a fork up, so that the first is drawn first."""
    for i, node in reversed(list(enumerate(nodes))):
        last = i == len(nodes) - 1
        if not forked:
            drawing.waiting.append(_Fork(node, under, under))
        else:
            drawing.waiting.append(
                _Fork(node, under + ("└─ " if last else "├─ "), under + ("   " if last else "│  "))
            )


def _run(drawing: _Drawing, fork: _Fork) -> Iterator[Line]:
    """Draw one run: messages that follow each other without a fork."""
    lead, node, covered = fork.lead, fork.node, list[Node]()
    while True:
        if node.id in drawing.picture.covered:
            covered.append(node)
        else:
            if covered:
                yield _covered_line(drawing.picture, covered, lead)
                covered, lead = [], fork.under
            yield from _message(drawing, node, lead, fork.under)
            lead = fork.under
        following = drawing.children.get(node.id, [])
        if len(following) != 1:
            break
        node = following[0]
    if covered:
        yield _covered_line(drawing.picture, covered, lead)
    _branch_off(drawing, following, fork.under, forked=True)


def _covered_line(picture: Picture, covered: Sequence[Node], lead: str) -> Line:
    first, last = covered[0].depth, covered[-1].depth
    which = f"message {first}" if first == last else f"messages {first} to {last}"
    snapshot = picture.snapshot
    sizes = f": {snapshot.tokens_before:,} → {snapshot.tokens_after:,} tokens" if snapshot else ""
    return line(lead, ("accent", f"▸ {which} compressed{sizes}"))


def _message(drawing: _Drawing, node: Node, lead: str, under: str) -> Iterator[Line]:
    picture, here = drawing.picture, node.id in drawing.branch
    dot = "●" if node.id == picture.tip else "○" if here else "·"
    notes = ["pinned"] if node.id in picture.pinned else []
    notes += [] if node.status == "complete" else [node.status]
    note = f" [{', '.join(notes)}]" if notes else ""
    head, label = f"{lead}{dot} {node.depth:>3} ", LABELS[node.message.role]
    name: Piece = ("strong" if here else "faint", label)
    said = content(node.message)
    if picture.whole:
        yield line(head, name, ("near", note))
        yield from (line(f"{under}      {row}") for row in clean(said).split("\n"))
        return
    gap = " " * (ROLE_WIDTH - len(label) + 2)
    room = max(LEAST, picture.columns - len(head) - len(label) - len(gap) - len(note))
    yield line(head, name, gap + summary_of(said, room), ("near", note))


def content(message: Message) -> str:
    """Write a message for people: text as it is, calls and results labelled."""
    shown = [part for part in message.parts if not isinstance(part, Reasoning)]
    return "\n".join(part.text if isinstance(part, Text) else describe(part) for part in shown)
