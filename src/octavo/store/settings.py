"""Settings at three levels, and notes the program keeps for itself: JSON values under text keys.

The nearest level wins: conversation, then model, then everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from octavo.core.fields import Json
from octavo.store import rows
from octavo.store.schema import note, plain_id, setting
from octavo.store.tree import lock
from octavo.store.values import Everywhere, ForConversation, ForModel, Scope


def scope_text(scope: Scope) -> str:
    match scope:
        case Everywhere():
            return "global"
        case ForModel(model):
            return f"model:{model}"
        case ForConversation(id):
            return f"conversation:{plain_id(id)}"


async def put(connection: AsyncConnection, scope: Scope, key: str, value: Json) -> None:
    if isinstance(scope, ForConversation):
        # Held until the commit, so that a deletion meanwhile does not leave the setting behind.
        await lock(connection, scope.id)
    await _upsert(connection, setting, {"scope": scope_text(scope), "key": key}, value)


async def remove(connection: AsyncConnection, scope: Scope, key: str) -> bool:
    gone = await connection.execute(
        sa.delete(setting).where(setting.c.scope == scope_text(scope), setting.c.key == key)
    )
    return bool(gone.rowcount)


async def forget(connection: AsyncConnection, scope: Scope) -> None:
    await connection.execute(sa.delete(setting).where(setting.c.scope == scope_text(scope)))


async def of_scope(connection: AsyncConnection, scope: Scope) -> dict[str, Json]:
    """Give what is set at one level."""
    found = await connection.execute(
        sa.select(setting.c.key, setting.c.value)
        .where(setting.c.scope == scope_text(scope))
        .order_by(setting.c.key)
    )
    return {row.key: row.value for row in found}


async def resolve(
    connection: AsyncConnection, model: str | None, conversation_id: str | None
) -> dict[str, Json]:
    """Give what holds for a model in a conversation."""
    levels: list[Scope] = [Everywhere()]
    if model is not None:
        levels.append(ForModel(model))
    if conversation_id is not None:
        levels.append(ForConversation(conversation_id))
    rank = {scope_text(scope): i for i, scope in enumerate(levels)}
    found = await connection.execute(sa.select(setting).where(setting.c.scope.in_(list(rank))))
    return {row.key: row.value for row in sorted(found, key=lambda row: (rank[row.scope], row.key))}


async def put_note(connection: AsyncConnection, key: str, value: Json) -> None:
    await _upsert(connection, note, {"key": key}, value)


async def get_note(connection: AsyncConnection, key: str) -> Json:
    """Give a note; None when there is none."""
    found: Json = await connection.scalar(sa.select(note.c.value).where(note.c.key == key))
    return found


async def _upsert(connection: AsyncConnection, table: sa.Table, key: Mapping[str, str], value: Json) -> None:
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    new = insert(table).values(**key, value=value, updated=rows.now())
    await connection.execute(
        new.on_conflict_do_update(
            index_elements=list(key), set_={"value": new.excluded.value, "updated": new.excluded.updated}
        )
    )
