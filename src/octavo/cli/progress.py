"""One line on standard error that says how far something is; nothing at all where nobody is looking."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from octavo.cli.lines import bar, fit, is_terminal, screen_columns

PATIENCE = 0.5
"""Seconds before the line appears: what is quicker needs none."""
LONG = 5.0
"""Seconds before anything is logged in a pipe: what is quicker needs no log."""
PAUSE = 0.1
"""Seconds between two drawings."""
COLUMNS = 24
TENTHS = 10
MANY = 10_000
"""Things after which a line is written where nobody knows how many there will be."""


class ProgressLine:
    """A line that is drawn over itself."""

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._next = time.monotonic() + PATIENCE
        self._drawn = False

    def step(self, words: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done; with a total, how much of it."""
        now = time.monotonic()
        if not self._visible or now < self._next:
            return
        self._next, self._drawn = now + PAUSE, True
        share = f"{bar(done / total, COLUMNS)} {done / total:4.0%} " if total else ""
        sys.stderr.write("\r\x1b[K" + fit(share + words, screen_columns() - 1))
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False


class ProgressLog:
    """The same in a pipe, for what takes long: a line whenever the words change, and at every tenth of the way."""

    def __init__(self) -> None:
        self._said = ("", 0)

    def step(self, words: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done; with a total, how much of it."""
        at = (words, TENTHS * done // total if total else 0)
        if at != self._said:
            self._said = at
            print(f"{words} ({done:,} of {total:,})" if total else words, file=sys.stderr, flush=True)


class ProgressSteps:
    """The same for many things of one kind: a line at every tenth of the way, or at every so many of them."""

    def __init__(self, patience: float = LONG) -> None:
        self._said, self._from = 0, time.monotonic() + patience

    def step(self, words: str, count: int, done: int, total: int) -> None:
        """Say what is done; the way is measured in the input if its length is known, else in things."""
        at = TENTHS * done // total if total else count // MANY
        if at != self._said and time.monotonic() >= self._from:
            self._said = at
            share = f" ({done / total:.0%})" if total else ""
            print(f"{words}{share}", file=sys.stderr, flush=True)


@contextmanager
def progress() -> Iterator[ProgressLine]:
    """Show progress while something goes on, if standard error is a terminal."""
    shown = ProgressLine(visible=is_terminal(sys.stderr))
    try:
        yield shown
    finally:
        shown.clear()


def size_of(file: IO[bytes]) -> int:
    """Tell how large a file is; 0 for a pipe, and for what has no end."""
    if not file.seekable():
        return 0
    at = file.tell()
    try:
        end = file.seek(0, 2)
    except OSError:
        return 0
    file.seek(at)
    return end
