"""The tables, once, for SQLite and PostgreSQL.

What cannot be held by a text column of one of the two (NUL, lone surrogates) is escaped on the way in and comes back
as it was, so both databases hold every text. Ids are 32 hex digits outside, 16 bytes or `uuid` inside.
A new database gets these tables at once, an older one by the steps of `migrations`; `tests/store/test_migrate.py` shows
that both come to the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from octavo.core.json_values import compact
from octavo.errors import NotFound

_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]+);")
_ID = re.compile("[0-9a-f]{32}")


def storable(text: str) -> str:
    """Escape what a database column cannot hold; the escape is a word of its own, so search is not disturbed."""
    if _holds(text):
        return text
    return _UNSTORABLE.sub(lambda found: f"\x1a{ord(found[0]):x};", text)


def _holds(text: str) -> bool:
    # Encoding finds lone surrogates about thirty times as fast as looking at every character does.
    if "\x00" in text or "\x1a" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def restored(text: str) -> str:
    """Undo `storable`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\x1a" in text else text


def plain_id(text: str) -> str:
    """Bring an id into its one form, or say that nothing has such an id."""
    found = text.replace("-", "").lower()
    if not _ID.fullmatch(found):
        raise NotFound(f"nothing here has the id {text[:80]!r}: an id is 32 hexadecimal digits")
    return found


