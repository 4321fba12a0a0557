"""What was recalled for messages: passages of covered messages that are sent directly before a question.

They are stored with the question, so that every later request repeats the same bytes, after a restart and on every
replica. A source that is deleted takes its passages along.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from octavo.core.recall.passages import Passage, Passages
from octavo.store.connection import Connection
from octavo.store.locks import lock, touch
from octavo.store.schema import message, plain_id, recall_passage
from octavo.store.section import Section, reads, writes

SOME = 1_000
"""Messages that one statement asks about."""

_c = recall_passage.c


class PassageStore(Section):
    """The recalled passages of a store."""

    @writes
    async def add(
        self, connection: Connection, conversation: str, node: str, passages: Passages
    ) -> tuple[Passages, int]:
        """Store what was recalled for a message; gives what is stored, and the conversation's revision.

        If another process was first, what it stored counts. Sources that were deleted in the meantime are left out.
        """
        owner = await lock(connection, conversation)
        known = await _read(connection, [node])
        if node in known or not passages:
            return known.get(node, ()), owner.revision
        sources = {passage.source for passage in passages}
        there = await connection.scalars(
            sa.select(message.c.id).where(message.c.id.in_(sources), message.c.status != "deleted")
        )
        still = frozenset(there.all())
        kept = tuple(passage for passage in passages if passage.source in still)
        if not kept:
            return (), owner.revision
        await connection.execute(sa.insert(recall_passage), passage_rows(node, kept))
        await touch(connection, conversation)
        return kept, owner.revision + 1

    @reads
    async def of_conversation(self, connection: Connection, conversation: str) -> dict[str, Passages]:
        """Give all that was recalled in a conversation, in the order of the messages it was recalled for."""
        found = await connection.scalars(
            sa.select(message.c.id)
            .where(
                message.c.conversation_id == plain_id(conversation),
                sa.exists().where(_c.message_id == message.c.id),
            )
            .order_by(message.c.n)
        )
        nodes = found.all()
        recalled = await _read(connection, list(nodes))
        return {node: recalled[node] for node in nodes}

    @reads
    async def of(self, connection: Connection, nodes: Iterable[str]) -> dict[str, Passages]:
        """Give what was recalled for messages, by their ids."""
        return await _read(connection, list(nodes))


def passage_rows(node: str, passages: Passages) -> list[dict[str, Any]]:
    """Give passages that were recalled for a message as rows."""
    return [
        {"message_id": node, "place": place, "source_id": passage.source, "passage": asdict(passage)}
        for place, passage in enumerate(passages)
    ]


async def _read(connection: Connection, nodes: list[str]) -> dict[str, Passages]:
    if not nodes:
        return {}
    found: dict[str, list[Passage]] = {}
    for start in range(0, len(nodes), SOME):
        some = nodes[start : start + SOME]
        for row in await connection.execute(
            sa.select(recall_passage).where(_c.message_id.in_(some)).order_by(_c.message_id, _c.place)
        ):
            found.setdefault(row.message_id, []).append(Passage(**row.passage))
    return {node: tuple(passages) for node, passages in found.items()}
