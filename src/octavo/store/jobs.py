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
from octavo.store import bin, reading, rows, snapshots
from octavo.store.clock import clock, in_seconds, is_over
from octavo.store.direct import Connection
from octavo.store.ids import new_id
from octavo.store.schema import conversation, job, message, plain_id
from octavo.store.tree import lock
from octavo.store.values import Busy, Job, JobStatus, Refused, Stale

ANSWER = "answer"
"""The trigger of a job that is no compression: an answer that is being written; see `answers.py`."""
LEASE = 30.0
"""Seconds a worker may be silent: three missed heartbeats of ten seconds. No lease is longer."""
ENDED = "the process that ran it ended before it was done"
"""Why a job failed whose worker died."""


def _until(lease: float) -> sa.ColumnElement[int]:
    if lease > LEASE:
        raise BadInput("lease", f"expected at most {LEASE:.0f} seconds, got {lease:g}; renew it instead")
    return in_seconds(lease)


def _columns() -> tuple[sa.ColumnElement[Any], ...]:
    return (*job.c, clock().label("clock"))


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


async def claim(
    connection: Connection,
    conversation_id: str,
    *,
    anchor: str,
    tip: str,
    seen: str | None,
    trigger: str,
    worker: str,
    lease: float,
    id: str | None = None,
) -> Job | Busy | Stale:
    """Take a compression, or learn who has it, or that its plan is out of date."""
    owner = await lock(connection, conversation_id)
    await _check_anchor(connection, owner.id, anchor, tip)
    serving = await snapshots.serving_id(connection, tip)
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
    ).returning(*_columns())
    row = (await connection.execute(taken)).one_or_none()
    if row is not None:
        return rows.job(row)
    running = sa.select(*_columns()).where(job.c.anchor_id == anchor, job.c.status == "running")
    return Busy(rows.job((await connection.execute(running)).one()))


async def _check_anchor(connection: Connection, conversation_id: str, anchor: str, tip: str) -> None:
    at = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == anchor))
    if at is None:
        raise NotFound(f"there is no message {anchor}")
    if at != conversation_id:
        raise NotOnBranch(f"message {anchor} belongs to another conversation than {conversation_id}")
    if not await reading.on_branch(connection, tip, [anchor]):
        raise NotOnBranch(f"message {anchor} is not on the branch of {tip}")


def _mine(held: Job) -> sa.ColumnElement[bool]:
    j = job.c
    mine = (j.id == held.id, j.worker == held.worker, j.attempt == held.attempt, j.status == "running")
    return sa.and_(*mine)


async def renew(connection: Connection, held: Job, lease: float, progress: str | None) -> bool:
    """Prolong the lease; false when the job is no longer ours: stop working."""
    values: dict[str, Any] = {"lease_until": _until(lease)}
    if progress is not None:
        values["progress"] = progress
    done = await connection.execute(sa.update(job).where(_mine(held)).values(**values))
    return bool(done.rowcount)


async def finish(connection: Connection, held: Job, made: Snapshot) -> Snapshot | Refused:
    """Store the snapshot and close the job, both or neither."""
    try:
        owner = await lock(connection, held.conversation)
    except NotFound:
        return Refused("the conversation was deleted while it was compressed")
    deletions = await connection.scalar(sa.select(job.c.deletions).where(_mine(held)))
    if deletions is None:
        return Refused("the job was cancelled, or its lease ran out and another worker took it over")
    if deletions != owner.deletions:
        return await _refuse(connection, held, "messages were deleted while the conversation was compressed")
    try:
        stored = await snapshots.insert(connection, owner.id, made)
    except UsageError as error:
        return await _refuse(connection, held, str(error))
    await connection.execute(sa.update(job).where(_mine(held)).values(status="done", snapshot_id=stored.id))
    return stored


async def _refuse(connection: Connection, held: Job, reason: str) -> Refused:
    await close(connection, held, "failed", reason)
    return Refused(reason)


async def close(connection: Connection, held: Job, status: JobStatus, error: str) -> bool:
    """Give a job up without a snapshot; false when it is no longer ours."""
    done = await connection.execute(sa.update(job).where(_mine(held)).values(status=status, error=error))
    return bool(done.rowcount)


def is_left(found: Job) -> bool:
    """Tell whether the worker of a job died: its lease has run out, or was set before the clock was set back."""
    return found.status == "running" and not 0 <= found.lease <= 2 * LEASE


def as_it_stands(found: Job) -> Job:
    """Show a job for what it is, also before anybody has closed it."""
    return replace(found, status="failed", error=ENDED) if is_left(found) else found


async def close_left(connection: Connection, left: Job) -> bool:
    """Close a job whose worker died; false when it goes on, or somebody else was faster."""
    closed = sa.update(job).where(_mine(left), is_over(job.c.lease_until, LEASE))
    return bool((await connection.execute(closed.values(status="failed", error=ENDED))).rowcount)


async def cancel(connection: Connection, id: str) -> bool:
    """Stop a job whoever runs it: its worker learns it at the next renewal."""
    done = await connection.execute(
        sa.update(job).where(job.c.id == id, job.c.status == "running").values(status="cancelled")
    )
    return bool(done.rowcount)


async def get(connection: Connection, id: str) -> Job:
    row = (await connection.execute(sa.select(*_columns()).where(job.c.id == id))).one_or_none()
    if row is None:
        raise NotFound(f"there is no job {id}")
    return rows.job(row)


async def of_conversation(connection: Connection, conversation_id: str) -> tuple[Job, ...]:
    """List the jobs of a conversation, the newest first."""
    found = await connection.execute(
        sa.select(*_columns())
        .where(job.c.conversation_id == conversation_id, job.c.trigger != ANSWER)
        .order_by(job.c.id.desc())
    )
    return tuple(rows.job(row) for row in found)


async def abandoned(connection: Connection) -> tuple[Job, ...]:
    """List the running jobs whose lease has run out: their workers died. Nobody goes on with what was deleted."""
    found = await connection.execute(
        sa.select(*_columns())
        .join(conversation, conversation.c.id == job.c.conversation_id)
        .where(
            job.c.status == "running", job.c.trigger != ANSWER, is_over(job.c.lease_until, LEASE), bin.LISTED
        )
        .order_by(job.c.id)
    )
    return tuple(rows.job(row) for row in found)
