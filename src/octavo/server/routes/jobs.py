"""Jobs: the compressions of a conversation in the database, whichever replica runs them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from octavo.errors import NotFound
from octavo.server.app_state import TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Id
from octavo.server.schemas.jobs import JobList
from octavo.server.show import show_job

routes = router("jobs", "/conversations/{conversation}/jobs")

JobId = Annotated[Id, Path(description="A job.")]


@routes.get("", response_model=JobList)
async def list_jobs(
    chat: TheChat, app_state: TheAppState, *, limit: Annotated[int, Query(ge=1, le=1_000)] = 20
) -> Response:
    """List the compressions of a conversation, whoever started them and whichever replica runs them."""
    await app_state.engine.resume_abandoned(chat.id)
    found = await app_state.engine.store.jobs.of_conversation(chat.id)
    return reply(JobList(jobs=[show_job(job) for job in found[:limit]]))


@routes.delete("/{job}", status_code=204)
async def cancel_job(job: JobId, chat: TheChat, app_state: TheAppState) -> Response:
    """Cancel a compression, whichever replica runs it. Its worker stops within seconds, and nothing is stored."""
    if (await app_state.engine.store.jobs.get(job)).conversation != chat.id:
        raise NotFound(f"there is no job {job}")
    await app_state.engine.store.jobs.cancel(job)
    return Response(status_code=204)
