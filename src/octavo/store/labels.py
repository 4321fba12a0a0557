"""Labels of conversations: names that a person sorts them by.

They stand beside the settings, under a scope of their own: a row for each label of a conversation. They are copied and
removed with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from octavo.errors import BadInput
from octavo.store.connection import Connection
from octavo.store.locks import lock
from octavo.store.notes import upsert
from octavo.store.schema import conversation, plain_id, setting
from octavo.store.section import Section, reads, writes
from octavo.store.visibility import LISTED

LONGEST = 40
"""Characters of a label."""
MOST = 20
"""Labels of one conversation."""
_START = "labels:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label, and how many conversations have it."""

    name: str
    conversations: int


class LabelStore(Section):
    """The labels of a store."""

    @reads
    async def of(self, connection: Connection, *ids: str) -> dict[str, tuple[str, ...]]:
        """Give the labels of conversations, in the order of the alphabet; none for those that have none."""
        found: dict[str, tuple[str, ...]] = {plain_id(id): () for id in ids}
        wanted = sa.select(setting.c.scope, setting.c.key).where(
            setting.c.scope.in_([_START + id for id in found])
        )
        for row in sorted(await connection.execute(wanted), key=lambda row: _order(row.key)):
            id = row.scope.removeprefix(_START)
            found[id] = (*found[id], row.key)
        return found

    @writes
    async def put(self, connection: Connection, id: str, labels: Sequence[str]) -> None:
        """Give a conversation these labels, and no others."""
        await lock(connection, id)
        wanted = checked_labels(labels)
        await connection.execute(sa.delete(setting).where(setting.c.scope == label_scope(id)))
        for label in wanted:
            await upsert(connection, setting, {"scope": label_scope(id), "key": label}, None)

    @reads
    async def list(self, connection: Connection, *, owner: str | None = None) -> tuple[Label, ...]:
        """List the labels there are, in the order of the alphabet."""
        used = (
            sa.select(setting.c.key, sa.func.count().label("number"))
            .join(conversation, setting.c.scope == _scope(connection))
            .where(setting.c.scope.startswith(_START), LISTED, *_of(owner))
            .group_by(setting.c.key)
        )
        found = [Label(name=row.key, conversations=row.number) for row in await connection.execute(used)]
        return tuple(sorted(found, key=lambda label: _order(label.name)))

    @writes
    async def rename(
        self, connection: Connection, label: str, to: str | None, *, owner: str | None = None
    ) -> int:
        """Rename a label everywhere, or take it off with None; gives how many conversations had it."""
        new = None if to is None else check_label(to)
        holders = (
            sa.select(setting.c.scope)
            .join(conversation, setting.c.scope == _scope(connection))
            .where(setting.c.key == label, setting.c.scope.startswith(_START), *_of(owner))
        )
        scopes = (await connection.scalars(holders)).all()
        for scope in scopes:
            await connection.execute(
                sa.delete(setting).where(setting.c.scope == scope, setting.c.key == label)
            )
            if new is not None:
                await upsert(connection, setting, {"scope": scope, "key": new}, None)
        return len(scopes)


def check_label(label: str) -> str:
    """Bring a label into its one form: a line without spaces around it."""
    name = " ".join(label.split())
    if not name or len(name) > LONGEST:
        raise BadInput("label", f"expected 1 to {LONGEST} characters, got {len(name)}")
    return name


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Bring the labels of a conversation into their one form."""
    wanted = tuple(dict.fromkeys(check_label(label) for label in labels))
    if len(wanted) > MOST:
        raise BadInput("labels", f"a conversation has {MOST} labels at most, got {len(wanted)}")
    return wanted


def label_scope(id: str) -> str:
    """Give the scope under which the labels of a conversation stand."""
    return _START + plain_id(id)


def has_label(connection: Connection, label: str) -> sa.ColumnElement[bool]:
    """Tell whether a conversation has a label, in SQL."""
    held = sa.select(setting.c.key).where(setting.c.scope == _scope(connection), setting.c.key == label)
    return held.correlate(conversation).exists()


async def copy_labels(connection: Connection, source: str, target: str) -> None:
    """Give a copy the labels of its original."""
    held = sa.select(setting.c.key).where(setting.c.scope == label_scope(source))
    for label in (await connection.scalars(held)).all():
        await upsert(connection, setting, {"scope": label_scope(target), "key": label}, None)


async def remove_labels(connection: Connection, id: str) -> None:
    """Remove the labels of a conversation that is removed."""
    await connection.execute(sa.delete(setting).where(setting.c.scope == label_scope(id)))


def _of(owner: str | None) -> Sequence[sa.ColumnElement[bool]]:
    return () if owner is None else (conversation.c.owner == owner,)


def _scope(connection: Connection) -> sa.ColumnElement[Any]:
    """Give the scope of a conversation's labels, in SQL."""
    id = conversation.c.id
    if connection.dialect.name == "sqlite":
        digits = sa.func.lower(sa.func.hex(id), type_=sa.Text)
    else:
        digits = sa.func.replace(sa.cast(id, sa.Text), "-", "", type_=sa.Text)
    return sa.literal(_START, sa.Text) + digits


def _order(name: str) -> tuple[str, str]:
    return name.casefold(), name
