"""Databases that drop-ins opened are closed after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from octavo.integrations.shared_engine import close_engines


@pytest.fixture(autouse=True)
def no_engines_left() -> Iterator[None]:
    yield
    close_engines()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
