"""Brings a database to this program's schema, in this process and in one transaction.

A database at the newest step is recognised by one small query, and an empty one gets the newest tables at once; a
failed step leaves everything as it was; a database of a newer program is refused, because this one cannot know what its
tables mean.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from octavo.errors import StoreError
from octavo.store.connection import Connection
from octavo.store.schema import metadata

HEAD = "0006"
"""The newest step; `tests/store/test_migrate.py` shows that the files agree."""
VERSION_TABLE = "octavo_version"
MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x0C7A_5E11
"""Any number of our own: replicas that start together upgrade one after the other."""
_step = sa.Table(
    VERSION_TABLE,
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)
"""As Alembic would make it."""


async def version(connection: Connection) -> str | None:
    """Tell which step a database is at; None when it is not ours yet."""
    present = await connection.run_sync(lambda sync: sa.inspect(sync).has_table(VERSION_TABLE))
    if not present:
        return None
    found = await connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return found.scalar_one_or_none()


async def bring_up_to_date(connection: Connection) -> None:
    """Make the newest tables in an empty database, and run the steps that are missing in any other."""
    await _lock(connection)
    if await version(connection) is None:
        await connection.run_sync(_create)
    else:
        await upgrade(connection)


async def upgrade(connection: Connection, migrations: Path = MIGRATIONS) -> None:
    """Run every step that is missing, in the connection's transaction."""
    await _lock(connection)
    at = await version(connection)
    await connection.run_sync(_run, at, migrations)


async def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def refusal(found: str | None, place: str) -> StoreError:
    """Say why a database that cannot be written cannot be opened either."""
    if found is None:
        return StoreError(
            f"{place} holds no conversations of Octavo, and none can be put there: it is read-only"
        )
    if found > HEAD:
        return _newer(found, HEAD)
    return StoreError(
        f"{place} was made by an older Octavo (schema {found}; this program needs {HEAD}) and cannot be brought up to "
        "date, because it is read-only: copy it to where it can be written, and open the copy"
    )


def _newer(found: str, known: str) -> StoreError:
    return StoreError(
        f"the database was made by a newer Octavo (schema {found}; this program knows up to {known}): "
        "update Octavo, or open another database"
    )


def _create(connection: sa.Connection) -> None:
    # Step by step it would take ten times as long, most of it to import Alembic.
    metadata.create_all(connection, checkfirst=False)
    _step.create(connection)
    connection.execute(sa.insert(_step).values(version_num=HEAD))


def _run(connection: sa.Connection, at: str | None, migrations: Path) -> None:
    # Imported here: a database that is up to date does not pay for Alembic.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if at is not None and at not in known:
        raise _newer(at, max(known))
    command.upgrade(config, "head")
