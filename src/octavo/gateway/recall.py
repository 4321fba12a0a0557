"""The `octavo_recall` tool for clients of the gateway: the calls are answered here, and the client never sees them.

An answer is passed on once it is known to be meant for the client, so a stream arrives all at once.
"""

from __future__ import annotations

import json

from octavo.core.json_values import JsonObject
from octavo.core.messages import Message
from octavo.core.wire import write
from octavo.engine.recall_tool import (
    NAME,
    NO_ROOM,
    NOT_THERE,
    RESERVE,
    ROUNDS,
    TOOL,
    RecallAnswerer,
    calls_of,
)
from octavo.gateway.exchange import Exchange
from octavo.gateway.forward import receive
from octavo.gateway.reply import ProviderResponse
from octavo.http.responses import to_json
from octavo.providers.error_mapping import unreadable

__all__ = ["NAME", "NOT_THERE", "NO_ROOM", "RESERVE", "ROUNDS", "TOOL", "ask_with_recall"]


async def ask_with_recall(exchange: Exchange, body: bytes) -> ProviderResponse:
    """Ask until the model answers the client; raise `BadReply` if it only calls the tool."""
    assert exchange.fitted is not None  # the tool is offered with a compressed context only
    answerer = RecallAnswerer(engine=exchange.gateway.engine, state=exchange.fitted.state)
    for rounds in range(ROUNDS + 1):
        response = await exchange.send(body)
        raw = await receive(exchange.destination, response)
        answer = ProviderResponse(response=response, raw=raw, recalls=rounds)
        called = None if answer.failed else _called(exchange, answer, raw)
        if called is None:
            return answer
        more = write(exchange.provider_dialect.name, [called, await answerer.answer(called)]).messages
        body = _extended(exchange, body, more, last=rounds + 1 == ROUNDS)
    raise unreadable(
        exchange.destination.provider, f"the model calls {NAME} although it was told to call no tool"
    )


def _called(exchange: Exchange, answer: ProviderResponse, raw: bytes) -> Message | None:
    """Find the message that calls the recall tool."""
    found = exchange.provider_dialect.read_answer(raw, streamed=answer.streamed)
    return next((message for message in found.messages if calls_of(message)), None)


def _extended(exchange: Exchange, body: bytes, more: list[JsonObject], *, last: bool) -> bytes:
    """Add calls and results to a body; the `last` time, the model may call no tool."""
    before = json.loads(body)
    dialect = exchange.provider_dialect
    forbidden = {dialect.tool_choice_field: dialect.no_tools} if last else {}
    name = exchange.provider_dialect.list_field
    return to_json({**before, name: [*before[name], *more], **forbidden})
