"""API keys: 32 random bytes, shown once, stored only as their SHA-256."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, get_args

import sqlalchemy as sa

from octavo.errors import BadInput, NotFound, ReadOnly
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.ids import new_id
from octavo.store.schema import api_key
from octavo.store.section import Section, reads, writes
from octavo.store.values import ApiKey

KeyScope = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
USUAL: tuple[KeyScope, ...] = ("read", "write")
"""What a key may do when nobody says: use the server, not run it."""
START = "octavo_"
SECRET_BYTES = 32
SHOWN = len(START) + 6
"""Characters of a key that are kept to tell keys apart; what is left is still beyond guessing."""
USED_EVERY = 60_000
"""Milliseconds between two notes of a key's use: requests must not turn into writes."""


class KeyStore(Section):
    """The API keys of a store."""

    @writes
    async def create(
        self, connection: Connection, name: str, *, owner: str = "", scopes: Iterable[str] = USUAL
    ) -> tuple[ApiKey, str]:
        """Make a key; its secret is returned here and never again."""
        if not name.strip():
            raise BadInput("name", "a key needs a name, so that it can be told from others and revoked")
        wanted = set(scopes)
        if unknown := sorted(wanted - set(SCOPES)):
            raise BadInput("scopes", f"unknown scope {unknown[0]!r}; one of {', '.join(SCOPES)}")
        if not wanted:
            raise BadInput("scopes", f"a key without a scope opens nothing; give one of {', '.join(SCOPES)}")
        secret = START + secrets.token_urlsafe(SECRET_BYTES)
        new = sa.insert(api_key).values(
            id=new_id(),
            name=name,
            owner=owner,
            prefix=secret[:SHOWN],
            sha256=_hash(secret),
            scopes=[scope for scope in SCOPES if scope in wanted],
        )
        row = (await connection.execute(new.returning(*api_key.c))).one()
        return rows.api_key(row), secret

    async def find(self, secret: str) -> ApiKey | None:
        """Find the key of a secret; None when there is none or it was revoked."""
        found = await self._find(secret)
        if found is not None and _is_due(found):
            # This is only a note for people: where nothing can be written, the key still works.
            with suppress(ReadOnly):
                await self._note_use(found.id)
        return found

    @reads
    async def _find(self, connection: Connection, secret: str) -> ApiKey | None:
        # The key is looked up by its hash, so the timing of a comparison can tell nothing about the secret.
        found = await connection.execute(
            sa.select(api_key).where(api_key.c.sha256 == _hash(secret), api_key.c.revoked.is_(None))
        )
        row = found.one_or_none()
        return None if row is None else rows.api_key(row)

    @writes
    async def _note_use(self, connection: Connection, id: str) -> None:
        await connection.execute(sa.update(api_key).where(api_key.c.id == id).values(used=rows.now()))

    @writes
    async def revoke(self, connection: Connection, id: str) -> ApiKey:
        at = sa.func.coalesce(api_key.c.revoked, rows.now())
        changed = sa.update(api_key).where(api_key.c.id == id).values(revoked=at).returning(*api_key.c)
        row = (await connection.execute(changed)).one_or_none()
        if row is None:
            raise NotFound(f"there is no API key {id}")
        return rows.api_key(row)

    @reads
    async def every(self, connection: Connection, *, owner: str | None = None) -> tuple[ApiKey, ...]:
        query = sa.select(api_key).order_by(api_key.c.id)
        if owner is not None:
            query = query.where(api_key.c.owner == owner)
        return tuple(rows.api_key(row) for row in await connection.execute(query))


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _is_due(key: ApiKey) -> bool:
    """Tell whether the use of a key is to be noted again."""
    return key.used is None or rows.time_value(key.used) < rows.now() - USED_EVERY
