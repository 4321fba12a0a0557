"""Answers that are being written: stored as far as they came, so that a crash loses next to nothing of them.

Such an answer is a message in the state `streaming`, below its question, and the tip stays where it is. Beside it
stands a job with a lease, which its writer renews with every piece it stores. When the writer dies, the lease runs out,
and whoever notices first closes the answer: it is `aborted` then, and the tip moves to it. A writer that comes back
later finds that the answer is no longer its own.
"""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from octavo.errors import NotFound
from octavo.store import jobs, rows, tree
from octavo.store.clock import in_seconds, is_over
from octavo.store.direct import Connection
from octavo.store.schema import conversation, job, message
from octavo.store.values import Added, Entry, Job

LEASE = 10.0
"""Seconds a writer may be silent: it stores something every second. No lease is longer."""


async def begin(
    connection: Connection, conversation_id: str, entry: Entry, parent: str, worker: str, lease: float
) -> Job:
    """Store the beginning of an answer below its question."""
    entry = replace(entry, status="streaming")
    (node,) = (await tree.append(connection, conversation_id, [entry], parent, select=False)).nodes
    owner = await tree.lock(connection, conversation_id)
    begun = jobs.new_row(owner, node.id, jobs.ANSWER, worker, in_seconds(lease))
    made = await connection.execute(sa.insert(job).values(**begun).returning(*jobs._columns()))
    return rows.job(made.one())


async def go_on(connection: Connection, held: Job, entry: Entry, lease: float) -> bool:
    """Store what the answer has become, and renew the lease; false when it is no longer ours."""
    if not await _mine(connection, held):
        return False
    await jobs.renew(connection, held, lease, None)
    return await tree.rewrite(connection, held.anchor, replace(entry, status="streaming")) is not None


async def finish(connection: Connection, held: Job, entry: Entry, *, select: bool) -> Added | None:
    """Store the answer as it ended; None when it is no longer ours."""
    if not await _mine(connection, held):
        return None
    owner = await tree.lock(connection, held.conversation)
    node = await tree.rewrite(connection, held.anchor, entry)
    await connection.execute(sa.delete(job).where(job.c.id == held.id))
    if node is None:
        return None
    if owner.tip_id == node.id:
        # Somebody looks at it already: what was known of this tip is not true any more.
        await tree.touch(connection, owner.id)
    if select:
        moved = sa.update(conversation).where(conversation.c.id == owner.id)
        await connection.execute(moved.values(tip_id=node.id, updated=rows.now()))
    return Added(nodes=(node,), revision=owner.revision)


async def close(connection: Connection, left: Job) -> bool:
    """Close an answer whose writer is gone: it ends where it was; false when somebody else did, or it goes on."""
    try:
        owner = await tree.lock(connection, left.conversation)
    except NotFound:
        return False
    gone = await connection.execute(
        sa.delete(job).where(jobs._mine(left), is_over(job.c.lease_until, LEASE)).returning(job.c.id)
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
    await tree.touch(connection, owner.id)
    return place is not None


def is_left(found: Job) -> bool:
    """Tell whether the writer of an answer is gone."""
    return not 0 <= found.lease <= 2 * LEASE


async def being_written(connection: Connection, conversation_id: str | None) -> tuple[Job, ...]:
    """List the answers that are being written, those of dead writers too; in one conversation, or in all."""
    query = sa.select(*jobs._columns()).where(job.c.status == "running", job.c.trigger == jobs.ANSWER)
    if conversation_id is not None:
        query = query.where(job.c.conversation_id == conversation_id)
    return tuple(rows.job(row) for row in await connection.execute(query.order_by(job.c.id)))


async def _mine(connection: Connection, held: Job) -> bool:
    """Take the conversation, before anything else is looked at; tell whether the answer is still ours."""
    try:
        await tree.lock(connection, held.conversation)
    except NotFound:
        return False
    return await connection.scalar(sa.select(job.c.id).where(jobs._mine(held))) is not None
