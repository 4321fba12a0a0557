"""Keeps the placeholders of long pastes whole while an editor that does not know them changes the text.

Whatever a key does (a letter, a word, a line, undo), the result has every placeholder whole or not at all, and the
cursor never stands inside one.
"""

from __future__ import annotations

from itertools import takewhile

from octavo.core.longtext import Draft, delete, insert, label


def mend(before: Draft, text: str, cursor: int) -> tuple[Draft, int]:
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


def outside(draft: Draft, at: int, before: int) -> int:
    """Move a cursor that came from `before` out of a placeholder, onwards in its direction."""
    for start, stop in spans(draft):
        if start < at < stop:
            return start if before > at else stop
    return at


def spans(draft: Draft) -> list[tuple[int, int]]:
    """Find the placeholders that stand for something."""
    found: list[tuple[int, int]] = []
    for number in draft.pastes:
        name, at = label(number), draft.text.find(label(number))
        while at >= 0:
            found.append((at, at + len(name)))
            at = draft.text.find(name, at + len(name))
    return sorted(found)
