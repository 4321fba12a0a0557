"""Follows compressions that another process runs, or has run, by their jobs in the store.

The job of a requested compression has the id of its task. So a client can follow it at any process, even after the
process that ran it has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from octavo.core.json_values import JsonObject
from octavo.engine.chat import Chat
from octavo.engine.outcome import Cancelled, CompressionEnded, Failed
from octavo.errors import NotFound
from octavo.http.errors import Refusal, refuse
from octavo.server.app_state import AppState
from octavo.server.conversation_feeds import describe_snapshot
from octavo.server.events import describe
from octavo.server.stream import PING, frame
from octavo.store.values import Job

LOOK_SECONDS = 1.0
"""Seconds between two looks at a job."""


async def job_of(app_state: AppState, chat: Chat, id: str) -> Job | None:
    """Find the job of a compression; the job of a dead process is closed first."""
    await app_state.engine.resume_abandoned(chat.id)
    try:
        found = await app_state.engine.store.jobs.get(id)
    except NotFound:
        return None
    return found if found.conversation == chat.id else None


def unknown(id: str) -> Refusal:
    """Make the error for an unknown compression."""
    return refuse(
        404,
        "not_found",
        f"there is no compression {id} here: it ended some time ago, or never began",
        "nothing that was said is lost; see /jobs of the conversation for how compressions ended, or compress again",
    )


async def follow(app_state: AppState, chat: Chat, job: Job, after: int) -> AsyncIterator[bytes]:
    """Yield the end of a compression as events; its text is known only to the process that runs it."""
    while job.status == "running" and not app_state.closing:
        yield PING
        await asyncio.sleep(LOOK_SECONDS)
        job = await job_of(app_state, chat, job.id) or job
    if job.status == "running":
        # The client reconnects to another process.
        return
    for name, data in await _ending(app_state, job):
        after += 1
        yield frame(after, name, data)


async def _ending(app_state: AppState, job: Job) -> list[tuple[str, JsonObject]]:
    done: tuple[str, JsonObject] = ("done", {"status": job.status})
    if job.status == "cancelled":
        return [describe(CompressionEnded(Cancelled())), done]
    if job.status == "failed":
        return [describe(CompressionEnded(Failed(job.error))), done]
    try:
        made = await app_state.engine.store.snapshots.get(job.snapshot or "")
    except NotFound:
        return [describe(CompressionEnded(Failed("what it made was deleted since"))), done]
    return [("compression_ended", describe_snapshot(made)), done]
