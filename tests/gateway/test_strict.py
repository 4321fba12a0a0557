"""The strict providers refuse what the real ones refuse, and take what those take."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.strict import wrong_with_anthropic, wrong_with_openai
from tests.gateway.strict_gemini import wrong_with as wrong_with_gemini
from tests.gateway.strict_responses import Refused, StrictResponses

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "A door."}
TEXT = {"type": "text", "text": "Hm."}


def chat(*messages: Any) -> str:
    return wrong_with_openai({"messages": [USER, *messages]})


def claude(*messages: Any, **more: Any) -> str:
    return wrong_with_anthropic({"messages": [USER, *messages], "max_tokens": 10, **more}, 0)


def gemini(*contents: Any) -> str:
    ask = {"role": "user", "parts": [{"text": "Hi"}]}
    return wrong_with_gemini({"contents": [*contents, ask]})


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "tool", "content": ""}], "must not be empty"),
        ([{"role": "assistant", "content": None}], "must not be empty"),
        ([{"role": "model", "content": "Hm."}], "role"),
        ([{"role": "assistant", "content": "Hm.", "tool_calls": []}], "too short"),
        ([{"role": "assistant", "content": None, "tool_calls": [CALL, CALL]}], "duplicate"),
        ([{"role": "assistant", "content": [{"type": "image_url"}]}], "image_url"),
    ],
)
def test_chat_completions_refuses(messages: list[Any], reason: str) -> None:
    assert reason in chat(*messages)


def test_chat_completions_takes_two_questions_in_a_row() -> None:
    assert chat(USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}) == ""


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "assistant", "content": [{"type": "text", "text": " "}]}], "non-empty"),
        ([{"role": "system", "content": "Hm."}], "role"),
        ([{"role": "assistant", "content": [USE, USE]}], "unique"),
        (
            [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [TEXT, RESULT]}],
            "come first",
        ),
        ([{"role": "assistant", "content": "Hm. "}], "whitespace"),
    ],
)
def test_messages_refuses(messages: list[Any], reason: str) -> None:
    assert reason in claude(*messages)


def test_messages_takes_two_questions_in_a_row_as_claude_code_sends_them() -> None:
    assert claude(USER, {"role": "assistant", "content": [TEXT]}, USER) == ""


def test_gemini_refuses_a_call_that_follows_no_question() -> None:
    said = {"role": "model", "parts": [{"text": "Hm."}]}
    call = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    ask = {"role": "user", "parts": [{"text": "Hi"}]}
    assert "immediately after" in gemini(ask, said, call)
    assert "must not be empty" in gemini(ask, {"role": "model", "parts": []})


def test_responses_takes_a_field_without_a_value_as_codex_sends_it() -> None:
    provider = StrictResponses()
    thought = {"id": "rs_1", "type": "reasoning", "summary": []}
    provider.thoughts["rs_1"] = thought
    said = {"id": "msg_1", "type": "message", "role": "assistant", "content": "Hm."}
    provider.check([USER, {**thought, "content": None}, {**said, "phase": None}])
    with pytest.raises(Refused, match="could not be verified"):
        provider.check([USER, {**thought, "summary": ["Hm."]}, said])
