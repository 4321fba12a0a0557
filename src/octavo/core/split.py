"""Where a branch may be cut, and where it is cut: what is covered by a snapshot, and what stays verbatim.

A cut at `c` covers everything before index `c`. Each rule gives the set of cuts it allows; a cut is safe if all
rules allow it, so a further rule is a further set. The cut chosen is the earliest safe one whose rest fits: the
retained part is as long as it may be, and the last turn always belongs to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from octavo.core.memory_tools import lookups
from octavo.core.messages import Message, has_results, last_turn, opens_turn, tool_units


@dataclass(frozen=True, slots=True)
class Split:
    """The cut: `messages[:cut]` are covered, `messages[cut:]` retained."""

    cut: int
    inside: bool = False
    """Whether the cut falls inside the last turn, which alone was too large."""


def lead(messages: Sequence[Message]) -> int:
    """Count the system messages a conversation opens with: they are always sent, never covered."""
    return next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))


def turn_cuts(messages: Sequence[Message]) -> set[int]:
    """Cuts that fall between turns."""
    return {i for i, message in enumerate(messages) if opens_turn(message)} | {len(messages)}


def tool_cuts(messages: Sequence[Message]) -> set[int]:
    """Cuts that part no call from its results, and cover no call that still waits for one.

    A call nobody answered before the user spoke again was given up; it holds nothing together any more.
    """
    size = len(messages)
    newest_turn = last_turn(messages) or 0
    torn = [0] * (size + 2)
    for unit in tool_units(messages):
        stop = size + 1 if unit.open and unit.start >= newest_turn else unit.stop
        torn[unit.start + 1] += 1
        torn[stop] -= 1
    return {cut for cut, open_units in enumerate(accumulate(torn[: size + 1])) if open_units == 0}


def protocol_cuts(messages: Sequence[Message]) -> set[int]:
    """Cuts after which the retained part does not begin with a tool's answer."""
    return {i for i, message in enumerate(messages) if not has_results(message)} | {len(messages)}


def split(
    messages: Sequence[Message],
    sizes: Sequence[int],
    keep: int | None,
    *,
    start: int = 0,
    room: int | None = None,
    boundary: Literal["turn", "message"] = "turn",
    frees: float = 0.0,
    held: int = 0,
    answers: int = 0,
) -> Split | None:
    """Choose the cut, or None when there is nothing to cover.

    `sizes` are the messages' sizes in the unit of `keep`, the most the retained part may hold (None: retain
    nothing). `start` is where the previous snapshot ended. `room` is the most that can be sent at all: a last turn
    larger than that is cut inside, at a place where no tool call is open. So is one beside which less than the share
    `frees` of what could be covered would be; then no more of it stays than `keep`, so that it is not cut again soon.

    What was looked up in a turn that is cut inside is sent all the same, up to `answers`; `held` is what such answers
    take already that the previous snapshot covers.
    """
    size = len(messages)
    start = max(start, lead(messages))
    safe = tool_cuts(messages) & protocol_cuts(messages)
    between = safe & turn_cuts(messages) if boundary == "turn" else safe
    opened = last_turn(messages)
    last = opened or start
    answered = size > 0 and messages[-1].role == "assistant"
    end = size if keep is None and answered and size in safe else last
    rest = [0, *accumulate(reversed(sizes))][::-1]

    cuts = sorted(cut for cut in between if start < cut <= end)
    chosen = _earliest(cuts, rest, -1 if keep is None else keep) if cuts else None
    inner = sorted(cut for cut in safe if max(start, last) < cut < size)
    if inner:
        # The question of the last turn is sent along, wherever that is cut.
        question = sizes[opened] if opened is not None and opened >= start else 0
        freed = rest[start] - rest[start if chosen is None else chosen]
        sent = _with_answers(messages, sizes, rest, start, held, answers)
        possible = sent[start] - sent[inner[-1]] - question
        if frees and freed < frees * possible:
            deepest = min(room, keep or 0) if room is not None else keep or 0
            return Split(_earliest(inner, sent, deepest), inside=True)
        if room is not None and sent[start if chosen is None else chosen] > room:
            return Split(_earliest(inner, sent, room), inside=True)
    return None if chosen is None else Split(chosen)


def _with_answers(
    messages: Sequence[Message],
    sizes: Sequence[int],
    rest: Sequence[int],
    start: int,
    held: int,
    most: int,
) -> list[int]:
    """Say for each cut what is sent besides the snapshot: what follows it, and what was looked up before it."""
    found = {i for lookup in lookups(messages) for i in lookup if i >= start}
    before = accumulate((sizes[i] if i in found else 0 for i in range(len(messages))), initial=held)
    return [after + min(most, answers) for after, answers in zip(rest, before, strict=True)]


def _earliest(cuts: Sequence[int], rest: Sequence[int], keep: int) -> int:
    """Find the first cut whose rest fits; if none fits, the last cut there is."""
    at = bisect_left(cuts, -keep, key=lambda cut: -rest[cut])
    return cuts[min(at, len(cuts) - 1)]
