"""Deletes for good: the content, everything that was derived from it, and its traces in the search index.

A deleted message leaves an emptied place, so the tree keeps its shape. Every snapshot that was shown it is retired
and emptied: a summary must not keep what a user deleted. The digests at and below it are forgotten, since they
were made of its words.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from octavo.errors import NotFound
from octavo.store import recall, rows
from octavo.store.connection import Connection
from octavo.store.database import Database
from octavo.store.locks import lock, touch
from octavo.store.parts import EMPTIED
from octavo.store.schema import (
    attachment,
    conversation,
    job,
    large_text,
    message,
    message_token,
    pin,
    recall_passage,
    snapshot,
)
from octavo.store.walk import below

MERGE_PAGES = 500
"""Pages of the search index rewritten at a time: a few milliseconds."""
READER_WAIT = 1.0
"""Seconds that somebody who reads is waited for, until the journal can be emptied."""


async def delete_message(connection: Connection, id: str, *, subtree: bool) -> None:
    """Empty a message, or remove it with everything below it."""
    where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == id))
    if where is None:
        raise NotFound(f"there is no message {id}")
    owner = await lock(connection, where)
    found = await connection.execute(sa.select(message.c.id, message.c.parent_id).where(message.c.id == id))
    row = found.one_or_none()
    if row is None:
        raise NotFound(f"there is no message {id}")
    if subtree:
        await _remove_below(connection, owner, row)
    else:
        await _empty(connection, owner, row)


async def _empty(connection: Connection, owner: rows.Row, row: rows.Row) -> None:
    root = {"root": row.id}
    inside = sa.select(below().c.id)
    shown = await connection.execute(
        sa.select(snapshot).where(
            snapshot.c.conversation_id == owner.id,
            snapshot.c.anchor_id.in_(inside),
            snapshot.c.state != "retired",
        ),
        root,
    )
    for one in [rows.emptied(rows.snapshot(found)) for found in shown]:
        content = rows.snapshot_content(one)
        await connection.execute(
            sa.update(snapshot)
            .where(snapshot.c.id == one.id)
            .values(state=one.state, digest=one.digest, content=content)
        )
    await connection.execute(
        sa.update(message)
        .where(message.c.n.in_(sa.select(below().c.n)), message.c.digest.is_not(None))
        .values(digest=None),
        root,
    )
    await recall.forget_words(connection, row.id)
    for table in (large_text, attachment, message_token, pin, recall_passage):
        await connection.execute(sa.delete(table).where(table.c.message_id == row.id))
    await connection.execute(sa.delete(recall_passage).where(recall_passage.c.source_id == row.id))
    await connection.execute(
        sa.update(message)
        .where(message.c.id == row.id)
        .values(
            status="deleted",
            text=EMPTIED.text,
            parts=EMPTIED.parts,
            large=0,
            model=None,
            input_tokens=None,
            output_tokens=None,
        )
    )
    await _note_deletion(connection, owner.id)


async def _remove_below(connection: Connection, owner: rows.Row, row: rows.Row) -> None:
    root = {"root": row.id}
    inside = sa.select(below().c.id)
    await recall.forget_below(connection, row.id)
    for table in (snapshot, job):
        here = table.c.conversation_id == owner.id
        await connection.execute(sa.delete(table).where(here, table.c.anchor_id.in_(inside)), root)
    await connection.execute(
        sa.update(conversation)
        .where(conversation.c.id == owner.id, conversation.c.tip_id.in_(inside))
        .values(tip_id=row.parent_id),
        root,
    )
    # Counted beforehand: for a statement that begins with WITH, SQLite's driver does not say how many rows it hit.
    gone = await connection.scalar(sa.select(sa.func.count()).select_from(below()), root)
    # One statement: with the database's own cascades down the tree, SQLite would stop at 1,000 levels.
    await connection.execute(sa.delete(message).where(message.c.n.in_(sa.select(below().c.n))), root)
    await _note_deletion(connection, owner.id, messages=gone)


async def _note_deletion(connection: Connection, conversation_id: str, *, messages: int = 0) -> None:
    c = conversation.c
    fewer = {"deletions": c.deletions + 1, "messages": c.messages - messages}
    await connection.execute(sa.update(conversation).where(c.id == conversation_id).values(**fewer))
    await touch(connection, conversation_id)


async def purge_words(database: Database) -> None:
    """Take deleted words out of SQLite's search index and journal, where a deletion alone would leave them.

    The index only notes that a row is gone; merging its parts drops the words. PostgreSQL's vacuum does as much.
    """
    if database.dialect != "sqlite":
        return
    for index in ("message_fts", "large_text_fts"):
        await database.write(lambda connection, i=index: _merge(connection, i, -MERGE_PAGES))  # type: ignore[misc]
        await database.in_turns(lambda connection, i=index: _merge(connection, i, MERGE_PAGES))  # type: ignore[misc]
    await empty_journal(database)


async def empty_journal(database: Database) -> None:
    """Write SQLite's journal back into the file."""
    if database.path is not None:
        await asyncio.to_thread(_checkpoint, database.path)


async def _merge(connection: Connection, index: str, pages: int) -> bool:
    """Merge some more; a negative number starts a merge of everything. False when there was nothing left to do."""
    before = await connection.scalar(sa.text("SELECT total_changes()"))
    await connection.execute(
        sa.text(f"INSERT INTO {index}({index}, rank) VALUES ('merge', :pages)"), {"pages": pages}
    )
    after = await connection.scalar(sa.text("SELECT total_changes()"))
    return int(after) - int(before) >= 2


def _checkpoint(path: Path) -> None:
    """Empty the journal; a reader that is still at work makes it wait for the next time.

    Nobody can write while it is emptied, so most of it is written back before.
    """
    with closing(sqlite3.connect(path, timeout=READER_WAIT)) as connection:
        for way in ("PASSIVE", "TRUNCATE"):
            connection.execute(f"PRAGMA wal_checkpoint({way})").fetchall()
