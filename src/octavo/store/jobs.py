"""Compression jobs: at most one running for an anchor, across any number of processes, without holding any lock.

The right to work is a row with a lease. A worker renews it while it works; when it dies, the lease runs out and the
next one takes the row over, or closes it with the reason. Finishing is fenced: only the owner of the newest attempt can
finish, and its snapshot is inserted in the same transaction. The clock is the database's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput, NotFound, NotOnBranch, UsageError
from octavo.store import rows, walk
from octavo.store.clock import clock, in_seconds, is_over, is_used_up
from octavo.store.connection import Connection
from octavo.store.ids import new_id
from octavo.store.locks import lock
from octavo.store.schema import conversation, job, message, plain_id
from octavo.store.section import Section, reads, writes
from octavo.store.snapshots import insert_snapshot
from octavo.store.tree import TreeReader
from octavo.store.values import Busy, Job, Refused, Stale
from octavo.store.visibility import LISTED

ANSWER = "answer"
"""The trigger of a job that is no compression: an answer that is being written; see `answers.py`."""
LEASE = 30.0
"""Seconds a worker may be silent: three missed heartbeats of ten seconds. No lease is longer."""
ENDED = "the process that ran it ended before it was done"
"""The error of a job whose worker died."""
COLUMNS: tuple[sa.ColumnElement[Any], ...] = (*job.c, clock().label("clock"))
"""What `rows.job` reads."""


class JobStore(Section):
    """The compression jobs of a store."""

    @writes
    async def claim(
        self,
        connection: Connection,
        conversation: str,
        *,
        anchor: str,
        worker: str,
        seen: str | None,
        tip: str | None = None,
        trigger: str = "auto",
        lease: float = LEASE,
        id: str | None = None,
    ) -> Job | Busy | Stale:
        """Take the compression of an anchor for `lease` seconds, or learn who has it, or that its plan is out of date.

        `tip` is the node the plan was made for and `seen` the snapshot that served it then: if another one serves
        it now, somebody has compressed meanwhile. A job whose worker let the lease run out is taken over, and keeps its
        id; a new one has the `id` that is given.
        """
        tip = tip or anchor
        owner = await lock(connection, conversation)
        await _check_anchor(connection, owner.id, anchor, tip)
        serving: str | None = await connection.scalar(walk.serving_id(), {"tip": tip})
        if serving != (seen and plain_id(seen)):
            return Stale(serving)
        until = _until(lease)
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        new = insert(job).values(**new_row(owner, anchor, trigger, worker, until, id))
        fresh = ("worker", "lease_until", "deletions", "progress", "trigger")
        taken = new.on_conflict_do_update(
            index_elements=[job.c.anchor_id],
            index_where=sa.text("status = 'running'"),
            set_={"attempt": job.c.attempt + 1, **{name: getattr(new.excluded, name) for name in fresh}},
            where=is_over(job.c.lease_until, LEASE),
        ).returning(*COLUMNS)
        row = (await connection.execute(taken)).one_or_none()
        if row is not None:
            return rows.job(row)
        (running,) = await _jobs(connection, job.c.anchor_id == anchor, job.c.status == "running")
        return Busy(running)

    @writes
    async def renew(
        self, connection: Connection, job: Job, *, lease: float = LEASE, progress: str | None = None
    ) -> bool:
        """Prolong the lease; false when the job is no longer ours: stop working."""
        values: dict[str, Any] = {"lease_until": _until(lease)}
        if progress is not None:
            values["progress"] = progress
        return await _update(connection, mine(job), **values)

    @writes
    async def finish(self, connection: Connection, held: Job, made: Snapshot) -> Snapshot | Refused:
        """Store the snapshot and close the job, both or neither."""
        try:
            owner = await lock(connection, held.conversation)
        except NotFound:
            return Refused("the conversation was deleted while it was compressed")
        deletions = await connection.scalar(sa.select(job.c.deletions).where(mine(held)))
        if deletions is None:
            return Refused("the job was cancelled, or its lease ran out and another worker took it over")
        if deletions != owner.deletions:
            return await _refuse(
                connection, held, "messages were deleted while the conversation was compressed"
            )
        try:
            stored = await insert_snapshot(connection, owner.id, made)
        except UsageError as error:
            return await _refuse(connection, held, str(error))
        await _update(connection, mine(held), status="done", snapshot_id=stored.id)
        return stored

    @writes
    async def fail(self, connection: Connection, job: Job, error: str) -> bool:
        """Give a job up without a snapshot; false when it is no longer ours."""
        return await _update(connection, mine(job), status="failed", error=error)

    @writes
    async def cancel(self, connection: Connection, id: str) -> bool:
        """Stop a job, whichever process runs it; its worker is told when it renews the lease."""
        return await _update(connection, job.c.id == id, job.c.status == "running", status="cancelled")

    @reads
    async def get(self, connection: Connection, id: str) -> Job:
        found = await _jobs(connection, job.c.id == id)
        if not found:
            raise NotFound(f"there is no job {id}")
        return _as_it_stands(found[0])

    @reads
    async def of_conversation(self, connection: Connection, conversation: str) -> tuple[Job, ...]:
        """List the jobs of a conversation, the newest first."""
        found = await _jobs(connection, job.c.conversation_id == conversation, job.c.trigger != ANSWER)
        return tuple(_as_it_stands(one) for one in reversed(found))

    @reads
    async def abandoned(self, connection: Connection) -> tuple[Job, ...]:
        """List the running jobs whose workers died: their leases have run out. Nobody goes on with what was deleted."""
        listed = (
            sa.select(conversation.c.id).where(conversation.c.id == job.c.conversation_id, LISTED).exists()
        )
        running = (job.c.status == "running", job.c.trigger != ANSWER)
        return await _jobs(connection, *running, is_over(job.c.lease_until, LEASE), listed)

    async def close_abandoned(self, conversation: str | None = None) -> tuple[Job, ...]:
        """Close the jobs whose workers died, of one conversation or of all; gives those that nobody else has closed."""
        left = [one for one in await self.abandoned() if conversation in (None, one.conversation)]
        return tuple([one for one in left if await self.close_left(one)])

    @writes
    async def close_left(self, connection: Connection, left: Job) -> bool:
        """Close a job whose worker died; false if the worker is alive, or another process was faster."""
        over = is_over(job.c.lease_until, LEASE)
        return await _update(connection, mine(left), over, status="failed", error=ENDED)


async def _jobs(connection: Connection, *which: sa.ColumnElement[bool]) -> tuple[Job, ...]:
    """Read jobs, the oldest first."""
    found = await connection.execute(sa.select(*COLUMNS).where(*which).order_by(job.c.id))
    return tuple(rows.job(row) for row in found)


async def _update(connection: Connection, *which: sa.ColumnElement[bool], **values: object) -> bool:
    """Change jobs; false when there was none."""
    return bool((await connection.execute(sa.update(job).where(*which).values(**values))).rowcount)


async def _refuse(connection: Connection, held: Job, reason: str) -> Refused:
    await _update(connection, mine(held), status="failed", error=reason)
    return Refused(reason)


def _until(lease: float) -> sa.ColumnElement[int]:
    if lease > LEASE:
        raise BadInput("lease", f"expected at most {LEASE:.0f} seconds, got {lease:g}; renew it instead")
    return in_seconds(lease)


def new_row(
    owner: sa.Row[Any],
    anchor: str,
    trigger: str,
    worker: str,
    until: sa.ColumnElement[int],
    id: str | None = None,
) -> dict[str, Any]:
    """Give the row of a job that begins."""
    return {
        "id": id or new_id(),
        "conversation_id": owner.id,
        "anchor_id": anchor,
        "trigger": trigger,
        "status": "running",
        "worker": worker,
        "attempt": 1,
        "lease_until": until,
        "deletions": owner.deletions,
        "progress": "",
        "error": "",
    }


async def _check_anchor(connection: Connection, conversation_id: str, anchor: str, tip: str) -> None:
    at = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == anchor))
    if at is None:
        raise NotFound(f"there is no message {anchor}")
    if at != conversation_id:
        raise NotOnBranch(f"message {anchor} belongs to another conversation than {conversation_id}")
    if not await TreeReader.within(connection).on_branch(tip, [anchor]):
        raise NotOnBranch(f"message {anchor} is not on the branch of {tip}")


def mine(held: Job) -> sa.ColumnElement[bool]:
    """The job is still the one we hold: nobody cancelled it or took it over."""
    j = job.c
    return sa.and_(j.id == held.id, j.worker == held.worker, j.attempt == held.attempt, j.status == "running")


def _as_it_stands(found: Job) -> Job:
    """Show a job as it really is, even before anybody has closed it.

    Its worker is dead if the lease has run out, or was set before the clock was set back.
    """
    is_left = found.status == "running" and is_used_up(found.lease, LEASE)
    return replace(found, status="failed", error=ENDED) if is_left else found
