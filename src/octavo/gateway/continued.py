"""Finds the stored messages that a request names: by the id of an answer or of an item, or by a compaction of ours.

Such a request brings the new items only. Everything before them is read from the tree, so the request is measured, and
if need be compressed, as if the client had sent its whole history. While it fits it goes on as it came.

Ids of answers and items are notes in the store: another replica finds them, and so does this one after a restart. An
answer that its provider does not store cannot be named, and is not noted. The notes go with their conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.wire import write
from octavo.core.wire.stream import text_at
from octavo.engine.history import with_thoughts
from octavo.errors import NotFound
from octavo.gateway.dialects.dialect import ClientRequest, Continued, read_items
from octavo.gateway.dialects.responses import OWN, is_own, items_of, kind_of, split
from octavo.gateway.gateway import Gateway

NOTE = "response:"
"""How the key of a note begins that tells where an answer is stored."""
ITEM = "item:"
"""The same for an item of an answer."""
REFERENCE = "item_reference"
NO_ITEMS: Mapping[str, str] = MappingProxyType({})


async def continue_branch(gateway: Gateway, owner: str, request: ClientRequest) -> ClientRequest:
    """Complete a request by the stored messages that it names; raise `NotFound` if they are another owner's."""
    if not request.tracked:
        return request
    items = await _spelled_out(gateway, owner, items_of(request.body))
    if items is not None:
        body: JsonObject = {**request.body, "input": items}
        parts = split(body, read_items(items, body.get("instructions")))
        request = replace(request, system=parts.system, messages=parts.messages, expanded=True)
    items = items or items_of(request.body)
    at = next((i for i in reversed(range(len(items))) if is_own(items[i])), None)
    if at is not None:
        node = text_at(_object(items[at]), "encrypted_content").removeprefix(OWN)
        found = await _find(gateway, owner, node)
        if found is None:
            raise NotFound(
                "the compaction in the input was made by another server, or its messages were deleted"
            )
        return await _completed(gateway, request, found, items[at + 1 :], whole=True)
    previous = request.body.get("previous_response_id")
    if not isinstance(previous, str) or not previous:
        return request
    known = await response_note(gateway, owner, previous)
    found = await _find(gateway, owner, text_at(known, "node")) if known else None
    if found is None:
        # The answer was made before Octavo, or its messages were deleted here. Only the provider knows what it follows.
        return replace(request, tracked=False)
    return await _completed(gateway, request, found, items, whole=known.get("ours") is True)


async def _spelled_out(gateway: Gateway, owner: str, items: list[Json]) -> list[Json] | None:
    """Put items in the place of references to them, as far as they are stored here; None if there are no references."""
    wanted = [text_at(_object(item), "id") for item in items if kind_of(item) == REFERENCE]
    if not wanted:
        return None
    noted = await gateway.engine.store.notes.named(*(ITEM + id for id in wanted))
    nodes: dict[str, None] = {}
    for id in wanted:
        known = _object(noted[ITEM + id])
        if known and known.get("owner") != owner:
            raise NotFound(f"Item with id {id[:200]!r} not found.")
        if known:
            nodes[text_at(known, "node")] = None
    found: dict[str, Json] = {}
    for node in nodes:
        if await _find(gateway, owner, node) is not None:
            message = with_thoughts((await gateway.engine.store.tree.node(node)).message)
            found |= {text_at(item, "id"): item for item in write("responses", [message]).messages}
    return [
        found.get(text_at(_object(item), "id"), item) if kind_of(item) == REFERENCE else item
        for item in items
    ]


async def _completed(
    gateway: Gateway, request: ClientRequest, found: Continued, items: list[Json], *, whole: bool
) -> ClientRequest:
    branch = await gateway.engine.store.tree.branch(found.node)
    before = tuple(with_thoughts(node.message) for node in branch)
    # The provider still has what was deleted here.
    whole = whole or any(node.status == "deleted" for node in branch)
    instructions = request.body.get("instructions")
    said = read_items(items, instructions)
    front = 1 if instructions is not None else 0
    return replace(
        request,
        system=said[:front],
        messages=(*before, *said[front:]),
        continued=found,
        expanded=True,
        whole=whole,
    )


async def _find(gateway: Gateway, owner: str, node: str) -> Continued | None:
    """Find a stored message of an owner; None if there is none any more."""
    store = gateway.engine.store
    try:
        (details,) = await store.tree.details([node])
        conversation = await store.conversations.get(details.conversation)
        depth = (await store.tree.node(node)).depth
    except (NotFound, ValueError):
        return None
    if conversation.owner != owner:
        raise NotFound("there is no such response")
    return None if conversation.deleted else Continued(conversation=conversation.id, node=node, depth=depth)


async def response_note(gateway: Gateway, owner: str, id: str) -> JsonObject:
    """Give what is known of an answer; nothing if it was not made here. Raise `NotFound` if it is another owner's."""
    known = _object(await gateway.engine.store.notes.get(NOTE + id))
    if known and known.get("owner") != owner:
        raise NotFound(f"Response with id {id[:200]!r} not found.")
    return known


async def remember_response(
    gateway: Gateway,
    owner: str,
    id: str,
    *,
    conversation: str,
    model: str,
    node: str,
    items: Mapping[str, str] = NO_ITEMS,
    ours: bool = False,
) -> None:
    """Note where an answer and its items are stored, before the client has seen all of it.

    `items` gives the node of each item, by the item's id. `ours`: no provider has the answer.
    """
    about: JsonObject = {"owner": owner, "model": model, "node": node}
    values: dict[str, Json] = {NOTE + id: about | {"ours": True} if ours else about}
    values |= {ITEM + item: {"owner": owner, "node": where} for item, where in items.items()}
    known = await gateway.engine.store.notes.named(*values)
    # An id that is another owner's already stays so.
    mine = {key for key, value in known.items() if value is None or _object(value).get("owner") == owner}
    await gateway.engine.store.notes.put_all(
        {key: values[key] for key in values if key in mine}, conversation=conversation
    )


def item_ids(message: Message) -> list[str]:
    """List the ids of the items of a message."""
    return [id for item in write("responses", [message]).messages if (id := text_at(item, "id"))]


async def forget_response(gateway: Gateway, id: str) -> None:
    await gateway.engine.store.notes.remove(NOTE + id)


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
