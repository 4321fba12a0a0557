from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ranks import write_ranks


@pytest.fixture(scope="session")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that tiktoken takes for its cache."""
    return write_ranks(tmp_path_factory.mktemp("tiktoken"))
