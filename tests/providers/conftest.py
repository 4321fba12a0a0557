"""Fixtures of the provider tests: one aimock per test process, one event loop library."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers import aimock


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def peer() -> Iterator[aimock.Aimock]:
    if reason := aimock.missing():
        pytest.skip(reason)
    with aimock.running() as running:
        yield running
