"""Notes the program keeps for itself, such as the state of a meter: JSON values under text keys.

A note may belong to a conversation, and is removed with it. Which notes do is a list beside the settings of the
conversation, under a scope of its own: a note is looked up by its key alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.json_values import Json
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.schema import note, plain_id, setting
from octavo.store.section import Section, reads, writes

_NAMED = sa.select(note).where(note.c.key.in_(sa.bindparam("keys", expanding=True)))


class NoteStore(Section):
    """The notes of a store."""

    async def get(self, key: str) -> Json:
        """Give a note; None when there is none."""
        return (await self.named(key))[key]

    @reads
    async def named(self, connection: Connection, *keys: str) -> dict[str, Json]:
        """Give several notes at once; None for those there are not."""
        found = await connection.execute(_NAMED, {"keys": list(keys)})
        return {**dict.fromkeys(keys), **{row.key: row.value for row in found}}

    @reads
    async def starting(self, connection: Connection, start: str) -> dict[str, Json]:
        """Give the notes whose keys begin in the same way, by what follows that beginning."""
        found = await connection.execute(sa.select(note).where(note.c.key.startswith(start, autoescape=True)))
        return {row.key.removeprefix(start): row.value for row in found}

    @writes
    async def put(self, connection: Connection, key: str, value: Json) -> None:
        await upsert(connection, note, {"key": key}, value)

    @writes
    async def put_all(
        self, connection: Connection, values: Mapping[str, Json], *, conversation: str | None = None
    ) -> None:
        """Store several notes at once; those of a `conversation` are removed with it."""
        if conversation is not None:
            # Held until the commit, so that a deletion meanwhile does not leave notes behind.
            await lock(connection, conversation)
        for key, value in values.items():
            await upsert(connection, note, {"key": key}, value)
            if conversation is not None:
                await upsert(connection, setting, {"scope": _scope(conversation), "key": key}, None)

    @writes
    async def remove(self, connection: Connection, key: str) -> bool:
        """Forget a note; false when there was none."""
        return bool((await connection.execute(sa.delete(note).where(note.c.key == key))).rowcount)


def _scope(conversation: str) -> str:
    return f"notes:{plain_id(conversation)}"


async def remove_some_notes(connection: Connection, conversation: str, most: int) -> bool:
    """Remove some notes of a conversation; false when there were none left."""
    listed = setting.c.scope == _scope(conversation)
    keys = (await connection.scalars(sa.select(setting.c.key).where(listed).limit(most))).all()
    if keys:
        await connection.execute(sa.delete(note).where(note.c.key.in_(keys)))
        await connection.execute(sa.delete(setting).where(listed, setting.c.key.in_(keys)))
    return bool(keys)


async def upsert(connection: Connection, table: sa.Table, key: Mapping[str, str], value: Json) -> None:
    """Store a value under a key, or put it in the place of the one that is there."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    new = insert(table).values(**key, value=value, updated=rows.now())
    changed = {"value": new.excluded.value, "updated": new.excluded.updated}
    await connection.execute(new.on_conflict_do_update(index_elements=list(key), set_=changed))
