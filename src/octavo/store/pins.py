"""Pins: messages, or selections of their text, that are always sent byte for byte."""

from __future__ import annotations

import sqlalchemy as sa

from octavo.core.context import Pin
from octavo.errors import BadInput, NotFound, UsageError
from octavo.store import walk
from octavo.store.connection import Connection
from octavo.store.locks import lock, touch
from octavo.store.schema import message, pin, plain_id
from octavo.store.section import Section, reads, writes
from octavo.store.tree import TreeReader
from octavo.store.values import PinPlace


class PinStore(Section):
    """The pins of a store."""

    @writes
    async def add(self, connection: Connection, node: str, start: int = 0, stop: int = 0) -> None:
        """Pin a message, or the selection `start:stop` of its text; pinning it again changes nothing."""
        where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == node))
        if where is None:
            raise NotFound(f"there is no message {node}")
        await lock(connection, where)
        found = await TreeReader.within(connection).node(node)
        if found.status == "deleted":
            raise UsageError(f"message {node} was deleted: there is nothing to pin")
        size = len(found.message.text)
        if (start, stop) != (0, 0) and not 0 <= start < stop <= size:
            raise BadInput("selection", f"{start}:{stop} is no part of a text of {size} characters")
        if await connection.scalar(sa.select(sa.func.count()).select_from(pin).where(_at(node, start, stop))):
            return
        new = sa.insert(pin).values(message_id=node, start=start, stop=stop, conversation_id=where)
        await connection.execute(new)
        await touch(connection, where)

    @writes
    async def remove(self, connection: Connection, node: str, start: int = 0, stop: int = 0) -> bool:
        """Remove a pin; false when there was none."""
        where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == node))
        if where is None:
            return False
        await lock(connection, where)
        gone = await connection.execute(sa.delete(pin).where(_at(node, start, stop)))
        if gone.rowcount:
            await touch(connection, where)
        return bool(gone.rowcount)

    @reads
    async def of_conversation(self, connection: Connection, conversation: str) -> tuple[PinPlace, ...]:
        found = await connection.execute(
            sa.select(pin)
            .join(message, message.c.id == pin.c.message_id)
            .where(pin.c.conversation_id == plain_id(conversation))
            .order_by(message.c.depth, message.c.n, pin.c.start, pin.c.stop)
        )
        return tuple(PinPlace(node=row.message_id, start=row.start, stop=row.stop) for row in found)

    @reads
    async def of_branch(
        self, connection: Connection, tip: str, *, tokenizer: str | None = None
    ) -> tuple[Pin, ...]:
        """Give the pins that lie on a branch, with their nodes, in order of position."""
        ids = [row.goal_id for row in await connection.execute(walk.pins_on_branch(), {"tip": tip})]
        if not ids:
            return ()
        nodes = {one.id: one for one in await TreeReader.within(connection).nodes(ids, tokenizer=tokenizer)}
        found = await connection.execute(
            sa.select(pin).where(pin.c.message_id.in_(ids)).order_by(pin.c.start, pin.c.stop)
        )
        placed = sorted(found, key=lambda row: (nodes[row.message_id].depth, row.start, row.stop))
        return tuple(
            Pin(node := nodes[row.message_id], node.message.text[row.start : row.stop] if row.stop else "")
            for row in placed
        )


def _at(node: str, start: int, stop: int) -> sa.ColumnElement[bool]:
    return sa.and_(pin.c.message_id == node, pin.c.start == start, pin.c.stop == stop)
