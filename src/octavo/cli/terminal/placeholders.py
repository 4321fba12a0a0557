"""Long pastes as placeholders: `[LongText#1]` in the input, the whole text in the message.

An `InputDraft` is what stands in the input field: its text with placeholders, and the texts they stand for. Expanding
looks at the typed text once, so a pasted text comes out exactly as it went in, even if it contains placeholders. No
edit leaves half a placeholder behind, and the cursor never stands inside one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType

INLINE = 200
"""Characters that are still inserted as they are."""
_LABEL = re.compile(r"\[LongText#([1-9][0-9]{0,8})\]")


def label(number: int) -> str:
    return f"[LongText#{number}]"


@dataclass(frozen=True, slots=True)
class InputDraft:
    """The text of an input field and the pastes its placeholders stand for."""

    text: str = ""
    pastes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def expanded(self) -> str:
        """The message as it will be sent; a placeholder that stands for nothing is left as it was typed."""
        return _LABEL.sub(lambda found: self.pastes.get(int(found[1]), found[0]), self.text)


def paste(draft: InputDraft, at: int, text: str) -> tuple[InputDraft, int]:
    """Insert a pasted text at a position; give the draft and where the cursor stands then."""
    if len(text) <= INLINE:
        return insert(draft, at, text)
    number = 1 + max([0, *draft.pastes, *_numbers(draft.text)])
    placed, cursor = insert(draft, at, label(number))
    return _keep(placed.text, {**draft.pastes, number: text}), cursor


def insert(draft: InputDraft, at: int, text: str) -> tuple[InputDraft, int]:
    """Insert typed text; inside a placeholder it goes behind it."""
    at = outside(draft, max(0, min(at, len(draft.text))), 0)
    return InputDraft(draft.text[:at] + text + draft.text[at:], draft.pastes), at + len(text)


def delete(draft: InputDraft, start: int, stop: int) -> tuple[InputDraft, int]:
    """Delete a stretch; placeholders that it touches go as a whole, with their texts."""
    start, stop = max(0, min(start, stop)), min(len(draft.text), max(start, stop))
    for a, b in spans(draft):
        if a < stop and start < b:
            start, stop = min(start, a), max(stop, b)
    return _keep(draft.text[:start] + draft.text[stop:], draft.pastes), start


def _keep(text: str, pastes: Mapping[int, str]) -> InputDraft:
    """Forget the pastes whose placeholders are gone."""
    there = set(_numbers(text))
    return InputDraft(text, MappingProxyType({n: pasted for n, pasted in pastes.items() if n in there}))


def _numbers(text: str) -> list[int]:
    return [int(found[1]) for found in _LABEL.finditer(text)]


def spans(draft: InputDraft) -> list[tuple[int, int]]:
    """Find the placeholders that stand for something."""
    return [found.span() for found in _LABEL.finditer(draft.text) if int(found[1]) in draft.pastes]


def mend(before: InputDraft, text: str, cursor: int) -> tuple[InputDraft, int]:
    """Read what an edit did to a draft; a placeholder it touched is gone as a whole. Gives where the cursor stands.

    The cursor, where the edit left it, tells which of two equal characters was deleted.
    """
    most = min(len(before.text), len(text))
    after = _common(before.text[::-1], text[::-1], min(most, len(text) - cursor))
    front = _common(before.text, text, most - after)
    draft, at = before, front
    if front < len(before.text) - after:
        draft, at = delete(before, front, len(before.text) - after)
    return insert(draft, at, text[front : len(text) - after])


def _common(one: str, other: str, most: int) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one[:most], other[:most], strict=False))
    )


def outside(draft: InputDraft, at: int, before: int) -> int:
    """Move a cursor that came from `before` out of a placeholder, onwards in its direction."""
    for start, stop in spans(draft):
        if start < at < stop:
            return start if before > at else stop
    return at
