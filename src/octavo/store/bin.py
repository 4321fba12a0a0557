"""The bin: deleted conversations that can still be restored, and how conversations are removed for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import sqlalchemy as sa

from octavo.errors import NotFound, UsageError
from octavo.store import recall, rows
from octavo.store.clock import in_seconds
from octavo.store.connection import Connection
from octavo.store.database import Database
from octavo.store.deletion import purge_words
from octavo.store.labels import remove_labels
from octavo.store.notes import remove_some_notes
from octavo.store.schema import conversation, job, large_text, message, recall_lane, setting, snapshot
from octavo.store.section import Section, reads, writes
from octavo.store.settings import scope_text
from octavo.store.values import Conversation, ForConversation
from octavo.store.visibility import (
    DELETED,
    DUE,
    IMPORTING,
    LEFT_OVER,
    LISTED,
    REMOVING,
    THERE,
    set_visibility,
    show_deleted,
)

STEP = 200
"""Rows removed by one statement: the time is looked at in between."""
STEP_TEXT = 200_000
"""Characters removed by one statement, if there is more than one row."""

_c = conversation.c


class Bin(Section):
    """The deleted conversations of a store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database = database

    async def delete(self, id: str, *, undo: float = 0) -> None:
        """Remove a conversation with everything that belongs to it, for good.

        With `undo` it is out of sight at once, and can be restored for so many seconds before it is due.
        """
        if undo > 0:
            gone = await self._hide(id, THERE, DELETED, in_seconds(undo))
        elif gone := await self._hide(id, THERE, REMOVING, None):
            await self._clear([id])
        if not gone:
            raise NotFound(f"there is no conversation {id}")

    @writes
    async def restore(self, connection: Connection, id: str) -> Conversation:
        """Bring back a deleted conversation as it was."""
        found = await show_deleted(connection, id)
        if found is None:
            if await connection.scalar(sa.select(_c.id).where(_c.id == id, LISTED)) is None:
                raise NotFound(f"there is no conversation {id}")
            raise UsageError("this conversation was not deleted: there is nothing to bring back")
        return rows.conversation(found)

    async def remove_due(self) -> tuple[str, ...]:
        """Remove the deleted conversations whose time is over, and leftovers, for good; gives what is gone."""
        return await self._remove(DUE)

    async def remove_leftovers(self) -> tuple[str, ...]:
        """Remove what imports and removals that broke off have left behind."""
        return await self._remove(LEFT_OVER)

    async def has_leftovers(self) -> bool:
        return bool(await self._find(LEFT_OVER))

    @writes
    async def abandon(self, connection: Connection, ids: Sequence[str]) -> None:
        """Give up conversations that are being imported: `remove_leftovers` removes them."""
        which = sa.update(conversation).where(_c.id.in_(ids), _c.hidden == IMPORTING)
        await connection.execute(which.values(hidden=REMOVING, due=None))

    @reads
    async def _find(self, connection: Connection, which: sa.ColumnElement[bool]) -> Sequence[str]:
        return (await connection.scalars(sa.select(_c.id).where(_c.hidden.is_not(None), which))).all()

    @writes
    async def _hide(
        self, connection: Connection, id: str, which: sa.ColumnElement[bool], hidden: str, due: object
    ) -> bool:
        return await set_visibility(connection, id, which, hidden, due) is not None

    async def _remove(self, which: sa.ColumnElement[bool]) -> tuple[str, ...]:
        # Each is looked at again: somebody may have restored it since it was listed.
        gone = [id for id in await self._find(which) if await self._hide(id, DUE, REMOVING, None)]
        if gone:
            await self._clear(gone)
        return tuple(gone)

    async def _clear(self, ids: Sequence[str]) -> None:
        """Remove what is hidden already, a little at a time."""
        for id in ids:
            await self._database.in_turns(lambda c, i=id: _remove_some(c, i))  # type: ignore[misc]
        await purge_words(self._database)


async def _remove_some(connection: Connection, id: str) -> bool:
    """Remove some rows of a conversation, in an order that breaks no reference; false when all are gone."""
    for table in (job, snapshot):
        await connection.execute(sa.delete(table).where(table.c.conversation_id == id))
    if await recall.remove_some(connection, id) or await remove_some_notes(connection, id, STEP):
        return True
    # A message is older than what lies below it: the newest go first.
    for table in (large_text, message):
        newest = sa.select(table.c.n, sa.func.length(table.c.text).label("size"))
        newest = newest.where(table.c.conversation_id == id).order_by(table.c.n.desc()).limit(STEP)
        found = (await connection.execute(newest)).all()
        if found:
            some = [row.n for row, before in zip(found, _sums(found), strict=True) if before < STEP_TEXT]
            await connection.execute(sa.delete(table).where(table.c.n.in_(some)))
            return True
    await connection.execute(sa.delete(setting).where(setting.c.scope == scope_text(ForConversation(id))))
    await remove_labels(connection, id)
    await connection.execute(sa.delete(recall_lane).where(recall_lane.c.conversation_id == id))
    await connection.execute(sa.delete(conversation).where(_c.id == id))
    return False


def _sums(found: Sequence[rows.Row]) -> Iterator[int]:
    """Give the characters of the rows before each row."""
    return accumulate((row.size for row in found[:-1]), initial=0)
