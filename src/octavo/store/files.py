"""Files that are written: whole or not at all, and never over a database."""

from __future__ import annotations

import secrets
from pathlib import Path

from octavo.errors import UsageError

HEADER = b"SQLite format 3\x00"
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database while it is in use; the database is damaged without them, or with others."""


def half_of(target: Path) -> Path:
    """Name the file that becomes `target` when it is complete; nothing else has such a name."""
    return target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")


def refuse_database(target: Path) -> None:
    """Refuse to replace a database, or what belongs to one, by something else."""
    if any(_is_database(one) for one in _owners(target)):
        raise UsageError(f"{target} is a database, or a part of one; write to another file")


def refuse_original(source: Path, target: Path) -> None:
    """Refuse to replace a database by its own copy, or another one that is in use."""
    if any(_is_same(one, source) for one in _owners(target)):
        raise UsageError(f"{target} is the database itself, or a part of it; give the copy another path")
    real = target.resolve()
    for journal in (real.with_name(real.name + ending) for ending in BESIDE):
        if journal.exists():
            raise UsageError(
                f"{target} is in use: there is a {journal.name} beside it; stop what uses it, or give another path"
            )


def _owners(target: Path) -> list[Path]:
    """The database a path may stand for: itself, or the one it lies beside."""
    real = target.resolve()
    beside = [real.with_name(real.name.removesuffix(end)) for end in BESIDE if real.name.endswith(end)]
    return [target, *beside]


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        # What cannot be read cannot be written either, and that is said then.
        return False


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False
