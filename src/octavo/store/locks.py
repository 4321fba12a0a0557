"""The lock on a conversation, and the note that something about it changed."""

from __future__ import annotations

import sqlalchemy as sa

from octavo.errors import NotFound
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.schema import conversation
from octavo.store.visibility import THERE

# Made once: to put these together each time costs as much as to run them.
_LOCKED = sa.select(conversation).where(conversation.c.id == sa.bindparam("locked"), THERE).with_for_update()
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


async def touch(connection: Connection, conversation_id: str) -> None:
    """Note that something about the messages of a conversation changed."""
    await connection.execute(_CHANGED, {"changed": conversation_id, "now": rows.now()})
