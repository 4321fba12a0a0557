from __future__ import annotations

import asyncio
import shutil
from functools import partial
from pathlib import Path

import pytest

from octavo.engine.engine import Engine
from tests.cli.kit import Run, octavo
from tests.cli.scripted import MODEL

WINDOW = 4_096
"""Small enough that a few long answers fill it."""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an empty database once: bringing a new one up to date takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "template.db"

    async def make() -> None:
        async with await Engine.open(path) as engine:
            await engine.models.learn_window(MODEL, WINDOW)

    asyncio.run(make())
    return path


@pytest.fixture
def database(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(template, tmp_path / "octavo.db"))


@pytest.fixture
def environment(database: Path, tmp_path: Path) -> dict[str, str]:
    """Give what a command may know of its surroundings: nothing of this machine."""
    return {
        "OCTAVO_DB": str(database),
        "OCTAVO_DATA": str(tmp_path / "data"),
        "OCTAVO_CACHE": str(tmp_path / "cache"),
        "OLLAMA_HOST": "127.0.0.1:9",
    }


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    return partial(octavo, environment=environment)


@pytest.fixture
def talked(run: Run) -> Run:
    """Give a command line on a database with one compressed conversation."""
    said = ["at length 1", "at length 2", "at length 3", "/rename Ports", "/compress"]
    assert run("chat", "--model", MODEL, stdin="\n".join([*said, ""])).code == 0
    return run
