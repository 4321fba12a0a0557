"""The MCP server in the settings of agents: written in each one's own format, and taken out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from octavo.errors import UsageError
from octavo.integrations.mcp_install import CLIENTS, COPY, plan_install, plan_uninstall

COMMAND = ["/bin/octavo", "mcp", "--db", "chats.db"]
FOUND: dict[str, Any] = {
    "claude-code": {
        "mcpServers": {"octavo": {"type": "stdio", "command": "/bin/octavo", "args": COMMAND[1:]}}
    },
    "codex": {"mcp_servers": {"octavo": {"command": "/bin/octavo", "args": COMMAND[1:]}}},
    "gemini": {"mcpServers": {"octavo": {"command": "/bin/octavo", "args": COMMAND[1:]}}},
    "opencode": {"mcp": {"octavo": {"type": "local", "command": COMMAND, "enabled": True}}},
}
THEIRS = {
    "claude-code": '{"mcpServers": {"other": {"command": "x"}}, "numStartups": 3}',
    "codex": '# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui] # end\ntheme = "dark"\n',
    "gemini": '{"theme": "dark"}',
    "opencode": '{"$schema": "https://opencode.ai/config.json", "mcp": {}}',
}


def parsed(text: str, path: Path) -> Any:
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_server_is_written_in_the_clients_own_format(name: str, tmp_path: Path) -> None:
    path = CLIENTS[name].file(tmp_path)
    change = plan_install(CLIENTS[name], path, COMMAND, {})
    assert not path.exists()
    assert change.apply() is None
    assert parsed(path.read_text(), path) == FOUND[name]
    assert parsed(change.shown, path) == FOUND[name]
    assert not plan_install(CLIENTS[name], path, COMMAND, {}).changes


@pytest.mark.parametrize("name", CLIENTS)
def test_what_else_is_there_stays_and_uninstalling_gives_it_back(name: str, tmp_path: Path) -> None:
    path = CLIENTS[name].file(tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(THEIRS[name])
    kept = plan_install(CLIENTS[name], path, COMMAND, {"OCTAVO_DB": "x"}).apply()
    assert kept == path.with_name(path.name + COPY)
    assert kept.read_text() == THEIRS[name]
    before, after = parsed(THEIRS[name], path), parsed(path.read_text(), path)
    assert {**after, CLIENTS[name].keys[0]: None} == {**before, CLIENTS[name].keys[0]: None}
    plan_install(CLIENTS[name], path, ["elsewhere", "mcp"], {}).apply()
    assert path.read_text().count("elsewhere") == 1
    plan_uninstall(CLIENTS[name], path).apply()
    left = parsed(path.read_text(), path)
    assert left == {key: value for key, value in before.items() if value != {}}
    assert not plan_uninstall(CLIENTS[name], path).changes


def test_comments_in_a_toml_file_stay(tmp_path: Path) -> None:
    path = CLIENTS["codex"].file(tmp_path)
    path.parent.mkdir()
    path.write_text(THEIRS["codex"])
    plan_install(CLIENTS["codex"], path, COMMAND, {}).apply()
    assert path.read_text().startswith(THEIRS["codex"].rstrip())


@pytest.mark.parametrize("text", ["{ // mine\n}", "[]", '{"mcpServers": []}'])
def test_a_file_that_cannot_be_read_is_left_alone(text: str, tmp_path: Path) -> None:
    path = CLIENTS["gemini"].file(tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(UsageError, match="by hand"):
        plan_install(CLIENTS["gemini"], path, COMMAND, {})
    assert path.read_text() == text
