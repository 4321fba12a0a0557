"""Asking a model that may look into what was folded away: it is asked again with what it found, until it answers.

An answer is passed on only when it is known to be meant for the client, so a stream comes all at once here.
"""

from __future__ import annotations

import json

from octavo.core.fields import JsonObject
from octavo.core.messages import Message
from octavo.core.wire import write
from octavo.http.responses import to_json
from octavo.providers.faults import unreadable
from octavo.server.gateway.exchange import Exchange
from octavo.server.gateway.passing import Answer
from octavo.server.gateway.recall import NAME, Desk, calls_of
from octavo.server.gateway.sending import receive

ROUNDS = 4
"""How often a model may look before it has to answer."""


async def consult(exchange: Exchange, body: bytes) -> Answer:
    """Ask until the answer is the client's; raise `BadReply` when the model cannot be brought to give one."""
    desk = Desk(
        store=exchange.hub.engine.store,
        meter=exchange.meter,
        conversation=exchange.place.conversation,
        tip=exchange.place.node or "",
        covered=exchange.context.covered_to,
    )
    for rounds in range(ROUNDS + 1):
        response = await exchange.send(body)
        raw = await receive(exchange.target, response)
        answer = Answer(response=response, raw=raw, recalls=rounds)
        called = None if answer.failed else _called(exchange, answer, raw)
        if called is None:
            return answer
        more = write(exchange.dialect.name, [called, await desk.answer(called)]).messages
        body = _extended(exchange, body, more, last=rounds + 1 == ROUNDS)
    raise unreadable(exchange.target.provider, f"the model calls {NAME} although it may not any more")


def _called(exchange: Exchange, answer: Answer, raw: bytes) -> Message | None:
    """Give the answer that calls our tool, if there is one."""
    heard = exchange.dialect.hear(raw, streamed=answer.streamed)
    return next((message for message in heard.messages if calls_of(message)), None)


def _extended(exchange: Exchange, body: bytes, more: list[JsonObject], *, last: bool) -> bytes:
    """Go on with calls and their answers, as if the client had answered them; the last time without any tool."""
    before = json.loads(body)
    forbidden = {"tool_choice": exchange.dialect.no_tools} if last else {}
    return to_json({**before, "messages": [*before["messages"], *more], **forbidden})
