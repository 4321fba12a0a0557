"""The screen: what is unfinished is drawn again, everything else once."""

from __future__ import annotations

import io
import re

from octavo.cli.lines import line
from octavo.cli.terminal.markdown_stream import MarkdownBlock
from octavo.cli.terminal.screen import Screen, rows_of
from tests.cli.kit import Terminal


def screens(**environment: str) -> tuple[Screen, io.BytesIO]:
    raw = io.BytesIO()
    return Screen(Terminal(raw, encoding="utf-8"), environment), raw


def test_rows_follow_the_width_the_terminal_has_now() -> None:
    assert rows_of([10, 0, 81], 80) == 4
    assert rows_of([60, 60], 30) == 4
    assert rows_of([], 80) == 0


def test_drawing_again_erases_what_was_drawn_and_no_more() -> None:
    screen, raw = screens()
    screen.draw(["one", "two"])
    screen.draw(["three"])
    screen.show([line("done")])
    assert raw.getvalue().decode() == (
        "\x1b[?25lone\ntwo\r\x1b[1A\x1b[J\x1b[?25h\x1b[?25lthree\r\x1b[J\x1b[?25hdone\n"
    )


def test_a_pipe_is_never_drawn_on() -> None:
    out = io.StringIO()
    screen = Screen(out, {})
    screen.draw(["spinner"])
    screen.pour("**hello**")
    screen.hush()
    screen.clear()
    assert out.getvalue() == "**hello**\n"


def test_markdown_is_rendered_for_a_terminal() -> None:
    screen, raw = screens(NO_COLOR="1")
    screen.say(MarkdownBlock("**bold** and\n\n- item"))
    screen.say(MarkdownBlock("```\ncode\n```"))
    screen.say(MarkdownBlock("```\nmore\n```", joined=True))
    text = raw.getvalue().decode()
    assert "\x1b[1mbold\x1b[0m and" in text
    assert "• item" in text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace(" • ", "• ")
    assert "**" not in text
    rows = [row.strip() for row in text.replace("\x1b[0m", "").split("\n")]
    assert "more" in rows[rows.index("code") + 1]


def hues(raw: io.BytesIO) -> set[bytes]:
    """Find the colour codes in what was written."""
    codes = {part for code in re.findall(rb"\x1b\[([0-9;]*)m", raw.getvalue()) for part in code.split(b";")}
    return {code for code in codes if code[:1] in (b"3", b"4", b"9") and len(code) > 1}


def test_no_color_means_no_colour_codes_in_markdown_either() -> None:
    sample = MarkdownBlock("# Head\n\n`code` and [link](https://example.org)\n\n```python\nprint(1)\n```")
    coloured, raw = screens(TERM="xterm-256color")
    coloured.say(sample)
    assert hues(raw)
    bare, raw = screens(TERM="xterm-256color", NO_COLOR="1")
    bare.say(sample)
    assert not hues(raw)


def test_an_answer_cannot_command_the_terminal() -> None:
    screen, raw = screens(NO_COLOR="1")
    screen.say(MarkdownBlock("hello\x1b[2J\x1b]0;title\x07"))
    assert b"\x1b[2J" not in raw.getvalue()
    assert b"\x1b]0" not in raw.getvalue()