class StoredText(TypeDecorator[str]):
    """Any text at all."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else restored(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value as text: `jsonb` refuses what a text may contain, and nothing here is looked up inside."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return storable(compact(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(restored(value))


class Id(TypeDecorator[str]):
    """An id: 16 bytes on SQLite, `uuid` on PostgreSQL; both sort by time."""

    impl = sa.LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = postgresql.UUID(as_uuid=True) if dialect.name == "postgresql" else sa.LargeBinary(16)
        return dialect.type_descriptor(native)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> UUID | bytes | None:
        if value is None:
            return None
        if dialect.name == "postgresql":
            return UUID(plain_id(value))
        try:
            raw = bytes.fromhex(value)
        except ValueError:
            raw = b""
        # Most ids are in their plain form already, and there are four of them in a row.
        return raw if len(raw) == 16 and len(value) == 32 else bytes.fromhex(plain_id(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], str | None]:  # noqa: ARG002
        if dialect.name == "postgresql":
            return lambda value: None if value is None else value.hex
        return lambda value: None if value is None else value.hex()


Serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A row number in order of insertion; on SQLite it must be `INTEGER` to be the rowid the search index refers to."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

conversation = sa.Table(
    "conversation",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("owner", StoredText, nullable=False),
    sa.Column("title", StoredText, nullable=False),
    sa.Column("tip_id", Id),
    sa.Column("messages", sa.Integer, nullable=False),
    sa.Column("deletions", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("updated", sa.BigInteger, nullable=False),
    sa.Column("archived", sa.BigInteger),
    # Why nobody finds it, and when it is removed for good: see `bin.py`.
    sa.Column("hidden", sa.Text),
    sa.Column("due", sa.BigInteger),
    sa.CheckConstraint("hidden IN ('deleted', 'importing', 'removing')", name="hidden"),
    sa.Index("conversation_owner_updated", "owner", "updated"),
    sa.Index(
        "conversation_due",
        "due",
        sqlite_where=sa.text("hidden IS NOT NULL"),
        postgresql_where=sa.text("hidden IS NOT NULL"),
    ),
)

# Small columns stand before the texts: a row read for its place in the tree does not touch overflow pages.
message = sa.Table(
    "message",
    metadata,
    sa.Column("n", Serial, primary_key=True),
    sa.Column("id", Id, nullable=False, unique=True),
    sa.Column("conversation_id", Id, sa.ForeignKey("conversation.id"), nullable=False),
    sa.Column("parent_id", Id, sa.ForeignKey("message.id"), index=True),
    # An ancestor further up, chosen so that any ancestor is reached in O(log depth) steps: see `walk.py`.
    sa.Column("jump_id", Id),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("digest", sa.LargeBinary(16)),
    sa.Column("input_tokens", sa.Integer),
    sa.Column("output_tokens", sa.Integer),
    sa.Column("created", sa.BigInteger),
    sa.Column("model", StoredText),
    sa.Column("large", sa.Integer, nullable=False),
    sa.Column("text", StoredText, nullable=False),
    sa.Column("parts", StoredText),
    sa.CheckConstraint("(parent_id IS NULL) = (depth = 1)", name="root"),
    sa.CheckConstraint("role IN ('user', 'assistant', 'system', 'tool')", name="role"),
    sa.CheckConstraint("status IN ('complete', 'streaming', 'aborted', 'error', 'deleted')", name="status"),
    sa.Index("message_conversation_id_n", "conversation_id", "n"),
    sa.Index(
        "message_roots",
        "conversation_id",
        sqlite_where=sa.text("parent_id IS NULL"),
        postgresql_where=sa.text("parent_id IS NULL"),
    ),
    # Partial: a branch with a deleted message in it cannot be recognised by its content any more.
    sa.Index(
        "message_digest",
        "digest",
        sqlite_where=sa.text("digest IS NOT NULL"),
        postgresql_where=sa.text("digest IS NOT NULL"),
    ),
)

large_text = sa.Table(
    "large_text",
    metadata,
    sa.Column("n", Serial, primary_key=True),
    sa.Column("id", Id, nullable=False, index=True),
    sa.Column("message_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), nullable=False),
    sa.Column("conversation_id", Id, nullable=False, index=True),
    sa.Column("piece", sa.Integer, nullable=False),
    sa.Column("chunk", sa.Integer, nullable=False),
    sa.Column("text", StoredText, nullable=False),
    sa.UniqueConstraint("message_id", "piece", "chunk"),
)

attachment = sa.Table(
    "attachment",
    metadata,
    sa.Column("message_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("conversation_id", Id, nullable=False, index=True),
    sa.Column("name", StoredText, nullable=False),
    sa.Column("media_type", StoredText, nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
)

message_token = sa.Table(
    "message_token",
    metadata,
    sa.Column("message_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tokenizer", sa.Text, primary_key=True),
    sa.Column("tokens", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

pin = sa.Table(
    "pin",
    metadata,
    sa.Column("message_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    # 0, 0 is the whole message.
    sa.Column("start", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("stop", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("conversation_id", Id, nullable=False, index=True),
)

snapshot = sa.Table(
    "snapshot",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("conversation_id", Id, sa.ForeignKey("conversation.id"), nullable=False, index=True),
    sa.Column("first_id", Id, nullable=False),
    sa.Column("cutoff_id", Id, nullable=False),
    sa.Column("cutoff_depth", sa.Integer, nullable=False),
    sa.Column("anchor_id", Id, nullable=False),
    sa.Column("anchor_depth", sa.Integer, nullable=False),
    sa.Column("carried_id", Id),
    sa.Column("previous_id", Id),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("digest", sa.LargeBinary(16), nullable=False),
    sa.Column("content", JsonText, nullable=False),
    # The revision of the conversation at which it was made, undone or brought back: tells what was done last.
    sa.Column("changed", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.CheckConstraint("cutoff_depth <= anchor_depth", name="depths"),
    sa.CheckConstraint("state IN ('active', 'undone', 'retired')", name="state"),
    sa.UniqueConstraint("cutoff_id", "version"),
    sa.Index(
        "snapshot_serving",
        "anchor_id",
        "cutoff_depth",
        sqlite_where=sa.text("state = 'active'"),
        postgresql_where=sa.text("state = 'active'"),
    ),
)

job = sa.Table(
    "job",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("conversation_id", Id, sa.ForeignKey("conversation.id"), nullable=False, index=True),
    sa.Column("anchor_id", Id, nullable=False),
    sa.Column("trigger", StoredText, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("worker", StoredText, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("lease_until", sa.BigInteger, nullable=False),
    sa.Column("deletions", sa.Integer, nullable=False),
    sa.Column("progress", StoredText, nullable=False),
    sa.Column("error", StoredText, nullable=False),
    sa.Column("snapshot_id", Id),
    sa.CheckConstraint("status IN ('running', 'done', 'failed', 'cancelled')", name="status"),
    sa.Index(
        "job_running",
        "anchor_id",
        unique=True,
        sqlite_where=sa.text("status = 'running'"),
        postgresql_where=sa.text("status = 'running'"),
    ),
)

setting = sa.Table(
    "setting",
    metadata,
    sa.Column("scope", StoredText, primary_key=True),
    sa.Column("key", StoredText, primary_key=True),
    sa.Column("value", JsonText, nullable=False),
    sa.Column("updated", sa.BigInteger, nullable=False),
)

note = sa.Table(
    "note",
    metadata,
    sa.Column("key", StoredText, primary_key=True),
    sa.Column("value", JsonText, nullable=False),
    sa.Column("updated", sa.BigInteger, nullable=False),
)

api_key = sa.Table(
    "api_key",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", StoredText, nullable=False),
    sa.Column("owner", StoredText, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False),
    sa.Column("sha256", sa.LargeBinary(32), nullable=False, unique=True),
    sa.Column("scopes", JsonText, nullable=False),
    sa.Column("used", sa.BigInteger),
    sa.Column("revoked", sa.BigInteger),
)

# What can be recalled: see `recall.py`. A lane is a stretch of covered messages, one below the other.
recall_lane = sa.Table(
    "recall_lane",
    metadata,
    sa.Column("id", Serial, primary_key=True),
    sa.Column("conversation_id", Id, nullable=False, index=True),
    # The lane it branches off from, and the depth of the last message they share; 0 for a root.
    sa.Column("parent_id", Serial, sa.ForeignKey("recall_lane.id", ondelete="CASCADE"), index=True),
    sa.Column("fork", sa.Integer, nullable=False),
    sa.Column("stop", sa.Integer, nullable=False),
)

recall_message = sa.Table(
    "recall_message",
    metadata,
    sa.Column(
        "n", Serial, sa.ForeignKey("message.n", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("lane_id", Serial, sa.ForeignKey("recall_lane.id", ondelete="CASCADE"), nullable=False),
    sa.Column("depth", sa.Integer, nullable=False),
    # The day that the message is known to be from because it opens with it in brackets, or one before it does.
    sa.Column("stamp", sa.Text),
    sa.UniqueConstraint("lane_id", "depth"),
)

# What was recalled for a message: it is sent with it again, byte for byte, until the message is covered itself.
recall_passage = sa.Table(
    "recall_passage",
    metadata,
    sa.Column("message_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("source_id", Id, sa.ForeignKey("message.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("passage", JsonText, nullable=False),
)

recall_word = sa.Table(
    "recall_word",
    metadata,
    sa.Column(
        "lane_id",
        Serial,
        sa.ForeignKey("recall_lane.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("word", sa.Integer, primary_key=True, autoincrement=False),
    # No place lies above this depth, and how many places of the word there are in the pages before.
    sa.Column("first", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("before", sa.Integer, nullable=False),
    sa.Column("places", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

JOINTS = "&+-./:<>@~"
"""What PostgreSQL's parser keeps words together by (paths, hosts, tags, numbers): its index is of texts without."""
SPACES = " " * len(JOINTS)


