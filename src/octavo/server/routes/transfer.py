"""Import and export: whole conversations as files, in Octavo's own JSON Lines or as other programs write them.

A file is data: it is written to a temporary place of our own choosing, whatever it is called, read piece by piece,
and what it holds becomes the caller's, under new ids.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from octavo.engine.sample import open_sample
from octavo.http.caller import TheCaller
from octavo.providers.availability import availability, usual_model
from octavo.server.app_state import AppState, TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.conversations import ConversationOut, ImportedOut
from octavo.server.show import show_conversation
from octavo.store.transfer.formats import Format

routes = router("import and export")

LINES = "application/x-ndjson"
PIECE = 1 << 18
"""Bytes that are sent at a time."""
EXPORTED = 100_000
"""The most conversations in one export."""
WRITTEN: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Octavo's own JSON Lines.",
        "content": {LINES: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@routes.get("/conversations/{conversation}/export", response_model=None, responses=WRITTEN)
async def export_conversation(chat: TheChat, app_state: TheAppState) -> Response:
    """Export a conversation with everything that belongs to it."""
    return await _export(app_state, [chat.id])


@routes.get("/export", response_model=None, responses=WRITTEN)
async def export_everything(app_state: TheAppState, caller: TheCaller) -> Response:
    """Export all your conversations."""
    mine = await app_state.engine.store.conversations.list(owner=caller.owner, archived=None, limit=EXPORTED)
    return await _export(app_state, [one.id for one in mine])


async def _export(app_state: AppState, ids: list[str]) -> Response:
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
    path = File(folder.name) / "export"
    try:
        await app_state.engine.store.export(path, ids)
    except BaseException:
        folder.cleanup()
        raise
    headers = {"content-disposition": 'attachment; filename="octavo.jsonl"'}
    return StreamingResponse(_pieces(path, folder), media_type=LINES, headers=headers)


async def _pieces(path: File, folder: tempfile.TemporaryDirectory[str]) -> AsyncIterator[bytes]:
    try:
        with path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, PIECE):
                yield piece
    finally:
        folder.cleanup()


@routes.post(
    "/import",
    response_model=ImportedOut,
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_file(
    request: Request,
    app_state: TheAppState,
    caller: TheCaller,
    *,
    format: Annotated[
        Format | None, Query(description="The format of the file; without it, the format is detected.")
    ] = None,
    title: Annotated[str | None, Query(max_length=500)] = None,
) -> Response:
    """Import the conversations of a file: all of them, or none if one is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = File(folder) / "import"
        with path.open("wb") as file:
            async for piece in request.stream():
                await asyncio.to_thread(file.write, piece)
        made = await app_state.engine.import_file(
            path, format=format, owner=caller.owner, title=title, new_ids=True
        )
    return reply(ImportedOut(conversations=[show_conversation(one) for one in made]), 201)


@routes.post("/sample", response_model=ConversationOut)
async def open_the_sample(app_state: TheAppState, caller: TheCaller) -> Response:
    """Open the conversation that comes with Octavo: compressed once, to try everything without a model."""
    found = await asyncio.to_thread(availability, app_state.settings.providers)
    sample = await open_sample(app_state.engine, owner=caller.owner, usual=usual_model(found))
    return reply(show_conversation(sample))
