"""LiteLLM: completions with tools, and embeddings."""

import json
import os
from typing import Any

import litellm
from plan import GATEWAY, MODEL, SYSTEM, converse, log

KEY = os.environ["OPENAI_API_KEY"]
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL = {"type": "function", "function": {"name": "read_log", "parameters": NUMBER}}


def ask(history: list[Any], question: str) -> list[Any]:
    history = history or [{"role": "system", "content": SYSTEM}]
    history.append({"role": "user", "content": question})
    place: Any = {"api_base": f"{GATEWAY}/v1", "api_key": KEY}
    found: Any = litellm.embedding("openai/text-embedding-3-small", [question], **place)
    assert found.data[0]["embedding"] == [0.5, 0.25]
    while True:
        asked: Any = {"model": f"openai/{MODEL}", "messages": history, "tools": [TOOL], **place}
        if len(question) % 2:
            whole: Any = litellm.completion(**asked)
        else:
            whole = litellm.stream_chunk_builder(list(litellm.completion(stream=True, **asked)))
        message = whole.choices[0].message
        history.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return history
        for call in message.tool_calls:
            text = log(json.loads(call.function.arguments)["number"])
            history.append({"role": "tool", "tool_call_id": call.id, "content": text})


converse(ask)
