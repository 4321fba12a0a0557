"""Finds the stored branch that a request continues: the longest prefix of its messages that is stored.

Prefixes are compared by a chain of hashes over the canonical form of each message. Clients drop reasoning, empty texts
and the spaces of tool arguments before they send a message back; two messages that differ in nothing else have one
canonical form. The system prompt is not part of the chain: many clients put the time of day into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from octavo.core.json_values import Json, compact, parse
from octavo.core.messages import Message, Opaque, Part, Reasoning, Text, ToolCall, Wire, chain, opens_turn
from octavo.core.wire import Format, write
from octavo.core.wire.cache_markers import without_markers
from octavo.core.wire.responses import FORMAT as RESPONSES
from octavo.core.wire.responses import THOUGHTS, settled
from octavo.errors import NotFound
from octavo.gateway.dialects.dialect import ClientRequest, Continued
from octavo.gateway.gateway import Gateway
from octavo.store.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMatch:
    """The stored branch that a request continues."""

    conversation: str
    new: bool
    """Whether the conversation has yet to be created."""
    known: int
    """How many of the request's messages are stored."""
    node: str | None
    """The node of the last stored message."""
    digests: tuple[bytes, ...]
    """The digest of each prefix of the request."""


async def identify(
    gateway: Gateway, owner: str, request: ClientRequest, known: BranchMatch | None = None
) -> BranchMatch:
    """Find the branch that a request continues; an earlier match that is `known` is checked in the store."""
    digests = known.digests if known else digests_of(request.messages)
    if request.continued:
        return await _continued(gateway, owner, request.continued, digests)
    if request.options.conversation:
        return await _named(gateway, owner, request.options.conversation, digests)
    least = first_turn(request.messages)
    if known is None and (branch := remembered(gateway, owner, request, digests)) is not None:
        return branch
    node = await gateway.engine.store.tree.find_prefix(digests[least - 1 :], owner=owner)
    if node is not None:
        (details,) = await gateway.engine.store.tree.details([node.id])
        return BranchMatch(
            conversation=details.conversation, new=False, known=node.depth, node=node.id, digests=digests
        )
    made = make_id(b"conversation", owner.encode("utf-8", "surrogatepass"), digests[least - 1])
    if await gateway.engine.store.conversations.list(archived=None, deleted=True, ids=[made]):
        # The conversation is in the bin, where nobody finds it. The same words begin a new one.
        made = new_id()
    return BranchMatch(conversation=made, new=True, known=0, node=None, digests=digests)


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


def make_id(*pieces: bytes) -> str:
    """Derive an id from content, so that the same content gets the same id everywhere."""
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "big") + piece)
    return digest.hexdigest()


PLACES = "places"
"""The note of a stored message that tells before which of its parts each thought stood."""


def without_reasoning(message: Message) -> Message:
    """Leave out reasoning and empty texts. The rest is counted."""
    said = tuple(part for part in message.parts if not _is_left_out(part))
    return message if len(said) == len(message.parts) else replace(message, parts=said)


def _is_left_out(part: Part) -> bool:
    return isinstance(part, Reasoning) or (isinstance(part, Text) and not part.text)


def canonical(message: Message) -> Message:
    """Give the form in which messages are compared and stored."""
    said = without_reasoning(message)
    if not any(isinstance(part, ToolCall | Opaque) for part in said.parts):
        return said
    parts = tuple(_plain(part) for part in said.parts)
    return said if parts == said.parts else replace(said, parts=parts)


def _plain(part: Part) -> Part:
    match part:
        case ToolCall():
            return _respaced(part)
        case Opaque(wire=Wire(format=format, fields=fields)) if format == RESPONSES:
            return replace(part, wire=Wire(format, compact(settled(parse(fields)))))
        case _:
            return part


def _respaced(call: ToolCall) -> ToolCall:
    """Write tool arguments without spaces: client libraries parse them and write them again in their own way."""
    try:
        input = compact(parse(call.input))
    except ValueError:
        return call
    return call if input == call.input else replace(call, input=input)


def stored_form(message: Message, format: Format) -> Message:
    """Give a message as it is stored: in canonical form, without cache markers, with its reasoning in a note."""
    said = without_markers(canonical(message))
    thinking = tuple(part for part in message.parts if isinstance(part, Reasoning))
    if not thinking:
        return said
    thoughts = replace(message, parts=thinking, wire=None)
    places: list[Json] = []
    kept = 0
    for part in message.parts:
        if isinstance(part, Reasoning):
            places.append(kept)
        kept += not _is_left_out(part)
    noted: Json = {THOUGHTS: [*write(format, [thoughts]).messages], PLACES: places}
    return replace(said, wire=Wire(format, compact(noted)))


def digests_of(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Compute the digest of every prefix of a list of messages."""
    found: list[bytes] = []
    value = b""
    for message in messages:
        value = chain(value, canonical(message))
        found.append(value)
    return tuple(found)


def first_turn(messages: Sequence[Message]) -> int:
    """Count the messages up to the first question: requests that share fewer belong to different conversations."""
    return next((i + 1 for i, message in enumerate(messages) if opens_turn(message)), 1)
