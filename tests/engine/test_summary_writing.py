"""What comes of asking for a summary, and what is said where nothing useful came."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Flaw, Problem
from octavo.engine.outcome import SummaryText
from octavo.engine.summary_writing import Deadline, WrittenSummary, write_summary
from octavo.errors import OctavoError, ProviderError, ProviderTimeout

pytestmark = pytest.mark.anyio
JOB = SummaryJob(covered=(), cap=100)


@dataclass
class Saying:
    """A summariser that says some pieces, and ends in one way or the other."""

    end: Narrative | BaseException
    pieces: tuple[str, ...] = ()

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:  # noqa: ARG002
        for piece in self.pieces:
            tell(piece)
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end


async def written(summariser: Any, deadline: Deadline | None = None) -> tuple[list[str], WrittenSummary]:
    *pieces, last = [step async for step in write_summary(summariser, JOB, "writer", deadline)]
    assert isinstance(last, WrittenSummary)
    return [step.text for step in pieces if isinstance(step, SummaryText)], last


async def test_its_pieces_come_first_and_then_all_of_it() -> None:
    narrative = Narrative(text="All is well.", model="any")
    assert await written(Saying(narrative, ("All is", " well."))) == (
        ["All is", " well."],
        WrittenSummary(narrative=narrative),
    )


@pytest.mark.parametrize(
    ("model", "flaws", "kind", "noted"),
    [
        ("any", ("truncated", "loop"), "loop", "truncated, loop"),
        ("", ("loop", "refused", "loop"), "loop", "loop, refused"),
        ("", (), "empty", "empty"),
    ],
)
async def test_an_answer_of_no_use_is_told_by_its_last_flaw_and_noted_with_all(
    model: str, flaws: tuple[Flaw, ...], kind: str, noted: str
) -> None:
    problems = tuple(Problem(flaw, "it was so") for flaw in flaws)
    _, found = await written(Saying(Narrative(model=model, problems=problems)))
    assert found.problems == problems
    assert found.error is None
    assert found.unwritten is not None
    assert (found.unwritten.model, found.unwritten.kind) == (model or "writer", kind)
    assert found.unwritten.noted == noted


@pytest.mark.parametrize(
    ("error", "flaw", "kind"),
    [
        (ProviderTimeout("too slow"), "timeout", "timeout"),
        (ProviderError("quota used up"), "empty", "ProviderError"),
    ],
)
async def test_a_service_that_fails_is_told_by_what_failed(
    error: ProviderError, flaw: Flaw, kind: str
) -> None:
    pieces, found = await written(Saying(error, ("All",)))
    assert pieces == ["All"]
    assert found.error is error
    assert found.problems == (Problem(flaw, f"no summary: {error}"),)
    assert found.unwritten is not None
    assert (found.unwritten.model, found.unwritten.kind) == ("writer", kind)
    assert found.unwritten.noted == str(error)


async def test_an_error_of_another_kind_is_raised_as_it_is() -> None:
    with pytest.raises(OctavoError, match="not for a summary"):
        await written(Saying(OctavoError("not for a summary")))


async def test_what_a_summariser_says_after_it_was_given_up_is_nobody_s_concern() -> None:
    """Neither when it ends as it is told to, nor when it fails at that."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    stopped: list[str] = []

    @dataclass
    class Late:
        fails: bool

        async def summarise(self, job: SummaryJob, tell: object) -> Narrative:  # noqa: ARG002
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.append("late")
                if self.fails:
                    raise ZeroDivisionError from None
                raise
            return Narrative()

    now = asyncio.get_running_loop().time()
    for fails in (False, True):
        _, found = await written(Late(fails), Deadline(at=now, allowed=20.0))
        assert found.unwritten is not None
        assert found.unwritten.kind == "timeout"
        assert "in the 20 seconds" in found.unwritten.reason
        for _ in range(5):
            await asyncio.sleep(0)
    gc.collect()
    assert (stopped, complaints) == (["late", "late"], [])
