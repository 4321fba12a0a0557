"""Snapshots: what stands for the older messages, read, edited, compared, undone, expanded to the originals."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from octavo.core.snapshot import Snapshot
from octavo.engine.chat import Chat
from octavo.errors import NotFound
from octavo.server import schemas as s
from octavo.server.app_state import TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.messages import show_all
from octavo.server.routes.turns import STREAMED, begin
from octavo.server.show import show_receipt, show_snapshot, show_snapshot_full
from octavo.store.ids import new_id

routes = router("snapshots", "/conversations/{conversation}")

SnapshotId = Annotated[s.Id, Path(description="A snapshot.")]


@routes.get("/snapshots", response_model=s.SnapshotList)
async def list_snapshots(
    chat: TheChat,
    app_state: TheAppState,
    *,
    everywhere: Annotated[bool, Query(description="Of all branches, not only of the one shown.")] = False,
) -> Response:
    """List snapshots, by cutoff and version."""
    found = (
        await app_state.engine.store.snapshots.of_conversation(chat.id)
        if everywhere
        else await chat.snapshots.list()
    )
    serving = await chat.snapshots.serving()
    left = await chat.snapshots.left_behind()
    return reply(
        s.SnapshotList(
            snapshots=[show_snapshot(one) for one in found],
            serving=serving.id if serving else None,
            left_behind=show_snapshot(left) if left else None,
        )
    )


@routes.get("/snapshots/{snapshot}", response_model=s.SnapshotFull)
async def read_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Read a snapshot with its summary and its extracts."""
    return reply(show_snapshot_full(await chat.snapshots.get(snapshot)))


@routes.put("/snapshots/{snapshot}/summary", response_model=s.SnapshotFull, status_code=201)
async def edit_summary(snapshot: SnapshotId, body: s.SummaryIn, chat: TheChat) -> Response:
    """Make a new version with another summary; it serves from now on."""
    return reply(show_snapshot_full(await chat.snapshots.edit(snapshot, body.summary)), 201)


@routes.post("/snapshots/{snapshot}/summary/size", response_model=s.SummarySizeOut)
async def measure_summary(snapshot: SnapshotId, body: s.SummaryIn, chat: TheChat) -> Response:
    """Count what the snapshot would cost with another summary, and how much there is room for."""
    size = await chat.snapshots.size(snapshot, body.summary)
    return reply(s.SummarySizeOut(tokens=size.tokens, room=size.room))


@routes.post("/snapshots/{snapshot}/regenerate", response_model=None, responses=STREAMED)
async def regenerate_summary(
    snapshot: SnapshotId, body: s.RegenerateIn, chat: TheChat, app_state: TheAppState
) -> Response:
    """Make a new version from the originals, with another focus."""
    await chat.snapshots.get_here(snapshot)
    id = new_id()
    events = chat.snapshots.regenerating(snapshot, focus=body.focus, job=id)
    return begin(app_state, "compression", chat, id, events, stream=body.stream)


@routes.get("/snapshots/{snapshot}/diff", response_model=s.DiffOut)
async def diff_snapshots(
    snapshot: SnapshotId, chat: TheChat, *, other: Annotated[s.Id, Query(description="The later one.")]
) -> Response:
    """Compare the summaries of two snapshots, line by line."""
    return reply(s.DiffOut(diff=await chat.snapshots.diff(snapshot, other)))


@routes.get("/snapshots/{snapshot}/receipt", response_model=s.ReceiptOut)
async def read_receipt(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Read what a compression cost, kept and lost; an edited snapshot has none."""
    receipt = await chat.snapshots.receipt(snapshot)
    if receipt is None:
        raise NotFound(f"snapshot {snapshot} has no receipt: it was edited by hand")
    return reply(show_receipt(receipt))


@routes.post("/snapshots/{snapshot}/restore", response_model=s.SnapshotFull, status_code=201)
async def restore_item(snapshot: SnapshotId, body: s.RestoreIn, chat: TheChat) -> Response:
    """Add something back that the receipt lists as lost: a new version with its line among the extracts."""
    return reply(show_snapshot_full(await chat.snapshots.restore(snapshot, body.item)), 201)


@routes.get("/snapshots/{snapshot}/originals", response_model=s.MessagePage)
async def list_originals(
    snapshot: SnapshotId,
    chat: TheChat,
    app_state: TheAppState,
    *,
    before: Annotated[s.Id | None, Query(description="Older messages than this one only.")] = None,
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
            return reply(s.MessagePage(messages=[], before=None))
        at = parent
    page = [node for node in await store.tree.page(at, limit=limit) if node.depth >= first.depth]
    older = page[0].id if page and page[0].depth > first.depth else None
    return reply(s.MessagePage(messages=await show_all(app_state, page), before=older))


@routes.post("/snapshots/{snapshot}/undo", response_model=s.SnapshotMoved)
async def undo_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Take a snapshot out of use; the version before it, or the originals, are sent."""
    return await _moved(chat, await chat.undo(snapshot))


@routes.post("/snapshots/{snapshot}/use", response_model=s.SnapshotMoved)
async def use_snapshot(snapshot: SnapshotId, chat: TheChat) -> Response:
    """Choose the version that is in use on this branch, an undone one too; what stood above it is undone."""
    return await _moved(chat, await chat.snapshots.use(snapshot))


@routes.post("/undo", response_model=s.SnapshotMoved)
async def undo(chat: TheChat) -> Response:
    """Undo the compression in use."""
    return await _moved(chat, await chat.undo())


@routes.post("/redo", response_model=s.SnapshotMoved)
async def redo(chat: TheChat) -> Response:
    """Bring back the compression that was undone last."""
    return await _moved(chat, await chat.redo())


async def _moved(chat: Chat, moved: Snapshot) -> Response:
    serving = await chat.snapshots.serving()
    shown = s.SnapshotMoved(**dict(show_snapshot(moved)), in_use=show_snapshot(serving) if serving else None)
    return reply(shown)
