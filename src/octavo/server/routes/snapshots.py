"""Snapshots: read, edit, compare, undo and redo them, and read the messages that they cover."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from octavo.core.snapshot import Snapshot
from octavo.engine.chat import Chat
from octavo.errors import NotFound
from octavo.server.app_state import TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.messages import show_all
from octavo.server.routes.turns import STREAMED, begin
from octavo.server.schemas.base import Id
from octavo.server.schemas.messages import MessagePage
from octavo.server.schemas.snapshots import (
    DiffOut,
    DropIn,
    ReceiptOut,
    RestoreIn,
    SnapshotFull,
    SnapshotList,
    SnapshotMoved,
    SummaryIn,
    SummarySizeOut,
)
from octavo.server.schemas.tasks import RegenerateIn
from octavo.server.show import show_receipt, show_snapshot, show_snapshot_full
from octavo.store.ids import new_id

routes = router("snapshots", "/conversations/{conversation}")

SnapshotId = Annotated[Id, Path(description="A snapshot.")]


@routes.get("/snapshots", response_model=SnapshotList)
async def list_snapshots(
    chat: TheChat,
    *,
    everywhere: Annotated[
        bool, Query(description="List the snapshots of all branches, not only of the branch that is shown.")
    ] = False,
) -> Response:
    """List snapshots, by cutoff and version."""
    found = await chat.snapshots.overview()
    return reply(
        SnapshotList(
            snapshots=[show_snapshot(one) for one in (found.everywhere if everywhere else found.here)],
            serving=found.serving.id if found.serving else None,
            left_behind=show_snapshot(found.left_behind) if found.left_behind else None,
        )
    )


@routes.get("/snapshots/{snapshot}", response_model=SnapshotFull)
async def read_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Read a snapshot with its summary and its extracts."""
    return reply(show_snapshot_full(await chat.snapshots.get(snapshot)))


@routes.put("/snapshots/{snapshot}/summary", response_model=SnapshotFull, status_code=201)
async def edit_summary(snapshot: SnapshotId, body: SummaryIn, chat: TheChat) -> Response:
    """Make a new version with another summary. It is used from now on."""
    return reply(show_snapshot_full(await chat.snapshots.edit(snapshot, body.summary)), 201)


@routes.post("/snapshots/{snapshot}/summary/size", response_model=SummarySizeOut)
async def measure_summary(snapshot: SnapshotId, body: SummaryIn, chat: TheChat) -> Response:
    """Count the tokens that the snapshot would have with another summary, and the room for it."""
    size = await chat.snapshots.size(snapshot, body.summary)
    return reply(SummarySizeOut(tokens=size.tokens, room=size.room))


@routes.post("/snapshots/{snapshot}/regenerate", response_model=None, responses=STREAMED)
async def regenerate_summary(
    snapshot: SnapshotId, body: RegenerateIn, chat: TheChat, app_state: TheAppState
) -> Response:
    """Make a new version from the original messages, with another focus."""
    await chat.snapshots.get_here(snapshot)
    id = new_id()
    events = chat.snapshots.regenerating(snapshot, focus=body.focus, job=id)
    return begin(app_state, "compression", chat, id, events, stream=body.stream)


@routes.get("/snapshots/{snapshot}/diff", response_model=DiffOut)
async def diff_snapshots(
    snapshot: SnapshotId, chat: TheChat, *, other: Annotated[Id, Query(description="The later snapshot.")]
) -> Response:
    """Compare the summaries of two snapshots, line by line."""
    return reply(DiffOut(diff=await chat.snapshots.diff(snapshot, other)))


@routes.get("/snapshots/{snapshot}/receipt", response_model=ReceiptOut)
async def read_receipt(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Read the receipt: what a compression cost, kept and lost. An edited snapshot has none."""
    receipt = await chat.snapshots.receipt(snapshot)
    if receipt is None:
        raise NotFound(f"snapshot {snapshot} has no receipt: it was edited by hand")
    return reply(show_receipt(receipt, await chat.snapshots.saved_so_far(snapshot)))


@routes.post("/snapshots/{snapshot}/restore", response_model=SnapshotFull, status_code=201)
async def restore_item(snapshot: SnapshotId, body: RestoreIn, chat: TheChat) -> Response:
    """Restore an item that the receipt lists as lost: make a new version with its line among the extracts."""
    return reply(show_snapshot_full(await chat.snapshots.restore(snapshot, body.item)), 201)


@routes.post("/snapshots/{snapshot}/drop", response_model=SnapshotFull, status_code=201)
async def drop_line(snapshot: SnapshotId, body: DropIn, chat: TheChat) -> Response:
    """Drop a line of the extracts: make a new version without it. Later compressions do not find it again."""
    return reply(show_snapshot_full(await chat.snapshots.drop(snapshot, body.message, body.text)), 201)


@routes.get("/snapshots/{snapshot}/originals", response_model=MessagePage)
async def list_originals(
    snapshot: SnapshotId,
    chat: TheChat,
    app_state: TheAppState,
    *,
    before: Annotated[Id | None, Query(description="Only messages before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Response:
    """Page through the original messages that a snapshot covers, the newest first."""
    found = await chat.snapshots.get(snapshot)
    await chat.require(before)
    store = app_state.engine.store
    first, at = await store.tree.node(found.first), found.cutoff
    if before:
        parent = (await store.tree.node(before)).parent
        if parent is None or before == first.id:
            return reply(MessagePage(messages=[], before=None))
        at = parent
    page = [node for node in await store.tree.page(at, limit=limit) if node.depth >= first.depth]
    older = page[0].id if page and page[0].depth > first.depth else None
    return reply(MessagePage(messages=await show_all(app_state, page), before=older))


@routes.post("/snapshots/{snapshot}/undo", response_model=SnapshotMoved)
async def undo_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Undo a snapshot. The version before it is used, or the originals are sent."""
    return await _moved(chat, await chat.undo(snapshot))


@routes.post("/snapshots/{snapshot}/use", response_model=SnapshotMoved)
async def use_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Use this version on this branch, even if it was undone. Later versions are undone."""
    return await _moved(chat, await chat.snapshots.use(snapshot))


@routes.post("/undo", response_model=SnapshotMoved)
async def undo(chat: TheChat) -> Response:
    """Undo the snapshot in use."""
    return await _moved(chat, await chat.undo())


@routes.post("/redo", response_model=SnapshotMoved)
async def redo(chat: TheChat) -> Response:
    """Redo the snapshot that was undone last."""
    return await _moved(chat, await chat.redo())


async def _moved(chat: Chat, moved: Snapshot) -> Response:
    serving = await chat.snapshots.serving()
    shown = SnapshotMoved(**dict(show_snapshot(moved)), in_use=show_snapshot(serving) if serving else None)
    return reply(shown)
