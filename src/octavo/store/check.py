"""Checks the whole store, from the words up: nothing that was stored is taken on trust.

Every message is read and its digest computed again, every place in the tree compared with its parent's, every
snapshot with the branch it claims to stand for. Page by page, so that a store of any size is checked while in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from octavo.core.messages import Node, chain, digest
from octavo.core.recall.passages import Passage
from octavo.core.recall.pieces import texts_of
from octavo.core.snapshot import Snapshot
from octavo.errors import OctavoError, StoreError
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.database import Database
from octavo.store.parts import EMPTIED, Packed, unpack
from octavo.store.passages import PassageStore
from octavo.store.schema import (
    attachment,
    conversation,
    large_text,
    message,
    message_token,
    pin,
    plain_id,
    recall_passage,
    snapshot,
)
from octavo.store.tree import TreeReader, present
from octavo.store.values import StoreProblem
from octavo.store.visibility import THERE
from octavo.store.walk import jump_depth

PAGE = 500
"""Messages checked at a time."""


async def check(database: Database) -> tuple[StoreProblem, ...]:
    """Look for anything that does not add up."""
    problems: list[StoreProblem] = []
    if database.dialect == "sqlite":
        problems += await database.read(_check_file)
        if not database.read_only:
            # The index can only be told to examine itself by a statement that writes.
            problems += await _check_search(database)
    after = 0
    while True:
        found, last = await database.view(lambda connection, n=after: _check_messages(connection, n))  # type: ignore[misc]
        problems += found
        if last is None:
            break
        after = last
    problems += await database.view(_check_conversations)
    problems += await database.view(_check_snapshots)
    problems += await database.view(_check_beside)
    asked: str | None = None
    while True:
        found, asked = await database.view(lambda connection, id=asked: _check_passages(connection, id))  # type: ignore[misc]
        problems += found
        if asked is None:
            break
    return tuple(problems)


async def _check_file(connection: Connection) -> list[StoreProblem]:
    found = (await connection.scalars(sa.text("PRAGMA integrity_check"))).all()
    return [StoreProblem("file", "", str(line)) for line in found if line != "ok"]


async def _check_search(database: Database) -> list[StoreProblem]:
    async def prove(connection: Connection) -> None:
        for index in ("message_fts", "large_text_fts"):
            await connection.execute(
                sa.text(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")
            )

    try:
        await database.write(prove)
    except StoreError as error:
        return [StoreProblem("search", "", f"the index does not match the messages: {error}")]
    return []


def _page(after: int) -> sa.Select[Any]:
    m, parent, jump, far = message, *(message.alias(name) for name in ("parent", "jump", "far"))
    return (
        sa.select(
            m,
            parent.c.id.label("parent_found"),
            parent.c.conversation_id.label("parent_conversation"),
            parent.c.depth.label("parent_depth"),
            parent.c.digest.label("parent_digest"),
            far.c.jump_id.label("far_jump"),
            jump.c.depth.label("landing"),
        )
        .outerjoin(parent, parent.c.id == m.c.parent_id)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .outerjoin(far, far.c.id == parent.c.jump_id)
        .where(m.c.n > after)
        .order_by(m.c.n)
        .limit(PAGE)
    )


async def _check_messages(connection: Connection, after: int) -> tuple[list[StoreProblem], int | None]:
    found = (await connection.execute(_page(after))).all()
    texts: rows.Texts = {}
    large = [row.id for row in found if row.large]
    if large:
        for row in await connection.execute(sa.select(large_text).where(large_text.c.message_id.in_(large))):
            texts.setdefault(row.message_id, {}).setdefault(row.piece, {})[row.chunk] = row.text
    problems = [
        StoreProblem("message", row.id, detail)
        for row in found
        for detail in (*_place_flaws(row), *_content_flaws(row, rows.large(texts, row.id)))
    ]
    return problems, found[-1].n if found else None


def _place_flaws(row: rows.Row) -> Iterator[str]:
    if row.parent_id is not None and row.parent_found is None:
        yield f"its parent {row.parent_id} does not exist"
    elif row.parent_id is not None and row.parent_conversation != row.conversation_id:
        yield f"its parent {row.parent_id} is in another conversation"
    if row.depth != (row.parent_depth or 0) + 1:
        yield f"its depth is {row.depth}, its parent's {row.parent_depth or 0}"
    target = jump_depth(row.depth)
    jump = None if target == 0 else row.parent_id if target == row.depth - 1 else row.far_jump
    if row.jump_id != jump or (row.landing or 0) != target:
        yield f"its jump pointer leads to {row.jump_id} at depth {row.landing}, not to {jump} at {target}"


def _content_flaws(row: rows.Row, large: Sequence[str]) -> Iterator[str]:
    try:
        said = unpack(row.role, Packed(row.text, row.parts, tuple(large)))
    except (OctavoError, ValueError, TypeError, KeyError) as error:
        yield f"its content cannot be read: {error}"
        return
    if len(large) != row.large:
        yield f"it has {len(large)} large texts, {row.large} were stored"
    before = b"" if row.parent_id is None else row.parent_digest
    if row.status == "deleted":
        if (row.text, row.parts) != (EMPTIED.text, EMPTIED.parts):
            yield "it was deleted, yet its content is there"
        before = None
    expected = None if before is None else chain(before, said)
    if row.digest != expected:
        yield "its digest is not that of its branch"


async def _check_conversations(connection: Connection) -> list[StoreProblem]:
    c, m, tip = conversation, message, message.alias("tip")
    count = sa.select(sa.func.count()).where(m.c.conversation_id == c.c.id).scalar_subquery()
    found = await connection.execute(
        sa.select(c, count.label("counted"), tip.c.conversation_id.label("tip_conversation"))
        .outerjoin(tip, tip.c.id == c.c.tip_id)
        # The others are being imported or removed, and need not add up.
        .where(THERE)
    )
    problems = []
    for row in found:
        if row.counted != row.messages:
            detail = f"it is said to have {row.messages} messages, and has {row.counted}"
            problems.append(StoreProblem("conversation", row.id, detail))
        if row.tip_id is not None and row.tip_conversation != row.id:
            problems.append(
                StoreProblem("conversation", row.id, f"its tip {row.tip_id} is not one of its messages")
            )
    return problems


async def _check_snapshots(connection: Connection) -> list[StoreProblem]:
    problems = []
    for row in (await connection.execute(sa.select(snapshot).order_by(snapshot.c.id))).all():
        try:
            found = rows.snapshot(row)
        except (TypeError, KeyError, ValueError) as error:
            problems.append(
                StoreProblem("snapshot", row.id, f"it cannot be read: {type(error).__name__} {error}")
            )
            continue
        flaws = await _snapshot_flaws(connection, found, row.conversation_id)
        problems += [StoreProblem("snapshot", row.id, detail) for detail in flaws]
    return problems


async def _snapshot_flaws(connection: Connection, found: Snapshot, conversation_id: str) -> list[str]:
    m = message
    named = {plain_id(id) for id in (found.first, found.cutoff, found.anchor, *found.sent_along)}
    nodes = {
        row.id: row
        for row in await connection.execute(
            sa.select(m.c.id, m.c.depth, m.c.digest, m.c.conversation_id).where(m.c.id.in_(sorted(named)))
        )
    }
    if missing := named - nodes.keys():
        return [f"it names messages that do not exist: {', '.join(sorted(missing))}"]
    flaws = []
    if any(node.conversation_id != conversation_id for node in nodes.values()):
        flaws.append("it names messages of another conversation")
    if (nodes[found.cutoff].depth, nodes[found.anchor].depth) != (found.cutoff_depth, found.anchor_depth):
        flaws.append("its depths are not those of its cutoff and anchor")
    span = found.cutoff_depth - nodes[found.first].depth + 1
    if not 0 < found.messages <= span:
        flaws.append(f"it is said to cover {found.messages} messages where there are {span}")
    if await TreeReader.within(connection).on_branch(found.anchor, named) != named:
        flaws.append("its cutoff and anchor do not lie on one branch")
    if found.previous and not await _holds_anchor_of(connection, found.previous, found.anchor):
        flaws.append(f"it was continued from {found.previous}, which belongs to another branch")
    return flaws + await _substance_flaws(connection, found, nodes[found.cutoff].digest)


async def _holds_anchor_of(connection: Connection, id: str, tip: str) -> bool:
    """Tell whether a branch holds everything that a snapshot was shown; a message that is gone does not count."""
    anchor = await connection.scalar(sa.select(snapshot.c.anchor_id).where(snapshot.c.id == id))
    return anchor is None or bool(await TreeReader.within(connection).on_branch(tip, [anchor]))


async def _substance_flaws(connection: Connection, found: Snapshot, stored: bytes | None) -> list[str]:
    if found.state == "retired":
        return [] if found == rows.emptied(found) else ["it is retired, yet its content is there"]
    if stored is None:
        covered = await TreeReader.within(connection).branch(found.cutoff)
        stored = digest(node.message for node in covered)
    return [] if stored == found.digest else ["the messages it covers are not those it was made from"]


async def _check_beside(connection: Connection) -> list[StoreProblem]:
    """Check that nothing is left of messages that are gone or emptied, and that pins point into their texts."""
    m = message
    problems = []
    for table in (large_text, attachment, message_token, pin, recall_passage):
        found = await connection.execute(
            sa.select(table.c.message_id)
            .outerjoin(m, m.c.id == table.c.message_id)
            .where(sa.or_(m.c.id.is_(None), m.c.status == "deleted"))
            .distinct()
        )
        problems += [StoreProblem(table.name, row.message_id, "its message is gone") for row in found]
    for row in (await connection.execute(sa.select(pin).where(pin.c.stop != 0))).all():
        nodes = await present(connection, [row.message_id])
        if nodes and row.stop > len(nodes[0].message.text):
            detail = f"the selection {row.start}:{row.stop} is longer than the text"
            problems.append(StoreProblem("pin", row.message_id, detail))
    return problems


async def _check_passages(connection: Connection, after: str | None) -> tuple[list[StoreProblem], str | None]:
    """Check that what was recalled for some messages stands in its sources; gives the last of the messages."""
    c = recall_passage.c
    page = sa.select(c.message_id).distinct().order_by(c.message_id).limit(PAGE)
    page = page.where(c.message_id > after) if after else page
    asked = (await connection.scalars(page)).all()
    problems: list[StoreProblem] = []
    for id in asked:
        recalled = await PassageStore.within(connection).of([id])
        sources = sorted({passage.source for passage in recalled[id]})
        nodes = {node.id: node for node in await present(connection, sources)}
        above = await TreeReader.within(connection).on_branch(id, sources)
        for passage in recalled[id]:
            if passage.source not in above:
                detail = f"what was recalled for it comes from {passage.source}, which is on another branch"
            elif not _stands_in(passage, nodes[passage.source]):
                detail = f"what was recalled for it does not stand in {passage.source}, word for word"
            else:
                continue
            problems.append(StoreProblem("recalled", id, detail))
    return problems, asked[-1] if len(asked) == PAGE else None


def _stands_in(passage: Passage, source: Node) -> bool:
    texts = [text for _, _, text in texts_of(source.message, {})]
    return passage.part < len(texts) and texts[passage.part].startswith(passage.text, passage.start)
