"""The choice: the best pieces that fit, in the order of the conversation, nothing that is sent anyway.

A passage is a stretch of a covered message, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from octavo.core.recall.passages import Passage, Passages
from octavo.core.recall.pieces import Piece
from octavo.core.recall.question import Question
from octavo.core.recall.rank import Ranker
from octavo.core.recall.render import frame, render, render_day, render_passage

WEAK = 0.2
"""Pieces below this share of the best one's score are left, whatever room there is."""
MISSES = 12
"""So many pieces in a row that do not fit end the choice: what is left is too little."""

_NOT_LETTERS = re.compile(r"[\W_]+")


def choose(
    question: Question,
    pieces: Sequence[Piece],
    ranker: Ranker,
    *,
    room: int,
    count: Callable[[str], int],
    sent: Collection[str] = (),
    said: Iterable[str] = (),
) -> Passages:
    """Choose passages for a question from pieces in the order of the conversation.

    `count` counts the tokens of a text, and `room` is what the passages may cost when they are sent. `sent` are nodes
    that stand in the context as a whole, `said` texts that do.
    """
    if not question.weights or room <= 0:
        return ()
    scores = ranker.score(question, pieces)
    known = {skeleton(text) for text in said}
    floor = WEAK * max(scores, default=0.0)
    best = sorted((at for at, score in enumerate(scores) if score > floor), key=lambda at: (-scores[at], at))
    wanted = [at for at in best if pieces[at].source not in sent and not _is_said(pieces[at], known)]
    return _fitting(pieces, wanted, room, count)


def _is_said(piece: Piece, known: Collection[str]) -> bool:
    if not known:
        return False
    lines = [skeleton(line) for line in piece.text.splitlines()]
    return skeleton(piece.text) in known or all(line in known for line in lines if line)


def skeleton(text: str) -> str:
    """Reduce a text to its letters and digits: what is equal in these is said once."""
    return _NOT_LETTERS.sub(" ", text.casefold()).strip()


def _fitting(
    pieces: Sequence[Piece], wanted: Sequence[int], room: int, count: Callable[[str], int]
) -> Passages:
    """Take the wanted pieces as long as they fit; a large one that does not fit leaves room for a smaller one."""
    taken: list[int] = []
    days = {""}
    left, missed = room - count(frame()), 0
    for at in wanted:
        (alone,) = join([pieces[at]])
        price = count(f"\n{render_passage(alone)}")
        price += 0 if alone.day in days else count(f"\n{render_day(alone.day)}")
        if price <= left:
            taken.append(at)
            days.add(alone.day)
            left, missed = left - price, 0
        elif (missed := missed + 1) == MISSES:
            break
    while taken and count(render(found := join([pieces[at] for at in sorted(taken)]))) > room:
        taken.pop()
    return found if taken else ()


def join(pieces: Sequence[Piece]) -> Passages:
    """Make passages of pieces in order; pieces of one text that follow each other become one passage."""
    runs: list[list[Piece]] = []
    for piece in pieces:
        if runs and _continues(runs[-1][-1], piece):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return tuple(_passage(run[0], run[-1]) for run in runs)


def _continues(one: Piece, other: Piece) -> bool:
    same = one.source == other.source and one.part == other.part
    return same and not one.whole[one.stop : other.start].strip()


def _passage(first: Piece, last: Piece) -> Passage:
    return Passage(
        source=first.source,
        depth=first.depth,
        channel=first.channel,
        text=first.whole[first.start : last.stop],
        part=first.part,
        start=first.start,
        speaker=first.speaker,
        day=first.day,
        opens=not first.whole[: first.start].strip(),
        closes=last.last,
    )
