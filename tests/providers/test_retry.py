"""Trying again: how often, how long in between, and never after the first chunk."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, cast

import pytest

from octavo.core.messages import assistant
from octavo.core.reply import Chunk, Delta, Reply, Retrying
from octavo.errors import ProviderError, ProviderTimeout, RateLimited, WindowExceeded
from octavo.providers.retry import JITTER, Begun, pause, persist
from octavo.providers.settings import WaitLimits

pytestmark = pytest.mark.anyio
REPLY = Reply(message=assistant("Hi"))
QUICK = WaitLimits(first_wait=0, longest_wait=0)
FAILED = ProviderError("failed", retryable=True)
HEARD = Delta("something that is not shown")


class Attempts:
    """Makes attempts from a script: what each one gives before it ends or raises."""

    def __init__(self, *script: list[Chunk | ProviderError]) -> None:
        self.script = [*script]
        self.closed = 0

    async def __call__(self, begun: Begun) -> AsyncGenerator[Chunk, None]:
        try:
            for step in self.script.pop(0):
                if step is HEARD:
                    begun()
                    continue
                if isinstance(step, ProviderError):
                    raise step
                yield step
        finally:
            self.closed += 1


async def test_attempts_go_on_until_one_speaks() -> None:
    attempts = Attempts([FAILED], [FAILED], [Delta("Hi"), REPLY])
    seen = [chunk async for chunk in persist(attempts, QUICK)]
    assert seen == [
        Retrying(attempt=2, attempts=4, wait=0, reason="failed"),
        Retrying(attempt=3, attempts=4, wait=0, reason="failed"),
        Delta("Hi"),
        REPLY,
    ]
    assert attempts.closed == 3


async def test_after_the_first_chunk_a_failure_is_final() -> None:
    attempts = Attempts([Delta("H"), FAILED], [REPLY])
    stream = persist(attempts, QUICK)
    assert await anext(stream) == Delta("H")
    with pytest.raises(ProviderError, match="failed"):
        await anext(stream)
    assert len(attempts.script) == 1


async def test_after_anything_was_received_a_failure_is_final() -> None:
    """Also when none of it could be shown."""
    attempts = Attempts([FAILED], [HEARD, FAILED], [REPLY])
    stream = persist(attempts, QUICK)
    assert isinstance(await anext(stream), Retrying)
    with pytest.raises(ProviderError, match="failed"):
        await anext(stream)
    assert len(attempts.script) == 1


async def test_patience_ends_with_the_last_error() -> None:
    attempts = Attempts([FAILED], [FAILED], [FAILED], [FAILED], [REPLY])
    stream = persist(attempts, QUICK)
    for _ in range(3):
        assert isinstance(await anext(stream), Retrying)
    with pytest.raises(ProviderError, match="failed"):
        await anext(stream)
    assert attempts.closed == QUICK.attempts


async def test_what_no_retry_helps_is_raised_at_once() -> None:
    attempts = Attempts([WindowExceeded("too long")], [REPLY])
    with pytest.raises(WindowExceeded):
        await anext(persist(attempts, QUICK))
    assert attempts.closed == 1


async def test_closing_closes_the_attempt() -> None:
    attempts = Attempts([Delta("H"), Delta("i"), REPLY])
    stream = cast(Any, persist(attempts, QUICK))
    await anext(stream)
    await stream.aclose()
    assert attempts.closed == 1


def test_waits_grow_up_to_a_limit_with_some_chance_in_them() -> None:
    waits = WaitLimits(attempts=10, first_wait=1, growth=2, longest_wait=5)
    for tried, longest in enumerate((1, 2, 4, 5, 5), start=1):
        wait = pause(FAILED, tried, waits)
        assert wait is not None
        assert longest * (1 - JITTER) <= wait <= longest


def test_a_pause_that_is_asked_for_is_kept_unless_it_is_too_long() -> None:
    assert pause(RateLimited("slow", retry_after=7.5), 1, WaitLimits()) == 7.5
    assert pause(RateLimited("slow", retry_after=61), 1, WaitLimits()) is None
    assert pause(RateLimited("slow", retry_after=0.1), 4, WaitLimits(attempts=4)) is None


def test_nobody_waits_longer_for_the_first_byte_because_it_is_tried_again() -> None:
    """A service that hangs was asked four times for five minutes each."""
    waits = WaitLimits(first_byte=60)
    assert pause(FAILED, 1, waits, waited=1) is not None
    assert pause(ProviderTimeout("no answer within 60 seconds"), 1, waits, waited=60) is None
    assert pause(RateLimited("slow", retry_after=50), 1, waits, waited=5) == 50
    assert pause(RateLimited("slow", retry_after=50), 2, waits, waited=55) is None


def test_one_attempt_means_no_second_one() -> None:
    assert pause(FAILED, 1, replace(QUICK, attempts=1)) is None
