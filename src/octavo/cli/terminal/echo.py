"""Readies the terminal before anything slow happens, so that what is typed while the program starts is not garbled."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_terminal() -> Iterator[None]:
    """Keep typed keys as they are until somebody reads them: no echo, and Enter stays Enter.

    Without this, an Enter that is pressed early arrives as a new line. Ctrl-C works as ever. Afterwards the terminal
    is as it was.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    quiet = [*before]
    quiet[0] &= ~termios.ICRNL
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
