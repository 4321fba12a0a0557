"""Fills a snapshot: the narrative first, then verbatim extracts into the room that is left.

What a snapshot costs in the context never exceeds its cap, if the summary and the files alone do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from octavo.core.context import speak
from octavo.core.extract import Analysis, extract
from octavo.core.messages import Branch, Message, Node
from octavo.core.policy import Voice
from octavo.core.snapshot import Snapshot
from octavo.core.transcript import describe_file

SEAM = 3
"""Tokens that joining texts may cost beyond their sum: blank lines, and merges that no longer happen."""
ATTEMPTS = 6
"""How often the extracts are chosen again, with an eighth less room, if the measure of the whole disagrees."""


def compose(
    snapshot: Snapshot,
    covered: Branch,
    *,
    cap: int,
    count: Callable[[Message], int],
    measure: Callable[[str], int],
    retained: Sequence[Node] = (),
    pins: Sequence[str] = (),
    focus: str = "",
    voice: Voice | None = None,
    analyses: Mapping[str, Analysis] | None = None,
) -> Snapshot:
    """Choose the extracts of a snapshot from the original messages it covers, and measure what is sent."""
    voice = voice or Voice()
    present = frozenset(describe_file(file) for node in retained for file in node.message.attachments)

    def sent(candidate: Snapshot) -> int:
        return sum(map(count, speak(candidate, voice, present=present)))

    bare = replace(snapshot, extracts=())
    room = cap - sent(bare) - SEAM
    for _ in range(ATTEMPTS):
        chosen = extract(
            covered,
            budget=room,
            measure=measure,
            retained=retained,
            pins=pins,
            known=snapshot.summary,
            focus=focus,
            analyses=analyses,
        )
        full = replace(snapshot, extracts=chosen)
        if not chosen or sent(full) <= cap:
            return replace(full, tokens_after=sent(full))
        room -= max(1, room // 8)
    return replace(bare, tokens_after=sent(bare))
