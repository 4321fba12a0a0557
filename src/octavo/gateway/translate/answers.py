"""Whole answers, written in the interface that the client speaks, whichever provider gave them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message, Reasoning, Text, ToolCall
from octavo.core.reply import Finish, Usage
from octavo.core.wire.pairing import input_of

NO_SIGNATURE = "b2N0YXZv"
"""Stands where Anthropic signs thinking: the clients' libraries expect text there, and nobody checks it."""
OPENAI_FINISHES: Mapping[Finish, str] = MappingProxyType(
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "refusal": "content_filter",
        "cancelled": "stop",
    }
)
ANTHROPIC_FINISHES: Mapping[Finish, str] = MappingProxyType(
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "refusal": "refusal",
        "cancelled": "end_turn",
    }
)
GEMINI_FINISHES: Mapping[Finish, str] = MappingProxyType(
    {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "refusal": "SAFETY", "cancelled": "STOP"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A finished answer, and what its client knows it by."""

    id: str
    model: str
    """The name that the client asked for."""
    message: Message
    finish: Finish
    usage: Usage
    request: JsonObject = field(default_factory=dict)
    """The body of the client's request."""
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.message.parts if isinstance(part, Text))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.message.parts if isinstance(part, Reasoning))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.message.calls


def write_openai(answer: Answer) -> JsonObject:
    """Write an answer as Chat Completions does."""
    message: JsonObject = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = [openai_call(call) for call in answer.calls]
    choice: JsonObject = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": OPENAI_FINISHES[answer.finish],
    }
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [choice],
        "usage": openai_usage(answer.usage),
    }


def openai_call(call: ToolCall) -> JsonObject:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.input or "{}"},
    }


def openai_usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def write_anthropic(answer: Answer) -> JsonObject:
    """Write an answer as Anthropic's Messages does."""
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [*anthropic_blocks(answer)],
        "stop_reason": ANTHROPIC_FINISHES[answer.finish],
        "stop_sequence": None,
        "usage": anthropic_usage(answer.usage),
    }


def anthropic_blocks(answer: Answer) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": NO_SIGNATURE})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": input_of(call)}
        for call in answer.calls
    ]
    return blocks


def anthropic_usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def write_responses(answer: Answer) -> JsonObject:
    """Write an answer as OpenAI's Responses does."""
    return response_object(answer, responses_items(answer))


def response_id(id: str) -> str:
    """Name an answer as later requests name it."""
    return f"resp_{id}"


def response_object(answer: Answer, items: list[JsonObject], *, running: bool = False) -> JsonObject:
    """Write the object that holds an answer; while it is `running`, it has no items and no bill."""
    asked = answer.request
    cut = answer.finish == "length" and not running
    return {
        "id": response_id(answer.id),
        "object": "response",
        "created_at": answer.created,
        "status": "in_progress" if running else "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "model": answer.model,
        "output": [] if running else [*items],
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": asked.get("previous_response_id"),
        "reasoning": asked.get("reasoning") or {"effort": None, "summary": None},
        "store": asked.get("store", True),
        "temperature": asked.get("temperature"),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "top_p": asked.get("top_p"),
        "truncation": "disabled",
        "usage": None if running else responses_usage(answer.usage),
        "metadata": asked.get("metadata") or {},
    }


def responses_items(answer: Answer) -> list[JsonObject]:
    """Write the items of an answer; each has an id of its own."""
    items: list[JsonObject] = []
    if answer.thinking:
        summary: list[Json] = [{"type": "summary_text", "text": answer.thinking}]
        items.append({"id": f"rs_{answer.id}", "type": "reasoning", "summary": summary})
    if answer.text:
        items.append(
            {
                "id": f"msg_{answer.id}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}],
            }
        )
    custom = custom_tools(answer.request)
    return items + [_call_item(call, i, answer.id, custom) for i, call in enumerate(answer.calls)]


def custom_tools(request: JsonObject) -> frozenset[str]:
    """Name the tools of a request that take plain text instead of JSON."""
    tools = request.get("tools")
    listed = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return frozenset(str(tool.get("name")) for tool in listed if tool.get("type") == "custom")


def _call_item(call: ToolCall, index: int, id: str, custom: frozenset[str]) -> JsonObject:
    item: JsonObject = {
        "id": f"fc_{id}_{index}",
        "call_id": call.id,
        "name": call.name,
        "status": "completed",
    }
    if call.name in custom:
        return {**item, "id": f"ctc_{id}_{index}", "type": "custom_tool_call", "input": _text_input(call)}
    return {**item, "type": "function_call", "arguments": call.input or "{}"}


def _text_input(call: ToolCall) -> str:
    said = input_of(call).get("input")
    return said if isinstance(said, str) else call.input


def as_sent_to_client(message: Message, request: JsonObject) -> Message:
    """Give an answer with the calls as its client gets them: those of tools of plain text have that as their input."""
    custom = custom_tools(request)
    if not custom:
        return message
    parts = (
        replace(part, input=_text_input(part), wire=None)
        if isinstance(part, ToolCall) and part.name in custom
        else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def responses_usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def write_gemini(answer: Answer) -> JsonObject:
    """Write an answer as Gemini does."""
    parts: list[Json] = []
    if answer.thinking:
        parts.append({"text": answer.thinking, "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    parts += gemini_calls(answer.calls)
    return gemini_object(answer, parts, finish=GEMINI_FINISHES[answer.finish])


def gemini_calls(calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    return [{"functionCall": {"id": call.id, "name": call.name, "args": input_of(call)}} for call in calls]


def gemini_object(answer: Answer, parts: list[Json], *, finish: str = "") -> JsonObject:
    """Write a whole answer, or a piece of one without a `finish`."""
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    said: JsonObject = {"modelVersion": answer.model, "responseId": answer.id}
    if not finish:
        return {"candidates": [candidate], **said}
    usage = answer.usage
    said["usageMetadata"] = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.input + usage.output,
    }
    return {"candidates": [{**candidate, "finishReason": finish}], **said}


WRITERS: Mapping[str, Callable[[Answer], JsonObject]] = MappingProxyType(
    {
        "openai": write_openai,
        "anthropic": write_anthropic,
        "responses": write_responses,
        "gemini": write_gemini,
    }
)
"""How an answer is written, by the interface of the client."""
