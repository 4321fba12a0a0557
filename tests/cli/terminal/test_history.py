"""The input history: across runs, with the texts of long pastes."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from types import MappingProxyType

import pytest

from octavo.cli.terminal import history
from octavo.cli.terminal.history import InputHistory
from octavo.cli.terminal.placeholders import InputDraft

PASTED = InputDraft("look: [LongText#1]", MappingProxyType({1: "a\nb" * 100}))


def listed(kept: InputHistory) -> list[str]:
    async def load() -> list[str]:
        return [text async for text in kept.load()]

    return asyncio.run(load())


def test_entries_are_there_again_in_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "new" / "history.jsonl"
    first = InputHistory(path)
    for draft in (InputDraft("one"), PASTED, PASTED, InputDraft("  ")):
        first.remember(draft)
    second = InputHistory(path)
    assert second.entries == [InputDraft("one"), PASTED]
    assert listed(second) == ["look: [LongText#1]", "one"]
    assert second.pastes(1) == dict(PASTED.pastes)
    assert (second.pastes(0), second.pastes(2), second.pastes(3)) == ({}, {}, {})


def test_what_is_remembered_now_can_be_recalled_at_once(tmp_path: Path) -> None:
    kept = InputHistory(tmp_path / "history.jsonl")
    assert listed(kept) == []
    kept.append_string("what the editor thinks")
    kept.remember(PASTED)
    assert listed(kept) == ["look: [LongText#1]"]


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    InputHistory(path).remember(InputDraft("secret"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_line_costs_that_entry_only(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(
        b'{"text": "one"}\n{"text": \n\xff\xfe\n[]\n{"text": "two", "pastes": 3}\n{"text": "three"}\n'
    )
    assert [entry.text for entry in InputHistory(path).entries] == ["one", "three"]


def test_a_place_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = InputHistory(tmp_path / "file" / "history.jsonl")
    kept.remember(InputDraft("one"))
    assert kept.entries == [InputDraft("one")]


def test_the_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LARGEST", 10_000)
    path = tmp_path / "history.jsonl"
    kept = InputHistory(path)
    for number in range(200):
        kept.remember(InputDraft(f"{number}" + "x" * 100))
    assert path.stat().st_size <= 10_000
    assert InputHistory(path).entries[-1].text.startswith("199")
