"""A result file that may take hours to write: a run that was stopped can be continued.

Until it is complete it is called FILE.partial. Beside it, FILE.partial.json says how far it is: the last line of the
input that is done, and how many bytes stand for the lines up to there. What was written after that is cut off and done
again, so the result is the same as without a stop.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import IO

from octavo import __version__
from octavo.core.json_values import Json
from octavo.errors import OctavoError, UsageError
from octavo.providers.locks import try_lock
from octavo.store.files import refuse_database

PAUSE = 1.0
"""Seconds between two notes of how far it is: so much work is done again at the most."""
ENDING = ".partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """How far a batch is."""

    line: int = 0
    """The last line of the input that is done."""
    bytes: int = 0
    """Of the result."""
    conversations: int = 0
    failed: int = 0
    before: int = 0
    after: int = 0
    """Tokens."""
    digest: str = ""
    """Of the lines that are done."""


class ResumableFile:
    """The file while it is written."""

    def __init__(self, file: IO[bytes], note: Path, asked: Mapping[str, Json], state: BatchState) -> None:
        self._file, self._note, self._asked = file, note, asked
        self._next = time.monotonic() + PAUSE
        self.state = state

    def add(self, text: str, state: BatchState) -> None:
        """Write what came of a line."""
        raw = text.encode("utf-8", "surrogatepass")
        self._file.write(raw)
        self.state = replace(state, bytes=self.state.bytes + len(raw))
        if time.monotonic() >= self._next:
            self.save()

    def save(self) -> None:
        """Note how far it is; the note never says more than what is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        half = self._note.with_name(self._note.name + ".new")
        half.write_text(json.dumps({"asked": self._asked, **asdict(self.state)}), "utf-8")
        half.replace(self._note)
        self._next = time.monotonic() + PAUSE


@contextmanager
def resumable(path: Path, asked: Mapping[str, Json], *, resume: bool) -> Iterator[ResumableFile]:
    """Open the result, or go on with it; it appears under its name when it is complete."""
    target = path.resolve()
    refuse_database(target)
    begun, note = (target.with_name(target.name + ending) for ending in (ENDING, f"{ENDING}.json"))
    asked = {**asked, "octavo": __version__}
    try:
        with begun.open("ab+") as file:
            if not try_lock(file):
                raise UsageError(f"another run is writing {path}; wait for it, or give another --out")
            state = _earlier(path, note, asked, resume=resume)
            file.truncate(state.bytes)
            made = ResumableFile(file, note, asked, state)
            try:
                yield made
            except BaseException:
                _stop(made, begun, note)
                raise
            file.flush()
        begun.replace(target)
        note.unlink(missing_ok=True)
    except OSError as error:
        kind = UsageError if error.filename is not None else OctavoError
        raise kind(f"cannot write {path}: {error.strerror or error}") from error


def _earlier(path: Path, note: Path, asked: Mapping[str, Json], *, resume: bool) -> BatchState:
    """Read how far an earlier run came; nothing of it is thrown away unasked."""
    if not note.exists():
        return BatchState()
    try:
        found = json.loads(note.read_text("utf-8"))
        before = found.pop("asked")
        state = BatchState(**found)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{note} cannot be read; remove it to begin again") from error
    if not resume:
        raise UsageError(
            f"an earlier run came as far as line {state.line:,} and left {note.name}; add --resume to go on there, "
            f"or remove {note} to begin again"
        )
    if before != asked:
        names = ", ".join(sorted(key for key in {*before, *asked} if before.get(key) != asked.get(key)))
        raise UsageError(
            f"{path} was begun with another {names}: go on with the same, or remove {note} to begin again"
        )
    return state


def _stop(made: ResumableFile, begun: Path, note: Path) -> None:
    """Keep what is done, and say how to go on; leave nothing behind if nothing is."""
    if made.state.line:
        made.save()
        print(
            f"octavo: stopped after line {made.state.line:,}; to go on there, run the same command with --resume",
            file=sys.stderr,
        )
    else:
        begun.unlink(missing_ok=True)
        note.unlink(missing_ok=True)


class LineDigest:
    """Recognises the lines that were done before, so that another input is not taken for the same."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def add(self, raw: bytes) -> str:
        self._hash.update(raw)
        return self._hash.hexdigest()
