"""Requests that a provider refuses as too large although our count says that they fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.context import Context
from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered, AnswerFailed
from octavo.engine.overflow import OverflowRetry, leave_free
from octavo.engine.state import TipState, divided
from octavo.errors import BadBudget, WindowExceeded
from octavo.meters.meter import Meter
from tests.engine.conftest import MODEL, MakeEngine, billed
from tests.engine.test_turn import talk

pytestmark = pytest.mark.anyio
WINDOW = 4_096


@pytest.mark.parametrize("factor", [1.3, 1.6])
async def test_a_provider_that_counts_more_than_we_do_leaves_the_window_as_it_is(
    make: MakeEngine, factor: float
) -> None:
    """It names the very window we know, and its bills say the rest."""
    refused: list[int] = []

    def say(request: Request) -> Reply | BaseException:
        tokens = int(billed(request) * factor)
        if tokens + (request.max_output or 0) > WINDOW:
            refused.append(tokens)
            return WindowExceeded(f"maximum context length is {WINDOW}", window=WINDOW)
        return Reply(message=assistant("Fine."), usage=Usage(input=tokens, output=2))

    engine = await make(say, window=WINDOW)
    chat = await engine.create()
    await chat.set(auto=False)
    for n in range(10):
        await chat.add(f"Note {n}. " + "The quick brown fox jumps over the lazy dog. " * 22)
    seen = await talk(chat, 3)
    assert 0 < len(refused) <= 2
    assert not any(isinstance(event, AnswerFailed) for event in seen)
    assert isinstance(seen[-1], Answered)
    assert (await engine.models.meter(MODEL)).card.window == WINDOW


async def test_what_is_left_free_for_another_attempt_is_not_asked_for_as_an_answer(make: MakeEngine) -> None:
    asked: list[int | None] = []

    def say(request: Request) -> str | BaseException:
        asked.append(request.max_output)
        return "Fine." if len(asked) > 1 else WindowExceeded("too long")

    engine = await make(say, window=WINDOW)
    chat = await engine.create()
    await talk(chat, 1)
    assert asked == [asked[0], asked[0]]


async def test_a_refusal_by_bytes_says_nothing_about_the_window(make: MakeEngine) -> None:
    """A proxy that refuses large bodies does so with 413, whatever their tokens."""

    def say(request: Request) -> str | BaseException:
        large = billed(request) > 1_500
        return WindowExceeded("Request Entity Too Large", status=413) if large else "Fine."

    engine = await make(say, window=WINDOW)
    chat = await engine.create()
    await chat.set(auto=False)
    seen = await talk(chat, 9)
    assert isinstance(seen[-1], Answered)
    assert (await engine.models.meter(MODEL)).card.window == WINDOW


async def test_a_request_that_never_gets_through_teaches_this_process_a_smaller_window(
    make: MakeEngine,
) -> None:
    """Otherwise the next turn would send as much, in vain again."""

    def say(request: Request) -> str | BaseException:
        return WindowExceeded("too long") if billed(request) > 500 else "Fine."

    engine = await make(say, window=32_000)
    chat = await engine.create()
    await chat.set(auto=False)
    for n in range(120):
        await chat.add(f"Note {n}. " + "The quick brown fox jumps over the lazy dog. " * 22)
    seen = await talk(chat, 9, "Go on.")
    assert any(isinstance(event, AnswerFailed) for event in seen)
    assert isinstance(seen[-1], Answered)


async def refuse(retry: OverflowRetry, tokens: int, mark: int, error: WindowExceeded | None = None) -> bool:
    return await retry.refused(error or WindowExceeded("too long"), Context(), {}, tokens, mark)


async def window_of(engine: Engine) -> int:
    return (await engine.models.meter(MODEL)).card.window


async def test_each_attempt_leaves_a_fifth_of_what_was_refused_free_and_two_are_made(
    make: MakeEngine,
) -> None:
    engine = await make(window=4_000)
    retry = OverflowRetry(models=engine.models, model=MODEL)
    assert await refuse(retry, 1_000, 1_200)
    assert retry.spare == 200 + 200, "what was left free had been free before"
    assert await refuse(retry, 900, 800)
    assert retry.spare == 400 + 180, "above the mark nothing had been free"
    assert await window_of(engine) == 4_000
    assert not await refuse(retry, 3_000, 2_000)
    assert await window_of(engine) == 2_700, "a tenth less than what was refused last"


async def test_a_smaller_window_that_is_named_is_learned_and_one_that_is_known_is_not(
    make: MakeEngine,
) -> None:
    engine = await make(window=4_000)
    retry = OverflowRetry(models=engine.models, model=MODEL)
    assert await refuse(retry, 1_000, 1_000, WindowExceeded("at most 4,000", window=4_000))
    assert (retry.spare, await window_of(engine)) == (200, 4_000)
    assert await refuse(retry, 1_000, 1_000, WindowExceeded("at most 3,999", window=3_999))
    assert (retry.spare, await window_of(engine)) == (200, 3_999)


@pytest.mark.parametrize(
    ("billed", "window"),
    [
        (1_350, 4_000),  # the refused request, by the same measure: 2,700 of the 3,000 beside the answer
        (1_349, 1_800),
        (0, 4_000),  # no bill came
    ],
)
async def test_a_bill_explains_a_refusal_if_the_window_was_nine_tenths_full(
    make: MakeEngine, billed: int, window: int
) -> None:
    engine = await make(window=4_000)
    retry = OverflowRetry(models=engine.models, model=MODEL)
    await refuse(retry, 2_000, 2_000)
    await retry.accepted(1_000, billed, reply=1_000)
    assert await window_of(engine) == window


async def test_a_request_that_was_not_refused_teaches_nothing_of_the_window(make: MakeEngine) -> None:
    engine = await make(window=4_000)
    retry = OverflowRetry(models=engine.models, model=MODEL)
    await retry.accepted(1_000, 1_000, reply=1_000)
    await refuse(retry, 2_000, 2_000, WindowExceeded("Request Entity Too Large", status=413))
    await retry.accepted(1_000, 1_000, reply=1_000)
    await refuse(retry, 2_000, 2_000, WindowExceeded("Request Entity Too Large", status=413))
    assert not await refuse(retry, 2_000, 2_000, WindowExceeded("Request Entity Too Large", status=413))
    assert await window_of(engine) == 4_000


def fits(state: TipState, spare: int) -> bool:
    try:
        divided(state, state.meter, state.budget.overhead, spare=spare)
    except BadBudget:
        return False
    return True


async def test_what_cannot_be_left_free_is_halved_until_it_can(make: MakeEngine) -> None:
    chat = await (await make(window=WINDOW)).create(reply=500)
    await chat.add("Hello")
    state = await chat._state()
    wanted = next(tokens for tokens in range(2_000, 9_000, 100) if not fits(state, tokens))
    assert fits(state, wanted // 2)
    left = leave_free(state, 4 * wanted)
    assert left.budget.margin == state.budget.margin + wanted // 2
    assert left.budget.reply == state.budget.reply
    assert leave_free(state, 0) is state
    full = replace(state, meter=Meter(replace(state.meter.card, window=state.budget.reply)))
    assert leave_free(full, 8) is full, "where nothing can be left free, all stays as it is"
