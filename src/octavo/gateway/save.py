"""Storing a request below what is known of it, and its answers below that, in one transaction.

What is new becomes a branch, so an edited or regenerated message changes nothing that was there. A message's id is
made from its place and its content: two requests that say the same at the same place, even at the same time, store
it once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from octavo.core.fields import Json
from octavo.core.messages import chain, opens_turn
from octavo.core.policy import Keep
from octavo.core.wire import Format
from octavo.errors import OctavoError, StoreError, UsageError
from octavo.gateway.dialects.dialect import Asked, Heard
from octavo.gateway.exchange import Exchange
from octavo.gateway.fit import thinking
from octavo.gateway.gateway import Gateway, Spot
from octavo.gateway.identify import Place, bare, make_id, plain, recognise, stored_form
from octavo.meters.meter import Meter
from octavo.store.values import Entry

log = logging.getLogger("octavo.gateway")

TITLE = 80
"""Characters of the first question that become the title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a request and its answers are stored."""

    place: Place
    """Where the request belongs now that all of it is known."""
    tip: str
    """The node of the request's last message."""
    answers: tuple[str, ...] = ()


async def keep(
    gateway: Gateway,
    owner: str,
    asked: Asked,
    place: Place,
    format: Format,
    meter: Meter,
    answers: Sequence[Entry] = (),
) -> Kept:
    """Store what is new of a request and, below it, what was answered; several answers are siblings."""
    try:
        return await _keep(gateway, owner, asked, place, answers, _entries(asked, place, format, meter))
    except (UsageError, StoreError):
        # It was deleted, or somebody stored the same at this moment, maybe in another process: look again, and insist.
        gateway.cache.forget(place.conversation)
        again = await recognise(gateway, owner, asked, place)
        said = [replace(entry, id=None) for entry in _entries(asked, again, format, meter)]
        return await _keep(gateway, owner, asked, again, answers, said)


async def _keep(
    gateway: Gateway, owner: str, asked: Asked, place: Place, answers: Sequence[Entry], said: Sequence[Entry]
) -> Kept:
    """Store a request with its first answer in one go: a transaction costs more than what is in it."""
    store, entries = gateway.engine.store, [*said, *answers[:1]]
    if place.new:
        values: dict[str, Json] = {"model": asked.model}
        if asked.prompt.strip():
            # For whoever goes on with the conversation elsewhere; requests bring their own.
            values["system"] = asked.prompt
        nodes = await store.record(
            place.conversation, entries, title=_title(asked), owner=owner, values=values
        )
    elif entries:
        nodes = await store.append_many(place.conversation, entries, parent=place.node)
    else:
        nodes = ()
    tip = nodes[len(said) - 1].id if said else place.node or ""
    others = [
        await store.append_many(place.conversation, [one], parent=tip, select=False) for one in answers[1:]
    ]
    kept = [*nodes[len(said) :], *(node for branch in others for node in branch)]
    spots = {place.digests[-1]: tip}
    for entry, node in zip(answers, kept, strict=True):
        if entry.status == "complete":
            spots[chain(place.digests[-1], plain(entry.message))] = node.id
    for digest, id in spots.items():
        gateway.cache.spots.put((owner, digest), Spot(place.conversation, id))
    whole = replace(place, new=False, known=len(asked.messages), node=tip)
    return Kept(place=whole, tip=tip, answers=tuple(node.id for node in kept))


def _entries(asked: Asked, place: Place, format: Format, meter: Meter) -> list[Entry]:
    """Give what is new of a request as it is stored."""
    now, unit = datetime.now(UTC).isoformat(), meter.unit.name
    return [
        Entry(
            message=stored_form(message, format),
            id=make_id(b"message", place.conversation.encode(), digest),
            counts={unit: meter.count_message(bare(message))},
            created=now,
        )
        for message, digest in zip(asked.messages[place.known :], place.digests[place.known :], strict=True)
    ]


def _title(asked: Asked) -> str:
    said = next((message.text for message in asked.messages if opens_turn(message)), "")
    return " ".join(said.split())[:TITLE]


LEARNED_FROM = 0.5
"""Share of the window from which bills are worth learning from: far from it nothing depends on them."""


async def save_exchange(exchange: Exchange, *answers: Entry) -> Kept:
    """Store what is new of a request, and what was answered."""
    owner, format = exchange.caller.owner, exchange.dialect.name
    kept = await keep(
        exchange.gateway, owner, exchange.asked, exchange.place, format, exchange.meter, answers
    )
    exchange.place = kept.place
    return kept


async def settle(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Finish, and wait for it; it goes on when nobody waits any more."""
    await asyncio.shield(exchange.gateway.host.spawn(finish(exchange, raw, streamed=streamed)))


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
    return await save_exchange(exchange, *answers)


def _tells_the_truth(exchange: Exchange) -> bool:
    """Tell whether a bill is for what the meter saw: no calls of `recall`, no thinking sent back."""
    return not exchange.offers_recall and not thinking(exchange.asked)


async def _learn_bill(exchange: Exchange, billed: int) -> None:
    models, model = exchange.gateway.engine.models, exchange.asked.model
    await exchange.retry.accepted(exchange.sent, billed, exchange.asked.reply or 0)
    meter = await models.meter(model)
    close = billed > meter.card.window * LEARNED_FROM
    if close or not meter.knows(exchange.context):
        await models.learn_bill(model, meter.survey(exchange.context, exchange.size.known), billed)


async def _prepare(exchange: Exchange, tip: str) -> None:
    """Get a snapshot ready while the client thinks."""
    engine, conversation = exchange.gateway.engine, exchange.place.conversation
    tools, settings = exchange.asked.tools, exchange.settings
    engine.compress_in_background(await engine.state_of(conversation, tip, tools=tools, override=settings))
