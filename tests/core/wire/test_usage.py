from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.reply import Usage
from octavo.core.wire.usage import read_usage

REPORTS: list[tuple[str, dict[str, Any], Usage]] = [
    (
        "OpenAI chat",
        {
            "prompt_tokens": 1_200,
            "completion_tokens": 300,
            "prompt_tokens_details": {"cached_tokens": 1_024},
            "completion_tokens_details": {"reasoning_tokens": 256},
        },
        Usage(input=1_200, output=300, cached=1_024, reasoning=256),
    ),
    (
        "OpenAI responses",
        {
            "input_tokens": 1_200,
            "output_tokens": 300,
            "input_tokens_details": {"cached_tokens": 1_024},
            "output_tokens_details": {"reasoning_tokens": 256},
        },
        Usage(input=1_200, output=300, cached=1_024, reasoning=256),
    ),
    (
        "Anthropic",
        {
            "input_tokens": 20,
            "cache_read_input_tokens": 1_000,
            "cache_creation_input_tokens": 180,
            "output_tokens": 300,
        },
        Usage(input=1_200, output=300, cached=1_000),
    ),
    (
        "Anthropic without a cache",
        {"input_tokens": 1_200, "output_tokens": 300},
        Usage(input=1_200, output=300),
    ),
    (
        "Google",
        {
            "promptTokenCount": 1_200,
            "cachedContentTokenCount": 1_000,
            "candidatesTokenCount": 44,
            "thoughtsTokenCount": 256,
            "totalTokenCount": 1_500,
        },
        Usage(input=1_200, output=300, cached=1_000, reasoning=256),
    ),
    (
        "Google with the output of a tool",
        {"promptTokenCount": 1_000, "toolUsePromptTokenCount": 200, "candidatesTokenCount": 300},
        Usage(input=1_200, output=300),
    ),
    (
        "Google's SDK",
        {"prompt_token_count": 1_200, "candidates_token_count": 300, "thoughts_token_count": None},
        Usage(input=1_200, output=300),
    ),
]


@pytest.mark.parametrize(("name", "report", "usage"), REPORTS)
def test_cached_tokens_are_counted_once_and_thinking_apart(
    name: str, report: dict[str, Any], usage: Usage
) -> None:
    """Case 6: the three providers report the same request in three ways; the prompt is as large in all of them."""
    assert read_usage(report) == usage, name


KEYS = sorted({key for _, report, _ in REPORTS for key in report})


@given(
    st.dictionaries(
        st.sampled_from(KEYS), st.one_of(st.integers(), st.none(), st.text(), st.booleans(), st.just({}))
    )
)
def test_a_strange_report_is_never_a_reason_to_fail(report: dict[str, Any]) -> None:
    """Planted bug: a negative number of cached tokens made the input negative."""
    usage = read_usage(report)
    assert min(usage.input, usage.output, usage.cached, usage.reasoning) >= 0
    assert usage.cached <= usage.input
    assert usage.reasoning <= usage.output


def test_a_part_is_never_larger_than_what_it_is_a_part_of() -> None:
    """Seen failing with: more tokens in an answer than there can be, of which a possible number was thinking."""
    report = {"promptTokenCount": 5, "candidatesTokenCount": 10**30, "thoughtsTokenCount": 80}
    assert read_usage(report) == Usage(input=5)
    assert Usage(input=10**30, cached=7) == Usage()


def test_of_two_names_for_a_number_the_first_that_is_there_counts_even_if_it_is_none() -> None:
    report = {"prompt_tokens": 0, "input_tokens": 7, "completion_tokens": -1, "output_tokens": 3}
    assert read_usage(report) == Usage(input=0, output=3)
