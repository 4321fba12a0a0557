"""Pins: messages, or parts of their text, that are always sent byte for byte."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.engine.chat import Chat
from octavo.errors import BadInput, NotFound
from octavo.http.errors import refuse
from octavo.server.app_state import AppState, TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.messages import MessageId
from octavo.server.schemas.base import Size
from octavo.server.schemas.pins import PinIn, PinList
from octavo.server.show import show_pin

routes = router("pins", "/conversations/{conversation}/pins")


@routes.get("", response_model=PinList)
async def list_pins(chat: TheChat, app_state: TheAppState) -> Response:
    """List the pins of all branches."""
    return reply(await _shown(app_state, chat))


async def _shown(app_state: AppState, chat: Chat) -> PinList:
    pins = await chat.pins.list()
    selected = sorted({pin.node for pin in pins if pin.stop})
    texts = {id: (await app_state.engine.store.tree.node(id)).message.text for id in selected}
    return PinList(pins=[show_pin(pin, texts.get(pin.node, "")) for pin in pins])


@routes.post("", response_model=PinList, status_code=201)
async def add_pin(body: PinIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Pin a message, or a part of its text."""
    await chat.require(body.message)
    try:
        await chat.pins.add(body.message, body.selection)
    except BadInput as error:
        raise refuse(409, "conflict", str(error), "select a part of the message's own text") from error
    return reply(await _shown(app_state, chat), 201)


@routes.delete("/{message}", status_code=204)
async def remove_pins(
    message: MessageId,
    chat: TheChat,
    app_state: TheAppState,
    *,
    start: Annotated[Size, Query(description="Where the selection begins.")] = 0,
    stop: Annotated[
        Size | None,
        Query(description="Where the selection ends; without it, all pins of the message are removed."),
    ] = None,
) -> Response:
    """Remove the pins of a message, or of one selection of it."""
    if stop is None:
        found = await chat.pins.remove(message)
    else:
        mine = {(pin.node, pin.start, pin.stop) for pin in await chat.pins.list()}
        found = (message, start, stop) in mine and await app_state.engine.store.pins.remove(
            message, start, stop
        )
    if not found:
        raise NotFound(f"nothing of message {message} is pinned")
    return Response(status_code=204)
