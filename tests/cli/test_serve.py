"""`serve` as a process of its own: it says where it is, answers, and leaves when told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest


@contextmanager
def serving(
    tmp_path: Path, *arguments: str, **more: str
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start a server; give its process and the lines it wrote up to its address."""
    keep = ("PATH", "PYTHONPATH", "HOME", "LANG")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    environment |= {"OCTAVO_DB": str(tmp_path / "chats.db"), **more}
    command = [sys.executable, "-c", "from octavo.cli.main import main; main()", "serve", "--port", "0"]
    process = subprocess.Popen([*command, *arguments], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said: list[str] = []
    try:
        for line in process.stderr:
            said.append(line)
            if "Octavo at" in line:
                break
        yield process, said
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def address(said: list[str]) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+", said[-1])
    assert found, said
    return found[0]


def get(url: str) -> httpx2.Response:
    """Ask a server that may still be starting: its socket is open, so the question waits."""
    return httpx2.get(url, timeout=60, trust_env=False)


def test_a_database_for_reading_is_served(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, said):
        made = httpx2.post(
            f"{address(said)}/api/v1/conversations", json={"title": "Harbour"}, trust_env=False
        )
        assert made.status_code == 201
    with serving(tmp_path, OCTAVO_DB=f"sqlite:///{tmp_path / 'chats.db'}?mode=ro") as (process, said):
        where = address(said)
        assert get(f"{where}/ready").json()["read_only"] is True
        (found,) = get(f"{where}/api/v1/conversations").json()["conversations"]
        assert found["title"] == "Harbour"
        refused = httpx2.post(f"{where}/api/v1/conversations", json={"title": "More"}, trust_env=False)
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "read_only")
        assert process.stderr
        process.send_signal(signal.SIGTERM)
        assert "opened for reading only" in process.stderr.read()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_says_where_it_is_answers_and_stops_when_told(tmp_path: Path, how: signal.Signals) -> None:
    with serving(tmp_path, "--model", "gpt-4o") as (process, said):
        where = address(said)
        assert f"gateway: {where}/v1" in said[-1]
        assert get(f"{where}/health").status_code == 200
        assert get(f"{where}/api/v1/conversations").json()["conversations"] == []
        process.send_signal(how)
        assert process.wait(timeout=60) in (0, -how)


def test_without_the_local_model_the_server_says_so_and_serves_all_the_same(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with serving(tmp_path, "--local", OCTAVO_CACHE=str(blocked / "cache")) as (_, said):
        assert "the local model cannot be had" in said[0]
        assert "choose another in the page" in said[0]
        assert get(f"{address(said)}/health").status_code == 200
