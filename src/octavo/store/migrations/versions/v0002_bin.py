"""Hidden conversations: the bin moves from notes of the server into the table."""

from __future__ import annotations

import json
import uuid
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.LargeBinary(16).with_variant(postgresql.UUID(), "postgresql")
_TRASH = "trash:"
"""The keys of the notes in which a server kept what it was about to delete."""

_conversation = sa.table(
    "conversation",
    sa.column("id", _ID),
    sa.column("messages", sa.Integer),
    sa.column("archived", sa.BigInteger),
    sa.column("hidden", sa.Text),
    sa.column("due", sa.BigInteger),
)
_note = sa.table("note", sa.column("key", sa.Text), sa.column("value", sa.Text))


def upgrade() -> None:
    # Written out: Alembic adds a constraint in a second statement, which SQLite does not know.
    op.execute(
        "ALTER TABLE conversation ADD COLUMN hidden TEXT "
        "CONSTRAINT conversation_hidden CHECK (hidden IN ('deleted', 'importing', 'removing'))"
    )
    op.add_column("conversation", sa.Column("due", sa.BigInteger))
    where = sa.text("hidden IS NOT NULL")
    op.create_index("conversation_due", "conversation", ["due"], sqlite_where=where, postgresql_where=where)
    _take_over_bin()


def _take_over_bin() -> None:
    connection = op.get_bind()
    notes = _note.c.key.startswith(_TRASH, autoescape=True)
    for note in connection.execute(sa.select(_note).where(notes)).all():
        try:
            id, values = uuid.UUID(note.key.removeprefix(_TRASH)), _deleted(json.loads(note.value))
        except (ValueError, TypeError, KeyError):
            continue
        key = id if connection.dialect.name == "postgresql" else id.bytes
        connection.execute(sa.update(_conversation).where(_conversation.c.id == key).values(**values))
    connection.execute(sa.delete(_note).where(notes))


def _deleted(note: dict[str, Any]) -> dict[str, Any]:
    """Say what a note said; a conversation that somebody went on with was to come back."""
    c = _conversation.c
    went_on = c.messages > int(note["messages"])
    return {
        "archived": c.archived if note["archived"] else None,
        "hidden": sa.case((went_on, None), else_="deleted"),
        "due": sa.case((went_on, None), else_=int(float(note["until"]) * 1000)),
    }
