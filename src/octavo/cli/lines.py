"""Lines for a terminal as values: pieces of text with a meaning, coloured only when they are printed.

What is drawn can be compared in a test as it is; no text of a conversation can command the terminal.
"""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TextIO, TypeAlias

Style = Literal["", "strong", "faint", "good", "near", "warn", "bad", "accent"]
"""What a piece is, not what colour it has."""
Piece: TypeAlias = tuple[Style, str]
Line: TypeAlias = tuple[Piece, ...]

CODES: Mapping[Style, str] = MappingProxyType(
    {
        "strong": "1",
        "faint": "2",
        "good": "32",
        "near": "33",
        "warn": "1;33",
        "bad": "1;31",
        "accent": "36",
    }
)
_COLOURS = re.compile(r"(?:^|;)3\d(?=;|$)")
_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_CONTROLS |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
WIDE = frozenset("WF")
"""East Asian characters that take two columns."""


def line(*pieces: str | Piece) -> Line:
    """Make a line; a bare text has no style."""
    return tuple(("", piece) if isinstance(piece, str) else piece for piece in pieces)


def text_lines(text: str) -> list[Line]:
    """Make lines of a text, without any style."""
    return [line(each) for each in text.split("\n")]


def plain(made: Line) -> str:
    return "".join(text for _, text in made)


def clean(text: str) -> str:
    """Show control characters instead of obeying them: a message must not move the cursor or rename the window."""
    return text.translate(_CONTROLS)


def width(text: str) -> int:
    """Count the columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in WIDE else 1


def fit(text: str, columns: int) -> str:
    """Cut a text to so many columns, with an ellipsis where it was cut."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for character in text:
        used += _columns(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…" if columns > 0 else ""


def summary_of(text: str, columns: int) -> str:
    """Show a text in one line: what it says first, and how many lines more there are."""
    rows = [row for row in clean(text).strip().split("\n") if row.strip()]
    if not rows:
        return "(empty)"
    more = f" (+{len(rows) - 1} lines)" if len(rows) > 1 else ""
    return fit(" ".join(rows[0].split()), max(8, columns - len(more))) + more


def table(
    rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), right: Iterable[int] = ()
) -> list[Line]:
    """Line columns up; those in `right` at their right edge, the last one as long as it is."""
    body = [[clean(cell) for cell in row] for row in rows]
    every = [list(head), *body] if head else body
    wide = [max(width(cell) for cell in column) for column in zip(*every, strict=True)] if every else []
    ends = frozenset(right)

    def set_out(row: Sequence[str]) -> str:
        cells = [
            " " * (wide[i] - width(cell)) + cell if i in ends else cell + " " * (wide[i] - width(cell))
            for i, cell in enumerate(row)
        ]
        return "  ".join(cells).rstrip()

    made = [line(("faint", set_out(head)))] if head else []
    return made + [line(set_out(row)) for row in body]


def many(count: int, one: str, more: str = "") -> str:
    """Write a number of things: `1 message`, `1,234 messages`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def bar(share: float, columns: int) -> str:
    """Draw a share between 0 and 1 as a bar; what is not nothing shows."""
    full = min(columns, max(round(share * columns), 1 if share > 0 else 0))
    return "█" * full + "░" * (columns - full)


def painted(made: Line, *, colour: bool) -> str:
    """Write a line with the terminal's own codes; without colour, only weight is left."""
    return "".join(_paint(text, CODES.get(style, ""), colour=colour) for style, text in made)


def _paint(text: str, code: str, *, colour: bool) -> str:
    code = code if colour else _COLOURS.sub("", code)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def is_terminal(file: TextIO) -> bool:
    return file.isatty()


def wants_colour(environment: Mapping[str, str]) -> bool:
    """Obey `NO_COLOR`: set and not empty means no colour."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def screen_columns() -> int:
    """Ask the terminal how wide it is; 80 where there is none."""
    return shutil.get_terminal_size().columns


def write_lines(lines: Iterable[Line], *, environment: Mapping[str, str], file: TextIO | None = None) -> None:
    """Print lines: with codes on a terminal, as bare text anywhere else."""
    out = file or sys.stdout
    styled = is_terminal(out) and environment.get("TERM") != "dumb"
    colour = styled and wants_colour(environment)
    for made in lines:
        out.write((painted(made, colour=colour) if styled else plain(made)) + "\n")
    out.flush()
