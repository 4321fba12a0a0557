"""Reading the tree: every function is one statement that touches what it returns and little else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from octavo.core.messages import Attachment, Branch, Node
from octavo.errors import NotFound
from octavo.store import bin, rows, walk
from octavo.store.direct import Connection
from octavo.store.ids import made_at
from octavo.store.schema import attachment, conversation, large_text, message, plain_id
from octavo.store.values import Conversation, Details, File, LargeText, StoredContext

PAGE = 500
"""Messages read at a time when a whole tree is read."""
PROBES = 16
"""Digests looked up at a time: a known prefix is nearly always the last or the last but one."""


async def present(connection: Connection, ids: Sequence[str]) -> tuple[Node, ...]:
    """Give those of the nodes that exist, in order of depth."""
    found = await connection.execute(walk.some(previews=False), {"ids": list(ids), "tokenizer": None})
    return rows.gather(found).nodes


async def nodes(
    connection: Connection, ids: Sequence[str], tokenizer: str | None, *, previews: bool
) -> tuple[Node, ...]:
    """Give nodes in the order asked for."""
    found = await connection.execute(walk.some(previews=previews), {"ids": list(ids), "tokenizer": tokenizer})
    by_id = {node.id: node for node in rows.gather(found, tokenizer, previews=previews).nodes}
    wanted = [plain_id(id) for id in ids]
    if missing := [id for id in wanted if id not in by_id]:
        raise NotFound(f"there is no message {missing[0]}")
    return tuple(by_id[id] for id in wanted)


async def branch(connection: Connection, tip: str, tokenizer: str | None, *, previews: bool) -> Branch:
    found = await connection.execute(walk.branch(previews=previews), {"tip": tip, "tokenizer": tokenizer})
    return _some(rows.gather(found, tokenizer, previews=previews).nodes, tip)


async def newest(
    connection: Connection, tip: str, limit: int, tokenizer: str | None, *, previews: bool
) -> Branch:
    found = await connection.execute(
        walk.newest(previews=previews), {"tip": tip, "limit": limit, "tokenizer": tokenizer}
    )
    return _some(rows.gather(found, tokenizer, previews=previews).nodes, tip)


def _some(nodes: Branch, tip: str) -> Branch:
    if not nodes:
        raise NotFound(f"there is no message {tip}")
    return nodes


async def context(connection: Connection, tip: str, tokenizer: str | None) -> StoredContext:
    """Run the query everything is built for: it costs what it returns, however long the conversation is."""
    found = rows.gather(
        await connection.execute(walk.context(), {"tip": tip, "tokenizer": tokenizer}), tokenizer
    )
    if not found.nodes and found.snapshot is None:
        raise NotFound(f"there is no message {tip}")
    return StoredContext(
        leading=found.leading, snapshot=found.snapshot, retained=found.nodes, carried=found.carried
    )


async def part_of_tree(
    connection: Connection, conversation_id: str, after: int, tokenizer: str | None, *, previews: bool
) -> tuple[tuple[Node, ...], int | None]:
    """Give some nodes of a tree, parents before children, and where to go on."""
    bounds = sa.select(message.c.n).where(message.c.conversation_id == conversation_id, message.c.n > after)
    last = await connection.scalar(
        sa.select(sa.func.max(bounds.order_by(message.c.n).limit(PAGE).subquery().c.n))
    )
    if last is None:
        return (), None
    bound = {"conversation": conversation_id, "after": after, "limit": PAGE, "tokenizer": tokenizer}
    found = await connection.execute(walk.part_of_tree(previews=previews), bound)
    return rows.gather(found, tokenizer, previews=previews).nodes, last


async def siblings(
    connection: Connection, id: str, *, after: str | None, before: str | None, limit: int
) -> tuple[str, ...]:
    """Give the ids of a node's siblings, itself included, in the order they were made.

    After another one the next of them, before another one the last before it.
    """
    m = message
    me = (
        await connection.execute(sa.select(m.c.parent_id, m.c.conversation_id).where(m.c.id == id))
    ).one_or_none()
    if me is None:
        raise NotFound(f"there is no message {id}")
    root = m.c.parent_id.is_(None) & (m.c.conversation_id == me.conversation_id)
    query = sa.select(m.c.id).where(root if me.parent_id is None else m.c.parent_id == me.parent_id)
    if after is not None:
        query = query.where(m.c.n > _number(after))
    if before is not None:
        query = query.where(m.c.n < _number(before))
    backwards = before is not None and after is None
    query = query.order_by(m.c.n.desc() if backwards else m.c.n).limit(limit)
    found = (await connection.scalars(query)).all()
    return tuple(reversed(found) if backwards else found)


async def tips(
    connection: Connection, conversation_id: str, *, after: str | None, limit: int
) -> tuple[str, ...]:
    """Give the ids of the nodes that nothing follows, in the order they were made."""
    m, child = message, message.alias("child")
    followed = sa.exists().where(child.c.parent_id == m.c.id)
    query = sa.select(m.c.id).where(m.c.conversation_id == conversation_id, ~followed).order_by(m.c.n)
    if after is not None:
        query = query.where(m.c.n > _number(after))
    return tuple((await connection.scalars(query.limit(limit))).all())


def _number(id: str) -> sa.ScalarSelect[int]:
    other = message.alias("other")
    return sa.select(other.c.n).where(other.c.id == id).scalar_subquery()


async def newest_below(connection: Connection, id: str) -> str:
    found = await connection.scalar(walk.newest_below(), {"root": id})
    if found is None:
        raise NotFound(f"there is no message {id}")
    return str(found)


async def on_branch(connection: Connection, tip: str, ids: Iterable[str]) -> frozenset[str]:
    """Give those of the ids that lie on the branch of a tip."""
    found = await connection.execute(walk.on_branch(), {"tip": tip, "ids": list(ids)})
    return frozenset(row.goal_id for row in found)


async def missing(connection: Connection, conversation_id: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Give those of the ids that are not of a message of the conversation."""
    m = message
    wanted = [plain_id(id) for id in ids]
    mine = sa.select(m.c.id).where(m.c.id.in_(wanted), m.c.conversation_id == conversation_id)
    found = set(await connection.scalars(mine))
    return tuple(id for id in wanted if id not in found)


