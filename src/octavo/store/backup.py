"""An online copy of an SQLite database: one state of it, taken while others read and write."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from octavo.errors import UsageError
from octavo.store.files import half_of, refuse_original
from octavo.store.sqlite import make_private, opened_for_reading


def copy_file(source: Path, target: Path, *, overwrite: bool, read_only: bool) -> None:
    """Copy a database to a file that appears whole or not at all, and never in the place of the original."""
    refuse_original(source, target)
    if target.exists() and not overwrite:
        raise UsageError(f"{target} exists; give another path, or say that it may be replaced")
    if not target.parent.is_dir():
        raise UsageError(f"the folder {str(target.parent)!r} does not exist; create it, or give another path")
    partial = half_of(target)
    make_private(partial)
    try:
        _copy(opened_for_reading(source) if read_only else str(source), partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _copy(source: str, target: Path) -> None:
    opened = sqlite3.connect(source, uri=source.startswith("file:"))
    with closing(opened) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
        # One file: the copy is closed without a journal beside it.
        copy.execute("PRAGMA journal_mode=DELETE").fetchall()
