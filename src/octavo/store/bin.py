"""The bin: deleted conversations that can still be brought back, and how any conversation is hidden.

    active ⇄ archived              it is listed in one of the two lists
    active, archived → deleted     nobody finds it; what it was is remembered
    deleted → active, archived     it is taken back, or somebody says something in it
    deleted → removing             its time is over, or it is deleted for good: there is no way back

What is listed is never removed. A hidden conversation is removed when it is `due`, by the database's clock.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from octavo.errors import NotFound, UsageError
from octavo.store import rows
from octavo.store.clock import clock, in_seconds
from octavo.store.direct import Connection
from octavo.store.schema import conversation
from octavo.store.values import Conversation

DELETED, REMOVING = "deleted", "removing"
"""Why a conversation is hidden."""

_c = conversation.c
LISTED: sa.ColumnElement[bool] = _c.hidden.is_(None)
"""It is found by lists, searches and beginnings."""
THERE: sa.ColumnElement[bool] = _c.hidden.is_(None) | (_c.hidden == DELETED)
"""It is found by its id: also a deleted one, which could not be brought back otherwise."""


async def put(connection: Connection, id: str, seconds: float) -> None:
    """Hide a conversation, and have it removed after so many seconds."""
    if await _set(connection, id, THERE, hidden=DELETED, due=in_seconds(seconds)) is None:
        raise NotFound(f"there is no conversation {id}")


async def take_back(connection: Connection, id: str) -> Conversation:
    """Bring a conversation back as it was."""
    found = await _set(connection, id, THERE & ~LISTED, hidden=None, due=None)
    if found is None:
        if await connection.scalar(sa.select(_c.id).where(_c.id == id, LISTED)) is None:
            raise NotFound(f"there is no conversation {id}")
        raise UsageError("this conversation was not deleted: there is nothing to bring back")
    return rows.conversation(found)


async def due(connection: Connection) -> Sequence[str]:
    """List the conversations whose time is over."""
    found = sa.select(_c.id).where(_c.hidden.is_not(None), _c.due <= clock()).order_by(_c.due)
    return (await connection.scalars(found)).all()


async def condemn(connection: Connection, id: str, *, when_due: bool = False) -> bool:
    """Take a conversation away for good; false if it is gone, or `when_due` and it was taken back meanwhile."""
    which = _c.hidden.is_not(None) & (_c.due <= clock()) if when_due else THERE
    return await _set(connection, id, which, hidden=REMOVING, due=0) is not None


async def _set(
    connection: Connection, id: str, which: sa.ColumnElement[bool], **values: object
) -> rows.Row | None:
    changed = sa.update(conversation).where(_c.id == id, which).values(**values).returning(*_c)
    return (await connection.execute(changed)).one_or_none()
