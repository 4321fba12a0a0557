"""LiteLLM's `acompletion` and its router: our callback, or its own `trim_messages`."""

import asyncio
import json
from typing import Any

import litellm
from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL = {"type": "function", "function": {"name": "read_log", "parameters": NUMBER}}
place = {"model": f"openai/{MODEL}", "api_base": PROVIDER, "api_key": "unused"}
router = litellm.Router(
    model_list=[
        {"model_name": "broken", "litellm_params": {**place, "api_base": "http://127.0.0.1:9"}},
        {"model_name": "plant", "litellm_params": place},
    ],
    fallbacks=[{"broken": ["plant"]}],
    num_retries=1,
    retry_after=0,
    disable_cooldowns=True,
)


def install() -> None:
    from octavo.integrations.litellm import OctavoHandler

    litellm.callbacks = [OctavoHandler(STORE, window=WINDOW)]


if OCTAVO:
    install()


async def complete(history: list[Any], question: str) -> Any:
    messages = history
    if MODE == "own":
        from litellm.utils import trim_messages

        messages = trim_messages(history, MODEL, max_tokens=WINDOW - 1_500)
    asked: Any = {"messages": messages, "tools": [TOOL]}
    before = json.dumps(messages)
    if question.startswith("Question"):
        found: Any = await router.acompletion(model="broken", **asked)
    elif len(question) % 2:
        found = await litellm.acompletion(**place, **asked)
    else:
        chunks = [chunk async for chunk in await litellm.acompletion(stream=True, **place, **asked)]
        found = litellm.stream_chunk_builder(chunks)
    assert json.dumps(messages) == before, "the caller's list was changed"
    return found.choices[0].message


def ask(history: list[Any], question: str) -> list[Any]:
    history = history or [{"role": "system", "content": SYSTEM}]
    history.append({"role": "user", "content": question})
    while True:
        message = asyncio.run(complete(history, question))
        history.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return history
        for call in message.tool_calls:
            text = log(json.loads(call.function.arguments)["number"])
            history.append({"role": "tool", "tool_call_id": call.id, "content": text})


converse(ask, lambda history: "\n".join(str(m.get("content")) for m in history), install)
