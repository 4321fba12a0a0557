"""Recall: what a question asks for comes back from the covered messages, directly before the question.

A snapshot has to be made before the question is known; recall knows it. The passages come only from free
room below the soft mark, so they never cause a compression, and they are stored with the question, so that later
requests repeat the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from octavo.core.messages import Node, opens_turn
from octavo.core.recall.choose import choose
from octavo.core.recall.passages import Passages
from octavo.core.recall.question import Question, ask, question_of
from octavo.core.recall.rank import ByWords
from octavo.core.recall.size import room, wanted
from octavo.core.snapshot import Snapshot
from octavo.engine.outcome import Recalled
from octavo.engine.state import TipState, with_recalled
from octavo.errors import ReadOnly

if TYPE_CHECKING:
    from octavo.engine.engine import Engine

WAITED_FOR = 1_000
"""Messages that a turn waits for while they are indexed, about half a second; more are indexed behind it."""


async def recall(engine: Engine, state: TipState) -> tuple[TipState, Recalled | None]:
    """Add to a state what its pending question asks for; gives the state, and what was found."""
    snapshot, question = state.loaded.snapshot, pending_question(state)
    if snapshot is None or question is None or question.id in state.loaded.recalled:
        return state, None
    asked = question_of(question.message, state.context.retained[:-1])
    free = room(
        state.policy.recall,
        state.budget,
        used=state.reading.cautious,
        said=state.history - state.recalled,
        recalled=state.recalled,
        asks=asked.asks,
    )
    if free <= 0:
        return state, None
    passages = await _find(engine, state, snapshot, asked, free, said=_said(snapshot))
    if not passages:
        return state, None
    try:
        stored, revision = await engine.store.passages.add(state.conversation, question.id, passages)
    except ReadOnly:
        return state, None
    if not stored:
        return state, None
    asking, state = state, with_recalled(state, stored)
    # A state with a budget for one request only is not the cached one, and takes nobody's place.
    engine.states.replace(asking, state, revision)
    return state, Recalled(node=question.id, passages=stored, tokens=state.recalled)


async def find_passages(engine: Engine, state: TipState, words: str) -> Passages:
    """Find what words would recall on a branch, as if nothing else took room; nothing is stored.

    What is not indexed yet is indexed first, however long that takes.
    """
    snapshot, setting = state.loaded.snapshot, state.policy.recall
    if snapshot is None:
        return ()
    free = wanted("auto" if setting == "off" else setting, state.budget)
    return await _find(engine, state, snapshot, ask(words), free, said=_said(snapshot), patient=True)


async def search_covered(engine: Engine, state: TipState, words: str, *, room: int) -> Passages:
    """Find words in the covered messages for somebody who searches: what the snapshot says is found, too."""
    snapshot = state.loaded.snapshot
    return await _find(engine, state, snapshot, ask(words), room) if snapshot else ()


def _said(snapshot: Snapshot) -> list[str]:
    """Give what a snapshot says: it is not recalled again."""
    return [*(extract.text for extract in snapshot.extracts), *snapshot.summary.splitlines()]


async def _find(
    engine: Engine,
    state: TipState,
    snapshot: Snapshot,
    asked: Question,
    free: int,
    *,
    said: Sequence[str] = (),
    patient: bool = False,
) -> Passages:
    if free <= 0 or not asked.weights:
        return ()
    found = await engine.store.recall.look_up(snapshot.cutoff, asked)
    if found.filled < snapshot.cutoff_depth:
        if not await _index(engine, snapshot, found.filled, patient=patient):
            return ()
        found = await engine.store.recall.look_up(snapshot.cutoff, asked)
    return choose(
        asked,
        found.pieces,
        engine.ranker(found.statistics) if engine.ranker else ByWords(found.statistics),
        room=free,
        count=state.meter.count_text,
        sent=frozenset((*state.context.sent, *state.context.pinned)),
        said=said,
    )


def pending_question(state: TipState) -> Node | None:
    """Give the user's message that waits for an answer, if the branch ends with one."""
    if state.loaded.pending:
        return None
    last = (state.added or state.loaded.branch)[-1:]
    return next((node for node in last if opens_turn(node.message) and node.status == "complete"), None)


async def _index(engine: Engine, snapshot: Snapshot, filled: int, *, patient: bool) -> bool:
    """Index what is covered, if that is quick or the caller is patient.

    Else begin it in the background and give false.
    """
    if snapshot.cutoff_depth - filled > WAITED_FOR and not patient:
        engine.index_in_background(snapshot.cutoff)
        return False
    with suppress(ReadOnly):  # what another process has indexed is looked through
        await engine.store.recall.fill(snapshot.cutoff)
    return True
