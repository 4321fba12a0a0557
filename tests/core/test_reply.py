from __future__ import annotations

import pytest

from octavo.core.reply import MOST_TOKENS, Usage


@pytest.mark.parametrize("absurd", [-1, MOST_TOKENS + 1, 10**40])
def test_a_number_of_tokens_that_cannot_be_is_not_reported(absurd: int) -> None:
    usage = Usage(input=absurd, output=absurd, cached=absurd, reasoning=absurd)
    assert usage == Usage()
    assert Usage(input=MOST_TOKENS, output=1) != Usage()


def test_what_several_requests_used_is_added_up() -> None:
    first = Usage(input=1_000, output=200, cached=30, reasoning=4)
    assert first + Usage(input=5_000, output=600, cached=70, reasoning=8) == Usage(
        input=6_000, output=800, cached=100, reasoning=12
    )
    assert first + Usage() == Usage() + first == first


def test_no_more_is_cached_than_was_read_and_no_more_thought_than_was_written() -> None:
    usage = Usage(input=5, output=3, cached=5, reasoning=3)
    assert (usage.cached, usage.reasoning) == (5, 3)
    usage = Usage(input=5, output=3, cached=6, reasoning=4)
    assert (usage.cached, usage.reasoning) == (5, 3)
