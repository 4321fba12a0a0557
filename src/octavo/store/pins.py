"""Pins: messages, or selections of their text, that are always sent byte for byte."""

from __future__ import annotations

import sqlalchemy as sa

from octavo.core.context import Pin
from octavo.errors import BadInput, NotFound, UsageError
from octavo.store import reading, walk
from octavo.store.direct import Connection
from octavo.store.schema import message, pin, plain_id
from octavo.store.tree import lock, touch
from octavo.store.values import PinPlace


async def add(connection: Connection, place: PinPlace) -> None:
    """Pin a message or a selection; pinning it again changes nothing."""
    where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == place.node))
    if where is None:
        raise NotFound(f"there is no message {place.node}")
    await lock(connection, where)
    (node,) = await reading.nodes(connection, [place.node], None, previews=False)
    if node.status == "deleted":
        raise UsageError(f"message {node.id} was deleted: there is nothing to pin")
    size = len(node.message.text)
    if (place.start, place.stop) != (0, 0) and not 0 <= place.start < place.stop <= size:
        raise BadInput("selection", f"{place.start}:{place.stop} is no part of a text of {size} characters")
    if await connection.scalar(sa.select(sa.func.count()).select_from(pin).where(_at(place))):
        return
    await connection.execute(
        sa.insert(pin).values(
            message_id=place.node, start=place.start, stop=place.stop, conversation_id=where
        )
    )
    await touch(connection, where)


async def remove(connection: Connection, place: PinPlace) -> bool:
    where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == place.node))
    if where is None:
        return False
    await lock(connection, where)
    gone = await connection.execute(sa.delete(pin).where(_at(place)))
    if gone.rowcount:
        await touch(connection, where)
    return bool(gone.rowcount)


def _at(place: PinPlace) -> sa.ColumnElement[bool]:
    return sa.and_(pin.c.message_id == place.node, pin.c.start == place.start, pin.c.stop == place.stop)


async def of_conversation(connection: Connection, conversation_id: str) -> tuple[PinPlace, ...]:
    found = await connection.execute(
        sa.select(pin)
        .join(message, message.c.id == pin.c.message_id)
        .where(pin.c.conversation_id == plain_id(conversation_id))
        .order_by(message.c.depth, message.c.n, pin.c.start, pin.c.stop)
    )
    return tuple(PinPlace(node=row.message_id, start=row.start, stop=row.stop) for row in found)


async def of_branch(connection: Connection, tip: str, tokenizer: str | None) -> tuple[Pin, ...]:
    """Give the pins that lie on a branch, with their nodes, in order of position."""
    ids = [row.goal_id for row in await connection.execute(walk.pins_on_branch(), {"tip": tip})]
    if not ids:
        return ()
    nodes = {node.id: node for node in await reading.nodes(connection, ids, tokenizer, previews=False)}
    found = await connection.execute(
        sa.select(pin).where(pin.c.message_id.in_(ids)).order_by(pin.c.start, pin.c.stop)
    )
    placed = sorted(found, key=lambda row: (nodes[row.message_id].depth, row.start, row.stop))
    return tuple(
        Pin(node := nodes[row.message_id], node.message.text[row.start : row.stop] if row.stop else "")
        for row in placed
    )
