from __future__ import annotations

import pytest

from octavo.core.reply import MOST_TOKENS, Usage


@pytest.mark.parametrize("absurd", [-1, MOST_TOKENS + 1, 10**40])
def test_a_number_of_tokens_that_cannot_be_is_not_reported(absurd: int) -> None:
    usage = Usage(input=absurd, output=absurd, cached=absurd, reasoning=absurd)
    assert usage == Usage()
    assert Usage(input=MOST_TOKENS, output=1) != Usage()
