"""`octavo mcp`: the settings of agents from the command line; the server itself is tested in tests/integrations."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cli.kit import Run


def test_the_command_shows_what_it_writes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    asked = run("mcp", "install", "--client", "codex", "--db", "chats.db", "--dry-run")
    assert "[mcp_servers.octavo]" in asked.out
    assert not (tmp_path / ".codex").exists()
    assert run("mcp", "install", "--client", "codex", "--db", "chats.db").code == 0
    written = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())
    assert written["mcp_servers"]["octavo"]["args"][-2:] == ["--db", "chats.db"]
    assert "already" in run("mcp", "install", "--client", "codex", "--db", "chats.db").out
    assert "Taken out" in run("mcp", "uninstall", "--client", "codex").out
    assert "not in" in run("mcp", "uninstall", "--client", "codex").out
    wrong = run("mcp", "install", "--client", "vim")
    assert wrong.code == 2
    assert "claude-code, codex, gemini, opencode" in wrong.err


def test_a_file_elsewhere_can_be_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert run("mcp", "install", "--client", "gemini", "--file", str(file)).code == 0
    assert "octavo" in file.read_text()
