"""Turns what a file says into rows, piece by piece; `import_writer.py` stores them.

Messages may come in any order; one that comes before its parent waits for it. What never finds its parent, or finds
itself among its ancestors, is an error that names the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from octavo.core.json_values import Json
from octavo.core.messages import chain
from octavo.core.recall.passages import Passage
from octavo.core.recall.render import copied
from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput
from octavo.store import rows
from octavo.store.copying import redirected
from octavo.store.ids import made_at, new_id
from octavo.store.insertion import RowBatch
from octavo.store.labels import label_scope
from octavo.store.parts import admit
from octavo.store.passages import passage_rows
from octavo.store.schema import large_text, plain_id
from octavo.store.settings import scope_text
from octavo.store.transfer.items import (
    ConversationEnd,
    ConversationStart,
    Item,
    MessageItem,
    PinItem,
    RecalledItem,
    SettingItem,
    SnapshotItem,
    TipItem,
)
from octavo.store.values import Entry, ForConversation
from octavo.store.walk import jump_depth

PIECE = 500
"""Rows laid out at a time: they are stored in one short transaction, as a rule."""
PIECE_TEXT = 500_000
"""Characters of messages laid out at a time, if they are long."""

Row = dict[str, Any]


@dataclass(slots=True)
class ImportPiece:
    """Rows, in the order in which they can be stored."""

    conversations: list[Row] = field(default_factory=list)
    messages: RowBatch = field(default_factory=RowBatch)
    snapshots: list[tuple[int, Row]] = field(default_factory=list)
    """With the lines they stand in."""
    settings: list[Row] = field(default_factory=list)
    pins: list[tuple[int, Row]] = field(default_factory=list)
    recalled: list[tuple[int, list[Row]]] = field(default_factory=list)
    closed: list[Row] = field(default_factory=list)
    """Conversations that are complete: their tips, and how many messages they have."""
    touched: set[str] = field(default_factory=set)
    """The conversations that anything here belongs to."""
    text: int = 0
    """Characters of the messages."""

    def add(self, entry: Entry, place: Row) -> None:
        large = self.messages.beside[large_text]
        before = len(large)
        self.messages.add(entry, place)
        self.text += sum(len(row["text"]) for row in (self.messages.messages[-1], *large[before:]))

    @property
    def is_full(self) -> bool:
        beside = len(self.snapshots) + len(self.pins) + len(self.recalled)
        rows = len(self.messages.messages) + len(self.conversations) + beside
        return rows >= PIECE or self.text >= PIECE_TEXT


@dataclass(slots=True)
class _Planted:
    """A node that is stored."""

    id: str
    depth: int
    digest: bytes | None
    # Left out of the representation, which would repeat all nodes above again and again.
    parent: _Planted | None = field(repr=False)
    jump: _Planted | None = field(repr=False)

    def above(self, depth: int) -> _Planted | None:
        """Find the ancestor at a depth."""
        at: _Planted | None = self
        while at is not None and at.depth > depth:
            at = at.jump if at.jump is not None and at.jump.depth >= depth else at.parent
        return at


@dataclass(slots=True)
class _Tree:
    """A conversation that grows."""

    opening: ConversationStart
    id: str
    nodes: dict[str, _Planted] = field(default_factory=dict)
    waiting: dict[str, list[MessageItem]] = field(default_factory=dict)
    tip: str | None = None
    newest: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    """From the file's snapshot ids to the stored ones."""
    settings: dict[str, Json] = field(default_factory=dict)


