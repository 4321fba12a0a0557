"""Finds a history that its caller keeps and sends whole each time, and stores what is new in it.

Prefixes are compared by a chain of hashes over the canonical form of each message. Clients drop reasoning, empty texts
and the spaces of tool arguments before they send a message back; two messages that differ in nothing else have one
canonical form. The system prompt is not part of the chain: many clients put the time of day into it.

The gateway finds the branch of a request here, and so does every drop-in for a framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from octavo.core.context import Context
from octavo.core.json_values import Json, compact, parse
from octavo.core.messages import Message, Opaque, Part, Reasoning, Text, ToolCall, Wire, chain, opens_turn
from octavo.core.recall.render import with_passages
from octavo.core.wire import Format, read, write
from octavo.core.wire.cache_markers import without_markers
from octavo.core.wire.notes import notes
from octavo.core.wire.responses import FORMAT as RESPONSES
from octavo.core.wire.responses import THOUGHTS, settled
from octavo.engine.turn import PreparedRequest
from octavo.errors import BadInput, StoreError, UsageError
from octavo.store.ids import new_id
from octavo.store.values import Added, Entry

if TYPE_CHECKING:
    from octavo.engine.engine import Engine
    from octavo.store.store import Store

TITLE = 80
"""Characters of the first question that become the title."""
FIRST = 1
"""The revision of a conversation that was just made."""
PLACES = "places"
"""The note in a stored message that says before which of its parts each thought stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMatch:
    """The stored branch that a history continues."""

    conversation: str
    new: bool
    """Whether the conversation has yet to be created."""
    known: int
    """How many of the messages are stored."""
    node: str | None
    """The node of the last stored message."""
    digests: tuple[bytes, ...]
    """The digest of each prefix of the history."""


async def find_branch(
    store: Store, owner: str, messages: Sequence[Message], digests: tuple[bytes, ...]
) -> BranchMatch:
    """Find the branch that a history continues; for a new one, derive the id from its beginning."""
    least = first_turn(messages)
    node = await store.tree.find_prefix(digests[least - 1 :], owner=owner)
    if node is not None:
        (details,) = await store.tree.details([node.id])
        return BranchMatch(
            conversation=details.conversation, new=False, known=node.depth, node=node.id, digests=digests
        )
    made = make_id(b"conversation", owner.encode("utf-8", "surrogatepass"), digests[least - 1])
    if await store.conversations.list(archived=None, deleted=True, ids=[made]):
        # The conversation is in the bin, where nobody finds it. The same words begin a new one.
        made = new_id()
    return BranchMatch(conversation=made, new=True, known=0, node=None, digests=digests)


def new_entries(
    messages: Sequence[Message], branch: BranchMatch, format: Format, unit: str, sizes: Sequence[int]
) -> list[Entry]:
    """Make the entries for the messages of a history that are not stored yet; `sizes` are those of all messages.

    The id of a message is made from its place and its content: two callers that say the same at the same place store it
    once, even at the same time.
    """
    now, new = datetime.now(UTC).isoformat(), slice(branch.known, None)
    return [
        Entry(
            message=stored_form(message, format),
            id=make_id(b"message", branch.conversation.encode(), digest),
            counts={unit: size},
            created=now,
        )
        for message, digest, size in zip(messages[new], branch.digests[new], sizes[new], strict=True)
    ]


async def store_entries(
    store: Store,
    branch: BranchMatch,
    entries: Sequence[Entry],
    *,
    title: str,
    owner: str,
    values: Mapping[str, Json],
) -> Added:
    """Store messages below a branch; `title`, `owner` and the settings `values` are for a new conversation."""
    if not branch.new:
        return await store.messages.add(branch.conversation, entries, parent=branch.node)
    nodes = await store.messages.record(branch.conversation, entries, title=title, owner=owner, values=values)
    return Added(nodes=nodes, revision=FIRST)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHistory:
    """A history, now that all of it is stored."""

    conversation: str
    tip: str
    revision: int | None
    """The revision at which its newest messages were stored; None if there was nothing to store."""


