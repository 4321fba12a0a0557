"""Documents: the text of a PDF, to be sent with a message."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from octavo.engine.documents import LARGEST, read_document
from octavo.http.caller import TheCaller
from octavo.server.app_state import TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.messages import DocumentOut

routes = router("documents", "/documents")


@routes.post(
    "",
    response_model=DocumentOut,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def read_a_document(
    request: Request,
    app_state: TheAppState,
    caller: TheCaller,
    *,
    name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file.")],
) -> Response:
    """Read the text of a PDF. Nothing is stored: send the text as an attachment with your message."""
    del caller
    app_state.check_open()
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            break
    async with app_state.readers:
        found = await read_document(name, bytes(content))
    return reply(DocumentOut(name=found.name, text=found.text, pages=found.pages, read=found.read))
