"""The end of a request: its answer is stored, its bill learned from, and the next snapshot prepared.

A client has its answer whatever happens here, so nothing here fails a request.
"""

from __future__ import annotations

import asyncio
import logging

from octavo.core.policy import Keep
from octavo.errors import OctavoError
from octavo.server.gateway.canon import bare, stored_form
from octavo.server.gateway.exchange import Exchange
from octavo.server.gateway.keep import Kept
from octavo.server.gateway.replies import Heard
from octavo.server.gateway.weigh import thinking
from octavo.store.values import Entry

log = logging.getLogger("octavo.gateway")

LEARNED_FROM = 0.5
"""Share of the window from which bills are worth learning from: far from it nothing depends on them."""


async def settle(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Finish, and wait for it; it goes on when nobody waits any more."""
    await asyncio.shield(exchange.hub.tasks.spawn(finish(exchange, raw, streamed=streamed)))


async def finish(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Store an answer as far as it came, learn, prepare."""
    try:
        heard = exchange.dialect.hear(raw, streamed=streamed)
        kept = await _store(exchange, heard)
        if heard.complete and heard.usage.input and _tells_the_truth(exchange):
            await _learn_bill(exchange, heard.usage.input)
        if not isinstance(exchange.decision, Keep) and kept.answers:
            await _prepare(exchange, kept.answers[0])
    except OctavoError as error:
        log.warning("an answer in %s was not stored: %s", exchange.place.conversation, error)


async def _store(exchange: Exchange, heard: Heard) -> Kept:
    unit = exchange.meter.unit.name
    answers = [
        Entry(
            message=stored_form(message, exchange.dialect.name),
            status="complete" if heard.complete else "aborted",
            counts={unit: exchange.meter.count_message(bare(message))},
            input_tokens=heard.usage.input or None,
            output_tokens=heard.usage.output or None,
            model=heard.model or exchange.asked.model,
        )
        for message in heard.messages
    ]
    return await exchange.keep(*answers)


def _tells_the_truth(exchange: Exchange) -> bool:
    """Tell whether a bill is for what the meter saw: no calls of `recall`, no thinking sent back."""
    return not exchange.offers_recall and not thinking(exchange.asked)


async def _learn_bill(exchange: Exchange, billed: int) -> None:
    models, model = exchange.hub.engine.models, exchange.asked.model
    await exchange.retry.accepted(exchange.sent, billed, exchange.asked.reply or 0)
    meter = await models.meter(model)
    close = billed > meter.card.window * LEARNED_FROM
    if close or not meter.knows(exchange.context):
        await models.learn_bill(model, meter.survey(exchange.context, exchange.size.known), billed)


async def _prepare(exchange: Exchange, tip: str) -> None:
    """Get a snapshot ready while the client thinks."""
    engine, conversation = exchange.hub.engine, exchange.place.conversation
    tools, settings = exchange.asked.tools, exchange.settings
    engine.compress_in_background(await engine.state_of(conversation, tip, tools=tools, override=settings))
