"""Requests that a provider refuses as too large although our count says that they fit."""

from __future__ import annotations

import pytest

from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.outcome import Answered, AnswerFailed
from octavo.errors import WindowExceeded
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