def _index_of_words(table: sa.Table) -> Iterator[sa.ExecutableDDLElement]:
    """Say how the index that `search.py` asks for a table's texts is made."""
    name, index = table.name, f"{table.name}_fts"
    # Kept right by triggers; words are cut at everything that is no letter or digit.
    forget = f"INSERT INTO {index}({index}, rowid, text) VALUES ('delete', old.n, old.text);"
    learn = f"INSERT INTO {index}(rowid, text) VALUES (new.n, new.text);"
    for statement in (
        f"CREATE VIRTUAL TABLE {index} USING fts5(text, content='{name}', content_rowid='n', "
        "tokenize='unicode61 remove_diacritics 0')",
        f"CREATE TRIGGER {name}_learn AFTER INSERT ON {name} BEGIN {learn} END",
        f"CREATE TRIGGER {name}_relearn AFTER UPDATE OF text ON {name} BEGIN {forget} {learn} END",
        f"CREATE TRIGGER {name}_forget AFTER DELETE ON {name} BEGIN {forget} END",
    ):
        yield _ddl(statement).execute_if(dialect="sqlite")
    words = f"to_tsvector('simple', translate(text, '{JOINTS}', '{SPACES}'))"
    yield _ddl(f"CREATE INDEX {name}_words ON {name} USING gin (({words}))").execute_if(dialect="postgresql")


def _ddl(statement: str) -> sa.DDL:
    return sa.DDL(statement)  # type: ignore[no-untyped-call]


for _table in (message, large_text):
    for _statement in _index_of_words(_table):
        sa.event.listen(_table, "after_create", _statement)
