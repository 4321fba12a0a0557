"""What can be recalled is indexed by pages, which take less room; it is indexed again as conversations are used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("recall_word")
    for table in ("recall_message", "recall_lane"):
        op.execute(sa.text(f"DELETE FROM {table}"))
    op.create_table(
        "recall_word",
        sa.Column("lane_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("word", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("first", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("before", sa.Integer, nullable=False),
        sa.Column("places", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("lane_id", "word", "first", name="recall_word_pkey"),
        sa.ForeignKeyConstraint(
            ["lane_id"], ["recall_lane.id"], name="recall_word_lane_id_fkey", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
