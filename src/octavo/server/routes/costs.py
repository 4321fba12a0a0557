"""Costs: what conversations sent, had cached, saved, and spent on summaries."""

from __future__ import annotations

from functools import reduce
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.engine.costs import CostLine, GroupBy, costs
from octavo.http.caller import TheCaller
from octavo.server.app_state import TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Id
from octavo.server.schemas.costs import CostLineOut, CostList

routes = router("costs", "/costs")


@routes.get("", response_model=CostList)
async def read_costs(
    app_state: TheAppState,
    caller: TheCaller,
    *,
    by: Annotated[GroupBy, Query(description="What belongs together.")] = "day",
    conversation: Annotated[Id | None, Query(description="Of this conversation only.")] = None,
) -> Response:
    """Read what your conversations cost, by day, model or conversation."""
    if conversation:
        await app_state.chat(conversation, caller)
    lines = await costs(app_state.engine, conversation=conversation, owner=caller.owner, by=by)
    total = reduce(CostLine.plus, lines, CostLine())
    return reply(CostList(lines=[_shown(line, by) for line in lines], total=_shown(total, by)))


def _shown(line: CostLine, by: GroupBy) -> CostLineOut:
    return CostLineOut(
        name=str(getattr(line, by)),
        requests=line.requests,
        sent=line.sent,
        cached=line.cached,
        answered=line.answered,
        saved=line.saved,
        summaries=line.summaries,
        summary_tokens=line.summary_tokens,
        dollars=line.dollars,
        summary_dollars=line.summary_dollars,
    )
