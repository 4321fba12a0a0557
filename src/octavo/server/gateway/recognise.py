"""Which stored branch a request goes on with: the longest beginning that is known, by a chain of hashes.

The hash covers what was said, not how it was dressed, and no thinking, which clients drop. What is new is stored
below what is known, so an edited or regenerated message becomes a branch. A message's id is made from its place and
its content: two requests that say the same at the same place, even at the same time, store it once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b

from octavo.core.fields import Json, compact
from octavo.core.messages import Message, Reasoning, Text, Wire, chain, opens_turn
from octavo.core.wire import Format, write
from octavo.errors import NotFound, UsageError
from octavo.meters.meter import Meter
from octavo.server.gateway.dialect import Asked
from octavo.server.gateway.memory import Spot
from octavo.server.hub import Hub
from octavo.store.values import Entry

TITLE = 80
"""Characters of the first question that become the title."""
THOUGHTS = "thoughts"
"""Where a stored message keeps the thinking that came with it: beside what was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a request belongs."""

    conversation: str
    known: int
    """How many of its messages are stored."""
    node: str | None
    """The last of them."""
    digests: tuple[bytes, ...]
    """Of each beginning of the request."""

    @property
    def new(self) -> bool:
        """Whether the conversation is not there yet, as far as is known."""
        return self.node is None


def plain(message: Message) -> Message:
    """Leave out what clients drop or add between two requests: thinking, and empty text beside something else."""
    said = tuple(part for part in message.parts if not isinstance(part, Reasoning))
    if len(said) > 1:
        said = tuple(part for part in said if not (isinstance(part, Text) and not part.text)) or said
    return message if len(said) == len(message.parts) else replace(message, parts=said)


def stored_form(message: Message, format: Format) -> Message:
    """Give a message as it is stored: its thinking is kept, as a note that is not part of what was said."""
    bare = plain(message)
    thinking = tuple(part for part in message.parts if isinstance(part, Reasoning))
    if not thinking:
        return bare
    thoughts = replace(message, parts=thinking, wire=None)
    noted: Json = {THOUGHTS: [*write(format, [thoughts]).messages]}
    return replace(bare, wire=Wire(format, compact(noted)))


def digests_of(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Digest every beginning of a list of messages."""
    found: list[bytes] = []
    value = b""
    for message in messages:
        value = chain(value, plain(message))
        found.append(value)
    return tuple(found)


def first_turn(messages: Sequence[Message]) -> int:
    """How many messages there are up to the first question: what has less in common is another conversation."""
    return next((i + 1 for i, message in enumerate(messages) if opens_turn(message)), 1)


def _id(*pieces: bytes) -> str:
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "big") + piece)
    return digest.hexdigest()


async def recognise(hub: Hub, owner: str, asked: Asked, *, fresh: bool = False) -> Place:
    """Find where a request belongs; from the store rather than from memory if `fresh`."""
    digests = digests_of(asked.messages)
    wanted = asked.options.conversation
    least = first_turn(asked.messages)
    if wanted:
        found = await hub.engine.store.conversation(wanted)
        if found.owner != owner:
            raise NotFound(f"there is no conversation {wanted}")
        node = await hub.engine.store.find_prefix(digests, owner=owner, conversation=found.id)
        known = node.depth if node else 0
        return Place(conversation=found.id, known=known, node=node.id if node else None, digests=digests)
    if not fresh and (place := _remembered(hub, owner, asked, digests, least)) is not None:
        return place
    node = await hub.engine.store.find_prefix(digests[least - 1 :], owner=owner)
    if node is not None:
        (details,) = await hub.engine.store.details([node.id])
        return Place(conversation=details.conversation, known=node.depth, node=node.id, digests=digests)
    made = _id(b"conversation", owner.encode("utf-8", "surrogatepass"), digests[least - 1])
    return Place(conversation=made, known=0, node=None, digests=digests)


def _remembered(hub: Hub, owner: str, asked: Asked, digests: tuple[bytes, ...], least: int) -> Place | None:
    """Find the place in memory; not if the rest holds an answer, which another replica may have stored."""
    for known in range(len(digests), least - 1, -1):
        spot = hub.memory.spots.get((owner, digests[known - 1]))
        if spot is not None:
            return Place(conversation=spot.conversation, known=known, node=spot.node, digests=digests)
        if asked.messages[known - 1].role == "assistant":
            return None
    return None


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a request and its answer are stored."""

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
        return await _keep(hub, owner, asked, place, format, meter, answers)
    except UsageError:
        # It was deleted, or somebody stored the same at this moment: look again, and insist.
        hub.memory.forget(place.conversation)
        again = await recognise(hub, owner, asked, fresh=True)
        return await _keep(hub, owner, asked, again, format, meter, answers, own_ids=False)


async def _keep(
    hub: Hub,
    owner: str,
    asked: Asked,
    place: Place,
    format: Format,
    meter: Meter,
    answers: Sequence[Entry],
    *,
    own_ids: bool = True,
) -> Kept:
    """Store a request with its first answer in one go: a transaction costs more than what is in it."""
    store, said = hub.engine.store, _entries(asked, place, format, meter, own_ids=own_ids)
    entries = [*said, *answers[:1]]
    if place.node is None and not asked.options.conversation:
        values: dict[str, Json] = {"model": asked.model}
        nodes = await store.record(
            place.conversation, entries, title=_title(asked), owner=owner, values=values
        )
    elif entries:
        nodes = await store.append_many(place.conversation, entries, parent=place.node)
    else:
        nodes = ()
    tip = nodes[len(said) - 1].id if said else place.node or ""
    remember(hub, owner, place.conversation, place.digests[-1], tip)
    others = [
        await store.append_many(place.conversation, [one], parent=tip, select=False) for one in answers[1:]
    ]
    kept = [*nodes[len(said) :], *(node for branch in others for node in branch)]
    for entry, node in zip(answers, kept, strict=True):
        if entry.status == "complete":
            remember(hub, owner, place.conversation, chain(place.digests[-1], plain(entry.message)), node.id)
    return Kept(tip, tuple(node.id for node in kept))


def _entries(asked: Asked, place: Place, format: Format, meter: Meter, *, own_ids: bool) -> list[Entry]:
    """Give what is new of a request as it is stored."""
    now, unit = datetime.now(UTC).isoformat(), meter.unit.name
    return [
        Entry(
            message=stored_form(message, format),
            id=_id(b"message", place.conversation.encode(), digest) if own_ids else None,
            counts={unit: meter.count_message(plain(message))},
            created=now,
        )
        for message, digest in zip(asked.messages[place.known :], place.digests[place.known :], strict=True)
    ]


def _title(asked: Asked) -> str:
    said = next((message.text for message in asked.messages if opens_turn(message)), "")
    return " ".join(said.split())[:TITLE]


def remember(hub: Hub, owner: str, conversation: str, digest: bytes, node: str) -> None:
    hub.memory.spots.put((owner, digest), Spot(conversation, node))


async def loaded(meter: Meter) -> Meter:
    """Load a meter's vocabulary, outside of the event loop if it is not there yet."""
    if "unit" not in meter.__dict__:
        await asyncio.to_thread(lambda: meter.unit)
    return meter
