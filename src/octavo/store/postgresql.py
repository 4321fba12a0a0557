"""PostgreSQL through its asynchronous driver, and what a connection is told before its first statement.

A writer first locks the row of its conversation, so writers to one conversation queue up.

A transaction that writes many rows into a table updates the table's statistics before it commits. The server may have
updated them in the meantime: it does not see the new rows yet, so it takes the table for nearly empty, and would plan
to read all of it for every message of a branch. Statistics taken here count the rows of this transaction, and until it
ends nobody else can take any. Many short transactions that belong together count as one.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, TypeVar

import asyncpg  # type: ignore[import-untyped]
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from octavo.store import error_mapping
from octavo.store.connection import LOCK_WAIT, Work

log = logging.getLogger(__name__)

T = TypeVar("T")
MANY = 1_000
"""Rows that one transaction writes into a table, from which on its statistics may be wrong."""
CONNECT_WAIT = 10.0
"""Seconds a server has to answer."""
CONNECTIONS, MORE_CONNECTIONS = 5, 10
"""Kept open, and opened beside them while all of those are busy."""
_SESSION = f"""
SET lock_timeout = '{int(LOCK_WAIT)}s';
SET idle_in_transaction_session_timeout = '120s';
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
"""
"""Every statement here looks rows up by key, and takes a millisecond: planning or compiling it anew each time costs
more than running it, and a plan that was made while a table was small would read all of it later."""


_WRITTEN = "rows written in this transaction"
_STATISTICS_WAIT = sa.text("SET LOCAL lock_timeout = '5s'")
"""The server's own work on a table gives way after one second, unless it must not be put off."""
_KNOWN = sa.text("SELECT coalesce(max(reltuples), 0) FROM pg_class WHERE oid = to_regclass(:table)")


class Postgresql:
    """One PostgreSQL database."""

    dialect = "postgresql"

    def __init__(self, dsn: str, place: str) -> None:
        async def connect() -> Any:
            # The driver reads the URL itself, so everything libpq's URLs can say (sslmode, several hosts) works.
            connection = await asyncpg.connect(dsn, timeout=CONNECT_WAIT)
            try:
                await connection.execute(_SESSION)
            except BaseException:
                connection.terminate()
                raise
            return connection

        self._place = place
        self._writer = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=connect,
            pool_size=CONNECTIONS,
            max_overflow=MORE_CONNECTIONS,
            pool_timeout=LOCK_WAIT,
        )
        sa.event.listen(self._writer.sync_engine, "after_cursor_execute", _count)
        self._reader = self._writer.execution_options(isolation_level="AUTOCOMMIT")

    async def read(self, work: Work[T]) -> T:
        try:
            async with self._reader.connect() as connection:
                return await work(connection)
        except error_mapping.driver_errors() as error:
            raise error_mapping.explain(error, self._place) from error

    async def write(self, work: Work[T], written: Counter[str] | None = None) -> T:
        committing = False
        try:
            async with self._writer.connect() as connection:
                rows = Counter[str]() if written is None else written
                await _start_counting(connection, rows)
                result = await work(connection)
                await _take_statistics(connection, rows)
                committing = True
                await connection.commit()
                return result
        except error_mapping.driver_errors() as error:
            raise error_mapping.explain(error, self._place, committing=committing) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._reader.dispose()
        await self._writer.dispose()


async def _start_counting(connection: AsyncConnection, written: Counter[str]) -> None:
    """Count the rows that are written, by table."""
    (await connection.get_raw_connection()).info[_WRITTEN] = written


def _count(connection: sa.Connection, *call: Any) -> None:
    *_, parameters, context, many = call
    if many and context.isinsert:
        connection.info[_WRITTEN][context.compiled.statement.table.name] += len(parameters)


async def _take_statistics(connection: AsyncConnection, written: Counter[str]) -> None:
    """Update the statistics where they may be far off; those of a table that was known to be large are not."""
    for table, rows in sorted(written.items()):
        if rows < MANY or await connection.scalar(_KNOWN, {"table": table}) >= 2 * rows:
            continue
        del written[table]
        try:
            async with connection.begin_nested():
                await connection.execute(_STATISTICS_WAIT)
                await connection.execute(sa.text(f"ANALYZE {table}"))
        except DBAPIError as error:
            # Somebody else is at work on the table. Reads are slower without statistics, but that is not worth losing
            # the write.
            log.info("no statistics of %s were taken: %s", table, error.orig)