async def store_history(
    engine: Engine, owner: str, messages: Sequence[Message], format: Format, model: str, prompt: str
) -> StoredHistory:
    """Find a history in the store, and store what is new in it; the counts of new messages are those of the model."""
    digests = digests_of(messages)
    branch = await find_branch(engine.store, owner, messages, digests)
    try:
        return await _store_new(engine, owner, messages, branch, format, model, prompt)
    except (UsageError, StoreError):
        # The branch was deleted, or another process stored the same messages just now.
        branch = await find_branch(engine.store, owner, messages, digests)
        return await _store_new(engine, owner, messages, branch, format, model, prompt, named=False)


async def _store_new(
    engine: Engine,
    owner: str,
    messages: Sequence[Message],
    branch: BranchMatch,
    format: Format,
    model: str,
    prompt: str,
    *,
    named: bool = True,
) -> StoredHistory:
    if branch.node is not None and branch.known == len(messages):
        return StoredHistory(conversation=branch.conversation, tip=branch.node, revision=None)
    meter = await engine.models.meter(model)
    sizes = [0] * branch.known
    sizes += [meter.count_message(without_reasoning(message)) for message in messages[branch.known :]]
    entries = new_entries(messages, branch, format, meter.unit.name, sizes)
    if not named:
        entries = [replace(entry, id=None) for entry in entries]
    values: dict[str, Json] = {"model": model, "system": prompt} if prompt.strip() else {"model": model}
    added = await store_entries(
        engine.store, branch, entries, title=title_of(messages), owner=owner, values=values
    )
    if not branch.new:
        engine.states.grow(branch.conversation, added, meter)
    revision = None if branch.new else added.revision
    return StoredHistory(conversation=branch.conversation, tip=added.nodes[-1].id, revision=revision)


def title_of(messages: Sequence[Message]) -> str:
    """Give the beginning of the first question."""
    said = next((message.text for message in messages if opens_turn(message)), "")
    return " ".join(said.split())[:TITLE]


def make_id(*pieces: bytes) -> str:
    """Derive an id from content, so that the same content gets the same id everywhere."""
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "big") + piece)
    return digest.hexdigest()


def digests_of(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Compute the digest of every prefix of a list of messages."""
    found: list[bytes] = []
    value = b""
    for message in messages:
        value = chain(value, canonical(message))
        found.append(value)
    return tuple(found)


def first_turn(messages: Sequence[Message]) -> int:
    """Count the messages up to the first question: histories that share fewer belong to different conversations."""
    return next((i + 1 for i, message in enumerate(messages) if opens_turn(message)), 1)


# The forms of a message


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


def with_thoughts(message: Message) -> Message:
    """Put the reasoning of a stored message back where it stood."""
    noted = notes(message.wire, RESPONSES)
    thoughts, places = noted.get(THOUGHTS), noted.get(PLACES)
    if not isinstance(thoughts, list) or not isinstance(places, list):
        return message
    try:
        found = [
            part for one in read("responses", thoughts) for part in one.parts if isinstance(part, Reasoning)
        ]
    except BadInput:
        return message
    parts: list[Part] = [*message.parts]
    for thought, place in reversed(list(zip(found, places, strict=False))):
        parts.insert(place if isinstance(place, int) else 0, thought)
    return replace(message, parts=tuple(parts))


def in_callers_words(
    ready: PreparedRequest, front: Sequence[Message], messages: Sequence[Message]
) -> Context:
    """Replace retained messages by the caller's own wording of them, and the system prompt by its `front`.

    What is sent whole is the very object of `messages`.
    """
    context, recipe = ready.context, ready.state.recipe
    nodes = {node.id: node for node in (*recipe.carried, *recipe.branch)}

    def own(id: str, message: Message) -> Message:
        node = nodes[id]
        said, passages = messages[node.depth - 1], recipe.recalled.get(id, ())
        whole = message in (node.message, with_passages(node.message, passages))
        if chain(b"", canonical(said)) != chain(b"", node.message):
            return without_markers(message)
        if not whole:  # a message that was shortened stays short, and its thinking stays whole
            return without_markers(replace(message, parts=(*_thoughts(said), *message.parts)))
        return with_passages(said, passages) if message != node.message else said

    stored = context.system[len(recipe.system) :] + context.retained
    sent = [own(*pair) for pair in zip(context.sent, stored, strict=True)]
    leading = len(context.system) - len(recipe.system)
    return replace(context, system=(*front, *sent[:leading]), retained=tuple(sent[leading:]))


def _thoughts(message: Message) -> tuple[Part, ...]:
    return tuple(part for part in message.parts if isinstance(part, Reasoning))
