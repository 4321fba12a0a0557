"""What conversations cost, added up from the bills of their answers and the receipts of their compressions.

Nothing is stored just for this: every answer has its bill, and every snapshot its receipt. The bills of deleted
messages are deleted with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from octavo.store.connection import Connection
from octavo.store.ids import made_at
from octavo.store.rows import time_text, time_value
from octavo.store.schema import conversation, message, message_token, plain_id, snapshot
from octavo.store.section import Section, reads
from octavo.store.values import CACHED, BilledDay, CompressionBill
from octavo.store.visibility import LISTED

DATE = len("2026-01-01")
NEWEST = 100
"""Bills that tell how well a provider's cache works for a conversation: it may have become better or worse."""


class CostStore(Section):
    """The bills of a store."""

    @reads
    async def sent(self, connection: Connection, id: str) -> tuple[int, int, int]:
        """Give the tokens that a conversation's requests were billed for, and of these the cached ones.

        Last come the tokens of requests whose bill told of the cache.
        """
        found = (await connection.execute(_TOTALS, {"id": plain_id(id)})).one()
        return int(found.sent or 0), int(found.cached or 0), int(found.told or 0)

    @reads
    async def newest(self, connection: Connection, id: str) -> tuple[tuple[str, int, int], ...]:
        """Give the newest bills of a conversation that tell of the cache, the oldest first: model, tokens, cached."""
        rows = (await connection.execute(_NEWEST, {"id": plain_id(id)})).all()
        return tuple((row.model or "", row.input_tokens, row.cached) for row in reversed(rows))

    @reads
    async def bills(
        self,
        connection: Connection,
        *,
        id: str | None = None,
        owner: str | None = None,
        after: Iterable[CompressionBill] = (),
    ) -> tuple[BilledDay, ...]:
        """Add up the bills by conversation, model and day; `after` which compressions, the oldest first."""
        less = _Reductions(after)
        for conversation_id in less.conversations:
            if await connection.scalar(_FORKED, {"id": conversation_id}):
                less.follow(
                    conversation_id, (await connection.execute(_PARENTS, {"id": conversation_id})).all()
                )
        days: dict[tuple[str, str, str], BilledDay] = {}
        for row in await connection.execute(_only(_BILLS, id, owner)):
            at = row.created or made_at(row.id)
            day = time_text(at)[:DATE]
            shorter = less.at(row, at)
            key = (row.conversation_id, row.model or "", day)
            before = days.get(key) or BilledDay(conversation=key[0], model=key[1], day=day)
            days[key] = replace(
                before,
                requests=before.requests + 1,
                input=before.input + row.input_tokens,
                cached=before.cached + (row.cached or 0),
                output=before.output + (row.output_tokens or 0),
                saved=before.saved + shorter,
                shortened=before.shortened + (shorter > 0),
            )
        return tuple(days.values())

    @reads
    async def compressions(
        self, connection: Connection, *, id: str | None = None, owner: str | None = None
    ) -> tuple[CompressionBill, ...]:
        """Give what every compression cost, the oldest first."""
        rows = await connection.execute(_only(_SNAPSHOTS, id, owner))
        return tuple(_compression_bills(rows))


class _Reductions:
    """How many tokens requests are shorter.

    A snapshot that was undone does not count, and one that was made anew counts once. A request is shorter only below
    what the compression covers: by its depth where a conversation is one line, by its ancestors where it has forks.
    """

    def __init__(self, bills: Iterable[CompressionBill]) -> None:
        self._found: dict[str, dict[str, CompressionBill]] = {}
        self._above: dict[str, frozenset[str]] = {}
        for bill in bills:
            if bill.active:
                self._found.setdefault(bill.conversation, {})[bill.cutoff] = bill

    @property
    def conversations(self) -> Iterable[str]:
        return self._found

    def follow(self, conversation: str, rows: Iterable[sa.Row[Any]]) -> None:
        """Find out below which cutoffs each message of a conversation stands; parents come before their children."""
        cutoffs, none = self._found[conversation], frozenset[str]()
        for row in rows:
            above = self._above.get(row.parent_id, none)
            # Most messages share the set of their parent.
            self._above[row.id] = above | {row.id} if row.id in cutoffs else above

    def at(self, row: sa.Row[Any], time: int) -> int:
        """Tell by how much a request was shorter."""
        found = self._found.get(row.conversation_id, {})
        above = self._above.get(row.id)
        return sum(
            bill.saved
            for cutoff, bill in found.items()
            if time_value(bill.created) < time
            and (bill.cutoff_depth < row.depth if above is None else cutoff in above)
        )


