"""Settings at three levels, and notes the program keeps for itself: JSON values under text keys.

The nearest level wins: conversation, then model, then everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.fields import Json
from octavo.store import rows
from octavo.store.direct import Connection
from octavo.store.schema import note, plain_id, setting
from octavo.store.tree import lock
from octavo.store.values import Everywhere, ForConversation, ForModel, Scope

NOTE = "note"
"""Stands for the level of notes; no scope is called so."""


def scope_text(scope: Scope) -> str:
    match scope:
        case Everywhere():
            return "global"
        case ForModel(model):
            return f"model:{model}"
        case ForConversation(id):
            return f"conversation:{plain_id(id)}"


async def put(connection: Connection, scope: Scope, key: str, value: Json) -> None:
    if isinstance(scope, ForConversation):
        # Held until the commit, so that a deletion meanwhile does not leave the setting behind.
        await lock(connection, scope.id)
    await _upsert(connection, setting, {"scope": scope_text(scope), "key": key}, value)


async def remove(connection: Connection, scope: Scope, key: str) -> bool:
    gone = await connection.execute(
        sa.delete(setting).where(setting.c.scope == scope_text(scope), setting.c.key == key)
    )
    return bool(gone.rowcount)


async def forget(connection: Connection, scope: Scope) -> None:
    await connection.execute(sa.delete(setting).where(setting.c.scope == scope_text(scope)))


async def of_scopes(connection: Connection, scopes: Sequence[Scope]) -> tuple[dict[str, Json], ...]:
    """Give what is set at each of several levels, in one statement."""
    levels: dict[str, dict[str, Json]] = {scope_text(scope): {} for scope in scopes}
    found = await connection.execute(
        sa.select(setting).where(setting.c.scope.in_(list(levels))).order_by(setting.c.key)
    )
    for row in found:
        levels[row.scope][row.key] = row.value
    return tuple(levels[scope_text(scope)] for scope in scopes)


# Made once: every turn begins with it, and putting it together takes longer than asking it.
_WITH_NOTE = sa.union_all(
    sa.select(setting.c.scope, setting.c.key, setting.c.value).where(
        setting.c.scope.in_(sa.bindparam("scopes", expanding=True))
    ),
    sa.select(sa.literal(NOTE), note.c.key, note.c.value).where(note.c.key == sa.bindparam("key")),
)


async def with_note(
    connection: Connection, scopes: Sequence[Scope], key: str
) -> tuple[Json, tuple[dict[str, Json], ...]]:
    """Give a note, and what is set at each of several levels, in one statement."""
    levels: dict[str, dict[str, Json]] = {NOTE: {}, **{scope_text(scope): {} for scope in scopes}}
    for row in await connection.execute(_WITH_NOTE, {"scopes": list(levels), "key": key}):
        levels[row.scope][row.key] = row.value
    return levels[NOTE].get(key), tuple(levels[scope_text(scope)] for scope in scopes)


async def resolve(connection: Connection, model: str | None, conversation_id: str | None) -> dict[str, Json]:
    """Give what holds for a model in a conversation."""
    levels: list[Scope] = [Everywhere()]
    if model is not None:
        levels.append(ForModel(model))
    if conversation_id is not None:
        levels.append(ForConversation(conversation_id))
    return {key: value for level in await of_scopes(connection, levels) for key, value in level.items()}


async def put_note(connection: Connection, key: str, value: Json) -> None:
    await _upsert(connection, note, {"key": key}, value)


async def get_note(connection: Connection, key: str) -> Json:
    """Give a note; None when there is none."""
    found: Json = await connection.scalar(sa.select(note.c.value).where(note.c.key == key))
    return found


_NOTES = sa.select(note).where(note.c.key.in_(sa.bindparam("keys", expanding=True)))


async def notes_named(connection: Connection, keys: Sequence[str]) -> dict[str, Json]:
    """Give several notes in one statement; None for those there are not."""
    found = await connection.execute(_NOTES, {"keys": list(keys)})
    return {**dict.fromkeys(keys), **{row.key: row.value for row in found}}


async def notes(connection: Connection, start: str) -> dict[str, Json]:
    """Give the notes whose keys begin in the same way, by what follows that beginning."""
    found = await connection.execute(sa.select(note).where(note.c.key.startswith(start, autoescape=True)))
    return {row.key.removeprefix(start): row.value for row in found}


async def remove_note(connection: Connection, key: str) -> bool:
    """Forget a note; false when there was none."""
    return bool((await connection.execute(sa.delete(note).where(note.c.key == key))).rowcount)


async def _upsert(connection: Connection, table: sa.Table, key: Mapping[str, str], value: Json) -> None:
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    new = insert(table).values(**key, value=value, updated=rows.now())
    await connection.execute(
        new.on_conflict_do_update(
            index_elements=list(key), set_={"value": new.excluded.value, "updated": new.excluded.updated}
        )
    )
