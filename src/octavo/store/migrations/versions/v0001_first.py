"""The first schema: every table, and the search index of each database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.LargeBinary(16).with_variant(postgresql.UUID(), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_SEARCHED = ("message", "large_text")

JOINTS = "&+-./:<>@~"
"""What PostgreSQL's parser keeps words together by; `search.py` asks for the same expression."""


def upgrade() -> None:
    _conversations()
    _messages()
    _beside_messages()
    _snapshots()
    _jobs()
    _settings()
    for table in _SEARCHED:
        if op.get_bind().dialect.name == "sqlite":
            _search_sqlite(table)
        else:
            _search_postgresql(table)


def _conversations() -> None:
    op.create_table(
        "conversation",
        sa.Column("id", _ID, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("tip_id", _ID),
        sa.Column("messages", sa.Integer, nullable=False),
        sa.Column("deletions", sa.Integer, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("archived", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="conversation_pkey"),
    )
    op.create_index("conversation_owner_updated", "conversation", ["owner", "updated"])


def _messages() -> None:
    op.create_table(
        "message",
        sa.Column("n", _SERIAL, nullable=False),
        sa.Column("id", _ID, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("parent_id", _ID),
        sa.Column("jump_id", _ID),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary(16)),
        sa.Column("input_tokens", sa.Integer),
        sa.Column("output_tokens", sa.Integer),
        sa.Column("created", sa.BigInteger),
        sa.Column("model", sa.Text),
        sa.Column("large", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("parts", sa.Text),
        sa.PrimaryKeyConstraint("n", name="message_pkey"),
        sa.UniqueConstraint("id", name="message_id_key"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversation.id"], name="message_conversation_id_fkey"
        ),
        sa.ForeignKeyConstraint(["parent_id"], ["message.id"], name="message_parent_id_fkey"),
        sa.CheckConstraint("(parent_id IS NULL) = (depth = 1)", name="message_root"),
        sa.CheckConstraint("role IN ('user', 'assistant', 'system', 'tool')", name="message_role"),
        sa.CheckConstraint(
            "status IN ('complete', 'streaming', 'aborted', 'error', 'deleted')", name="message_status"
        ),
    )
    op.create_index("message_conversation_id_n", "message", ["conversation_id", "n"])
    _partial_index("message_roots", "message", ["conversation_id"], "parent_id IS NULL")
    op.create_index("message_parent_id", "message", ["parent_id"])
    _partial_index("message_digest", "message", ["digest"], "digest IS NOT NULL")


def _beside_messages() -> None:
    op.create_table(
        "large_text",
        sa.Column("n", _SERIAL, nullable=False),
        sa.Column("id", _ID, nullable=False),
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("piece", sa.Integer, nullable=False),
        sa.Column("chunk", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("n", name="large_text_pkey"),
        sa.UniqueConstraint("message_id", "piece", "chunk", name="large_text_message_id_piece_chunk_key"),
        _of_message("large_text"),
    )
    op.create_index("large_text_id", "large_text", ["id"])
    op.create_index("large_text_conversation_id", "large_text", ["conversation_id"])
    op.create_table(
        "attachment",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("message_id", "position", name="attachment_pkey"),
        _of_message("attachment"),
    )
    op.create_index("attachment_conversation_id", "attachment", ["conversation_id"])
    op.create_table(
        "message_token",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("tokenizer", sa.Text, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("message_id", "tokenizer", name="message_token_pkey"),
        _of_message("message_token"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pin",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("stop", sa.Integer, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.PrimaryKeyConstraint("message_id", "start", "stop", name="pin_pkey"),
        _of_message("pin"),
    )
    op.create_index("pin_conversation_id", "pin", ["conversation_id"])


def _of_message(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["message_id"], ["message.id"], name=f"{table}_message_id_fkey", ondelete="CASCADE"
    )


def _snapshots() -> None:
    op.create_table(
        "snapshot",
        sa.Column("id", _ID, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("first_id", _ID, nullable=False),
        sa.Column("cutoff_id", _ID, nullable=False),
        sa.Column("cutoff_depth", sa.Integer, nullable=False),
        sa.Column("anchor_id", _ID, nullable=False),
        sa.Column("anchor_depth", sa.Integer, nullable=False),
        sa.Column("carried_id", _ID),
        sa.Column("previous_id", _ID),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="snapshot_pkey"),
        sa.UniqueConstraint("cutoff_id", "version", name="snapshot_cutoff_id_version_key"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversation.id"], name="snapshot_conversation_id_fkey"
        ),
        sa.CheckConstraint("cutoff_depth <= anchor_depth", name="snapshot_depths"),
        sa.CheckConstraint("state IN ('active', 'undone', 'retired')", name="snapshot_state"),
    )
    op.create_index("snapshot_conversation_id", "snapshot", ["conversation_id"])
    _partial_index("snapshot_serving", "snapshot", ["anchor_id", "cutoff_depth"], "state = 'active'")


def _jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", _ID, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("anchor_id", _ID, nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("lease_until", sa.BigInteger, nullable=False),
        sa.Column("deletions", sa.Integer, nullable=False),
        sa.Column("progress", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("snapshot_id", _ID),
        sa.PrimaryKeyConstraint("id", name="job_pkey"),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversation.id"], name="job_conversation_id_fkey"),
        sa.CheckConstraint("status IN ('running', 'done', 'failed', 'cancelled')", name="job_status"),
    )
    op.create_index("job_conversation_id", "job", ["conversation_id"])
    _partial_index("job_running", "job", ["anchor_id"], "status = 'running'", unique=True)


def _settings() -> None:
    op.create_table(
        "setting",
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="setting_pkey"),
    )
    op.create_table(
        "note",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key", name="note_pkey"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("sha256", sa.LargeBinary(32), nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("used", sa.BigInteger),
        sa.Column("revoked", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="api_key_pkey"),
        sa.UniqueConstraint("sha256", name="api_key_sha256_key"),
    )


def _partial_index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
    )


def _search_sqlite(table: str) -> None:
    """An index beside the table, kept right by triggers; words are cut at everything that is no letter or digit."""
    index = f"{table}_fts"
    forget = f"INSERT INTO {index}({index}, rowid, text) VALUES ('delete', old.n, old.text);"
    learn = f"INSERT INTO {index}(rowid, text) VALUES (new.n, new.text);"
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5(text, content='{table}', content_rowid='n', "
        "tokenize='unicode61 remove_diacritics 0')"
    )
    op.execute(f"CREATE TRIGGER {table}_learn AFTER INSERT ON {table} BEGIN {learn} END")
    op.execute(f"CREATE TRIGGER {table}_relearn AFTER UPDATE OF text ON {table} BEGIN {forget} {learn} END")
    op.execute(f"CREATE TRIGGER {table}_forget AFTER DELETE ON {table} BEGIN {forget} END")


def _search_postgresql(table: str) -> None:
    words = f"to_tsvector('simple', translate(text, '{JOINTS}', '{' ' * len(JOINTS)}'))"
    # exec_driver_sql, because SQLAlchemy would take the colon for the start of a parameter.
    op.get_bind().exec_driver_sql(f"CREATE INDEX {table}_words ON {table} USING gin (({words}))")
