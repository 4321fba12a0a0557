"""Compressing again and again: how often, from what, and what lasts."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from octavo.core.messages import Message, user
from octavo.evals.cases import built_in
from octavo.evals.compressor import CompressionJob, CompressionResult
from octavo.evals.compressors import CompressorFactory, make_all, meter_of
from octavo.evals.measure.score import make_ruler
from octavo.evals.rounds import lasting, play

pytestmark = pytest.mark.anyio
METER = meter_of("chars4")
CASES = {case.name: case for case in built_in()}
CHAT = make_ruler(CASES["chat 1"], METER.count_message)
RUN = make_ruler(CASES["run 1"], METER.count_message)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Watched:
    """Truncates, and remembers what it was given."""

    name: str = "watched"
    remembers: bool = False
    fails: bool = False
    given: list[tuple[Message, ...]] = field(default_factory=list)

    async def compress(self, job: CompressionJob) -> CompressionResult:
        self.given.append(job.messages)
        if self.fails:
            return CompressionResult(wrong=("no",))
        (truncate,) = make_all(CompressorFactory(meter=METER), ["truncate"])
        return await truncate.compress(job)


async def test_a_tenth_and_nine_rounds_compress_whenever_the_context_has_doubled() -> None:
    watched = Watched()
    budget = CHAT.budget(0.1)
    course = await play(CHAT, watched, budget, 9)
    assert 8 <= len(course.rounds) <= 10
    assert max(course.tokens) < 3 * budget
    assert course.tokens[-1] <= budget
    assert len(course.tokens) in (len(CHAT.case.messages), len(CHAT.case.messages) + 1)


async def test_a_round_starts_from_the_last_result_or_from_the_originals() -> None:
    alone, helped = Watched(), Watched()
    await play(CHAT, alone, CHAT.budget(0.1), 5)
    course = await play(CHAT, helped, CHAT.budget(0.1), 5, originals=True)
    assert "left out" in alone.given[-1][1].text
    assert helped.given[-1] == CHAT.case.messages[: course.rounds[-1].at]
    remembering = Watched(remembers=True)
    await play(CHAT, remembering, CHAT.budget(0.1), 5)
    assert remembering.given == helped.given


async def test_an_exchange_with_a_tool_is_not_interrupted() -> None:
    watched = Watched()
    await play(RUN, watched, RUN.budget(0.1), 9)
    assert all(not given[-1].calls for given in watched.given)


async def test_a_compressor_that_fails_leaves_the_context_as_it_was() -> None:
    course = await play(CHAT, Watched(fails=True), CHAT.budget(0.1), 3)
    assert course.made.messages == CHAT.case.messages
    assert set(course.made.wrong) == {"no"}


async def test_truncation_forgets_the_first_facts_and_extracts_keep_some() -> None:
    survived: dict[str, float] = {}
    for compressor in make_all(CompressorFactory(meter=METER), ["octavo@0.05", "truncate", "none"]):
        course = await play(CHAT, compressor, CHAT.budget(0.1), 5)
        found = lasting(CHAT, course.rounds)
        assert found is not None
        assert list(found.shares) == sorted(found.shares, reverse=True)
        survived[compressor.name] = found.shares[-1]
    assert survived["none"] == 1.0
    assert survived["octavo@0.05"] > survived["truncate"] == 0.0


async def test_what_never_grew_too_large_has_no_rounds() -> None:
    course = await play(CHAT, Watched(), CHAT.budget(1.0), 5)
    assert course.rounds == ()
    assert lasting(CHAT, course.rounds) is None
    bare = make_ruler(
        CASES["chat 1"].__class__(name="b", group="b", set="s", messages=(user("so it is " * 50),) * 4),
        METER.count_message,
    )
    course = await play(bare, Watched(), bare.budget(0.3), 2)
    assert course.rounds
    assert lasting(bare, course.rounds) is None
