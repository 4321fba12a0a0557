"""Providers' usage reports, read into one shape: cached tokens once, hidden thinking apart.

OpenAI and Google report cached tokens as part of the prompt, Anthropic besides it; hidden thinking is part of the
output for OpenAI and Anthropic and comes on top of it for Google. What does not add up or is no number is 0: a usage
report is never a reason to fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from octavo.core.reply import Usage

Report = Mapping[str, object]


def read_usage(report: Report) -> Usage:
    """Read a usage report of any of the three providers, as it came over the wire."""
    if "promptTokenCount" in report or "prompt_token_count" in report:
        return _google(report)
    if "cache_read_input_tokens" in report or "cache_creation_input_tokens" in report:
        return _anthropic(report)
    return _openai(report)


def _openai(report: Report) -> Usage:
    """Read chat completions (`prompt_tokens`) and responses (`input_tokens`); both count what is cached."""
    whole = _number(report, "prompt_tokens", "input_tokens")
    output = _number(report, "completion_tokens", "output_tokens")
    cached = _inner(report, "cached_tokens", "prompt_tokens_details", "input_tokens_details")
    thinking = _inner(report, "reasoning_tokens", "completion_tokens_details", "output_tokens_details")
    return Usage(input=whole, output=output, cached=min(cached, whole), reasoning=min(thinking, output))


def _anthropic(report: Report) -> Usage:
    cached = _number(report, "cache_read_input_tokens")
    written = _number(report, "cache_creation_input_tokens")
    output = _number(report, "output_tokens")
    thinking = _inner(report, "thinking_tokens", "output_tokens_details")
    return Usage(
        input=_number(report, "input_tokens") + cached + written,
        output=output,
        cached=cached,
        reasoning=min(thinking, output),
    )


def _google(report: Report) -> Usage:
    tools = _number(report, "toolUsePromptTokenCount", "tool_use_prompt_token_count")
    whole = _number(report, "promptTokenCount", "prompt_token_count") + tools
    thinking = _number(report, "thoughtsTokenCount", "thoughts_token_count")
    visible = _number(report, "candidatesTokenCount", "candidates_token_count")
    cached = _number(report, "cachedContentTokenCount", "cached_content_token_count")
    return Usage(input=whole, output=visible + thinking, cached=min(cached, whole), reasoning=thinking)


def _number(report: Report, *keys: str) -> int:
    for key in keys:
        value = report.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return 0


def _inner(report: Report, key: str, *places: str) -> int:
    for place in places:
        inner = report.get(place)
        if isinstance(inner, Mapping) and key in inner:
            return _number(inner, key)
    return 0
