"""What stands for a message or a tool: whatever a provider's client gave, and whatever an interface takes."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.messages import Message, assistant, user
from octavo.core.reply import Reply, Usage
from octavo.core.tools import Tool
from octavo.engine.accept import accept, accept_tools, check_options
from octavo.errors import BadInput, UsageError

SAID = {"role": "assistant", "content": "Noted."}


class Dumped:
    """A value of a provider's library."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def model_dump(self, **options: object) -> dict[str, Any]:
        assert options == {"mode": "json", "exclude_none": True}
        return self.data


@pytest.mark.parametrize(
    ("content", "model", "usage"),
    [
        (SAID, "", None),
        (Dumped(SAID), "", None),
        (assistant("Noted."), "", None),
        (
            Reply(message=assistant("Noted."), usage=Usage(input=9, output=2), model="m"),
            "m",
            Usage(input=9, output=2),
        ),
        (
            {
                "model": "gpt-4o",
                "choices": [{"message": SAID}],
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 4},
                },
            },
            "gpt-4o",
            Usage(input=9, output=2, cached=4),
        ),
        (
            {
                "type": "message",
                "model": "claude",
                "role": "assistant",
                "content": [{"type": "text", "text": "Noted."}],
                "usage": {"input_tokens": 9, "output_tokens": 2},
            },
            "claude",
            Usage(input=9, output=2),
        ),
        (
            {
                "modelVersion": "gemini",
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Noted."}]}}],
                "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2},
            },
            "gemini",
            Usage(input=9, output=2),
        ),
        (
            {
                "model_version": "gemini",
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Noted."}]}}],
                "usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 2},
            },
            "gemini",
            Usage(input=9, output=2),
        ),
        ({**SAID, "model": 3, "usage": "much"}, "", None),
    ],
)
def test_an_answer_is_taken_with_its_bill_in_whatever_form_it_came(
    content: object, model: str, usage: Usage | None
) -> None:
    taken = accept(content)
    assert (taken.message.role, taken.message.text) == ("assistant", "Noted.")
    assert taken.model == model
    assert taken.usage == usage


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_plain_text_is_said_by_the_role_that_is_named(role: str) -> None:
    assert (accept("Hi.", role).message.role, accept("Hi.", role).message.text) == (role, "Hi.")
    assert accept("Hi.").message == user("Hi.")


@pytest.mark.parametrize("content", [3, None, object(), ["Hi."]])
def test_what_is_no_message_is_refused_by_the_name_of_its_kind(content: object) -> None:
    with pytest.raises(BadInput, match=type(content).__name__):
        accept(content)


def test_a_role_that_nobody_has_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown role 'nobody'"):
        accept("Hi.", "nobody")


SCHEMA = {"type": "object", "properties": {"door": {"type": "integer"}}}
FUNCTION = {"name": "look", "description": "Looks.", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": FUNCTION},
        {"type": "function", **FUNCTION},
        {"name": "look", "description": "Looks.", "input_schema": SCHEMA},
        {"type": "custom", "name": "look", "description": "Looks.", "input_schema": SCHEMA},
        {"functionDeclarations": [FUNCTION]},
    ],
)
def test_a_tool_is_read_in_the_form_of_any_interface(definition: dict[str, Any]) -> None:
    plain = Tool(name="other")
    (tool, other) = accept_tools([definition, plain])
    assert (tool.name, tool.description) == ("look", "Looks.")
    assert other is plain


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        (Tool(name="look"), "expected a list of tools, got Tool"),
        (FUNCTION, "expected a list of tools, got dict"),
        ("look", "expected a list of tools, got str"),
        (3, "expected a list of tools, got int"),
        ([Tool(name="look"), 3], r"tools\[1\]"),
        ([Tool(name="look"), FUNCTION], r"tools\[1\].*got a dict with name, description, parameters"),
    ],
)
def test_what_is_no_tool_is_refused_where_it_stands(tools: Any, where: str) -> None:
    with pytest.raises(BadInput, match=where):
        accept_tools(tools)


def test_an_option_that_is_not_known_is_refused_with_the_one_that_was_meant() -> None:
    check_options("call", ["budget"], ["ratio", "budget"])
    with pytest.raises(UsageError, match=r"call\(\) has no option 'bugdet': did you mean 'budget'\?"):
        check_options("call", ["ratio", "bugdet"], ["ratio", "budget"])
    with pytest.raises(UsageError, match="it takes budget, ratio"):
        check_options("call", ["zzz"], ["ratio", "budget"])


def test_what_stands_in_a_message_is_kept() -> None:
    message = Message(role="user", parts=())
    assert accept(message).message is message
