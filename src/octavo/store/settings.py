"""Settings at three levels: JSON values under text keys. The nearest level wins: conversation, model, everywhere."""

from __future__ import annotations

import sqlalchemy as sa

from octavo.core.json_values import Json
from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.notes import upsert
from octavo.store.schema import note, plain_id, setting
from octavo.store.section import Section, reads, writes
from octavo.store.values import Everywhere, ForConversation, ForModel, Scope

NOTE = "note"
"""Stands for the level of notes; no scope is called so."""

# Made once: every turn begins with it, and putting it together takes longer than asking it.
_WITH_NOTE = sa.union_all(
    sa.select(setting.c.scope, setting.c.key, setting.c.value).where(
        setting.c.scope.in_(sa.bindparam("scopes", expanding=True))
    ),
    sa.select(sa.literal(NOTE), note.c.key, note.c.value).where(note.c.key == sa.bindparam("key")),
)


class SettingStore(Section):
    """The settings of a store."""

    @writes
    async def put(self, connection: Connection, scope: Scope, key: str, value: Json) -> None:
        if isinstance(scope, ForConversation):
            # Held until the commit, so that a deletion meanwhile does not leave the setting behind.
            await lock(connection, scope.id)
        await upsert(connection, setting, {"scope": scope_text(scope), "key": key}, value)

    @writes
    async def remove(self, connection: Connection, scope: Scope, key: str) -> bool:
        """Remove a setting, so that the next level holds; false when it was not set."""
        which = (setting.c.scope == scope_text(scope), setting.c.key == key)
        return bool((await connection.execute(sa.delete(setting).where(*which))).rowcount)

    async def of_scope(self, scope: Scope) -> dict[str, Json]:
        """Give what is set at one level."""
        return (await self.of_scopes(scope))[0]

    @reads
    async def of_scopes(self, connection: Connection, *scopes: Scope) -> tuple[dict[str, Json], ...]:
        """Give what is set at each of several levels."""
        levels: dict[str, dict[str, Json]] = {scope_text(scope): {} for scope in scopes}
        found = await connection.execute(
            sa.select(setting).where(setting.c.scope.in_(list(levels))).order_by(setting.c.key)
        )
        for row in found:
            levels[row.scope][row.key] = row.value
        return tuple(levels[scope_text(scope)] for scope in scopes)

    @reads
    async def of_models(self, connection: Connection, key: str) -> dict[str, Json]:
        """Give what is set for models under one key, by model."""
        start = scope_text(ForModel(""))
        found = await connection.execute(
            sa.select(setting.c.scope, setting.c.value).where(
                setting.c.key == key, setting.c.scope.startswith(start, autoescape=True)
            )
        )
        return {row.scope.removeprefix(start): row.value for row in found}

    @reads
    async def with_note(
        self, connection: Connection, key: str, *scopes: Scope
    ) -> tuple[Json, tuple[dict[str, Json], ...]]:
        """Give a note of the program's own, and what is set at each of several levels, in one statement."""
        levels: dict[str, dict[str, Json]] = {NOTE: {}, **{scope_text(scope): {} for scope in scopes}}
        for row in await connection.execute(_WITH_NOTE, {"scopes": list(levels), "key": key}):
            levels[row.scope][row.key] = row.value
        return levels[NOTE].get(key), tuple(levels[scope_text(scope)] for scope in scopes)

    async def resolve(self, *, model: str | None = None, conversation: str | None = None) -> dict[str, Json]:
        """Give what holds: conversation before model before everywhere."""
        levels: list[Scope] = [Everywhere()]
        if model is not None:
            levels.append(ForModel(model))
        if conversation is not None:
            levels.append(ForConversation(conversation))
        return {key: value for level in await self.of_scopes(*levels) for key, value in level.items()}


def scope_text(scope: Scope) -> str:
    match scope:
        case Everywhere():
            return "global"
        case ForModel(model):
            return f"model:{model}"
        case ForConversation(id):
            return f"conversation:{plain_id(id)}"
