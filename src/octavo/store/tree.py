"""Writing the tree: messages are only ever added, each below its parent.

A writer holds the row of its conversation from its first statement to its commit, so writers to one conversation
queue up and every new node sees its parent as it is. That lock is taken before anything else, hence no deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.messages import Message, Node, chain
from octavo.errors import NotFound, NotOnBranch, UsageError
from octavo.store import bin, reading, rows
from octavo.store.direct import Connection
from octavo.store.ids import new_id
from octavo.store.parts import admit, pack
from octavo.store.schema import (
    attachment,
    conversation,
    large_text,
    message,
    message_token,
    plain_id,
)
from octavo.store.values import TIP, Added, Conversation, Entry
from octavo.store.walk import jump_depth, spine

BATCH = 1_000
"""Rows sent to the database at once."""

# Made once: to put these together each time costs as much as to run them.
_LOCKED = (
    sa.select(conversation).where(conversation.c.id == sa.bindparam("locked"), bin.THERE).with_for_update()
)
_INSERTS = {table: sa.insert(table) for table in (message, large_text, attachment, message_token)}
_GROWN = (
    sa.update(conversation)
    .where(conversation.c.id == sa.bindparam("grown"))
    .values(updated=sa.bindparam("now"), messages=conversation.c.messages + sa.bindparam("added"))
)
_MOVED = _GROWN.values(tip_id=sa.bindparam("tip"))
_CHANGED = (
    sa.update(conversation)
    .where(conversation.c.id == sa.bindparam("changed"))
    .values(updated=sa.bindparam("now"), revision=conversation.c.revision + 1)
)


async def lock(connection: Connection, conversation_id: str) -> rows.Row:
    """Take the conversation for the rest of the transaction (SQLite's transaction has taken the whole file)."""
    row = (await connection.execute(_LOCKED, {"locked": conversation_id})).one_or_none()
    if row is None:
        raise NotFound(f"there is no conversation {conversation_id}")
    return row


@dataclass(slots=True)
class Place:
    """Where the next message of a growing branch goes."""

    conversation: str
    parent: str | None
    depth: int
    digest: bytes | None
    """Digest of the branch down to the parent; None when a message in it was deleted."""
    jumps: dict[int, str]
    """Nodes a jump pointer may lead to, by depth."""

    def add(self, id: str, added: Message) -> dict[str, Any]:
        """Place a message below the last one; give the columns that say where it stands."""
        self.depth += 1
        self.digest = None if self.digest is None else chain(self.digest, added)
        columns = {
            "id": id,
            "conversation_id": self.conversation,
            "parent_id": self.parent,
            "jump_id": self.jumps.get(jump_depth(self.depth)),
            "depth": self.depth,
            "digest": self.digest,
        }
        self.parent = self.jumps[self.depth] = id
        return columns


async def find_place(connection: Connection, conversation_id: str, parent: str | None) -> Place:
    """Find out what a child of `parent` needs to know; None makes a root."""
    if parent is None:
        return Place(conversation_id, None, 0, b"", {})
    found = (await connection.execute(spine(), {"parent": parent})).all()
    if not found:
        raise NotFound(f"there is no message {parent} to append to")
    above = max(found, key=lambda row: row.depth)
    if above.conversation_id != conversation_id:
        raise NotOnBranch(f"message {parent} belongs to another conversation than {conversation_id}")
    if above.status == "streaming":
        raise UsageError(f"message {parent} is still being written; finish it before appending to it")
    return Place(conversation_id, above.id, above.depth, above.digest, {row.depth: row.id for row in found})


async def append(
    connection: Connection,
    conversation_id: str,
    entries: Sequence[Entry],
    parent: str | None,
    *,
    select: bool,
) -> Added:
    """Add messages one below the other."""
    owner = await lock(connection, conversation_id)
    if parent == TIP:
        parent = owner.tip_id
    if repeated := await _repeated(connection, owner.id, entries):
        return Added(nodes=repeated, revision=owner.revision)
    place = await find_place(connection, owner.id, parent)
    nodes = await insert(connection, place, entries)
    if owner.hidden and any(node.message.role == "user" for node in nodes):
        # What somebody says now outlives an order given before it; an answer that was on its way does not.
        await bin.take_back(connection, owner.id)
    grown = {"grown": owner.id, "now": rows.now(), "added": len(nodes)}
    if select and nodes:
        await connection.execute(_MOVED, {**grown, "tip": nodes[-1].id})
    else:
        await connection.execute(_GROWN, grown)
    return Added(nodes=nodes, revision=owner.revision)


async def _repeated(
    connection: Connection, conversation_id: str, entries: Sequence[Entry]
) -> tuple[Node, ...] | None:
    """Recognise an append that was stored before, by the ids the caller gave."""
    given = [plain_id(entry.id) for entry in entries if entry.id]
    stored = {node.id: node for node in await reading.present(connection, given)} if given else {}
    if not stored:
        return None
    places = {found.conversation for found in await reading.details(connection, list(stored))}
    nodes = [stored[id] for id in given if id in stored]
    if [node.message for node in nodes] != [admit(entry.message) for entry in entries] or places != {
        conversation_id
    }:
        raise UsageError(f"the id {nodes[0].id} is taken by another message; leave ids out, or make new ones")
    return tuple(nodes)


async def insert(connection: Connection, place: Place, entries: Iterable[Entry]) -> tuple[Node, ...]:
    """Insert entries one below the other, from a place on."""
    nodes: list[Node] = []
    batch = Batch()
    for given in entries:
        whole = admit(given.message)
        entry = given if whole is given.message else replace(given, message=whole)
        id = plain_id(entry.id) if entry.id else new_id()
        nodes.append(batch.add(entry, place.add(id, entry.message)))
        if len(batch.messages) >= BATCH:
            await batch.flush(connection)
    await batch.flush(connection)
    return tuple(nodes)


class Batch:
    """Rows waiting to be inserted together."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.beside: dict[sa.Table, list[dict[str, Any]]] = {
            large_text: [],
            attachment: [],
            message_token: [],
        }

    def add(self, entry: Entry, place: Mapping[str, Any]) -> Node:
        """Take an entry; `place` has the columns that say where it stands."""
        id = place["id"]
        packed = pack(entry.message)
        self.messages.append(rows.message_row(entry, packed, place))
        self.beside[large_text] += rows.large_rows(place, (new_id() for _ in packed.large), packed)
        self.beside[attachment] += rows.attachment_rows(id, place["conversation_id"], entry.message)
        self.beside[message_token] += rows.token_rows(id, entry.counts)
        return Node(
            id=id,
            parent=place["parent_id"],
            depth=place["depth"],
            message=entry.message,
            status=entry.status,
            counts=entry.counts,
        )

    async def flush(self, connection: Connection) -> None:
        if self.messages:
            await connection.execute(_INSERTS[message], self.messages)
            self.messages.clear()
        for table, waiting in self.beside.items():
            if waiting:
                await connection.execute(_INSERTS[table], waiting)
                waiting.clear()


async def touch(connection: Connection, conversation_id: str) -> None:
    """Note that something about the messages of a conversation changed."""
    await connection.execute(_CHANGED, {"changed": conversation_id, "now": rows.now()})


async def finish(connection: Connection, id: str, entry: Entry) -> Node:
    """Put the content into a place that was kept for a message still being written: the only change to a message."""
    where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == id))
    if where is None:
        raise NotFound(f"there is no message {id}")
    await lock(connection, where)
    node = await rewrite(connection, id, entry)
    if node is None:
        raise UsageError(f"message {id} is not being written; append a new one instead")
    await touch(connection, where)
    return node


async def rewrite(connection: Connection, id: str, entry: Entry) -> Node | None:
    """Put other content into the place of a message that is being written; None if it is not any more."""
    m, parent = message, message.alias("parent")
    found = await connection.execute(
        sa.select(m.c.id, m.c.conversation_id, m.c.parent_id, m.c.depth, m.c.status, parent.c.digest)
        .outerjoin(parent, parent.c.id == m.c.parent_id)
        .where(m.c.id == id)
    )
    row = found.one_or_none()
    if row is None or row.status != "streaming":
        return None
    entry = replace(entry, message=admit(entry.message))
    above = row.digest if row.parent_id else b""
    place = {
        "id": row.id,
        "conversation_id": row.conversation_id,
        "parent_id": row.parent_id,
        "depth": row.depth,
    }
    batch = Batch()
    node = batch.add(entry, place)
    (values,) = batch.messages
    batch.messages.clear()
    values["digest"] = None if above is None else chain(above, entry.message)
    await connection.execute(sa.update(m).where(m.c.id == row.id).values(**values))
    for table in (large_text, attachment, message_token):
        await connection.execute(sa.delete(table).where(table.c.message_id == row.id))
    await batch.flush(connection)
    return node


async def set_counts(connection: Connection, tokenizer: str, counts: Mapping[str, int]) -> None:
    """Note how many tokens messages have in a tokenizer; what was deleted meanwhile is left alone."""
    wanted = {plain_id(id): tokens for id, tokens in counts.items()}
    # In one order, so that two callers with the same messages do not wait for each other in a circle.
    known = message.c.id.in_(list(wanted)) & (message.c.status != "deleted")
    present = await connection.scalars(
        sa.select(message.c.id).where(known).order_by(message.c.id).with_for_update(read=True)
    )
    new = [{"message_id": id, "tokenizer": tokenizer, "tokens": wanted[id]} for id in present]
    if not new:
        return
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = insert(message_token)
    await connection.execute(
        row.on_conflict_do_update(
            index_elements=["message_id", "tokenizer"], set_={"tokens": row.excluded.tokens}
        ),
        new,
    )


async def set_usage(
    connection: Connection, id: str, input_tokens: int | None, output_tokens: int | None
) -> None:
    """Note what a provider reported for a message, if that came after it."""
    changed = await connection.execute(
        sa.update(message)
        .where(message.c.id == id, message.c.status != "deleted")
        .values(input_tokens=input_tokens, output_tokens=output_tokens)
    )
    if not changed.rowcount:
        raise NotFound(f"there is no message {id}")


async def create(connection: Connection, title: str, owner: str, id: str | None) -> Conversation:
    """Make an empty conversation; with an id that is taken by one of the same owner, give that one."""
    new, now = plain_id(id) if id else new_id(), rows.now()
    values = {
        "id": new,
        "owner": owner,
        "title": title,
        "messages": 0,
        "deletions": 0,
        "revision": 0,
        "created": now,
        "updated": now,
    }
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    # Two that make the same conversation at the same time both get it.
    made = insert(conversation).values(**values).on_conflict_do_nothing().returning(*conversation.c)
    row = (await connection.execute(made)).one_or_none()
    if row is None:
        taken = sa.select(conversation).where(
            conversation.c.id == new, conversation.c.owner == owner, bin.LISTED
        )
        row = (await connection.execute(taken)).one_or_none()
    if row is None:
        raise UsageError(f"the conversation id {new} is taken; leave the id out, or make a new one")
    return rows.conversation(row)


async def change(connection: Connection, id: str, **values: Any) -> Conversation:
    """Rename or archive a conversation; that is no reason to list it first, so its time stays.

    A deleted one stays deleted: archiving it, or not, says where it comes back to.
    """
    changed = sa.update(conversation).where(conversation.c.id == id, bin.THERE).values(**values)
    row = (await connection.execute(changed.returning(*conversation.c))).one_or_none()
    if row is None:
        raise NotFound(f"there is no conversation {id}")
    return rows.conversation(row)


async def move_tip(
    connection: Connection, conversation_id: str, to: str | None, expected: str | None
) -> bool:
    """Move the tip if it still is where the caller last saw it."""
    owner = await lock(connection, conversation_id)
    if to is not None:
        at = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == to))
        if at is None:
            raise NotFound(f"there is no message {to}")
        if at != owner.id:
            raise NotOnBranch(f"message {to} belongs to another conversation than {owner.id}")
    if owner.tip_id != (expected and plain_id(expected)):
        return False
    await connection.execute(
        sa.update(conversation).where(conversation.c.id == owner.id).values(tip_id=to, updated=rows.now())
    )
    return True


async def append_sibling(connection: Connection, id: str, entry: Entry, *, select: bool) -> Node:
    """Add a message beside another: an edit, or another answer."""
    m = message
    row = (
        await connection.execute(sa.select(m.c.conversation_id, m.c.parent_id).where(m.c.id == id))
    ).one_or_none()
    if row is None:
        raise NotFound(f"there is no message {id}")
    added = await append(connection, row.conversation_id, [entry], row.parent_id, select=select)
    return added.nodes[0]
