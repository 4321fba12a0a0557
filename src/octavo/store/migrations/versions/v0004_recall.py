"""An index of what can be recalled; it is filled as conversations are used, a little at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ID = sa.LargeBinary(16).with_variant(postgresql.UUID(), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "recall_lane",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("parent_id", _SERIAL),
        sa.Column("fork", sa.Integer, nullable=False),
        sa.Column("stop", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="recall_lane_pkey"),
        _of("recall_lane", "parent_id", "recall_lane.id"),
    )
    op.create_index("recall_lane_conversation_id", "recall_lane", ["conversation_id"])
    op.create_index("recall_lane_parent_id", "recall_lane", ["parent_id"])
    op.create_table(
        "recall_message",
        sa.Column("n", _SERIAL, nullable=False, autoincrement=False),
        sa.Column("lane_id", _SERIAL, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("n", name="recall_message_pkey"),
        sa.UniqueConstraint("lane_id", "depth", name="recall_message_lane_id_depth_key"),
        _of("recall_message", "n", "message.n"),
        _of("recall_message", "lane_id", "recall_lane.id"),
    )
    op.create_table(
        "recall_passage",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("source_id", _ID, nullable=False),
        sa.Column("passage", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("message_id", "place", name="recall_passage_pkey"),
        _of("recall_passage", "message_id", "message.id"),
        _of("recall_passage", "source_id", "message.id"),
    )
    op.create_index("recall_passage_source_id", "recall_passage", ["source_id"])
    op.create_table(
        "recall_word",
        sa.Column("lane_id", _SERIAL, nullable=False, autoincrement=False),
        sa.Column("word", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("block", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("places", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("lane_id", "word", "block", name="recall_word_pkey"),
        _of("recall_word", "lane_id", "recall_lane.id"),
        sqlite_with_rowid=False,
    )


def _of(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=f"{table}_{column}_fkey", ondelete="CASCADE")