def _compression_bills(rows: Iterable[sa.Row[Any]]) -> Iterable[CompressionBill]:
    for row in rows:
        content = row.content
        try:
            receipt = json.loads(content.get("receipt") or "{}")
        except ValueError:
            continue
        if not receipt:
            continue
        before, after = receipt.get("tokens", (0, 0))
        requests, read, written, paid = receipt.get("summary", (0, 0, 0, None))
        created = str(content.get("compressionTimestamp") or "")
        yield CompressionBill(
            id=row.id,
            conversation=row.conversation_id,
            day=created[:DATE],
            model=str(receipt.get("model") or ""),
            requests=requests,
            input=read,
            output=written,
            price=paid,
            saved=max(0, before - after),
            created=created,
            cutoff=row.cutoff_id,
            cutoff_depth=row.cutoff_depth,
            active=row.state == "active",
        )


_told = message_token.alias("told")
_TOLD = sa.and_(_told.c.message_id == message.c.id, _told.c.tokenizer == CACHED)
_HERE = message.c.conversation_id == sa.bindparam("id", type_=message.c.conversation_id.type)
_TOTALS = (
    sa.select(
        sa.func.sum(message.c.input_tokens).label("sent"),
        sa.func.sum(_told.c.tokens).label("cached"),
        sa.func.sum(sa.case((_told.c.tokens.is_not(None), message.c.input_tokens))).label("told"),
    )
    .select_from(message.outerjoin(_told, _TOLD))
    .where(_HERE)
)
_NEWEST = (
    sa.select(message.c.model, message.c.input_tokens, _told.c.tokens.label("cached"))
    .select_from(message.join(_told, _TOLD))
    .where(
        _HERE,
        message.c.input_tokens.is_not(None),
    )
    .order_by(message.c.n.desc())
    .limit(NEWEST)
)
_FORKED = (
    sa.select(message.c.parent_id)
    .where(_HERE)
    .group_by(message.c.parent_id)
    .having(sa.func.count() > 1)
    .limit(1)
)
_PARENTS = sa.select(message.c.id, message.c.parent_id).where(_HERE).order_by(message.c.n)
_BILLS = (
    sa.select(
        message.c.id,
        message.c.conversation_id,
        message.c.model,
        message.c.depth,
        message.c.created,
        message.c.input_tokens,
        message.c.output_tokens,
        _told.c.tokens.label("cached"),
    )
    .select_from(
        message.join(conversation, conversation.c.id == message.c.conversation_id).outerjoin(_told, _TOLD)
    )
    .where(message.c.input_tokens.is_not(None), LISTED)
    .order_by(message.c.n)
)
_SNAPSHOTS = (
    sa.select(
        snapshot.c.id,
        snapshot.c.conversation_id,
        snapshot.c.content,
        snapshot.c.cutoff_id,
        snapshot.c.cutoff_depth,
        snapshot.c.state,
    )
    .select_from(snapshot.join(conversation, conversation.c.id == snapshot.c.conversation_id))
    .where(LISTED)
    .order_by(snapshot.c.id)
)


def _only(query: sa.Select[Any], id: str | None, owner: str | None) -> sa.Select[Any]:
    if id is not None:
        query = query.where(conversation.c.id == plain_id(id))
    return query if owner is None else query.where(conversation.c.owner == owner)
