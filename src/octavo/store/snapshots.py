"""Snapshots: inserted once, never rewritten; versions for one cutoff, and a state that can change.

A snapshot is accepted only where it is true: its cutoff and its first node lie on the branch of its anchor, and the
messages it covers are still those it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from octavo.core.messages import digest
from octavo.core.snapshot import Snapshot, State
from octavo.errors import BadInput, NotFound, NotOnBranch, UsageError
from octavo.store import rows, walk
from octavo.store.connection import Connection
from octavo.store.conversations import ConversationStore
from octavo.store.ids import new_id
from octavo.store.locks import lock, touch
from octavo.store.schema import conversation, job, message, plain_id, snapshot
from octavo.store.section import Section, reads, writes
from octavo.store.tree import DEEPEST, TreeReader
from octavo.store.values import StoredContext, Unloaded

AUTOMATIC = ("auto", "soft", "hard")
"""What begins compressions that nobody asked for."""
_PLACES = (
    snapshot.c.id,
    snapshot.c.cutoff_depth,
    snapshot.c.version,
    snapshot.c.state,
    snapshot.c.changed,
)


class SnapshotStore(Section):
    """The snapshots of a store, and the contexts they serve."""

    @writes
    async def add(self, connection: Connection, conversation: str, new: Snapshot) -> Snapshot:
        """Insert a snapshot as the newest version for its cutoff."""
        owner = await lock(connection, conversation)
        if new.kind == "edited":
            await _stop_automatic(connection, owner.id)
        return await insert_snapshot(connection, owner.id, new)

    @writes
    async def edit(
        self, connection: Connection, id: str, summary: str, *, tokens_after: int | None = None
    ) -> Snapshot:
        """Add a version with another summary; the one it is made from stays as it is."""
        base = await _unretired(connection, id)
        tokens = base.tokens_after if tokens_after is None else tokens_after
        edited = replace(
            base, id=new_id(), summary=summary, tokens_after=tokens, kind="edited", created="", receipt=""
        )
        row = await _row(connection, id)
        await _stop_automatic(connection, row.conversation_id)
        return await insert_snapshot(connection, row.conversation_id, edited)

    @writes
    async def retell(self, connection: Connection, told: Snapshot) -> Snapshot | None:
        """Add a version that a model has retold; None if the one it was made from is no longer in use."""
        base = await _unretired(connection, told.id)
        if base.state != "active":
            return None
        owner = await lock(connection, (await _row(connection, told.id)).conversation_id)
        new = replace(told, id=new_id(), kind="regenerated", created="")
        return await insert_snapshot(connection, owner.id, new)

    @writes
    async def undo(self, connection: Connection, id: str) -> Snapshot:
        """Take a snapshot out of use; what is retired stays so."""
        found = await _unretired(connection, id)
        if found.state != "undone":
            of = (await _row(connection, id)).conversation_id
            await _set_state(connection, of, [id], "undone")
            await _stop_automatic(connection, of)
        return replace(found, state="undone")

    @writes
    async def use(self, connection: Connection, id: str, *, tip: str) -> Snapshot:
        """Put a snapshot into use on the branch of a tip: whatever would be chosen before it there is undone."""
        found = await _unretired(connection, id)
        here = await _of_branch(connection, tip, _PLACES)
        if not any(row.id == found.id for row in here):
            raise NotOnBranch(f"snapshot {id} belongs to another branch: switch to that branch first")
        of = (await _row(connection, id)).conversation_id
        above = [row.id for row in here if row.state == "active" and _rank(row) > _place(found)]
        if above:
            await _set_state(connection, of, above, "undone")
        if found.state != "active":
            await _set_state(connection, of, [found.id], "active")
        return replace(found, state="active")

    @reads
    async def undone_last(self, connection: Connection, tip: str) -> Snapshot | None:
        """Give the snapshot to bring back on a branch: of those that would be in use again, the one undone last."""
        here = await _of_branch(connection, tip, _PLACES)
        in_use = max((_rank(row) for row in here if row.state == "active"), default=(0, 0))
        undone = [row for row in here if row.state == "undone" and _rank(row) > in_use]
        # Several that were undone at once come back one after the other, the first of them first.
        last = max(undone, key=lambda row: (row.changed, -row.cutoff_depth, -row.version), default=None)
        return rows.snapshot(await _row(connection, last.id)) if last is not None else None

    @reads
    async def get(self, connection: Connection, id: str) -> Snapshot:
        return rows.snapshot(await _row(connection, id))

    @reads
    async def conversation_of(self, connection: Connection, id: str) -> str:
        return str((await _row(connection, id)).conversation_id)

    @reads
    async def of_conversation(self, connection: Connection, conversation: str) -> tuple[Snapshot, ...]:
        """List all snapshots, by cutoff and version."""
        await ConversationStore.within(connection).get(conversation)
        found = await connection.execute(
            sa.select(snapshot)
            .where(snapshot.c.conversation_id == conversation)
            .order_by(snapshot.c.cutoff_depth, snapshot.c.cutoff_id, snapshot.c.version)
        )
        return tuple(rows.snapshot(row) for row in found)

    @reads
    async def newer(
        self, connection: Connection, conversations: Sequence[str], after: str
    ) -> tuple[tuple[str, Snapshot], ...]:
        """Find what was made lately: ids sort by time, as far as the clocks of several processes agree."""
        found = await connection.execute(
            sa.select(snapshot)
            .where(snapshot.c.conversation_id.in_(list(conversations)), snapshot.c.id > after)
            .order_by(snapshot.c.id)
        )
        return tuple((str(row.conversation_id), rows.snapshot(row)) for row in found)

    @reads
    async def of_branch(self, connection: Connection, tip: str) -> tuple[Snapshot, ...]:
        """List the snapshots whose anchor lies on a branch, by cutoff and version."""
        return tuple(rows.snapshot(row) for row in await _of_branch(connection, tip))

    @reads
    async def context(
        self, connection: Connection, tip: str, *, tokenizer: str | None = None, most: int = DEEPEST
    ) -> StoredContext:
        """Give what the context of a tip is built from: the snapshot in use, and the messages after its cutoff.

        This is the query everything is built for: it costs what it returns, however long the conversation is. It
        returns the newest `most` of the messages.
        """
        bound = {"tip": tip, "tokenizer": tokenizer, "most": most}
        found = rows.gather(await connection.execute(walk.context(), bound), tokenizer)
        if not found.nodes and found.snapshot is None:
            raise NotFound(f"there is no message {tip}")
        leading, unloaded = found.leading, None
        if found.nodes and found.snapshot is None and found.nodes[0].depth > 1:
            leading = await TreeReader.within(connection).leading(tip, tokenizer=tokenizer)
        above = found.snapshot.cutoff_depth if found.snapshot else len(leading)
        if found.nodes and (first := found.nodes[0]).depth - 1 > above and first.parent:
            unloaded = Unloaded(above=above, stop=first.depth - 1, last=first.parent)
        carried = found.carried
        if found.snapshot and found.snapshot.answers:
            tree = TreeReader.within(connection)
            carried += await tree.nodes(found.snapshot.answers, tokenizer=tokenizer)
        return StoredContext(
            leading=leading,
            snapshot=found.snapshot,
            retained=found.nodes,
            carried=carried,
            unloaded=unloaded,
            originals_wanted=await _originals_wanted(connection, tip),
        )


async def insert_snapshot(connection: Connection, conversation_id: str, new: Snapshot) -> Snapshot:
    """Insert a snapshot into a conversation that is locked."""
    new = _plain(new)
    await _check_place(connection, conversation_id, new)
    await _check_content(connection, new)
    newest = await connection.scalar(
        sa.select(sa.func.max(snapshot.c.version)).where(snapshot.c.cutoff_id == new.cutoff)
    )
    stored = replace(
        new, version=(newest or 0) + 1, state="active", created=new.created or rows.time_text(rows.now())
    )
    await touch(connection, conversation_id)
    values = {**rows.snapshot_row(stored, conversation_id), "changed": _revision(conversation_id)}
    await connection.execute(sa.insert(snapshot).values(**values))
    return stored


def _revision(conversation_id: str) -> sa.ScalarSelect[int]:
    c = conversation.c
    return sa.select(c.revision).where(c.id == conversation_id).scalar_subquery()


def _plain(new: Snapshot) -> Snapshot:
    """Bring the ids a caller may have spelled in another way into their one form."""
    return replace(
        new,
        id=plain_id(new.id),
        first=plain_id(new.first),
        cutoff=plain_id(new.cutoff),
        anchor=plain_id(new.anchor),
        carried=plain_id(new.carried) if new.carried else None,
        answers=tuple(map(plain_id, new.answers)),
        previous=plain_id(new.previous) if new.previous else None,
    )


async def _check_place(connection: Connection, conversation_id: str, new: Snapshot) -> None:
    m = message
    named = {new.first, new.cutoff, new.anchor, *new.sent_along}
    before = sa.select(snapshot.c.anchor_id).where(snapshot.c.id == new.previous)
    if new.previous and (shown := await connection.scalar(before)):
        named.add(shown)  # what the previous one was shown is in this one, too
    found = await connection.execute(
        sa.select(m.c.id, m.c.depth, m.c.conversation_id).where(m.c.id.in_(sorted(named)))
    )
    depths: dict[str, int] = {}
    for row in found:
        if row.conversation_id != conversation_id:
            raise NotOnBranch(f"message {row.id} belongs to another conversation than {conversation_id}")
        depths[row.id] = row.depth
    if missing := named - depths.keys():
        raise NotFound(f"there is no message {min(missing)}")
    if (depths[new.cutoff], depths[new.anchor]) != (new.cutoff_depth, new.anchor_depth):
        raise BadInput("snapshot", "the depths it names are not those of its cutoff and anchor")
    span = new.cutoff_depth - depths[new.first] + 1
    if not 0 < new.messages <= span:
        raise BadInput(
            "snapshot.messages", f"{new.messages} messages are said to be covered where there are {span}"
        )
    if len(await TreeReader.within(connection).on_branch(new.anchor, named)) != len(named):
        raise NotOnBranch(
            "the first covered message, the cutoff and what the previous snapshot was shown must be on the branch of "
            "the anchor"
        )


async def _check_content(connection: Connection, new: Snapshot) -> None:
    stored = await connection.scalar(sa.select(message.c.digest).where(message.c.id == new.cutoff))
    if stored is None:
        covered = await TreeReader.within(connection).branch(new.cutoff)
        stored = digest(node.message for node in covered)
    if stored != new.digest:
        raise UsageError("the messages this snapshot covers have changed since it was made; compress again")


async def _set_state(connection: Connection, conversation_id: str, ids: Sequence[str], state: State) -> None:
    values = {"state": state, "changed": _revision(conversation_id)}
    await connection.execute(sa.update(snapshot).where(snapshot.c.id.in_(list(ids))).values(**values))


async def _stop_automatic(connection: Connection, conversation_id: str) -> None:
    """Stop the automatic compressions under way: they would bring back at once what a person undid or changed."""
    here = (job.c.conversation_id == conversation_id, job.c.status == "running")
    await connection.execute(
        sa.update(job).where(*here, job.c.trigger.in_(AUTOMATIC)).values(status="cancelled")
    )


def _rank(row: rows.Row) -> tuple[int, int]:
    return row.cutoff_depth, row.version


def _place(found: Snapshot) -> tuple[int, int]:
    return found.cutoff_depth, found.version


async def _originals_wanted(connection: Connection, tip: str) -> bool:
    """Tell whether the last thing done to the snapshots of a branch was to undo one, so that its originals are sent."""
    at = sa.select(message.c.conversation_id).where(message.c.id == tip).scalar_subquery()
    undone = sa.select(snapshot.c.id).where(snapshot.c.conversation_id == at, snapshot.c.state == "undone")
    if await connection.scalar(undone.limit(1)) is None:
        return False
    here = [row for row in await _of_branch(connection, tip, _PLACES) if row.state != "retired"]
    last = max(here, key=lambda row: (row.changed, row.version), default=None)
    if last is None or last.state != "undone":
        return False
    return not any(row.state == "active" and row.cutoff_depth >= last.cutoff_depth for row in here)


async def _unretired(connection: Connection, id: str) -> Snapshot:
    found = await _locked(connection, id)
    if found.state == "retired":
        raise UsageError(f"snapshot {id} is retired: a message it was shown was deleted")
    return found


async def _locked(connection: Connection, id: str) -> Snapshot:
    row = await _row(connection, id)
    await lock(connection, row.conversation_id)
    await touch(connection, row.conversation_id)
    return rows.snapshot(await _row(connection, id))


async def _row(connection: Connection, id: str) -> rows.Row:
    row = (await connection.execute(sa.select(snapshot).where(snapshot.c.id == id))).one_or_none()
    if row is None:
        raise NotFound(f"there is no snapshot {id}")
    return row


async def _of_branch(
    connection: Connection, tip: str, columns: Sequence[sa.ColumnElement[Any]] = tuple(snapshot.c)
) -> Sequence[rows.Row]:
    s, at = snapshot, message.alias("at")
    anchors = (
        sa.select(s.c.anchor_id.label("id"), s.c.anchor_depth.label("depth"))
        .join(at, at.c.conversation_id == s.c.conversation_id)
        .where(at.c.id == tip)
        .distinct()
    )
    reached = walk.climb(anchors).subquery()
    here = sa.select(message.c.conversation_id).where(message.c.id == tip).scalar_subquery()
    found = await connection.execute(
        sa.select(*columns)
        .where(s.c.conversation_id == here)
        .where(s.c.anchor_id.in_(sa.select(reached.c.goal_id).where(reached.c.goal_id == reached.c.id)))
        .order_by(s.c.cutoff_depth, s.c.version),
        {"tip": tip},
    )
    return found.all()
