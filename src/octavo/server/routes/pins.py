"""Pins: messages, or parts of their text, that are always sent byte for byte."""

from __future__ import annotations

from starlette.responses import Response

from octavo.errors import BadInput, NotFound
from octavo.server import schemas as s
from octavo.server.errors import refuse
from octavo.server.hub import TheChat, TheHub
from octavo.server.reply import reply
from octavo.server.routes import router
from octavo.server.routes.messages import MessageId
from octavo.server.show import show_pin

routes = router("pins", "/conversations/{conversation}/pins")


@routes.get("", response_model=s.Pins)
async def list_pins(chat: TheChat) -> Response:
    """List the pins of all branches."""
    return reply(s.Pins(pins=[show_pin(pin) for pin in await chat.pins()]))


@routes.post("", response_model=s.Pins, status_code=201)
async def add_pin(body: s.PinIn, chat: TheChat, hub: TheHub) -> Response:
    """Pin a message, or a part of its text."""
    await hub.check_message(chat, body.message)
    try:
        await chat.pin(body.message, body.selection)
    except BadInput as error:
        raise refuse(409, "conflict", str(error), "select a part of the message's own text") from error
    return reply(s.Pins(pins=[show_pin(pin) for pin in await chat.pins()]), 201)


@routes.delete("/{message}", status_code=204)
async def remove_pins(message: MessageId, chat: TheChat) -> Response:
    """Remove all pins of a message."""
    if not await chat.unpin(message):
        raise NotFound(f"nothing of message {message} is pinned")
    return Response(status_code=204)
