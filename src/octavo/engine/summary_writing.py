"""Asks a summariser for its summary, piece by piece, and says why there is none if nothing useful came.

A stored conversation and a plain list of messages both come here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Flaw, Problem, in_plain_words
from octavo.engine.outcome import SummaryText, Unwritten, one_line
from octavo.errors import OctavoError, ProviderError, ProviderTimeout
from octavo.protocols import Summariser

NARRATIVE_SHARE = 0.5
"""Share of a snapshot that the narrative may take; the rest is for exact lines."""


class SummaryLate(OctavoError):
    """The summary was not there in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """When a summary has to be there."""

    at: float
    """By the event loop's clock."""
    allowed: float
    """Seconds that the whole compression may take, for the error message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSummary:
    """What came of asking for a summary."""

    narrative: Narrative = Narrative()
    problems: tuple[Problem, ...] = ()
    error: ProviderError | SummaryLate | None = None
    unwritten: Unwritten | None = None


async def write_summary(
    summariser: Summariser, job: SummaryJob, writer: str, deadline: Deadline | None = None
) -> AsyncGenerator[SummaryText | WrittenSummary]:
    """Yield the pieces of a summary while it is written and, last, what came of it.

    `writer` is what the summariser is called in logs. Without a deadline it may take as long as it likes.
    """
    began = time.monotonic()
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    asked = asyncio.create_task(_narrate(summariser, job, pieces))
    try:
        while (piece := await _next(pieces, deadline)) is not None:
            yield SummaryText(piece)
        written = _judged(await asked, writer)
    except (ProviderError, SummaryLate) as error:
        written = _failed(error, writer)
    finally:
        _give_up(asked)
    if written.unwritten is not None:
        taken = replace(written.unwritten, seconds=time.monotonic() - began)
        written = replace(written, unwritten=taken)
    yield written


async def _narrate(summariser: Summariser, job: SummaryJob, pieces: asyncio.Queue[str | None]) -> Narrative:
    try:
        return await summariser.summarise(job, pieces.put_nowait)
    except OctavoError:
        raise
    except Exception as error:
        # Anybody may write a summariser; a bug in it costs the summary, not the turn.
        raise ProviderError(f"the summariser failed: {type(error).__name__}: {error}") from error
    finally:
        pieces.put_nowait(None)


async def _next(pieces: asyncio.Queue[str | None], deadline: Deadline | None) -> str | None:
    """Wait for the next piece of the summary until the deadline."""
    try:
        async with asyncio.timeout_at(deadline.at if deadline else None):
            return await pieces.get()
    except TimeoutError:
        assert deadline is not None
        raise SummaryLate(
            f"it was not finished in the {deadline.allowed:g} seconds a compression may take"
        ) from None


def _judged(narrative: Narrative, writer: str) -> WrittenSummary:
    """Take a narrative, or say why there is nothing in it."""
    problems = narrative.problems
    if narrative.text:
        return WrittenSummary(narrative=narrative, problems=problems)
    unwritten = Unwritten(
        model=narrative.model or writer,
        kind=problems[-1].flaw if problems else "empty",
        reason=in_plain_words(problems),
        noted=", ".join(dict.fromkeys(problem.flaw for problem in problems)) or "empty",
    )
    return WrittenSummary(narrative=narrative, problems=problems, unwritten=unwritten)


def _failed(error: ProviderError | SummaryLate, writer: str) -> WrittenSummary:
    flaw: Flaw = "timeout" if isinstance(error, SummaryLate | ProviderTimeout) else "empty"
    kind, reason = flaw if flaw == "timeout" else type(error).__name__, one_line(str(error))
    return WrittenSummary(
        problems=(Problem(flaw, f"no summary: {error}"),),
        error=error,
        unwritten=Unwritten(model=writer, kind=kind, reason=reason, noted=reason),
    )


def _give_up(asked: asyncio.Task[Narrative]) -> None:
    """Stop a summariser; what it still says is nobody's concern."""
    asked.cancel()
    asked.add_done_callback(lambda task: task.cancelled() or task.exception())
