"""Which stored branch a request goes on with: the longest beginning that is known, by a chain of hashes.

The chain begins with the first message after the system prompt. That one is sent as the client has it now and is no
part of the tree: clients put the time of day into it, and a new minute is no new conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from octavo.core.fields import Json, compact, parse
from octavo.core.messages import Message, Part, Reasoning, Text, ToolCall, Wire, chain, opens_turn
from octavo.core.wire import Format, write
from octavo.errors import NotFound
from octavo.gateway.dialects.dialect import ClientRequest
from octavo.gateway.gateway import Gateway
from octavo.store.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMatch:
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


async def identify(
    gateway: Gateway, owner: str, request: ClientRequest, known: BranchMatch | None = None
) -> BranchMatch:
    """Find where a request belongs; from the store rather than from memory if a place was `known` and is doubted."""
    digests = known.digests if known else digests_of(request.messages)
    if request.options.conversation:
        return await _named(gateway, owner, request.options.conversation, digests)
    least = first_turn(request.messages)
    if known is None and (branch := _remembered(gateway, owner, request, digests, least)) is not None:
        return branch
    node = await gateway.engine.store.tree.find_prefix(digests[least - 1 :], owner=owner)
    if node is not None:
        (details,) = await gateway.engine.store.tree.details([node.id])
        return BranchMatch(
            conversation=details.conversation, new=False, known=node.depth, node=node.id, digests=digests
        )
    made = make_id(b"conversation", owner.encode("utf-8", "surrogatepass"), digests[least - 1])
    if await gateway.engine.store.conversations.list(archived=None, deleted=True, ids=[made]):
        # It waits to be deleted, and nobody finds it any more: who says the same again begins a new one.
        made = new_id()
    return BranchMatch(conversation=made, new=True, known=0, node=None, digests=digests)


async def _named(gateway: Gateway, owner: str, wanted: str, digests: tuple[bytes, ...]) -> BranchMatch:
    """Find the place in the conversation a client names; what it has not got yet is a new root in it."""
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


def _remembered(
    gateway: Gateway, owner: str, request: ClientRequest, digests: tuple[bytes, ...], least: int
) -> BranchMatch | None:
    """Find the place in memory; not if the rest holds an answer, which another replica may have stored."""
    for known in range(len(digests), least - 1, -1):
        cached = gateway.cache.nodes.get((owner, digests[known - 1]))
        if cached is not None:
            return BranchMatch(
                conversation=cached.conversation, new=False, known=known, node=cached.node, digests=digests
            )
        if request.messages[known - 1].role == "assistant":
            return None
    return None


def make_id(*pieces: bytes) -> str:
    """Make an id from what it stands for: who makes it again makes the same."""
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "big") + piece)
    return digest.hexdigest()


THOUGHTS = "thoughts"
"""Where a stored message keeps the thinking that came with it: beside what was said."""


def without_reasoning(message: Message) -> Message:
    """Leave out thinking and empty texts; the rest is what is counted."""
    said = tuple(part for part in message.parts if not _is_dressing(part))
    return message if len(said) == len(message.parts) else replace(message, parts=said)


def _is_dressing(part: Part) -> bool:
    return isinstance(part, Reasoning) or (isinstance(part, Text) and not part.text)


def canonical(message: Message) -> Message:
    """Give the canonical form of a message."""
    said = without_reasoning(message)
    if not any(isinstance(part, ToolCall) for part in said.parts):
        return said
    parts = tuple(_respaced(part) if isinstance(part, ToolCall) else part for part in said.parts)
    return said if parts == said.parts else replace(said, parts=parts)


def _respaced(call: ToolCall) -> ToolCall:
    """Write arguments as our own reading would: libraries parse them, and write them again with other spaces."""
    try:
        input = compact(parse(call.input))
    except ValueError:
        return call
    return call if input == call.input else replace(call, input=input)


def stored_form(message: Message, format: Format) -> Message:
    """Give a message as it is stored: its thinking is kept, as a note that is not part of what was said."""
    said = canonical(message)
    thinking = tuple(part for part in message.parts if isinstance(part, Reasoning))
    if not thinking:
        return said
    thoughts = replace(message, parts=thinking, wire=None)
    noted: Json = {THOUGHTS: [*write(format, [thoughts]).messages]}
    return replace(said, wire=Wire(format, compact(noted)))


def digests_of(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Digest every beginning of a list of messages."""
    found: list[bytes] = []
    value = b""
    for message in messages:
        value = chain(value, canonical(message))
        found.append(value)
    return tuple(found)


def first_turn(messages: Sequence[Message]) -> int:
    """How many messages there are up to the first question: what has less in common is another conversation."""
    return next((i + 1 for i, message in enumerate(messages) if opens_turn(message)), 1)
