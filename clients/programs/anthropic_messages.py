"""Anthropic's Python library: thinking, cache markers that move along, every other turn streamed."""

from typing import Any

from anthropic import Anthropic
from plan import GATEWAY, MODEL, SYSTEM, converse, log

client = Anthropic(base_url=GATEWAY, max_retries=0)
MARK = {"type": "ephemeral"}
TOOL: Any = {
    "name": "read_log",
    "description": "Read a log.",
    "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}},
}


def marked(messages: list[Any]) -> list[Any]:
    *front, last = messages
    blocks = [dict(block) for block in last["content"]]
    blocks[-1]["cache_control"] = MARK
    return [*front, {**last, "content": blocks}]


def answer(messages: list[Any], *, stream: bool) -> Any:
    asked: Any = {
        "model": MODEL,
        "max_tokens": 500,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": MARK}],
        "tools": [TOOL],
        "thinking": {"type": "adaptive"},
        "messages": marked(messages),
    }
    if not stream:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as events:
        return events.get_final_message()


def ask(history: list[Any], question: str) -> list[Any]:
    history.append({"role": "user", "content": [{"type": "text", "text": question}]})
    while True:
        message = answer(history, stream=len(question) % 2 == 0)
        blocks = [block.to_dict() for block in message.content]
        history.append({"role": "assistant", "content": blocks})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return history
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": log(call.input["number"])}
            for call in calls
        ]
        history.append({"role": "user", "content": results})


converse(ask)
