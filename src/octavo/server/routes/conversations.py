"""Conversations: list, create, rename, archive, copy and delete them, and choose the branch that is shown."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.http.caller import TheCaller
from octavo.server.app_state import AppState, TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.settings import check_settings
from octavo.server.schemas.conversations import (
    ConversationIn,
    ConversationList,
    ConversationOut,
    ConversationPatch,
    CopyIn,
)
from octavo.server.show import show_conversation, show_conversations
from octavo.store.labels import LONGEST
from octavo.store.values import Conversation, Everywhere, ForConversation

routes = router("conversations", "/conversations")

MONTH = 30 * 24 * 3_600
"""The longest that a deleted conversation stays in the bin, in seconds."""


@routes.get("", response_model=ConversationList)
async def list_conversations(
    app_state: TheAppState,
    caller: TheCaller,
    *,
    title: Annotated[str, Query(max_length=500, description="A part of the title.")] = "",
    label: Annotated[str, Query(max_length=LONGEST, description="One of the labels.")] = "",
    archived: bool | None = False,
    deleted: Annotated[
        bool, Query(description="List the conversations in the bin, which can be restored.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Response:
    """List your conversations, the last changed first."""
    found = await app_state.engine.store.conversations.list(
        owner=caller.owner,
        archived=None if deleted else archived,
        deleted=deleted,
        title=title,
        label=label,
        limit=limit + 1,
        offset=offset,
    )
    shown = await show_conversations(app_state.engine.store, found[:limit])
    return reply(ConversationList(conversations=shown, more=len(found) > limit))


@routes.post("", response_model=ConversationOut, status_code=201)
async def create_conversation(body: ConversationIn, app_state: TheAppState, caller: TheCaller) -> Response:
    """Create a conversation."""
    given = body.settings.model_dump(exclude_unset=True)
    await check_settings(app_state, Everywhere(), given)
    made = await app_state.engine.store.conversations.create(
        body.title, owner=caller.owner, provisional=body.provisional
    )
    await app_state.engine.settings.change(ForConversation(made.id), given)
    return reply(show_conversation(made), 201, {"location": f"/api/v1/conversations/{made.id}"})


@routes.get("/{conversation}", response_model=ConversationOut)
async def read_conversation(chat: TheChat, app_state: TheAppState) -> Response:
    """Read a conversation's title, labels, tip and dates."""
    return reply(await _shown(app_state, await chat.info()))


async def _shown(app_state: AppState, conversation: Conversation) -> ConversationOut:
    return (await show_conversations(app_state.engine.store, [conversation]))[0]


@routes.patch("/{conversation}", response_model=ConversationOut)
async def change_conversation(body: ConversationPatch, chat: TheChat, app_state: TheAppState) -> Response:
    """Rename, label or archive a conversation, or show another branch."""
    if body.tip is not None:
        await chat.checkout(body.tip)
    if body.title is not None:
        await chat.rename(body.title)
    if body.archived is not None:
        await app_state.engine.store.conversations.archive(chat.id, archived=body.archived)
    if body.labels is not None:
        await app_state.engine.store.labels.put(chat.id, body.labels)
    return reply(await _shown(app_state, await chat.info()))


@routes.delete("/{conversation}", status_code=204)
async def delete_conversation(
    chat: TheChat,
    app_state: TheAppState,
    *,
    undo: Annotated[
        int,
        Query(
            ge=0,
            le=MONTH,
            description="Seconds in the bin, from which the conversation can be restored. Then it is deleted for good.",
        ),
    ] = 0,
) -> Response:
    """Delete a conversation with everything in it, at once or after some time in the bin."""
    await app_state.forget(chat.id)
    await app_state.engine.store.bin.delete(chat.id, undo=undo)
    return Response(status_code=204)


@routes.post("/{conversation}/undelete", response_model=ConversationOut)
async def undelete_conversation(chat: TheChat, app_state: TheAppState) -> Response:
    """Restore a conversation from the bin."""
    return reply(await _shown(app_state, await app_state.engine.store.bin.restore(chat.id)))


@routes.post("/{conversation}/copies", response_model=ConversationOut, status_code=201)
async def copy_conversation(body: CopyIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Copy a conversation, or one branch of it, with its snapshots, pins and settings."""
    await chat.require(body.message)
    store = app_state.engine.store
    if body.message:
        made = await store.conversations.fork(body.message, title=body.title)
    else:
        made = await store.conversations.copy(chat.id, title=body.title)
    return reply(await _shown(app_state, made), 201, {"location": f"/api/v1/conversations/{made.id}"})