async def details(connection: Connection, ids: Sequence[str]) -> tuple[Details, ...]:
    """Tell what else is known about nodes, in order of depth."""
    found = (await connection.execute(walk.details(), {"ids": list(ids)})).all()
    numbers = [row.n for row in found]
    places = {row.n: row for row in await connection.execute(walk.places(), {"numbers": numbers})}
    return tuple(
        Details(
            id=row.id,
            conversation=row.conversation_id,
            model=row.model or "",
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            created=rows.time_text(made_at(row.id) if row.created is None else row.created),
            sibling=places[row.n].sibling,
            siblings=places[row.n].siblings,
        )
        for row in found
        # What was removed between the two statements is not there.
        if row.n in places
    )


async def find_prefix(
    connection: Connection, digests: Sequence[bytes], owner: str, within: str | None
) -> Node | None:
    """Find the node of an owner's conversations whose branch is the longest of the given prefixes, newest first.

    `digests[i]` is the digest of the first `i + 1` messages. The longest are asked for first and few at a time: what
    many conversations have in common (a system prompt) is at the other end.
    """
    m, c = message, conversation
    # Look-ups for each message found, not a join: else every message of the owner might be gone through.
    listed = sa.select(c.c.owner).where(c.c.id == m.c.conversation_id, bin.LISTED)
    owned = listed.scalar_subquery() == owner
    here = owned if within is None else owned & (m.c.conversation_id == within)
    for stop in range(len(digests), 0, -PROBES):
        wanted = list(digests[max(0, stop - PROBES) : stop])
        found = await connection.scalar(
            sa.select(m.c.id)
            # Said in so many words, or SQLite does not see that the partial index will do.
            .where(
                m.c.digest.in_(wanted),
                m.c.digest.is_not(None),
                m.c.status.in_(["complete", "aborted"]),
                here,
            )
            .order_by(m.c.depth.desc(), m.c.n.desc())
            .limit(1)
        )
        if found is not None:
            return (await nodes(connection, [found], None, previews=False))[0]
    return None


async def conversation_row(connection: Connection, id: str) -> rows.Row:
    found = await connection.execute(sa.select(conversation).where(conversation.c.id == id, bin.THERE))
    row = found.one_or_none()
    if row is None:
        raise NotFound(f"there is no conversation {id}")
    return row


async def conversations(
    connection: Connection,
    *,
    owner: str | None,
    archived: bool | None,
    deleted: bool | None,
    title: str,
    limit: int,
    offset: int,
    ids: Sequence[str] | None,
) -> tuple[Conversation, ...]:
    """List conversations, the last changed first."""
    c = conversation
    shown = bin.THERE if deleted is None else bin.THERE & ~bin.LISTED if deleted else bin.LISTED
    query = sa.select(c).where(shown).order_by(c.c.updated.desc(), c.c.id.desc()).limit(limit).offset(offset)
    if ids is not None:
        query = query.where(c.c.id.in_([plain_id(id) for id in ids]))
    if owner is not None:
        query = query.where(c.c.owner == owner)
    if archived is not None:
        query = query.where(c.c.archived.is_not(None) if archived else c.c.archived.is_(None))
    if title:
        query = query.where(c.c.title.icontains(title, autoescape=True))
    return tuple(rows.conversation(row) for row in await connection.execute(query))


async def conversations_by_id(connection: Connection, ids: Sequence[str]) -> tuple[Conversation, ...]:
    """Give those that are listed, in the order of the ids."""
    found = await connection.execute(sa.select(conversation).where(conversation.c.id.in_(ids), bin.LISTED))
    by_id = {row.id: rows.conversation(row) for row in found}
    return tuple(by_id[id] for id in ids if id in by_id)


async def large_texts(connection: Connection, node: str) -> tuple[LargeText, ...]:
    t = large_text
    found = await connection.execute(
        sa.select(t.c.id, t.c.piece).where(t.c.message_id == node, t.c.chunk == 0).order_by(t.c.piece)
    )
    return tuple(LargeText(id=row.id, node=plain_id(node), piece=row.piece) for row in found)


async def read_large_text(connection: Connection, id: str) -> str:
    t = large_text
    chunks = (await connection.scalars(sa.select(t.c.text).where(t.c.id == id).order_by(t.c.chunk))).all()
    if not chunks:
        raise NotFound(f"there is no large text {id}")
    return "".join(chunks)


async def files(connection: Connection, conversation_id: str) -> tuple[File, ...]:
    a, m = attachment, message
    found = await connection.execute(
        sa.select(a, m.c.depth)
        .join(m, m.c.id == a.c.message_id)
        .where(a.c.conversation_id == conversation_id)
        .order_by(m.c.n, a.c.position)
    )
    return tuple(
        File(
            node=row.message_id,
            depth=row.depth,
            attachment=Attachment(name=row.name, media_type=row.media_type, size=row.size),
        )
        for row in found
    )
