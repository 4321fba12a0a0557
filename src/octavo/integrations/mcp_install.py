"""Writes the MCP server into the settings of an agent, in that agent's own format, and takes it out again.

Everything else in a file stays as it is; in a TOML file, to the letter. A copy of the file is kept beside it before
anything is written.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from octavo.errors import UsageError

NAME = "octavo"
COPY = ".before-octavo"
"""What the name of the copy ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """An agent, and how it writes down a server."""

    name: str
    file: Callable[[Path], Path]
    """Its settings below the home of a person."""
    keys: tuple[str, ...]
    """Where in the settings its servers are."""
    entry: Callable[[Sequence[str], Mapping[str, str]], dict[str, Any]]


def _command(arguments: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"command": arguments[0], "args": list(arguments[1:])}
    return found | {"env": dict(env)} if env else found


def _claude(arguments: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "stdio", **_command(arguments, env)}


def _opencode(arguments: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "local", "command": list(arguments), "enabled": True}
    return found | {"environment": dict(env)} if env else found


CLIENTS: Mapping[str, McpClient] = MappingProxyType(
    {
        client.name: client
        for client in (
            McpClient(
                name="claude-code",
                file=lambda home: home / ".claude.json",
                keys=("mcpServers",),
                entry=_claude,
            ),
            McpClient(
                name="codex",
                file=lambda home: home / ".codex" / "config.toml",
                keys=("mcp_servers",),
                entry=_command,
            ),
            McpClient(
                name="gemini",
                file=lambda home: home / ".gemini" / "settings.json",
                keys=("mcpServers",),
                entry=_command,
            ),
            McpClient(
                name="opencode",
                file=lambda home: home / ".config" / "opencode" / "opencode.json",
                keys=("mcp",),
                entry=_opencode,
            ),
        )
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChange:
    """A change of a file that was not made yet."""

    path: Path
    before: str
    """Empty if there is no such file."""
    after: str
    shown: str
    """What is written, as it stands in the file."""

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def apply(self) -> Path | None:
        """Write the file; gives the copy of what it was, if there was one."""
        kept = None
        if self.before:
            kept = self.path.with_name(self.path.name + COPY)
            kept.write_text(self.before, encoding="utf-8")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.after, encoding="utf-8")
        return kept


def plan_install(
    client: McpClient, path: Path, arguments: Sequence[str], env: Mapping[str, str]
) -> SettingsChange:
    """Say what would be written; raise `UsageError` if the file cannot be read."""
    before, entry = _read(path), client.entry(arguments, env)
    if path.suffix == ".toml":
        shown = _toml(client.keys, entry)
        rest = _without_table(before, client.keys)
        after = f"{rest.rstrip()}\n\n{shown}" if rest.strip() else shown
        _parsed_toml(after, path)
        return SettingsChange(path=path, before=before, after=after, shown=shown)
    settings = _parsed_json(before, path)
    _at(settings, client.keys, path)[NAME] = entry
    shown = json.dumps({client.keys[0]: {NAME: entry}}, indent=2)
    same = bool(before) and settings == _parsed_json(before, path)
    return SettingsChange(path=path, before=before, after=before if same else _json(settings), shown=shown)


def plan_uninstall(client: McpClient, path: Path) -> SettingsChange:
    """Say what the file would be without the server."""
    before = _read(path)
    if path.suffix == ".toml":
        after = _without_table(before, client.keys)
        return SettingsChange(path=path, before=before, after=after, shown=after)
    settings = _parsed_json(before, path)
    servers = _at(settings, client.keys, path)
    if NAME not in servers:
        return SettingsChange(path=path, before=before, after=before, shown=before)
    del servers[NAME]
    if not servers:
        del settings[client.keys[0]]
    after = _json(settings)
    return SettingsChange(path=path, before=before, after=after, shown=after)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _parsed_json(text: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise UsageError(f"{path} is not plain JSON ({error}); write the server in by hand") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} is not an object; write the server in by hand")
    return found


def _at(settings: dict[str, Any], keys: tuple[str, ...], path: Path) -> dict[str, Any]:
    for key in keys:
        inner = settings.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{key} in {path} is not an object; write the server in by hand")
        settings = inner
    return settings


def _json(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _parsed_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML as it can be written to: {error}") from None


def _toml(keys: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join((*keys, NAME))}]"]
    for key, value in entry.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{_quoted(name)} = {_quoted(one)}" for name, one in value.items())
            lines.append(f"{key} = {{ {inner} }}")
        else:
            lines.append(f"{key} = {_quoted(value)}")
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    """Write a string or a list of strings: what JSON writes is TOML as well."""
    return json.dumps(value, ensure_ascii=False)


def _without_table(text: str, keys: tuple[str, ...]) -> str:
    """Take our table, and tables within it, out of a TOML text; all other lines stay as they are."""
    name = ".".join((*keys, NAME))
    kept: list[str] = []
    ours = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            table = line.strip().strip("[]").split("]")[0].strip()
            ours = table == name or table.startswith(name + ".")
        if not ours:
            kept.append(line)
    return "".join(kept)
