"""Snapshots know when they were last made, undone or brought back, counted in revisions of their conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("snapshot", sa.Column("changed", sa.Integer, nullable=False, server_default=sa.text("0")))
