"""Conversations that a model cannot read at once: notes on chunks, notes on notes, and lists by small models.

A chunk whose answers cannot be used is left to the extracts and named among the problems; the others go on. Rounds of
notes are bounded, so a model that does not shorten anything ends the work too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from octavo.core.ask.answer import JudgedAnswer, distinct, thin
from octavo.core.ask.blocks import Chunk, TextBlock, divide, text_of
from octavo.core.ask.forms import bullets, joined, merge, part
from octavo.core.ask.source_check import source_text
from octavo.core.verify import Problem
from octavo.summarise.calls import side_by_side
from octavo.summarise.summary_run import SummaryRun

PREVIOUS_SHARE = 0.4
"""Of the room of a merge. A previous summary larger than that is condensed with the messages."""
NOTES_FLOOR = 300
"""Tokens the notes on one chunk may take even if there are many chunks."""
CONDENSINGS = 3
"""Rounds of notes on notes: each shortens several times over, so what does not fit after three will never."""
SMALL_CHUNK = 1_500
"""Characters a small model reads at a time; of longer texts it keeps half as many facts."""
SMALL_OUTPUT = 160
"""Tokens for three lines, with some to spare; a small model that begins to copy the whole does not stop by itself."""
SMALL_PARTS = 24
"""Chunks that a small model reads at most, the newest: each takes it five to ten seconds on two cores."""


async def take_notes(run: SummaryRun) -> list[str]:
    """Have notes taken on all that is covered, so short that one request holds them."""
    calls, brief = run.calls, run.brief
    room = calls.room(merge(replace(brief, previous=""), [" "], brief.job.style), brief.cap)
    notes: list[str] = []
    if calls.measure(brief.previous) > PREVIOUS_SHARE * room:
        run.brief = replace(brief, previous="")
        notes = await _notes_on(run, _as_blocks([brief.previous]), int(PREVIOUS_SHARE * room), again=True)
    room -= calls.measure(run.brief.previous)
    notes += await _notes_on(run, brief.blocks, room)
    for _ in range(CONDENSINGS):
        if calls.measure(joined(notes)) <= room:
            return notes
        notes = await _notes_on(run, _as_blocks(notes), room, again=True)
    return [thin("\n".join(notes), room, calls.measure)]


def _as_blocks(texts: Sequence[str]) -> list[TextBlock]:
    return [TextBlock(source=f"summary {number}", text=text, opens=True) for number, text in enumerate(texts)]


async def _notes_on(
    run: SummaryRun, blocks: Sequence[TextBlock], room: int, *, again: bool = False
) -> list[str]:
    """Have notes taken on every chunk; `again`: on summaries, kept as they are where that fails."""
    calls, cap = run.calls, run.brief.cap
    empty = part(run.brief, (), number=1, count=1, cap=cap)
    chunks = _affordable(run, divide(blocks, calls.room(empty, cap), calls.measure))
    if not chunks:
        return []
    share = min(cap, max(NOTES_FLOOR, room // len(chunks)))
    jobs = [_note(run, chunk, (number, len(chunks)), share) for number, chunk in enumerate(chunks, start=1)]
    notes = await side_by_side(jobs)
    if again:
        notes = [text or text_of(chunk) for chunk, text in zip(chunks, notes, strict=True)]
    return [text for text in notes if text]


def _affordable(run: SummaryRun, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Leave the oldest chunks to the exact lines if there are more than calls, one of which puts the notes together."""
    calls = run.calls
    if calls.most is None:
        return chunks
    left = max(0, calls.most - calls.made - 1)
    if left < len(chunks):
        over = len(chunks) - left
        run.note(
            [
                Problem(
                    "spent", f"{over} of {len(chunks)} parts were not read: {calls.most} requests are allowed"
                )
            ]
        )
    return chunks[len(chunks) - min(left, len(chunks)) :]


async def _note(run: SummaryRun, chunk: Chunk, place: tuple[int, int], cap: int) -> str:
    calls, text = run.calls, text_of(chunk)
    if calls.measure(text) <= cap:
        return text
    number, count = place
    expected = run.expected_of(text, cap=cap, source=run.source)

    async def ask(problem: str) -> JudgedAnswer:
        asked = part(run.brief, chunk, number=number, count=count, cap=cap, problem=problem)
        return await run.judged(await calls.ask(asked, calls.answer_room(cap)), expected)

    draft = await ask("")
    if not draft.text and calls.may_ask(beside=1):
        draft = await ask(draft.problems[0].detail)
    return run.keep(draft, f"part {number} of {count}")


async def list_facts(run: SummaryRun) -> str:
    """Have a small model list the facts of small chunks, and put them below those that there were."""
    calls, brief = run.calls, run.brief
    chunks = _newest(run, divide(brief.blocks, SMALL_CHUNK, len))
    jobs = [_facts(run, chunk, f"part {n} of {len(chunks)}") for n, chunk in enumerate(chunks, start=1)]
    lists = [text for text in await side_by_side(jobs) if text]
    if not lists:
        return ""
    text, _ = distinct("\n".join((brief.previous, *lists)).strip())
    tokens = calls.measure(text)
    if tokens >= run.shown:
        run.note([Problem("not_smaller", f"{tokens:,} tokens for a source of {run.shown:,}")])
        return ""
    return text if tokens <= brief.cap else thin(text, brief.cap, calls.measure)


def _newest(run: SummaryRun, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Leave the oldest chunks to the exact lines if there are more than a small model reads in a few minutes."""
    over = len(chunks) - SMALL_PARTS
    if over > 0:
        detail = f"{over} of {len(chunks)} parts were not read: a small model reads {SMALL_PARTS}"
        run.note([Problem("spent", detail)])
    return chunks[max(0, over) :]


async def _facts(run: SummaryRun, chunk: Chunk, where: str) -> str:
    calls, text = run.calls, text_of(chunk)
    expected = run.expected_of(text, cap=SMALL_OUTPUT, source=source_text([text]))
    expected = replace(expected, told=text)

    async def ask(problem: str) -> JudgedAnswer:
        asked = bullets(run.brief, chunk, problem)
        reply = await calls.ask(asked, min(SMALL_OUTPUT, calls.max_output))
        return await run.judged(reply, expected, bullets=True)

    draft = await ask("")
    if not draft.text:
        draft = await ask(draft.problems[0].detail)
    return run.keep(draft, where)
