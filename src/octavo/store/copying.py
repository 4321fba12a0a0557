"""Copying a conversation, whole or one branch of it, into a new one: everything that points somewhere is redirected.

Messages, counts, large texts, files, pins, recalled passages, settings, labels, and the snapshots whose anchor is
copied too; jobs are not.
Contents and digests stay the same, ids do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from octavo.core.recall.render import copied
from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.ids import made_at, new_id
from octavo.store.labels import copy_labels
from octavo.store.passages import PassageStore, passage_rows
from octavo.store.schema import (
    attachment,
    conversation,
    large_text,
    message,
    message_token,
    pin,
    plain_id,
    recall_passage,
    snapshot,
)
from octavo.store.settings import SettingStore
from octavo.store.values import Conversation, ForConversation

BATCH = 1_000
"""Messages copied at a time."""

Ids = dict[str, str]
"""From the ids of the original to those of the copy."""


async def copy(
    connection: Connection, source: rows.Row, numbers: Sequence[int], tip: str | None, title: str | None
) -> Conversation:
    """Copy the messages of these row numbers, parents before children."""
    target = new_id()
    now = rows.now()
    await connection.execute(
        sa.insert(conversation).values(
            rows.conversation_row(
                target,
                owner=source.owner,
                title=source.title if title is None else title,
                messages=len(numbers),
                created=now,
                updated=now,
            )
        )
    )
    ids: Ids = {}
    for batch in _batches(numbers):
        await _copy_messages(connection, batch, target, ids)
    await _copy_snapshots(connection, source.id, target, ids)
    settings = SettingStore.within(connection)
    for key, value in (await settings.of_scope(ForConversation(source.id))).items():
        await settings.put(ForConversation(target), key, value)
    await copy_labels(connection, source.id, target)
    tip_id = None if tip is None else ids[plain_id(tip)]
    moved = sa.update(conversation).where(conversation.c.id == target).values(tip_id=tip_id)
    return rows.conversation((await connection.execute(moved.returning(*conversation.c))).one())


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), BATCH):
        yield numbers[start : start + BATCH]


async def _copy_messages(connection: Connection, numbers: Sequence[int], target: str, ids: Ids) -> None:
    found = await connection.execute(sa.select(message).where(message.c.n.in_(numbers)).order_by(message.c.n))
    originals = [row._asdict() for row in found]
    ids |= {row["id"]: new_id() for row in originals}
    new = [
        {
            **row,
            "id": ids[row["id"]],
            "conversation_id": target,
            "parent_id": row["parent_id"] and ids[row["parent_id"]],
            "jump_id": row["jump_id"] and ids[row["jump_id"]],
            # Nobody goes on with the copy of an answer that is being written.
            "status": "aborted" if row["status"] == "streaming" else row["status"],
            "created": made_at(row["id"]) if row["created"] is None else row["created"],
        }
        for row in originals
    ]
    for row in new:
        del row["n"]
    await connection.execute(sa.insert(message), new)
    for table in (large_text, attachment, message_token, pin):
        await _copy_beside(connection, table, [row["id"] for row in originals], target, ids)
    await _copy_passages(connection, [row["id"] for row in originals], ids)


async def _copy_passages(connection: Connection, originals: list[str], ids: Ids) -> None:
    """Copy what was recalled for messages; the sources stand above them, so they are copied already."""
    recalled = await PassageStore.within(connection).of(originals)
    new = [
        row
        for node, passages in recalled.items()
        for row in passage_rows(
            ids[node], tuple(copied(passage, ids[passage.source]) for passage in passages)
        )
    ]
    if new:
        await connection.execute(sa.insert(recall_passage), new)


async def _copy_beside(
    connection: Connection, table: sa.Table, originals: list[str], target: str, ids: Ids
) -> None:
    found = await connection.execute(sa.select(table).where(table.c.message_id.in_(originals)))
    texts: Ids = {}
    new: list[dict[str, Any]] = []
    for row in found:
        values = {**row._asdict(), "message_id": ids[row.message_id]}
        if table is large_text:
            del values["n"]
            values["id"] = texts.setdefault(row.id, new_id())
        if "conversation_id" in values:
            values["conversation_id"] = target
        new.append(values)
    if new:
        await connection.execute(sa.insert(table), new)


async def _copy_snapshots(connection: Connection, source: str, target: str, ids: Ids) -> None:
    found = await connection.execute(
        sa.select(snapshot).where(snapshot.c.conversation_id == source).order_by(snapshot.c.id)
    )
    originals = [one for one in map(rows.snapshot, found) if one.anchor in ids]
    ids |= {one.id: new_id() for one in originals}
    new = [rows.snapshot_row(redirected(one, ids), target) for one in originals]
    if new:
        await connection.execute(sa.insert(snapshot), new)


def redirected(original: Snapshot, ids: Ids) -> Snapshot:
    """Point a snapshot at copies; what was not copied is no longer pointed at."""
    return replace(
        original,
        id=ids[original.id],
        first=ids[original.first],
        cutoff=ids[original.cutoff],
        anchor=ids[original.anchor],
        carried=ids.get(original.carried or ""),
        answers=tuple(ids[id] for id in original.answers if id in ids),
        previous=ids.get(original.previous or ""),
        extracts=tuple(replace(one, source=ids.get(one.source, "")) for one in original.extracts),
        receipt=_redirected_receipt(original.receipt, ids),
    )


def _redirected_receipt(receipt: str, ids: Ids) -> str:
    """Point a receipt at copies; what somebody else wrote, and is none, stays what it is."""
    # Imported where it is needed: what reads messages for facts takes longer than all the rest.
    from octavo.core.receipt import Receipt

    try:
        return Receipt.from_json(receipt).redirected(ids).to_json() if receipt else ""
    except BadInput:
        return receipt
