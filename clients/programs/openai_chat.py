"""OpenAI's Python library, Chat Completions: every other turn is streamed."""

import json
from typing import Any

from openai import OpenAI
from plan import GATEWAY, MODEL, SYSTEM, converse, log

client = OpenAI(base_url=f"{GATEWAY}/v1", max_retries=0)
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL: Any = {"type": "function", "function": {"name": "read_log", "parameters": NUMBER}}


def answer(messages: list[Any], *, stream: bool) -> Any:
    asked: Any = {"model": MODEL, "messages": messages, "tools": [TOOL], "max_tokens": 400}
    if not stream:
        return client.chat.completions.create(**asked).choices[0].message
    with client.chat.completions.stream(**asked) as events:
        return events.get_final_completion().choices[0].message


def ask(history: list[Any], question: str) -> list[Any]:
    history = history or [{"role": "system", "content": SYSTEM}]
    history.append({"role": "user", "content": question})
    while True:
        message = answer(history, stream=len(question) % 2 == 0)
        history.append({k: v for k, v in message.to_dict().items() if k in ("role", "content", "tool_calls")})
        if not message.tool_calls:
            return history
        for call in message.tool_calls:
            text = log(json.loads(call.function.arguments)["number"])
            history.append({"role": "tool", "tool_call_id": call.id, "content": text})


converse(ask)
