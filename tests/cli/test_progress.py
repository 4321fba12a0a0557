"""The progress line: for people who look, and gone when it is over."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from octavo.cli import progress as module
from octavo.cli.progress import ProgressSteps, progress, size_of
from tests.cli.kit import Terminal


def test_the_line_is_drawn_over_itself_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0)
    monkeypatch.setattr(module, "PAUSE", 0)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", Terminal(raw, encoding="utf-8"))
    with progress() as shown:
        shown.step("12 messages", 1, 4)
        shown.step("waiting")
    assert raw.getvalue().decode() == (
        "\r\x1b[K" + "█" * 6 + "░" * 18 + "  25% 12 messages\r\x1b[Kwaiting\r\x1b[K"
    )


def test_what_is_quick_and_what_nobody_sees_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", Terminal(raw, encoding="utf-8"))
    with progress() as shown:
        shown.step("quick")
    assert raw.getvalue() == b""
    monkeypatch.setattr(module, "PATIENCE", 0)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    with progress() as shown:
        shown.step("piped")
    assert out.getvalue() == ""


def test_a_file_has_a_size_and_a_pipe_has_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([1, 2, 3]))
    with path.open("rb") as file:
        file.read(3)
        assert (size_of(file), file.tell()) == (9, 3)

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert size_of(Pipe(b"xxx")) == 0


def test_many_things_are_told_at_every_tenth_of_the_way_or_at_every_so_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known, unknown, brief = ProgressSteps(0.0), ProgressSteps(0.0), ProgressSteps()
    for count in range(1, 1_001):
        known.step(f"{count} chats", count, count * 5, 5_000)
    told = capsys.readouterr().err.splitlines()
    assert (len(told), told[0], told[-1]) == (10, "100 chats (10%)", "1000 chats (100%)")
    for count in range(1, 25_000):
        unknown.step(f"{count} chats", count, count * 5, 0)
        brief.step(f"{count} chats", count, count * 5, 0)
    assert capsys.readouterr().err.splitlines() == ["10000 chats", "20000 chats"]
