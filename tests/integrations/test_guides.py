"""The guides of docs/integrations.md: ten lines or fewer, and they run as they stand.

Those of frameworks that are not installed here are run by `make dropins`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.strict_responses import StrictResponses
from tests.integrations.guides import TITLES, guide
from tests.integrations.kit import Script, chat_service, serving

LINES = 10


@pytest.mark.parametrize("name", TITLES)
def test_a_guide_has_few_lines(name: str) -> None:
    assert len([line for line in guide(name).splitlines() if line]) <= LINES


def run(name: str, url: str, folder: Path) -> str:
    (folder / "guide.py").write_text(guide(name))
    done = subprocess.run(
        [sys.executable, "guide.py"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "unused",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["langchain", "pydantic-ai"])
def test_a_guide_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    with chat_service(Script(0), 100_000) as service:
        assert run(name, service.url, tmp_path) == "Part 1 is checked: all valves are within their limits.\n"
        assert service.problems() == []
    assert (tmp_path / "chats.db").exists()


def test_the_guide_of_the_agents_sdk_runs_as_it_stands(tmp_path: Path) -> None:
    provider = StrictResponses(window=100_000)
    with serving(provider.app) as url:
        assert run("openai-agents", f"{url}/v1", tmp_path) == "Answer to: Hello\n"
        assert provider.torn == []
    assert (tmp_path / "chats.db").exists()
