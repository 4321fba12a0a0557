"""What was typed, across runs: one JSON line for each entry, with the texts its placeholders stand for.

The file is the user's alone and stays small: old entries go, long pastes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

from octavo.cli.terminal.placeholders import InputDraft
from octavo.core.json_values import compact

KEPT = 1_000
"""Entries remembered."""
LARGEST = 8 << 20
"""Bytes of the file; beyond that the older half goes."""


class InputHistory(History):
    """Drafts, oldest first, and the file they are kept in."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path
        self.entries: list[InputDraft] = _read(path) if path else []

    def load_history_strings(self) -> Iterable[str]:
        """Give the texts, newest first."""
        return [entry.text for entry in reversed(self.entries)]

    def append_string(self, string: str) -> None:
        """Ignore what the editor wants remembered: it knows the text, but not the pastes."""

    def store_string(self, string: str) -> None:
        """Nothing to do: `remember` writes."""

    def remember(self, draft: InputDraft) -> None:
        """Keep an entry, unless it is the last one again."""
        if not draft.text.strip() or (self.entries and self.entries[-1] == draft):
            return
        self.entries.append(draft)
        if self._loaded:
            self._loaded_strings.insert(0, draft.text)
        if self._path is not None:
            _append(self._path, draft)

    def pastes(self, distance: int) -> dict[int, str]:
        """Give the pastes of an entry: 1 is the newest."""
        return dict(self.entries[-distance].pastes) if 0 < distance <= len(self.entries) else {}


def _line(draft: InputDraft) -> str:
    pastes = {str(number): text for number, text in draft.pastes.items()}
    return compact({"text": draft.text, "pastes": pastes} if pastes else {"text": draft.text})


def _read(path: Path) -> list[InputDraft]:
    """Read what can be read: a damaged line costs that entry, not the history."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    found: list[InputDraft] = []
    for line in lines[-KEPT:]:
        try:
            data = json.loads(line)
            found.append(
                InputDraft(str(data["text"]), {int(n): str(t) for n, t in data.get("pastes", {}).items()})
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found


def _append(path: Path, draft: InputDraft) -> None:
    """Write an entry; that it cannot be written is no reason to stop a conversation."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with path.open("ab") as file:
            file.write(_line(draft).encode("utf-8", "replace") + b"\n")
            large = file.tell() > LARGEST
        if large:
            _halve(path)
    except OSError:
        return


def _halve(path: Path) -> None:
    lines, kept, size = path.read_bytes().splitlines(keepends=True), list[bytes](), 0
    for line in reversed(lines):
        size += len(line)
        if size > LARGEST // 2:
            break
        kept.append(line)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(b"".join(reversed(kept)))
    partial.chmod(0o600)
    partial.replace(path)
