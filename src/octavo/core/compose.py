"""Fills a snapshot: the narrative first, then verbatim extracts into the room that is left.

A snapshot never exceeds its cap unless its summary and files alone do: the extracts are measured as they are sent,
inside the whole snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from octavo.core.context import render_summary
from octavo.core.extract.choose import extract
from octavo.core.extract.render import render
from octavo.core.extract.totals import Totals
from octavo.core.extract.units import Analysis
from octavo.core.messages import Branch, Message, Node
from octavo.core.policy import Voice
from octavo.core.snapshot import Snapshot
from octavo.core.transcript import describe, shared_files


def compose(
    snapshot: Snapshot,
    covered: Branch,
    *,
    cap: int,
    count: Callable[[Message], int],
    retained: Sequence[Node] = (),
    pins: Sequence[str] = (),
    focus: str = "",
    voice: Voice | None = None,
    analyses: Mapping[str, Analysis] | None = None,
    totals: Totals | None = None,
) -> Snapshot:
    """Choose the extracts of a snapshot from the original messages it covers, and measure what is sent.

    Lines that the snapshot lists as dropped are not chosen.
    """
    voice = voice or Voice()
    present = frozenset(name for node in retained for name in shared_files(node.message))

    def sent(lines: str) -> int:
        return sum(map(count, render_summary(snapshot, voice, present=present, lines=lines)))

    bare = sent("")
    chosen = extract(
        covered,
        budget=cap - bare,
        measure=lambda lines: sent(lines) - bare,
        retained=retained,
        pins=[*pins, *_carried(snapshot, covered)],
        known=snapshot.summary,
        focus=focus,
        dropped=snapshot.dropped,
        analyses=analyses,
        totals=totals,
    )
    return replace(snapshot, extracts=chosen, tokens_after=sent(render(chosen)))


def _carried(snapshot: Snapshot, covered: Branch) -> list[str]:
    """Give the covered messages that are sent anyway, so that no extract need repeat them."""
    along = frozenset(snapshot.sent_along)
    return [describe(part) for node in covered if node.id in along for part in node.message.parts]
