"""Which stored branch a request goes on with: the longest beginning that is known, by a chain of hashes.

The chain begins with the first message after the system prompt. That one is sent as the client has it now and is no
part of the tree: clients put the time of day into it, and a new minute is no new conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from octavo.errors import NotFound
from octavo.server.gateway.canon import digests_of, first_turn
from octavo.server.gateway.dialect import Asked
from octavo.server.hub import Hub
from octavo.store.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a request belongs."""

    conversation: str
    new: bool
    """Whether the conversation is not there yet, as far as is known."""
    known: int
    """How many of its messages are stored."""
    node: str | None
    """The last of them."""
    digests: tuple[bytes, ...]
    """Of each beginning of the request."""


async def recognise(hub: Hub, owner: str, asked: Asked, known: Place | None = None) -> Place:
    """Find where a request belongs; from the store rather than from memory if a place was `known` and is doubted."""
    digests = known.digests if known else digests_of(asked.messages)
    if asked.options.conversation:
        return await _named(hub, owner, asked.options.conversation, digests)
    least = first_turn(asked.messages)
    if known is None and (place := _remembered(hub, owner, asked, digests, least)) is not None:
        return place
    node = await hub.engine.store.tree.find_prefix(digests[least - 1 :], owner=owner)
    if node is not None:
        (details,) = await hub.engine.store.tree.details([node.id])
        return Place(
            conversation=details.conversation, new=False, known=node.depth, node=node.id, digests=digests
        )
    made = make_id(b"conversation", owner.encode("utf-8", "surrogatepass"), digests[least - 1])
    if await hub.engine.store.conversations.list(archived=None, deleted=True, ids=[made]):
        # It waits to be deleted, and nobody finds it any more: who says the same again begins a new one.
        made = new_id()
    return Place(conversation=made, new=True, known=0, node=None, digests=digests)


async def _named(hub: Hub, owner: str, wanted: str, digests: tuple[bytes, ...]) -> Place:
    """Find the place in the conversation a client names; what it has not got yet is a new root in it."""
    found = await hub.engine.store.conversations.get(wanted)
    if found.owner != owner or found.deleted:
        raise NotFound(f"there is no conversation {wanted}")
    node = await hub.engine.store.tree.find_prefix(digests, owner=owner, conversation=found.id)
    return Place(
        conversation=found.id,
        new=False,
        known=node.depth if node else 0,
        node=node.id if node else None,
        digests=digests,
    )


def _remembered(hub: Hub, owner: str, asked: Asked, digests: tuple[bytes, ...], least: int) -> Place | None:
    """Find the place in memory; not if the rest holds an answer, which another replica may have stored."""
    for known in range(len(digests), least - 1, -1):
        spot = hub.memory.spots.get((owner, digests[known - 1]))
        if spot is not None:
            return Place(
                conversation=spot.conversation, new=False, known=known, node=spot.node, digests=digests
            )
        if asked.messages[known - 1].role == "assistant":
            return None
    return None


def make_id(*pieces: bytes) -> str:
    """Make an id from what it stands for: who makes it again makes the same."""
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "big") + piece)
    return digest.hexdigest()
