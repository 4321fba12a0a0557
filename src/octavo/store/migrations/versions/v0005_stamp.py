"""What can be recalled knows the day that its text, or one before it, opens with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("recall_message", sa.Column("stamp", sa.Text))
