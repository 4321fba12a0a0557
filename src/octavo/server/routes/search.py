"""Search: all messages, covered ones included, the newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.http.caller import TheCaller
from octavo.server.app_state import TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Id
from octavo.server.schemas.search import HitList
from octavo.server.show import show_hit

routes = router("search", "/search")


@routes.get("", response_model=HitList)
async def search(
    app_state: TheAppState,
    caller: TheCaller,
    *,
    q: Annotated[str, Query(max_length=1_000, description="Words that must all occur.")],
    conversation: Annotated[Id | None, Query(description="Search this conversation only.")] = None,
    before: Annotated[
        Id | None, Query(description="The message of the last hit of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Search all messages of your conversations."""
    if conversation:
        await app_state.chat(conversation, caller)
    found = await app_state.engine.store.search.find(
        q, conversation=conversation, owner=caller.owner, before=before, limit=limit
    )
    return reply(HitList(hits=[show_hit(hit) for hit in found]))
