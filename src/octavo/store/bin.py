"""The bin: deleted conversations that can still be brought back, and how any conversation is hidden.

    active ⇄ archived              it is listed in one of the two lists
    active, archived → deleted     nobody finds it; what it was is remembered
    deleted → active, archived     it is taken back, or somebody says something in it
    deleted → removing             its time is over, or it is deleted for good: there is no way back
    importing → active, archived   it has arrived, with all others of the same file
    importing → removing           it broke off, or nobody has heard of it for a while

What is listed is never removed. A hidden conversation is removed when it is `due`, by the database's clock.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from octavo.errors import NotFound, UsageError
from octavo.store import rows
from octavo.store.clock import clock, in_seconds, is_over
from octavo.store.direct import Connection
from octavo.store.schema import conversation
from octavo.store.values import Conversation

DELETED, IMPORTING, REMOVING = "deleted", "importing", "removing"
"""Why a conversation is hidden."""
SILENCE = 60.0
"""Seconds an import may be silent: far more than it ever waits for others."""

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


def _is_left() -> sa.ColumnElement[bool]:
    """What an import or a removal that broke off has left behind."""
    return (_c.hidden == REMOVING) | ((_c.hidden == IMPORTING) & is_over(_c.due, SILENCE))


def _is_due() -> sa.ColumnElement[bool]:
    return _is_left() | ((_c.hidden == DELETED) & (_c.due <= clock()))


async def due(connection: Connection) -> Sequence[str]:
    """List the conversations whose time is over, and what is left of others."""
    return (await connection.scalars(sa.select(_c.id).where(_c.hidden.is_not(None), _is_due()))).all()


async def left(connection: Connection) -> Sequence[str]:
    """List what is left of conversations that nobody is at any more."""
    return (await connection.scalars(sa.select(_c.id).where(_c.hidden.is_not(None), _is_left()))).all()


async def condemn(connection: Connection, id: str) -> bool:
    """Take a conversation away for good; false if it is not there."""
    return await _set(connection, id, THERE, hidden=REMOVING, due=0) is not None


async def condemn_due(connection: Connection, id: str) -> bool:
    """Take a conversation away for good if it is still due; false if it was taken back, or is gone."""
    return await _set(connection, id, _is_due(), hidden=REMOVING, due=0) is not None


async def abandon(connection: Connection, ids: Sequence[str]) -> None:
    """Leave conversations that are being imported to whoever removes what is left."""
    which = sa.update(conversation).where(_c.id.in_(ids), _c.hidden == IMPORTING)
    await connection.execute(which.values(hidden=REMOVING, due=0))


async def _set(
    connection: Connection, id: str, which: sa.ColumnElement[bool], **values: object
) -> rows.Row | None:
    changed = sa.update(conversation).where(_c.id == id, which).values(**values).returning(*_c)
    return (await connection.execute(changed)).one_or_none()
