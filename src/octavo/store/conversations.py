"""Conversations: made, listed, renamed, archived, copied, and which of their nodes is the tip.

A writer holds the row of its conversation from its first statement to its commit, so writers to one conversation
queue up and every new node sees its parent as it is. That lock is taken before anything else, hence no deadlocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.errors import NotFound, NotOnBranch, UsageError
from octavo.store import copying, rows, walk
from octavo.store.connection import Connection
from octavo.store.ids import new_id
from octavo.store.labels import has_label
from octavo.store.locks import lock
from octavo.store.schema import conversation, message, plain_id
from octavo.store.section import Section, reads, writes
from octavo.store.titles import TitleStore
from octavo.store.values import Conversation
from octavo.store.visibility import LISTED, THERE

SHOWN = 100
"""Conversations listed at a time unless more are asked for: what a person looks through."""

_c = conversation.c


class ConversationStore(Section):
    """The conversations of a store."""

    @writes
    async def create(
        self,
        connection: Connection,
        title: str = "",
        *,
        owner: str = "",
        id: str | None = None,
        provisional: bool = False,
    ) -> Conversation:
        """Make an empty conversation; with an id that is taken by one of the same owner, give that one.

        `provisional`: nobody chose this title, so a better one may take its place.
        """
        new, now = plain_id(id) if id else new_id(), rows.now()
        values = rows.conversation_row(new, owner=owner, title=title, created=now, updated=now)
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        # Two processes that make the same conversation at the same time both get it.
        made = insert(conversation).values(**values).on_conflict_do_nothing().returning(*_c)
        row = (await connection.execute(made)).one_or_none()
        if row is not None and provisional:
            await TitleStore.within(connection).mark(new)
        if row is None:
            taken = sa.select(conversation).where(_c.id == new, _c.owner == owner, LISTED)
            row = (await connection.execute(taken)).one_or_none()
        if row is None:
            raise UsageError(f"the conversation id {new} is taken; leave the id out, or make a new one")
        return rows.conversation(row)

    @reads
    async def get(self, connection: Connection, id: str) -> Conversation:
        found = await connection.execute(sa.select(conversation).where(_c.id == id, THERE))
        return _one(found.one_or_none(), id)

    @reads
    async def list(
        self,
        connection: Connection,
        *,
        owner: str | None = None,
        archived: bool | None = False,
        deleted: bool | None = False,
        title: str = "",
        titled: str | None = None,
        label: str = "",
        limit: int = SHOWN,
        offset: int = 0,
        ids: Sequence[str] | None = None,
    ) -> tuple[Conversation, ...]:
        """List conversations, the last changed first; None means any.

        `title` is a part of the title, whatever its case, and `titled` is the whole of it. Deleted ones are those that
        can still be brought back.
        """
        shown = THERE if deleted is None else THERE & ~LISTED if deleted else LISTED
        query = sa.select(conversation).where(shown).order_by(_c.updated.desc(), _c.id.desc())
        if ids is not None:
            query = query.where(_c.id.in_([plain_id(id) for id in ids]))
        if owner is not None:
            query = query.where(_c.owner == owner)
        if archived is not None:
            query = query.where(_c.archived.is_not(None) if archived else _c.archived.is_(None))
        if title:
            query = query.where(_c.title.icontains(title, autoescape=True))
        if titled is not None:
            query = query.where(_c.title == titled)
        if label:
            query = query.where(has_label(connection, label))
        found = await connection.execute(query.limit(limit).offset(offset))
        return tuple(rows.conversation(row) for row in found)

    @writes
    async def rename(self, connection: Connection, id: str, title: str) -> Conversation:
        """Give a conversation the title that a person wants; nothing else takes its place."""
        changed = await _change(connection, id, title=title)
        await TitleStore.within(connection).settle(id)
        return changed

    @writes
    async def archive(self, connection: Connection, id: str, *, archived: bool = True) -> Conversation:
        """Archive a conversation, or bring it back to the list.

        A deleted one stays deleted: archiving it, or not, says where it comes back to.
        """
        return await _change(connection, id, archived=rows.now() if archived else None)

    @writes
    async def move_tip(
        self, connection: Connection, id: str, to: str | None, *, expected: str | None
    ) -> bool:
        """Move the tip if it is still `expected`; false when somebody else moved it."""
        owner = await lock(connection, id)
        if to is not None:
            at = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == to))
            if at is None:
                raise NotFound(f"there is no message {to}")
            if at != owner.id:
                raise NotOnBranch(f"message {to} belongs to another conversation than {owner.id}")
        if owner.tip_id != (expected and plain_id(expected)):
            return False
        moved = sa.update(conversation).where(_c.id == owner.id).values(tip_id=to, updated=rows.now())
        await connection.execute(moved)
        return True

    @writes
    async def fork(self, connection: Connection, tip: str, *, title: str | None = None) -> Conversation:
        """Copy the branch of a tip into a new conversation, with its snapshots, pins and settings."""
        where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == tip))
        if where is None:
            raise NotFound(f"there is no message {tip}")
        source = await lock(connection, where)
        path = (await connection.scalars(walk.path(), {"tip": tip})).all()
        if not path:
            raise NotFound(f"there is no message {tip}")
        return await copying.copy(connection, source, sorted(path), tip, title)

    @writes
    async def copy(self, connection: Connection, id: str, *, title: str | None = None) -> Conversation:
        """Copy a whole conversation."""
        source = await lock(connection, id)
        numbers = sa.select(message.c.n).where(message.c.conversation_id == source.id).order_by(message.c.n)
        all_of_it = (await connection.scalars(numbers)).all()
        return await copying.copy(connection, source, all_of_it, source.tip_id, title)


async def _change(connection: Connection, id: str, **values: Any) -> Conversation:
    """Change what people see of a conversation; its time stays, so that it does not move to the top of the list."""
    changed = sa.update(conversation).where(_c.id == id, THERE).values(**values).returning(*_c)
    return _one((await connection.execute(changed)).one_or_none(), id)


def _one(row: rows.Row | None, id: str) -> Conversation:
    if row is None:
        raise NotFound(f"there is no conversation {id}")
    return rows.conversation(row)
