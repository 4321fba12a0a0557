"""Labels: list those of your conversations, rename one, and take one off everywhere."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.errors import NotFound
from octavo.http.caller import TheCaller
from octavo.server.app_state import TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.conversations import LabelList, LabelOut, LabelPatch
from octavo.store.labels import LONGEST

routes = router("labels", "/labels")

LabelName = Annotated[str, Query(min_length=1, max_length=LONGEST, description="The label.")]


@routes.get("", response_model=LabelList)
async def list_labels(app_state: TheAppState, caller: TheCaller) -> Response:
    """List the labels of your conversations."""
    found = await app_state.engine.store.labels.list(owner=caller.owner)
    return reply(
        LabelList(labels=[LabelOut(name=one.name, conversations=one.conversations) for one in found])
    )


@routes.patch("", response_model=LabelList)
async def rename_label(
    label: LabelName, body: LabelPatch, app_state: TheAppState, caller: TheCaller
) -> Response:
    """Rename a label in all of your conversations; if there is one of that name already, they become one."""
    if not await app_state.engine.store.labels.rename(label, body.name, owner=caller.owner):
        raise NotFound(f"none of your conversations has the label {label!r}")
    return await list_labels(app_state, caller)


@routes.delete("", status_code=204)
async def remove_label(label: LabelName, app_state: TheAppState, caller: TheCaller) -> Response:
    """Take a label off all of your conversations."""
    if not await app_state.engine.store.labels.rename(label, None, owner=caller.owner):
        raise NotFound(f"none of your conversations has the label {label!r}")
    return Response(status_code=204)
