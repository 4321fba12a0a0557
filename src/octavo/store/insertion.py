"""How messages become rows: each below its parent, with all that belongs to it, many in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from octavo.core.messages import Message, Node, chain
from octavo.errors import NotFound, NotOnBranch, UsageError
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.ids import new_id
from octavo.store.parts import admit, pack
from octavo.store.schema import attachment, large_text, message, message_token, plain_id
from octavo.store.values import Entry
from octavo.store.walk import jump_depth, spine

BATCH = 1_000
"""Rows sent to the database at once."""

# Made once: to put these together each time costs as much as to run them.
_INSERTS = {table: sa.insert(table) for table in (message, large_text, attachment, message_token)}


@dataclass(slots=True)
class BranchEnd:
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


async def find_end(connection: Connection, conversation_id: str, parent: str | None) -> BranchEnd:
    """Find out what a child of `parent` needs to know; None makes a root."""
    if parent is None:
        return BranchEnd(conversation_id, None, 0, b"", {})
    found = (await connection.execute(spine(), {"parent": parent})).all()
    if not found:
        raise NotFound(f"there is no message {parent} to append to")
    above = max(found, key=lambda row: row.depth)
    if above.conversation_id != conversation_id:
        raise NotOnBranch(f"message {parent} belongs to another conversation than {conversation_id}")
    if above.status == "streaming":
        raise UsageError(f"message {parent} is still being written; finish it before appending to it")
    return BranchEnd(
        conversation_id, above.id, above.depth, above.digest, {row.depth: row.id for row in found}
    )


async def insert(connection: Connection, place: BranchEnd, entries: Iterable[Entry]) -> tuple[Node, ...]:
    """Insert entries one below the other, from a place on."""
    nodes: list[Node] = []
    batch = RowBatch()
    for given in entries:
        whole = admit(given.message)
        entry = given if whole is given.message else replace(given, message=whole)
        id = plain_id(entry.id) if entry.id else new_id()
        nodes.append(batch.add(entry, place.add(id, entry.message)))
        if len(batch.messages) >= BATCH:
            await batch.flush(connection)
    await batch.flush(connection)
    return tuple(nodes)


class RowBatch:
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
    batch = RowBatch()
    node = batch.add(entry, place)
    (values,) = batch.messages
    batch.messages.clear()
    values["digest"] = None if above is None else chain(above, entry.message)
    await connection.execute(sa.update(m).where(m.c.id == row.id).values(**values))
    for table in (large_text, attachment, message_token):
        await connection.execute(sa.delete(table).where(table.c.message_id == row.id))
    await batch.flush(connection)
    return node
