"""Alembic's entry: runs the migrations on the connection `migrate.py` hands over, in its transaction."""

from __future__ import annotations

from alembic import context

from octavo.store.migrate import VERSION_TABLE
from octavo.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # Both databases roll schema changes back with everything else; Alembic does not trust SQLite to.
    transactional_ddl=True,
)
context.run_migrations()
