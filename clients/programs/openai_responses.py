"""OpenAI's Python library, Responses: the whole input each time, or only what is new (`STYLE=chained`)."""

import json
import os
from typing import Any

from openai import OpenAI
from plan import GATEWAY, MODEL, SYSTEM, converse, log

client = OpenAI(base_url=f"{GATEWAY}/v1", max_retries=0)
CHAINED = os.environ.get("STYLE") == "chained"
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL: Any = {"type": "function", "name": "read_log", "parameters": NUMBER, "strict": False}


def answer(items: list[Any], previous: str | None, *, stream: bool) -> Any:
    asked: Any = {"model": MODEL, "instructions": SYSTEM, "tools": [TOOL], "input": items}
    asked["max_output_tokens"] = 400
    if CHAINED:
        asked["previous_response_id"] = previous
    else:
        asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
    if not stream:
        return client.responses.create(**asked)
    with client.responses.stream(**asked) as events:
        return events.get_final_response()


def ask(history: list[Any], question: str) -> list[Any]:
    """A history is the items themselves or, chained, the ids of the answers."""
    new: list[Any] = [{"role": "user", "content": question}]
    while True:
        previous = history[-1] if CHAINED and history else None
        said = answer(new if CHAINED else [*history, *new], previous, stream=len(question) % 2 == 0)
        output = [
            item.model_dump(exclude_none=True, exclude={"status", "parsed_arguments"}) for item in said.output
        ]
        history += [said.id] if CHAINED else [*new, *output]
        calls = [item for item in said.output if item.type == "function_call"]
        if not calls:
            return history
        new = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": log(json.loads(call.arguments)["number"]),
            }
            for call in calls
        ]


converse(ask)
