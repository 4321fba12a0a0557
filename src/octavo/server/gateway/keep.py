"""Storing a request below what is known of it, and its answers below that, in one transaction.

What is new becomes a branch, so an edited or regenerated message changes nothing that was there. A message's id is
made from its place and its content: two requests that say the same at the same place, even at the same time, store
it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from octavo.core.fields import Json
from octavo.core.messages import chain, opens_turn
from octavo.core.wire import Format
from octavo.errors import StoreError, UsageError
from octavo.meters.meter import Meter
from octavo.server.gateway.canon import bare, plain, stored_form
from octavo.server.gateway.dialect import Asked
from octavo.server.gateway.memory import Spot
from octavo.server.gateway.recognise import Place, make_id, recognise
from octavo.server.hub import Hub
from octavo.store.values import Entry

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
    hub: Hub,
    owner: str,
    asked: Asked,
    place: Place,
    format: Format,
    meter: Meter,
    answers: Sequence[Entry] = (),
) -> Kept:
    """Store what is new of a request and, below it, what was answered; several answers are siblings."""
    try:
        return await _keep(hub, owner, asked, place, answers, _entries(asked, place, format, meter))
    except (UsageError, StoreError):
        # It was deleted, or somebody stored the same at this moment, maybe in another process: look again, and insist.
        hub.memory.forget(place.conversation)
        again = await recognise(hub, owner, asked, place)
        said = [replace(entry, id=None) for entry in _entries(asked, again, format, meter)]
        return await _keep(hub, owner, asked, again, answers, said)


async def _keep(
    hub: Hub, owner: str, asked: Asked, place: Place, answers: Sequence[Entry], said: Sequence[Entry]
) -> Kept:
    """Store a request with its first answer in one go: a transaction costs more than what is in it."""
    store, entries = hub.engine.store, [*said, *answers[:1]]
    if place.new:
        values: dict[str, Json] = {"model": asked.model}
        if asked.prompt.strip():
            # For whoever goes on with the conversation elsewhere; requests bring their own.
            values["system"] = asked.prompt
        nodes = await store.messages.record(
            place.conversation, entries, title=_title(asked), owner=owner, values=values
        )
    elif entries:
        nodes = await store.messages.append_many(place.conversation, entries, parent=place.node)
    else:
        nodes = ()
    tip = nodes[len(said) - 1].id if said else place.node or ""
    others = [
        await store.messages.append_many(place.conversation, [one], parent=tip, select=False)
        for one in answers[1:]
    ]
    kept = [*nodes[len(said) :], *(node for branch in others for node in branch)]
    spots = {place.digests[-1]: tip}
    for entry, node in zip(answers, kept, strict=True):
        if entry.status == "complete":
            spots[chain(place.digests[-1], plain(entry.message))] = node.id
    for digest, id in spots.items():
        hub.memory.spots.put((owner, digest), Spot(place.conversation, id))
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
