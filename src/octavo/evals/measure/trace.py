"""Finds the lines that were written anew, and tells whether a reader can trace each to its source.

A line of what somebody said is traceable if it stands in one of the original messages. A line of a tool's output is
traceable if, besides, the line above its block names the call: without the file it came from, a line of code is a
riddle. Marks, headings and what is sent unchanged are not counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from octavo.core.messages import Message, ToolCall, pair_tools
from octavo.evals.measure.texts import call_text, message_text
from octavo.evals.measure.words import content_words

FEWEST_WORDS = 3
"""A line of fewer words is a mark or a heading."""
PLACES = 20
"""Places of one line that are looked at: a line that stands in more is nobody's in particular."""

LEFT_OUT = "…"
"""Stands where a sentence of a line was left out."""

_WORD = re.compile(r"\w+")
_MARK = re.compile(r"\s*(?:[-*>]+\s+)?(?:\w[\w ]{0,30}(?:\([^()]*\))?:\s+)?")
_SCAFFOLD = re.compile(r"\s*(?:\[[^\]]*\]|<[^>]*>|< .*)\s*")


@dataclass(frozen=True, slots=True)
class Traced:
    """How many lines were written anew, and how many of them can be traced."""

    lines: int
    traceable: int


class Origins:
    """The original messages, prepared for the question where a line comes from."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.texts = frozenset(message_text(message) for message in messages)
        flat = [f" {_flat(message_text(message))} \n" for message in messages]
        self._all = "".join(flat)
        self._starts = [0, *accumulate(len(text) for text in flat)]
        self._labels = _labels(messages)

    def places(self, line: str) -> frozenset[int]:
        """Give the messages that hold every piece of a line."""
        pieces = [flat for piece in line.split(LEFT_OUT) if (flat := _flat(piece))]
        found = [frozenset(self._find(piece)) for piece in pieces]
        return frozenset.intersection(*found) if found else frozenset()

    def named_by(self, place: int, heading: str) -> bool:
        """Tell whether a heading says where a message comes from; what somebody said needs none."""
        label = self._labels.get(place)
        return label is None or not label.isdisjoint(content_words(heading))

    def _find(self, piece: str) -> Iterator[int]:
        at = self._all.find(f" {piece} ")
        for _ in range(PLACES):
            if at < 0:
                return
            yield bisect_right(self._starts, at) - 1
            at = self._all.find(f" {piece} ", at + 1)


def trace(origins: Origins, messages: Iterable[Message]) -> Traced:
    """Trace every line of the messages that are not among the originals."""
    lines = traceable = 0
    for message in messages:
        text = message_text(message)
        if message.role == "system" or text in origins.texts:
            continue
        for found in _judged(origins, text):
            lines += 1
            traceable += found
    return Traced(lines, traceable)


def _judged(origins: Origins, text: str) -> Iterator[bool]:
    heading, block = "", frozenset[int]()
    previous = ""
    for line in text.splitlines():
        if _SCAFFOLD.fullmatch(line):
            heading, block, previous = line, frozenset(), line
            continue
        places = origins.places(line) or origins.places(_MARK.sub("", line, count=1))
        if not places & block:
            heading, block = previous, places
        else:
            block &= places
        previous = line
        if len(_WORD.findall(line)) >= FEWEST_WORDS:
            yield any(origins.named_by(place, heading) for place in places)


def _flat(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _labels(messages: Sequence[Message]) -> dict[int, frozenset[str]]:
    """Give for each message with a tool's output the words that tell the call it answers from others."""
    found: dict[int, set[str]] = {}
    for (index, at), (answer, _) in pair_tools(messages).answers.items():
        call = messages[index].parts[at]
        assert isinstance(call, ToolCall)
        found.setdefault(answer, set()).update(content_words(_values(call)) or content_words(call.name))
    return {answer: frozenset(label) for answer, label in found.items()}


def _values(call: ToolCall) -> str:
    """Write the arguments of a call without their names, which all calls of a tool share."""
    return "\n".join(
        line.partition(": ")[2] or line for line in call_text(call)[len(call.name) + 1 :].splitlines()
    )
