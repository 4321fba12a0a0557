"""Lines: columns, colours, and texts that would command the terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.lines import bar, clean, fit, line, painted, plain, summary_of, table, width, write_lines
from tests.cli.kit import Terminal

SAMPLE = line(("good", "ok"), " and ", ("strong", "bold"), ("warn", "!"))


def test_colours_are_for_terminals_that_want_them() -> None:
    assert painted(SAMPLE, colour=True) == "\x1b[32mok\x1b[0m and \x1b[1mbold\x1b[0m\x1b[1;33m!\x1b[0m"
    assert painted(SAMPLE, colour=False) == "ok and \x1b[1mbold\x1b[0m\x1b[1m!\x1b[0m"
    assert plain(SAMPLE) == "ok and bold!"


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_no_color_and_dumb_terminals_are_obeyed(environment: dict[str, str], coloured: bool) -> None:
    raw = io.BytesIO()
    out = Terminal(raw, encoding="utf-8")
    write_lines([SAMPLE], environment=environment, file=out)
    assert (b"\x1b[32m" in raw.getvalue()) == coloured


def test_a_pipe_gets_bare_text() -> None:
    out = io.StringIO()
    write_lines([SAMPLE], environment={}, file=out)
    assert out.getvalue() == "ok and bold!\n"


@given(st.text())
def test_no_text_can_command_the_terminal(text: str) -> None:
    """Seen failing with: the codes from 0x80 to 0x9f left alone, of which 0x9b begins a command."""
    assert not any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 for each in clean(text) if each not in "\n\t")


def test_escapes_are_shown() -> None:
    assert clean("a\x1b[2Jb\x07\x9bc\n") == "a␛[2Jb␇\ufffdc\n"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(1, 40))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    """Seen failing with: one column taken off for every character, also for wide ones."""
    assert width(fit(text, columns)) <= columns
    assert fit(text, columns) == text or fit(text, columns).endswith("…")


def test_wide_and_combining_characters_are_counted_as_they_look() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301", "a\u200db")] == [3, 4, 1, 2]


def test_a_long_text_is_summed_up_in_a_line() -> None:
    assert summary_of("one\n\ntwo\nthree", 40) == "one (+2 lines)"
    assert summary_of("  \n", 40) == "(empty)"
    assert summary_of("x" * 100, 20) == "x" * 19 + "…"


def test_tables_line_up_also_with_wide_characters() -> None:
    made = table([("日本", "1"), ("a", "22")], head=("name", "n"), right=(1,))
    assert [plain(each) for each in made] == ["name   n", "日本   1", "a     22"]
    assert table([]) == []


def test_bars_show_what_is_not_nothing() -> None:
    assert [bar(share, 4) for share in (0, 0.01, 0.5, 1, 3)] == ["░░░░", "█░░░", "██░░", "████", "████"]
