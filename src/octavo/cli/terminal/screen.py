"""The terminal as a log: finished lines are printed once, unfinished ones stand below them and are drawn again.

Only the unfinished lines are ever erased, and how many rows they take is computed from the width the terminal has now,
so resizing it in the middle of an answer leaves nothing behind. Anywhere but on a terminal nothing is drawn twice.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TextIO

from octavo.cli.lines import Line, clean, is_terminal, painted, plain, wants_colour, width
from octavo.cli.terminal.markdown_stream import MarkdownBlock

WIDEST = 100
"""Columns of prose: longer lines are hard to read."""
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


def rows_of(widths: Iterable[int], columns: int) -> int:
    """Count the rows that lines take in a terminal of that width, which wraps them."""
    return sum(max(1, -(-each // max(1, columns))) for each in widths)


class Screen:
    """Where a session is shown."""

    def __init__(self, file: TextIO, environment: Mapping[str, str]) -> None:
        self._file = file
        self._environment = environment
        self.terminal = is_terminal(file) and environment.get("TERM") != "dumb"
        self._colour = self.terminal and wants_colour(environment)
        self._drawn: list[int] = []
        self._spoken = False

    @property
    def columns(self) -> int:
        return self._size().columns

    def _size(self) -> os.terminal_size:
        try:
            return os.get_terminal_size(self._file.fileno())
        except (OSError, ValueError):
            return os.terminal_size((80, 24))

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines for good."""
        text = "".join(self._paint(each) + "\n" for each in lines)
        self._write(self._erased() + text)

    def say(self, block: MarkdownBlock) -> None:
        """Print a finished piece of an answer."""
        gap = "\n" if self._spoken and not block.joined else ""
        self._spoken = True
        self._write(self._erased() + gap + "".join(f"{row}\n" for row in self.render(block.text)))

    def pour(self, text: str) -> None:
        """Print a piece of an answer as it is: where there is no terminal, Markdown stays Markdown."""
        self._spoken = True
        self._write(clean(text))

    def hush(self) -> None:
        """End an answer: the next one begins without a gap."""
        if self._spoken and not self.terminal:
            self._write("\n")
        self._spoken = False

    def draw(self, lines: Sequence[str]) -> None:
        """Draw unfinished lines in place of those drawn before; no more of them than fit."""
        if not self.terminal:
            return
        size = self._size()
        shown = lines[-max(1, size.lines - 2) :]
        erased = self._erased()
        self._drawn = [width(_CODES.sub("", each)) for each in shown]
        self._write(erased + _HIDE + "\n".join(shown))

    def clear(self) -> None:
        """Take the unfinished lines away."""
        if self._drawn:
            self._write(self._erased())

    def render(self, text: str) -> list[str]:
        """Make Markdown into rows of this terminal's width."""
        from rich.console import Console

        from octavo.cli.terminal.markdown import LeftMarkdown

        out = io.StringIO()
        console = Console(
            file=out,
            force_terminal=True,
            width=min(WIDEST, self.columns - 1),
            no_color=not self._colour,
            legacy_windows=False,
            _environ=self._environment,
        )
        console.print(LeftMarkdown(clean(text), code_theme="ansi_dark", hyperlinks=False))
        rows = ["" if not _CODES.sub("", row).strip() else row.rstrip() for row in out.getvalue().split("\n")]
        spaced = [row for before, row in pairwise(["", *rows]) if row or before]
        return spaced if not spaced or spaced[-1] else spaced[:-1]

    def paint(self, lines: Iterable[Line]) -> list[str]:
        return [self._paint(each) for each in lines]

    def _paint(self, made: Line) -> str:
        return painted(made, colour=self._colour) if self.terminal else plain(made)

    def _erased(self) -> str:
        if not self._drawn:
            return ""
        up = rows_of(self._drawn, self.columns) - 1
        self._drawn = []
        return "\r" + (f"\x1b[{up}A" if up else "") + "\x1b[J" + _SHOW

    def _write(self, text: str) -> None:
        if text:
            self._file.write(text)
            self._file.flush()
