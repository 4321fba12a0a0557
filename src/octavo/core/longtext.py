"""Long pastes as placeholders: `[LongText#1]` in the input, the whole text in the message.

A `Draft` is what stands in an input field: its text with placeholders, and the texts they stand for. Expanding
looks at the typed text once, so a pasted text comes out exactly as it went in, even if it contains placeholders,
its own included. No edit leaves a broken placeholder behind: a deletion that touches one takes all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

INLINE = 200
"""Characters that are still inserted as they are."""
_LABEL = re.compile(r"\[LongText#([1-9][0-9]{0,8})\]")
_WHOLE = re.compile(r"(\[LongText#[1-9][0-9]{0,8}\])")


def label(number: int) -> str:
    return f"[LongText#{number}]"


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of an input field and the pastes its placeholders stand for."""

    text: str = ""
    pastes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def expanded(self) -> str:
        """The message as it will be sent; a placeholder that stands for nothing is left as it was typed."""
        return _LABEL.sub(lambda found: self.pastes.get(int(found[1]), found[0]), self.text)


def paste(draft: Draft, at: int, text: str) -> tuple[Draft, int]:
    """Insert a pasted text at a position; give the draft and where the cursor stands then."""
    if len(text) <= INLINE:
        return insert(draft, at, text)
    number = 1 + max([0, *draft.pastes, *_numbers(draft.text)])
    placed, cursor = insert(draft, at, label(number))
    return _keep(placed.text, {**draft.pastes, number: text}), cursor


def insert(draft: Draft, at: int, text: str) -> tuple[Draft, int]:
    """Insert typed text; inside a placeholder it goes behind it."""
    at = _outside(draft, at)
    return Draft(draft.text[:at] + text + draft.text[at:], draft.pastes), at + len(text)


def delete(draft: Draft, start: int, stop: int) -> tuple[Draft, int]:
    """Delete a stretch; placeholders that it touches go as a whole, with their texts."""
    start, stop = max(0, min(start, stop)), min(len(draft.text), max(start, stop))
    for a, b in _spans(draft):
        if a < stop and start < b:
            start, stop = min(start, a), max(stop, b)
    return _keep(draft.text[:start] + draft.text[stop:], draft.pastes), start


def backspace(draft: Draft, at: int) -> tuple[Draft, int]:
    """Delete what stands before the cursor: one character, or one placeholder."""
    return delete(draft, at - 1, at) if at > 0 else (draft, 0)


def recall(entry: Draft, current: Draft) -> Draft:
    """Bring an earlier draft back; placeholders that clash with the current draft's get new numbers."""
    taken = {*current.pastes, *_numbers(current.text)}
    free = 1 + max([0, *taken, *entry.pastes, *_numbers(entry.text)])
    renamed: dict[int, int] = {}
    for number in entry.pastes:
        renamed[number] = number
        if number in taken:
            renamed[number], free = free, free + 1
    text = _LABEL.sub(
        lambda found: label(renamed[int(found[1])]) if int(found[1]) in renamed else found[0], entry.text
    )
    return Draft(text, MappingProxyType({renamed[n]: pasted for n, pasted in entry.pastes.items()}))


def adopt(draft: Draft, text: str) -> Draft:
    """Take over a text that was edited elsewhere; a paste whose placeholder was broken comes back in full.

    An editor that does not know placeholders may cut one in half. What is left of it is replaced by the text it
    stood for, so that nothing is lost without a word.
    """
    for number, pasted in draft.pastes.items():
        if label(number) not in text:
            text = _restored(text, number, pasted)
    return _keep(text, draft.pastes)


def _restored(text: str, number: int, pasted: str) -> str:
    """Put a paste where the longest remainder of its placeholder stands: its beginning, or its end from `#` on.

    Only between whole placeholders: the beginning of number 1's is also that of number 12's.
    """
    whole = label(number)
    heads = [whole[:end] for end in range(len(whole) - 1, len("[LongText"), -1)]
    tails = [whole[start:] for start in range(1, whole.index("#") + 1)]
    pieces = _WHOLE.split(text)
    for fragment in sorted(heads + tails, key=len, reverse=True):
        for i in range(0, len(pieces), 2):
            if fragment in pieces[i]:
                pieces[i] = pieces[i].replace(fragment, pasted, 1)
                return "".join(pieces)
    return text


def _keep(text: str, pastes: Mapping[int, str]) -> Draft:
    """Forget the pastes whose placeholders are gone."""
    there = set(_numbers(text))
    return Draft(text, MappingProxyType({n: pasted for n, pasted in pastes.items() if n in there}))


def _numbers(text: str) -> list[int]:
    return [int(found[1]) for found in _LABEL.finditer(text)]


def _spans(draft: Draft) -> list[tuple[int, int]]:
    return [found.span() for found in _LABEL.finditer(draft.text) if int(found[1]) in draft.pastes]


def _outside(draft: Draft, at: int) -> int:
    at = max(0, min(at, len(draft.text)))
    return next((b for a, b in _spans(draft) if a < at < b), at)
