"""Finds the stored branch that a request continues: the longest prefix of its messages that is stored.

How messages are compared is told in `octavo.engine.history`. What is cached is looked at first; a client may also name
the conversation, or the message that it continues.
"""

from __future__ import annotations

from octavo.engine.history import BranchMatch, digests_of, find_branch, first_turn
from octavo.errors import NotFound
from octavo.gateway.dialects.dialect import ClientRequest, Continued
from octavo.gateway.gateway import Gateway


async def identify(
    gateway: Gateway, owner: str, request: ClientRequest, known: BranchMatch | None = None
) -> BranchMatch:
    """Find the branch that a request continues; an earlier match that is `known` is checked in the store."""
    digests = known.digests if known else digests_of(request.messages)
    if request.continued:
        return await _continued(gateway, owner, request.continued, digests)
    if request.options.conversation:
        return await _named(gateway, owner, request.options.conversation, digests)
    if known is None and (branch := remembered(gateway, owner, request, digests)) is not None:
        return branch
    return await find_branch(gateway.engine.store, owner, request.messages, digests)


def stable_part(request: ClientRequest, branch: BranchMatch) -> int | None:
    """Count the messages that a client will send again, if it rewrites the others; None if it only appends.

    What a client appends are questions and results of tools. One that has answers behind what is stored, as if they had
    been given there, puts something else before its questions each time. A history that is new here is no such case.
    """
    behind = request.messages[branch.known :]
    return branch.known if branch.known and any(message.role == "assistant" for message in behind) else None


async def _continued(
    gateway: Gateway, owner: str, start: Continued, digests: tuple[bytes, ...]
) -> BranchMatch:
    """Find how much of a request is stored below the message that it names."""
    node = await gateway.engine.store.tree.find_prefix(digests, owner=owner, conversation=start.conversation)
    deeper = node is not None and node.depth > start.depth
    return BranchMatch(
        conversation=start.conversation,
        new=False,
        known=node.depth if node and deeper else start.depth,
        node=node.id if node and deeper else start.node,
        digests=digests,
    )


async def _named(gateway: Gateway, owner: str, wanted: str, digests: tuple[bytes, ...]) -> BranchMatch:
    """Find the branch in the conversation that the client names; without a match, the request is a new root there."""
    found = await gateway.engine.store.conversations.get(wanted)
    if found.owner != owner or found.deleted:
        raise NotFound(f"there is no conversation {wanted}")
    node = await gateway.engine.store.tree.find_prefix(digests, owner=owner, conversation=found.id)
    return BranchMatch(
        conversation=found.id,
        new=False,
        known=node.depth if node else 0,
        node=node.id if node else None,
        digests=digests,
    )


def remembered(
    gateway: Gateway, owner: str, request: ClientRequest, digests: tuple[bytes, ...]
) -> BranchMatch | None:
    """Find the branch in the cache.

    The search stops at an answer that is not cached: another replica may have stored it.
    """
    for known in range(len(digests), first_turn(request.messages) - 1, -1):
        cached = gateway.cache.nodes.get((owner, digests[known - 1]))
        if cached is not None:
            return BranchMatch(
                conversation=cached.conversation, new=False, known=known, node=cached.node, digests=digests
            )
        if request.messages[known - 1].role == "assistant":
            return None
    return None
