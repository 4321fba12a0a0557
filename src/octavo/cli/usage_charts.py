"""Draws token use over time: bars by day for a database, a line of blocks for one conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octavo.cli.lines import Line, bar, line, many

BLOCKS = "▁▂▃▄▅▆▇█"
COLUMNS = 32
SCALE = 60
"""Answers drawn in one row of blocks; with more, each block stands for several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerUsage:
    """What one answer cost, as the provider reported it."""

    day: str
    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsage:
    day: str
    answers: int
    input: int
    output: int


def by_day(answers: Iterable[AnswerUsage]) -> tuple[DayUsage, ...]:
    """Add answers up by day, oldest first."""
    counted, read, wrote = Counter[str](), Counter[str](), Counter[str]()
    for answer in answers:
        counted[answer.day] += 1
        read[answer.day] += answer.input
        wrote[answer.day] += answer.output
    return tuple(
        DayUsage(day=day, answers=counted[day], input=read[day], output=wrote[day]) for day in sorted(counted)
    )


def day_lines(days: Sequence[DayUsage]) -> list[Line]:
    """Draw a bar for each day, by all tokens of that day."""
    most = max((day.input + day.output for day in days), default=0)
    made = []
    for day in days:
        total = day.input + day.output
        made.append(
            line(
                f"{day.day}  ",
                ("accent", bar(total / most if most else 0, COLUMNS)),
                f"  {day.input:>9,} in {day.output:>9,} out  {many(day.answers, 'answer')}",
            )
        )
    return made


def blocks(sizes: Sequence[int]) -> str:
    """Draw numbers as blocks of eight heights; a compression shows as a step down."""
    most = max(sizes, default=0)
    if not most:
        return ""
    each = -(-len(sizes) // SCALE)
    peaks = [max(sizes[at : at + each]) for at in range(0, len(sizes), each)]
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * size / most)] for size in peaks)