class Importer:
    """Takes items and lays out what is to be stored of them."""

    def __init__(self, *, owner: str | None, title: str | None, new_ids: bool) -> None:
        self._owner = owner
        self._title = title
        self._new_ids = new_ids
        self._trees: dict[str, _Tree] = {}
        self._piece = ImportPiece()
        self._begun = False

    def pieces(self, items: Iterable[Item]) -> Iterator[ImportPiece]:
        """Lay out all of them, some at a time."""
        for item in items:
            self._take(item)
            if self._piece.is_full:
                yield self._cut()
        for tree in list(self._trees):
            self._close(tree)
        if not self._begun:
            raise BadInput("", "there is no conversation in this file")
        yield self._cut()

    def _cut(self) -> ImportPiece:
        piece, self._piece = self._piece, ImportPiece()
        return piece

    def _take(self, item: Item) -> None:
        match item:
            case ConversationStart():
                self._open(item)
            case ConversationEnd():
                self._close(item.tree)
            case MessageItem():
                self._say(self._tree(item), item)
            case TipItem():
                self._tree(item).tip = item.key
            case SnapshotItem():
                self._add_snapshot(self._tree(item), item)
            case SettingItem():
                self._tree(item).settings[item.key] = item.value
            case PinItem():
                self._pin(self._tree(item), item)
            case RecalledItem():
                self._add_recalled(self._tree(item), item)

    def _tree(self, item: Item) -> _Tree:
        try:
            tree = self._trees[item.tree]
        except KeyError:
            raise BadInput(f"line {item.line}", "it comes before the conversation it belongs to") from None
        self._piece.touched.add(tree.id)
        return tree

    def _open(self, opening: ConversationStart) -> None:
        if opening.tree in self._trees:
            raise BadInput(f"line {opening.line}", f"the conversation {opening.tree!r} begins twice")
        keep = opening.id is not None and not self._new_ids
        id = plain_id(opening.id) if opening.id and keep else new_id()
        now, where = rows.now(), f"line {opening.line}"
        created = rows.time_value(opening.created, where) if opening.created else now
        updated = rows.time_value(opening.updated, where) if opening.updated else created
        self._piece.conversations.append(
            rows.conversation_row(
                id,
                owner=opening.owner if self._owner is None else self._owner,
                title=opening.title if self._title is None else self._title,
                created=created,
                updated=updated,
                archived=updated if opening.archived else None,
            )
        )
        self._trees[opening.tree] = _Tree(opening, id)
        self._begun = True

    def _say(self, tree: _Tree, said: MessageItem) -> None:
        if said.parent is not None and said.parent not in tree.nodes:
            tree.waiting.setdefault(said.parent, []).append(said)
            return
        ready = [said]
        while ready:
            one = ready.pop()
            self._place(tree, one)
            ready += reversed(tree.waiting.pop(one.key, []))
        tree.newest = said.key

    def _place(self, tree: _Tree, said: MessageItem) -> None:
        if said.key in tree.nodes:
            raise BadInput(f"line {said.line}", f"a second message has the id {said.key!r}")
        if said.entry.created:
            rows.time_value(said.entry.created, f"line {said.line}.created")
        parent = None if said.parent is None else tree.nodes[said.parent]
        kept = said.entry.id if tree.opening.id and not self._new_ids else None
        old = said.entry.id
        created = said.entry.created or (rows.time_text(made_at(plain_id(old))) if old and not kept else "")
        entry = replace(
            said.entry,
            id=plain_id(kept) if kept else new_id(),
            message=admit(said.entry.message),
            created=created,
        )
        before = b"" if parent is None else parent.digest
        deleted = entry.status == "deleted"
        digest = None if before is None or deleted else chain(before, entry.message)
        node = _Planted(entry.id or "", parent.depth + 1 if parent else 1, digest, parent, None)
        node.jump = parent.above(jump_depth(node.depth)) if parent else None
        tree.nodes[said.key] = node
        self._piece.add(entry, _columns(tree, node))

    def _add_snapshot(self, tree: _Tree, item: SnapshotItem) -> None:
        _check_parents(tree)
        keys = {key: node.id for key, node in tree.nodes.items()} | tree.ids
        old = item.snapshot
        keys[old.id] = tree.ids[old.id] = new_id() if self._new_ids else plain_id(old.id)
        self._check_snapshot(tree, old, f"line {item.line}")
        self._piece.snapshots.append((item.line, rows.snapshot_row(redirected(old, keys), tree.id)))

    def _check_snapshot(self, tree: _Tree, old: Snapshot, where: str) -> None:
        named = {old.first, old.cutoff, old.anchor, *old.sent_along}
        if missing := named - tree.nodes.keys():
            raise BadInput(where, f"a snapshot names the message {min(missing)!r}, which is not in the file")
        anchor, cutoff = tree.nodes[old.anchor], tree.nodes[old.cutoff]
        if (anchor.depth, cutoff.depth) != (old.anchor_depth, old.cutoff_depth):
            raise BadInput(where, "a snapshot's depths are not those of its cutoff and anchor")
        if any(anchor.above(tree.nodes[key].depth) is not tree.nodes[key] for key in named):
            raise BadInput(where, "a snapshot's cutoff and anchor lie on different branches")
        if old.state != "retired" and cutoff.digest is not None and cutoff.digest != old.digest:
            raise BadInput(where, "a snapshot does not belong to the messages it covers here")

    def _pin(self, tree: _Tree, item: PinItem) -> None:
        _check_parents(tree)
        if item.pin.node not in tree.nodes:
            raise BadInput(
                f"line {item.line}", f"a pin names the message {item.pin.node!r}, which is not in the file"
            )
        values = {
            "message_id": tree.nodes[item.pin.node].id,
            "start": item.pin.start,
            "stop": item.pin.stop,
            "conversation_id": tree.id,
        }
        self._piece.pins.append((item.line, values))

    def _add_recalled(self, tree: _Tree, item: RecalledItem) -> None:
        _check_parents(tree)
        where, node = f"line {item.line}", tree.nodes.get(item.node)
        if node is None:
            raise BadInput(where, f"passages belong to the message {item.node!r}, which is not in the file")
        passages: list[Passage] = []
        for passage in item.passages:
            source = tree.nodes.get(passage.source)
            if source is None or source is node or node.above(source.depth) is not source:
                raise BadInput(
                    where, f"a passage comes from {passage.source!r}, which is not above its message"
                )
            if passage.depth != source.depth:
                raise BadInput(where, f"a passage's depth is {passage.depth}, its source's {source.depth}")
            passages.append(passage if source.id == passage.source else copied(passage, source.id))
        self._piece.recalled.append((item.line, passage_rows(node.id, tuple(passages))))

    def _close(self, key: str) -> None:
        tree = self._trees.pop(key)
        _check_parents(tree)
        if tree.tip is not None and tree.tip not in tree.nodes:
            raise BadInput(f"line {tree.opening.line}", f"the tip {tree.tip!r} is not in the file")
        tip, scope, now = tree.tip or tree.newest, scope_text(ForConversation(tree.id)), rows.now()
        self._piece.settings += [
            {"scope": scope, "key": key, "value": value, "updated": now}
            for key, value in tree.settings.items()
        ]
        self._piece.settings += [
            {"scope": label_scope(tree.id), "key": label, "value": None, "updated": now}
            for label in tree.opening.labels
        ]
        self._piece.closed.append(
            {"closed": tree.id, "count": len(tree.nodes), "tip": tree.nodes[tip].id if tip else None}
        )
        self._piece.touched.add(tree.id)


def _check_parents(tree: _Tree) -> None:
    if tree.waiting:
        parent, orphans = min(tree.waiting.items(), key=lambda pair: pair[1][0].line)
        raise BadInput(
            f"line {orphans[0].line}",
            f"the parent {parent!r} of this message is not in the file, or below it",
        )


def _columns(tree: _Tree, node: _Planted) -> dict[str, Any]:
    return {
        "id": node.id,
        "conversation_id": tree.id,
        "parent_id": node.parent.id if node.parent else None,
        "jump_id": node.jump.id if node.jump else None,
        "depth": node.depth,
        "digest": node.digest,
    }
