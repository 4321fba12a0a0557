"""Says which conversations are found, by conditions on the states that a conversation goes through.

    active ⇄ archived              it is listed in one of the two lists
    active, archived → deleted     nobody finds it; what it was is remembered
    deleted → active, archived     it is restored, or somebody says something in it
    deleted → removing             its time is over, or it is deleted for good: there is no way back
    importing → active, archived   it has arrived, with all others of the same file
    importing → removing           it broke off, or nobody has heard of it for a while

What is listed is never removed. A hidden conversation is removed when it is `due`, by the database's clock.
"""

from __future__ import annotations

import sqlalchemy as sa

from octavo.store.clock import clock, is_over
from octavo.store.connection import Connection
from octavo.store.rows import Row
from octavo.store.schema import conversation

DELETED, IMPORTING, REMOVING = "deleted", "importing", "removing"
"""Why a conversation is hidden."""
SILENCE = 60.0
"""Seconds an import may be silent: far more than it ever waits for others."""

_c = conversation.c
LISTED: sa.ColumnElement[bool] = _c.hidden.is_(None)
"""It is found by lists, searches and beginnings."""
THERE: sa.ColumnElement[bool] = _c.hidden.is_(None) | (_c.hidden == DELETED)
"""It is found by its id: also a deleted one, which could not be restored otherwise."""
LEFT_OVER: sa.ColumnElement[bool] = (_c.hidden == REMOVING) | (
    (_c.hidden == IMPORTING) & is_over(_c.due, SILENCE)
)
"""An import or a removal that broke off has left it behind."""
DUE: sa.ColumnElement[bool] = LEFT_OVER | ((_c.hidden == DELETED) & (_c.due <= clock()))
"""Its time is over."""


async def set_visibility(
    connection: Connection, id: str, which: sa.ColumnElement[bool], hidden: str | None, due: object
) -> Row | None:
    """Hide or show a conversation that fits a condition; None when there is none."""
    changed = sa.update(conversation).where(_c.id == id, which).values(hidden=hidden, due=due)
    return (await connection.execute(changed.returning(*_c))).one_or_none()


async def show_deleted(connection: Connection, id: str) -> Row | None:
    """Show a deleted conversation again, as it was; None when there is none."""
    return await set_visibility(connection, id, THERE & ~LISTED, None, None)
