"""Provisional titles: which conversations have one, and what it has cost to write a better one.

A conversation that is made with its first words as its title has a note that says so. The note is gone with the first
title that a person gives, or holds the bill of the title that a model wrote. It is removed with its conversation.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.notes import NoteStore
from octavo.store.rows import now, time_text
from octavo.store.schema import conversation, note, plain_id
from octavo.store.section import Section, reads, writes
from octavo.store.values import TitleBill
from octavo.store.visibility import LISTED

_START = "title:"
_OPEN = "provisional"


class TitleStore(Section):
    """The titles of a store."""

    @writes
    async def mark(self, connection: Connection, id: str) -> None:
        """Note that nobody gave a conversation its title."""
        await NoteStore.within(connection).put_all({_key(id): {_OPEN: True}}, conversation=id)

    @reads
    async def is_provisional(self, connection: Connection, id: str) -> bool:
        """Tell whether nobody gave a conversation its title."""
        return bool((await _note(connection, id)).get(_OPEN))

    @writes
    async def settle(self, connection: Connection, id: str) -> None:
        """Note that a person gave a conversation its title."""
        found = await _note(connection, id)
        if found.get(_OPEN):
            await NoteStore.within(connection).put(_key(id), {**found, _OPEN: False})

    @writes
    async def write(self, connection: Connection, id: str, title: str, bill: TitleBill) -> bool:
        """Put a model's title in the place of a provisional one, and keep its bill; false if a person was faster.

        Without a title the bill alone is kept.
        """
        await lock(connection, id)
        found = await _note(connection, id)
        wanted = bool(title and found.get(_OPEN))
        if wanted:
            changed = sa.update(conversation).where(conversation.c.id == plain_id(id)).values(title=title)
            await connection.execute(changed)
        paid = [each for each in (found.get("price"), bill.price) if each is not None]
        kept = {
            _OPEN: bool(found.get(_OPEN)) and not wanted,
            "day": time_text(now())[: len("2026-01-01")],
            "model": bill.model,
            "requests": found.get("requests", 0) + bill.requests,
            "input": found.get("input", 0) + bill.input,
            "output": found.get("output", 0) + bill.output,
            "price": sum(paid) if paid else None,
        }
        await NoteStore.within(connection).put_all({_key(id): kept}, conversation=id)
        return wanted

    @reads
    async def bills(
        self, connection: Connection, *, id: str | None = None, owner: str | None = None
    ) -> tuple[TitleBill, ...]:
        """Give what titles have cost."""
        wanted = sa.select(note).where(note.c.key.startswith(_START))
        mine = sa.select(conversation.c.id).where(LISTED)
        if id is not None:
            wanted, mine = (
                sa.select(note).where(note.c.key == _key(id)),
                mine.where(conversation.c.id == plain_id(id)),
            )
        if owner is not None:
            mine = mine.where(conversation.c.owner == owner)
        listed = set((await connection.scalars(mine)).all())
        rows = (await connection.execute(wanted)).all()
        found = ((row.key.removeprefix(_START), row.value) for row in rows)
        return tuple(
            TitleBill(conversation=id, **{name: value for name, value in kept.items() if name != _OPEN})
            for id, kept in found
            if id in listed and kept.get("requests")
        )


async def _note(connection: Connection, id: str) -> dict[str, Any]:
    value = await connection.scalar(sa.select(note.c.value).where(note.c.key == _key(id)))
    return value if isinstance(value, dict) else {}


def _key(id: str) -> str:
    return f"{_START}{plain_id(id)}"
