"""Stores the pieces of a file in many short transactions: others write in between, and nobody sees half of it.

The conversations are hidden while they grow, and shown by the last transaction, all of them at once. If the import
breaks off, what is there is removed again. If the process dies, nobody prolongs the conversations' time any more, and
the next program that opens the database removes them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from octavo.errors import BadInput, StoreError, UsageError
from octavo.store.bin import Bin
from octavo.store.clock import in_seconds
from octavo.store.connection import Connection
from octavo.store.conversations import ConversationStore
from octavo.store.database import HOLD, Database
from octavo.store.schema import conversation, message, pin, recall_passage, setting, snapshot
from octavo.store.transfer.importer import ImportPiece, Row
from octavo.store.values import Conversation
from octavo.store.visibility import IMPORTING, REMOVING, SILENCE

GROUP = 100
"""Rows stored by one statement: the time is looked at in between."""
GROUP_TEXT = 100_000
"""Characters stored by one statement, if there is more than one row: some ten milliseconds of indexing."""
MANY = 1_000
"""Conversations named in one statement."""
RENEW = SILENCE / 4
"""Seconds after which the time of the conversations is prolonged."""

_c = conversation.c
_BEGIN = sa.insert(conversation).values(hidden=IMPORTING, due=in_seconds(SILENCE))
_CLOSE = (
    sa.update(conversation)
    .where(_c.id == sa.bindparam("closed"))
    .values(messages=sa.bindparam("count"), tip_id=sa.bindparam("tip"))
)
_THERE = "messages of this file are already in the store; import it with new ids to get a copy"


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that one statement stores, and what it means when one of them is there already."""

    statement: sa.Insert | sa.Update
    rows: Sequence[Row]
    clash: UsageError


class ImportWriter:
    """One file on its way into the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bin = Bin(database)
        self._begun: list[str] = []
        """The conversations that are there, in the order of the file."""
        self._written = Counter[str]()
        self._renewed = time.monotonic()

    async def run(self, pieces: Iterator[ImportPiece]) -> tuple[Conversation, ...]:
        """Store all pieces, or nothing."""
        try:
            # Laid out in another thread: a large file takes a while to read, and others are served meanwhile.
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                await self._store(piece)
            await self._database.write(self._show, self._written)
        except BaseException as error:
            await self._give_up(patiently=isinstance(error, Exception))
            raise
        found = [one for ids in _some(self._begun) for one in await self._shown(ids)]
        return tuple(found)

    async def _shown(self, ids: Sequence[str]) -> list[Conversation]:
        """Give the conversations, in the order of the file; somebody may have deleted one since."""
        store = ConversationStore(self._database)
        listed = {one.id: one for one in await store.list(ids=ids, archived=None, limit=len(ids))}
        return [listed[id] for id in ids if id in listed]

    async def _store(self, piece: ImportPiece) -> None:
        groups, at = list(_groups(piece)), 0
        new = [row["id"] for row in piece.conversations]
        known = sorted(piece.touched.difference(new))
        while at < len(groups):
            await self._renew()
            try:
                at = await self._database.turn(
                    lambda c, k=known, a=at: _insert(c, k, groups, a),  # type: ignore[misc]
                    self._written,
                )
            except _Taken:
                raise await self._database.read(lambda c, n=new: _whose(c, n)) from None  # type: ignore[misc]
            # The conversations are in the first group, and a transaction stores one at least.
            self._begun += new
            known, new = sorted({*known, *new}), []

    async def _renew(self) -> None:
        """Prolong the time of the conversations, now and then."""
        if time.monotonic() - self._renewed < RENEW:
            return
        self._renewed = time.monotonic()
        for ids in _some(self._begun):
            await self._database.turn(lambda c, i=ids: _change(c, i, due=in_seconds(SILENCE)))  # type: ignore[misc]

    async def _show(self, connection: Connection) -> None:
        for ids in _some(self._begun):
            await _change(connection, ids, hidden=None, due=None)

    async def _give_up(self, *, patiently: bool) -> None:
        """Remove what was stored; after an interruption, leave that to another program and do not wait for it."""
        for ids in _some(self._begun):
            await self._bin.abandon(ids)
        if patiently and self._begun:
            await self._bin.remove_leftovers()


class _Taken(UsageError):
    """A conversation has the id of another one."""


async def _whose(connection: Connection, ids: Sequence[str]) -> UsageError:
    """Say which of the conversations was there already, and what can be done about it."""
    found = await connection.execute(sa.select(_c.id, _c.hidden).where(_c.id.in_(ids)).order_by(_c.id))
    row = found.first()
    if row is None or row.hidden in (IMPORTING, REMOVING):
        return UsageError(
            "a conversation of this file is being imported or removed now; try again in a minute"
        )
    where = "in the bin" if row.hidden else "already here"
    return UsageError(f"conversation {row.id} is {where}; import it with new ids to get a copy")


async def _insert(connection: Connection, known: Sequence[str], groups: Sequence[_Group], at: int) -> int:
    """Store groups from one on, as many as there is time for; gives the next one."""
    until = time.monotonic() + HOLD
    for ids in _some(known):
        held = sa.select(_c.id).where(_c.id.in_(ids), _c.hidden == IMPORTING).with_for_update()
        _check((await connection.scalars(held)).all(), ids)
    while at < len(groups):
        group = groups[at]
        try:
            await connection.execute(group.statement, group.rows)
        except IntegrityError as error:
            raise group.clash from error
        at += 1
        if time.monotonic() >= until:
            break
    return at


async def _change(connection: Connection, ids: Sequence[str], **values: object) -> None:
    which = sa.update(conversation).where(_c.id.in_(ids), _c.hidden == IMPORTING)
    _check((await connection.scalars(which.values(**values).returning(_c.id))).all(), ids)


def _check(found: Sequence[str], wanted: Sequence[str]) -> None:
    if len(found) != len(wanted):
        raise StoreError(
            f"the import stood still for more than {SILENCE:.0f} seconds and was cleared away; import it again"
        )


def _some(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), MANY):
        yield ids[start : start + MANY]


def _groups(piece: ImportPiece) -> Iterator[_Group]:
    """Cut a piece into what single statements store."""
    there = UsageError(_THERE)
    if piece.conversations:
        yield _Group(_BEGIN, piece.conversations, _Taken())
    for table, rows in ((message, piece.messages.messages), *piece.messages.beside.items()):
        for some in _measured(rows):
            yield _Group(sa.insert(table), some, there)
    for line, row in piece.snapshots:
        problem = "its id, or its version for this cutoff, is already in the store"
        yield _Group(sa.insert(snapshot), [row], BadInput(f"line {line}", problem))
    if piece.settings:
        yield _Group(sa.insert(setting), piece.settings, there)
    for line, row in piece.pins:
        yield _Group(sa.insert(pin), [row], BadInput(f"line {line}", "this is pinned already"))
    for line, recalled in piece.recalled:
        problem = "what was recalled for this message was said already"
        yield _Group(sa.insert(recall_passage), recalled, BadInput(f"line {line}", problem))
    if piece.closed:
        yield _Group(_CLOSE, piece.closed, there)


def _measured(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Cut rows into groups that do not take long."""
    group: list[Row] = []
    size = 0
    for row in rows:
        length = len(row.get("text", ""))
        if group and (len(group) >= GROUP or size + length > GROUP_TEXT):
            yield group
            group, size = [], 0
        group.append(row)
        size += length
    if group:
        yield group
