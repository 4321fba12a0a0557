"""One process at a time: a lock that ends with the process that holds it, however it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

POLL_SECONDS = 0.2
"""Between two looks at a lock that somebody holds."""

if sys.platform == "win32":
    import msvcrt

    def try_lock(file: IO[bytes]) -> bool:
        """Take a lock that ends with the file; tell whether nobody else had it."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(file: IO[bytes]) -> bool:
        """Take a lock that ends with the file; tell whether nobody else had it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock file and hold it; closing the file gives it back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        while not try_lock(file):
            time.sleep(POLL_SECONDS)
        yield
