"""What a process is told by its environment: where its data is and which model it starts with, read once at the edge.

Nothing else in Octavo looks for a folder of its own; whoever needs one is given these values.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from octavo.errors import UsageError

DATABASE = "octavo.db"
HISTORY = "input-history.jsonl"
PRIVATE = 0o700
"""Conversations are nobody else's business: folders Octavo makes are the user's alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    """The settings of this process."""

    data: Path
    """The folder for what must not be lost."""
    database: str
    """The URL of the database, or the path of a SQLite file."""
    chosen: bool = False
    """Whether somebody chose that database, or it is the default."""
    model: str = ""
    """The model where nothing stored says otherwise."""

    @property
    def history(self) -> Path:
        """Where the terminal keeps what was typed."""
        return self.data / HISTORY


def read_settings(environment: Mapping[str, str]) -> ProcessSettings:
    """Read `OCTAVO_DATA`, `OCTAVO_DB` (or the file that `OCTAVO_DB_FILE` names) and `OCTAVO_MODEL`."""
    data = data_folder(environment)
    chosen = environment.get("OCTAVO_DB", "").strip() or _from_file(environment, "OCTAVO_DB_FILE")
    return ProcessSettings(
        data=data,
        database=chosen or str(data / DATABASE),
        chosen=bool(chosen),
        model=environment.get("OCTAVO_MODEL", "").strip(),
    )


def data_folder(environment: Mapping[str, str]) -> Path:
    """Find the folder: `OCTAVO_DATA`, else where the platform keeps the data of programs."""
    if chosen := environment.get("OCTAVO_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "octavo"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "octavo"
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "octavo"


def make_folder(folder: Path) -> None:
    """Make a folder of the user's own unless it is there."""
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the folder {folder} cannot be made: {error.strerror}; set OCTAVO_DATA to one that can"
        ) from error


def _from_file(environment: Mapping[str, str], name: str) -> str:
    """Read a value that is too secret for the environment, such as a URL with a password."""
    path = environment.get(name, "").strip()
    if not path:
        return ""
    try:
        return Path(path).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} names {path}, which cannot be read: {error}") from error
