"""What was recalled for messages: passages of covered messages that are sent directly before a question.

They are stored with the question, so that every later request repeats the same bytes, after a restart and on every
replica. A source that is deleted takes its passages along.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import sqlalchemy as sa

from octavo.core.recall.passages import Passage, Passages
from octavo.store.connection import Connection
from octavo.store.locks import lock, touch
from octavo.store.schema import message, recall_passage
from octavo.store.section import Section, reads, writes

_c = recall_passage.c


class PassageStore(Section):
    """The recalled passages of a store."""

    @writes
    async def add(
        self, connection: Connection, conversation: str, node: str, passages: Passages
    ) -> tuple[Passages, int]:
        """Store what was recalled for a message; gives what is stored, and the conversation's revision.

        What another process has stored first counts, and a source that was deleted meanwhile is left out.
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
        rows = [
            {"message_id": node, "place": place, "source_id": passage.source, "passage": asdict(passage)}
            for place, passage in enumerate(kept)
        ]
        await connection.execute(sa.insert(recall_passage), rows)
        await touch(connection, conversation)
        return kept, owner.revision + 1

    @reads
    async def of(self, connection: Connection, nodes: Iterable[str]) -> dict[str, Passages]:
        """Give what was recalled for messages, by their ids."""
        return await _read(connection, list(nodes))


async def _read(connection: Connection, nodes: list[str]) -> dict[str, Passages]:
    if not nodes:
        return {}
    found: dict[str, list[Passage]] = {}
    for row in await connection.execute(
        sa.select(recall_passage).where(_c.message_id.in_(nodes)).order_by(_c.message_id, _c.place)
    ):
        found.setdefault(row.message_id, []).append(Passage(**row.passage))
    return {node: tuple(passages) for node, passages in found.items()}
