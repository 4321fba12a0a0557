"""Answers that are being written: each is stored as far as it has come, so that a crash loses next to nothing.

Such an answer is a message in the state `streaming`, below its question, and the tip stays where it is. Beside it
stands a job with a lease, which its writer renews with every piece it stores. When the writer dies, the lease runs out,
and the first process that notices closes the answer: it becomes `aborted`, and the tip moves to it. A writer that comes
back later finds that the answer is no longer its own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import sqlalchemy as sa

from octavo.errors import NotFound, ReadOnly
from octavo.store import rows
from octavo.store.clock import in_seconds, is_over, is_used_up
from octavo.store.connection import Connection
from octavo.store.database import Database
from octavo.store.insertion import rewrite
from octavo.store.jobs import ANSWER, COLUMNS, JobStore, mine, new_row
from octavo.store.locks import lock, touch
from octavo.store.messages import add
from octavo.store.schema import conversation, job, message
from octavo.store.section import Section, reads, writes
from octavo.store.values import Added, Entry, Job

LEASE = 10.0
"""Seconds a writer may be silent: it stores something every second. No lease is longer."""


class AnswerStore(Section):
    """The answers of a store that are being written."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database = database

    @writes
    async def begin(
        self,
        connection: Connection,
        conversation: str,
        entry: Entry,
        *,
        parent: str,
        worker: str,
        lease: float = LEASE,
    ) -> Job:
        """Store the beginning of an answer below its question; the tip stays. `Job.anchor` is its node."""
        entry = replace(entry, status="streaming")
        owner = await lock(connection, conversation)
        (node,) = (await add(connection, owner, [entry], parent, select=False)).nodes
        begun = new_row(owner, node.id, ANSWER, worker, in_seconds(lease))
        made = await connection.execute(sa.insert(job).values(**begun).returning(*COLUMNS))
        return rows.job(made.one())

    @writes
    async def go_on(self, connection: Connection, held: Job, entry: Entry, *, lease: float = LEASE) -> bool:
        """Store what the answer has become, and renew the lease; false when it is no longer ours."""
        if not await _is_mine(connection, held):
            return False
        await JobStore.within(connection).renew(held, lease=lease)
        return await rewrite(connection, held.anchor, replace(entry, status="streaming")) is not None

    @writes
    async def finish(
        self, connection: Connection, held: Job, entry: Entry, *, select: bool = True
    ) -> Added | None:
        """Store the answer as it ended, and move the tip to it; None when it is no longer ours."""
        if not await _is_mine(connection, held):
            return None
        owner = await lock(connection, held.conversation)
        node = await rewrite(connection, held.anchor, entry)
        await connection.execute(sa.delete(job).where(job.c.id == held.id))
        if node is None:
            return None
        if owner.tip_id == node.id:
            # The answer is the tip already, so what is cached of this tip is out of date.
            await touch(connection, owner.id)
        if select:
            moved = sa.update(conversation).where(conversation.c.id == owner.id)
            await connection.execute(moved.values(tip_id=node.id, updated=rows.now()))
        return Added(nodes=(node,), revision=owner.revision)

    async def being_written(self, conversation: str | None = None) -> tuple[Job, ...]:
        """List the answers that are being written, in one conversation or in all; also those whose writers are gone.

        The latter are not listed in a database that cannot be written: nobody can close them there.
        """
        found = await self._being_written(conversation)
        return tuple(one for one in found if not (self._database.read_only and _is_left(one)))

    @reads
    async def _being_written(self, connection: Connection, conversation: str | None) -> tuple[Job, ...]:
        query = sa.select(*COLUMNS).where(job.c.status == "running", job.c.trigger == ANSWER)
        if conversation is not None:
            query = query.where(job.c.conversation_id == conversation)
        return tuple(rows.job(row) for row in await connection.execute(query.order_by(job.c.id)))

    async def close(self, conversation: str | None = None) -> tuple[str, ...]:
        """Close the answers whose writers are gone: they end where they were. Gives their nodes.

        In a database that cannot be written, nothing is closed: that is left to those who can write to it.
        """
        closed: list[str] = []
        with suppress(ReadOnly):
            for one in await self.being_written(conversation):
                if _is_left(one) and await self._close(one):
                    closed.append(one.anchor)
        return tuple(closed)

    @writes
    async def _close(self, connection: Connection, left: Job) -> bool:
        """Close an answer whose writer is gone; false when somebody else did, or it goes on."""
        try:
            owner = await lock(connection, left.conversation)
        except NotFound:
            return False
        gone = await connection.execute(
            sa.delete(job).where(mine(left), is_over(job.c.lease_until, LEASE)).returning(job.c.id)
        )
        if gone.one_or_none() is None:
            return False
        m = message
        place = (
            await connection.execute(
                sa.update(m)
                .where(m.c.id == left.anchor, m.c.status == "streaming")
                .values(status="aborted")
                .returning(m.c.parent_id)
            )
        ).one_or_none()
        if place is not None and owner.tip_id == place.parent_id:
            at = conversation.c.id == owner.id
            await connection.execute(sa.update(conversation).where(at).values(tip_id=left.anchor))
        await touch(connection, owner.id)
        return place is not None


def _is_left(found: Job) -> bool:
    """Tell whether the writer of an answer is gone."""
    return is_used_up(found.lease, LEASE)


async def _is_mine(connection: Connection, held: Job) -> bool:
    """Take the conversation, before anything else is looked at; tell whether the answer is still ours."""
    try:
        await lock(connection, held.conversation)
    except NotFound:
        return False
    return await connection.scalar(sa.select(job.c.id).where(mine(held))) is not None
