"""Messages: read pages, siblings and the tree; add and delete messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import Response

from octavo.core.messages import Node
from octavo.engine.answer_notes import NOTHING, read_answer_notes
from octavo.engine.chat import Chat
from octavo.errors import NotFound, UsageError
from octavo.server.app_state import AppState, TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Id
from octavo.server.schemas.messages import (
    FileList,
    FileOut,
    MessageIn,
    MessageList,
    MessageOut,
    MessagePage,
    TreeNode,
    TreeOut,
)
from octavo.server.show import SHOWN, content_of, read_message, show_message, show_tree_node

routes = router("messages", "/conversations/{conversation}")

TITLE = 60
"""Characters of the first question that become the title."""
CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The content of the part.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("text/plain", "application/octet-stream", *SHOWN)
        },
    }
}

MessageId = Annotated[Id, Path(description="A message.")]
Limit = Annotated[int, Query(ge=1, le=1_000)]


async def show_all(app_state: AppState, nodes: Sequence[Node], *, whole: bool = False) -> list[MessageOut]:
    """Show nodes with their stored details."""
    if not nodes:
        return []
    store = app_state.engine.store
    known = {d.id: d for d in await store.tree.details([node.id for node in nodes])}
    recalled = await store.passages.of(node.id for node in nodes if node.message.role == "user")
    notes = await read_answer_notes(store, (node.id for node in nodes if node.message.role == "assistant"))
    return [
        show_message(
            node, known[node.id], recalled.get(node.id, ()), notes.get(node.id, NOTHING), whole=whole
        )
        for node in nodes
        if node.id in known
    ]


@routes.get("/messages", response_model=MessagePage)
async def list_messages(
    chat: TheChat,
    app_state: TheAppState,
    *,
    tip: Annotated[
        Id | None, Query(description="The branch of this message; without it, the branch that is shown.")
    ] = None,
    before: Annotated[Id | None, Query(description="Only messages before this one.")] = None,
    limit: Limit = 100,
) -> Response:
    """Read a page of a branch, from its newest message upward. Long texts and pictures are shortened."""
    await chat.require(tip, before)
    at = tip or (await chat.info()).tip
    if before:
        at = (await app_state.engine.store.tree.node(before)).parent
    page = await app_state.engine.store.tree.page(at, limit=limit) if at else ()
    older = page[0].id if page and page[0].parent else None
    return reply(MessagePage(messages=await show_all(app_state, page), before=older))


@routes.post("/messages", response_model=MessageOut, status_code=201)
async def add_message(body: MessageIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Store a message without having it answered."""
    node = await store_message(chat, body)
    (shown,) = await show_all(app_state, [node])
    return reply(shown, 201)


async def store_message(chat: Chat, body: MessageIn) -> Node:
    """Store the message of a client: below the tip, below a parent, or beside the message that it edits."""
    await chat.require(body.parent, body.edits)
    message = read_message(body.content, body.role)
    if body.edits:
        if body.id or body.parent:
            raise UsageError("an edit goes beside what it edits: leave 'parent' and 'id' out")
        return await chat.edit(body.edits, message)
    node = await chat.add(message, parent=body.parent, id=body.id)
    if node.parent is None:
        await _give_title(chat, node)
    return node


async def _give_title(chat: Chat, node: Node) -> None:
    """Name a conversation without a title after its first question."""
    words = " ".join(node.message.text.split())
    if node.message.role == "user" and words and not (await chat.info()).title:
        await chat.rename(words if len(words) <= TITLE else words[: TITLE - 1].rstrip() + "…")


@routes.get("/messages/{message}", response_model=MessageOut)
async def read_one_message(message: MessageId, chat: TheChat, app_state: TheAppState) -> Response:
    """Read a whole message."""
    await chat.require(message)
    (shown,) = await show_all(app_state, [await app_state.engine.store.tree.node(message)], whole=True)
    return reply(shown)


@routes.get("/messages/{message}/parts/{part}", response_model=None, responses=CONTENT)
async def read_part(
    message: MessageId, part: Annotated[int, Path(ge=0, le=100_000)], chat: TheChat, app_state: TheAppState
) -> Response:
    """Read the content of one part, with its own media type. Parts are counted from 0."""
    await chat.require(message)
    parts = (await app_state.engine.store.tree.node(message)).message.parts
    found = content_of(parts[part]) if part < len(parts) else None
    if found is None:
        raise NotFound(f"message {message} has no part {part} with a content of its own")
    content, kind = found
    headers = {"content-disposition": "inline" if kind in SHOWN else "attachment"}
    return Response(content, media_type=kind, headers={**headers, "cache-control": "private, max-age=86400"})


@routes.delete("/messages/{message}", status_code=204)
async def delete_message(
    message: MessageId,
    chat: TheChat,
    app_state: TheAppState,
    *,
    subtree: Annotated[bool, Query(description="Delete everything below it too.")] = False,
) -> Response:
    """Delete a message for good, and retire the snapshots that were made from it."""
    await chat.require(message)
    await chat.delete_message(message, subtree=subtree)
    app_state.gateway.cache.forget(chat.id)
    return Response(status_code=204)


@routes.get("/messages/{message}/siblings", response_model=MessageList)
async def list_siblings(
    message: MessageId,
    chat: TheChat,
    app_state: TheAppState,
    *,
    after: Annotated[Id | None, Query(description="Only messages after this one.")] = None,
    before: Annotated[Id | None, Query(description="Only the last messages before this one.")] = None,
    limit: Limit = 100,
) -> Response:
    """List all versions of a message, itself included, in the order of their creation."""
    await chat.require(message, after, before)
    found = await app_state.engine.store.tree.siblings(message, after=after, before=before, limit=limit + 1)
    page = found[-limit:] if before and not after else found[:limit]
    return reply(MessageList(messages=await show_all(app_state, page), more=len(found) > limit))


@routes.get("/tree", response_model=TreeOut)
async def read_tree(
    chat: TheChat, app_state: TheAppState, *, limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000
) -> Response:
    """Read the whole conversation as a tree."""
    nodes: list[TreeNode] = []
    async for node in app_state.engine.store.tree.whole(chat.id):
        if len(nodes) == limit:
            return reply(TreeOut(nodes=nodes, complete=False))
        nodes.append(show_tree_node(node))
    return reply(TreeOut(nodes=nodes, complete=True))


@routes.get("/branches", response_model=MessageList)
async def list_branches(
    chat: TheChat,
    app_state: TheAppState,
    *,
    after: Annotated[Id | None, Query(description="Only messages after this one.")] = None,
    limit: Limit = 100,
) -> Response:
    """List the tips of all branches, in the order of their creation."""
    await chat.require(after)
    found = await app_state.engine.store.tree.tips(chat.id, after=after, limit=limit + 1)
    return reply(MessageList(messages=await show_all(app_state, found[:limit]), more=len(found) > limit))


@routes.get("/files", response_model=FileList)
async def list_files(chat: TheChat, app_state: TheAppState) -> Response:
    """List the files in a conversation."""
    found = await app_state.engine.store.tree.files(chat.id)
    files = [
        FileOut(
            message=file.node,
            depth=file.depth,
            name=file.attachment.name,
            media_type=file.attachment.media_type,
            size=file.attachment.size,
        )
        for file in found
    ]
    return reply(FileList(files=files))
