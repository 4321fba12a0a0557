"""PostgreSQL through its asynchronous driver, and what a connection is told before its first statement.

A writer first locks the row of its conversation, so writers to one conversation queue up.
"""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import create_async_engine

from octavo.errors import UsageError
from octavo.store import faults
from octavo.store.direct import LOCK_WAIT, Work

T = TypeVar("T")
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


class Postgresql:
    """One PostgreSQL database."""

    dialect = "postgresql"

    def __init__(self, dsn: str, place: str) -> None:
        try:
            import asyncpg  # type: ignore[import-untyped]
        except ImportError:
            raise UsageError("PostgreSQL needs a driver: install octavo[postgres]") from None

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
        self._reader = self._writer.execution_options(isolation_level="AUTOCOMMIT")

    async def read(self, work: Work[T]) -> T:
        try:
            async with self._reader.connect() as connection:
                return await work(connection)
        except faults.driver_errors() as error:
            raise faults.explain(error, self._place) from error

    async def write(self, work: Work[T]) -> T:
        committing = False
        try:
            async with self._writer.connect() as connection:
                await connection.begin()
                result = await work(connection)
                committing = True
                await connection.commit()
                return result
        except faults.driver_errors() as error:
            raise faults.explain(error, self._place, committing=committing) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._reader.dispose()
        await self._writer.dispose()
