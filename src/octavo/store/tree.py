"""Reading the tree of messages: every read is one statement that touches what it returns and little else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import takewhile

import sqlalchemy as sa

from octavo.core.messages import Attachment, Branch, Node
from octavo.errors import NotFound
from octavo.store import rows, walk
from octavo.store.connection import Connection
from octavo.store.conversations import ConversationStore
from octavo.store.ids import made_at
from octavo.store.schema import attachment, conversation, message, plain_id
from octavo.store.section import Section, reads
from octavo.store.values import Details, File
from octavo.store.visibility import LISTED

PAGE = 500
"""Messages read at a time when a whole tree is read."""
SHOWN = 100
"""Messages given at a time to those who look at them, unless more are asked for."""
LEADING = 8
"""Messages looked at at a time for system messages at the beginning: there is one, as a rule."""
DEEPEST = 2**31 - 1
"""No message lies deeper."""
PROBES = 16
"""Digests looked up at a time: a known prefix is nearly always the last or the last but one."""


class TreeReader(Section):
    """The messages of a store as they lie below each other."""

    async def node(self, id: str, *, tokenizer: str | None = None) -> Node:
        return (await self.nodes([id], tokenizer=tokenizer))[0]

    @reads
    async def nodes(
        self,
        connection: Connection,
        ids: Sequence[str],
        *,
        tokenizer: str | None = None,
        previews: bool = False,
    ) -> tuple[Node, ...]:
        """Give nodes in the order asked for."""
        bound = {"ids": list(ids), "tokenizer": tokenizer}
        found = await connection.execute(walk.some(previews=previews), bound)
        by_id = {node.id: node for node in rows.gather(found, tokenizer, previews=previews).nodes}
        wanted = [plain_id(id) for id in ids]
        if missing := [id for id in wanted if id not in by_id]:
            raise NotFound(f"there is no message {missing[0]}")
        return tuple(by_id[id] for id in wanted)

    @reads
    async def branch(
        self, connection: Connection, tip: str, *, tokenizer: str | None = None, previews: bool = False
    ) -> Branch:
        """Give the whole path from the root to a tip."""
        found = await connection.execute(walk.branch(previews=previews), {"tip": tip, "tokenizer": tokenizer})
        return _some(rows.gather(found, tokenizer, previews=previews).nodes, tip)

    @reads
    async def page(
        self,
        connection: Connection,
        tip: str,
        *,
        limit: int = SHOWN,
        tokenizer: str | None = None,
        previews: bool = True,
    ) -> Branch:
        """Give the newest messages of a branch; go on with the parent of the first as tip."""
        bound = {"tip": tip, "limit": limit, "tokenizer": tokenizer}
        found = await connection.execute(walk.newest(previews=previews), bound)
        return _some(rows.gather(found, tokenizer, previews=previews).nodes, tip)

    @reads
    async def stretch(
        self,
        connection: Connection,
        tip: str,
        *,
        above: int,
        stop: int,
        tokenizer: str | None = None,
        previews: bool = False,
    ) -> Branch:
        """Give the messages of a branch below the depth `above`, down to the depth `stop`."""
        bound = {"tip": tip, "above": above, "stop": stop, "tokenizer": tokenizer}
        found = await connection.execute(walk.stretch(previews=previews), bound)
        return rows.gather(found, tokenizer, previews=previews).nodes

    async def pages(
        self, tip: str, *, above: int, stop: int, tokenizer: str | None = None, size: int = PAGE
    ) -> AsyncIterator[Branch]:
        """Go through the messages of a branch below the depth `above`, down to the depth `stop`, some at a time."""
        for start in range(above, stop, size):
            page = await self.stretch(tip, above=start, stop=min(start + size, stop), tokenizer=tokenizer)
            yield _some(page, tip)

    @reads
    async def leading(self, connection: Connection, tip: str, *, tokenizer: str | None = None) -> Branch:
        """Give the system messages that a branch begins with."""
        here, leading = TreeReader.within(connection), list[Node]()
        while True:
            above = len(leading)
            page = await here.stretch(tip, above=above, stop=above + LEADING, tokenizer=tokenizer)
            leading += takewhile(lambda node: node.message.role == "system", page)
            if len(leading) < above + LEADING:
                return tuple(leading)

    @reads
    async def size(self, connection: Connection, tip: str, *, above: int, tokenizer: str) -> tuple[int, int]:
        """Say how many tokens a branch has below a depth, and how many of its messages were never counted."""
        bound = {"tip": tip, "above": above, "tokenizer": tokenizer}
        found = (await connection.execute(walk.sizes(), bound)).one()
        return found.tokens, found.uncounted

    async def whole(self, conversation: str, *, previews: bool = True) -> AsyncIterator[Node]:
        """Go through a whole conversation, parents before children."""
        await ConversationStore(self._transactions).get(conversation)
        after: int | None = 0
        while after is not None:
            nodes, after = await self._part(conversation, after, previews=previews)
            for node in nodes:
                yield node

    @reads
    async def _part(
        self, connection: Connection, conversation_id: str, after: int, *, previews: bool
    ) -> tuple[tuple[Node, ...], int | None]:
        """Give some nodes of a tree, parents before children, and where to go on."""
        m = message.c
        bounds = sa.select(m.n).where(m.conversation_id == conversation_id, m.n > after)
        last = await connection.scalar(
            sa.select(sa.func.max(bounds.order_by(m.n).limit(PAGE).subquery().c.n))
        )
        if last is None:
            return (), None
        bound = {"conversation": conversation_id, "after": after, "limit": PAGE, "tokenizer": None}
        found = await connection.execute(walk.part_of_tree(previews=previews), bound)
        return rows.gather(found, previews=previews).nodes, last

    async def siblings(
        self,
        node: str,
        *,
        after: str | None = None,
        before: str | None = None,
        limit: int = SHOWN,
        previews: bool = True,
    ) -> tuple[Node, ...]:
        """Give siblings of a node, itself included, in the order they were made: the next ones, or the last before."""
        return await self.nodes(await self._siblings(node, after, before, limit), previews=previews)

    @reads
    async def _siblings(
        self, connection: Connection, id: str, after: str | None, before: str | None, limit: int
    ) -> tuple[str, ...]:
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
        self, conversation: str, *, after: str | None = None, limit: int = SHOWN, previews: bool = True
    ) -> tuple[Node, ...]:
        """Give the tips of branches, in the order they were made; go on `after` the last."""
        return await self.nodes(await self._tips(conversation, after, limit), previews=previews)

    @reads
    async def _tips(
        self, connection: Connection, conversation_id: str, after: str | None, limit: int
    ) -> Sequence[str]:
        m, child = message, message.alias("child")
        followed = sa.exists().where(child.c.parent_id == m.c.id)
        query = sa.select(m.c.id).where(m.c.conversation_id == conversation_id, ~followed).order_by(m.c.n)
        if after is not None:
            query = query.where(m.c.n > _number(after))
        return (await connection.scalars(query.limit(limit))).all()

    @reads
    async def newest_below(self, connection: Connection, node: str) -> str:
        """Follow the newest children down to a tip: where switching to a sibling leads."""
        found = await connection.scalar(walk.newest_below(), {"root": node})
        if found is None:
            raise NotFound(f"there is no message {node}")
        return str(found)

    @reads
    async def on_branch(self, connection: Connection, tip: str, nodes: Iterable[str]) -> frozenset[str]:
        """Give those of the nodes that lie on the branch of a tip."""
        found = await connection.execute(walk.on_branch(), {"tip": tip, "ids": list(nodes)})
        return frozenset(row.goal_id for row in found)

    @reads
    async def missing(
        self, connection: Connection, conversation: str, nodes: Sequence[str]
    ) -> tuple[str, ...]:
        """Give those of the nodes that are not in a conversation."""
        m = message.c
        wanted = [plain_id(id) for id in nodes]
        mine = sa.select(m.id).where(m.id.in_(wanted), m.conversation_id == conversation)
        found = set(await connection.scalars(mine))
        return tuple(id for id in wanted if id not in found)

    @reads
    async def details(self, connection: Connection, nodes: Sequence[str]) -> tuple[Details, ...]:
        """Tell what else is known about nodes: conversation, usage, model, time, place among siblings."""
        found = (await connection.execute(walk.details(), {"ids": list(nodes)})).all()
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

    @reads
    async def find_prefix(
        self,
        connection: Connection,
        digests: Sequence[bytes],
        *,
        owner: str = "",
        conversation: str | None = None,
    ) -> Node | None:
        """Find the newest node whose branch is the longest of these prefixes; `digests[i]` is of `i + 1` messages.

        The longest are asked for first and few at a time: what many conversations have in common (their first words) is
        at the other end. If none of the first few is stored, and the shortest is not either, none is.
        """
        m, here = message, _owned_by(owner)
        if conversation is not None:
            here &= m.c.conversation_id == conversation

        async def find(wanted: Sequence[bytes]) -> str | None:
            id: str | None = await connection.scalar(
                sa.select(m.c.id)
                # Said in so many words, or SQLite does not see that the partial index will do.
                .where(
                    m.c.digest.in_(list(wanted)),
                    m.c.digest.is_not(None),
                    m.c.status.in_(["complete", "aborted"]),
                    here,
                )
                .order_by(m.c.depth.desc(), m.c.n.desc())
                .limit(1)
            )
            return id

        for stop in range(len(digests), 0, -PROBES):
            found = await find(digests[max(0, stop - PROBES) : stop])
            if found is not None:
                return await TreeReader.within(connection).node(found)
            if stop == len(digests) > 2 * PROBES and await find(digests[:1]) is None:
                return None
        return None

    @reads
    async def files(self, connection: Connection, conversation: str) -> tuple[File, ...]:
        """List the attachments of a conversation."""
        a, m = attachment, message
        found = await connection.execute(
            sa.select(a, m.c.depth)
            .join(m, m.c.id == a.c.message_id)
            .where(a.c.conversation_id == conversation)
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


async def present(connection: Connection, ids: Sequence[str]) -> tuple[Node, ...]:
    """Give those of the nodes that exist, in order of depth."""
    found = await connection.execute(walk.some(previews=False), {"ids": list(ids), "tokenizer": None})
    return rows.gather(found).nodes


def _some(nodes: Branch, tip: str) -> Branch:
    if not nodes:
        raise NotFound(f"there is no message {tip}")
    return nodes


def _number(id: str) -> sa.ScalarSelect[int]:
    other = message.alias("other")
    return sa.select(other.c.n).where(other.c.id == id).scalar_subquery()


def _owned_by(owner: str) -> sa.ColumnElement[bool]:
    """Look each message's owner up instead of joining: else every message of the owner might be gone through."""
    c = conversation.c
    listed = sa.select(c.owner).where(c.id == message.c.conversation_id, LISTED)
    return listed.scalar_subquery() == owner
