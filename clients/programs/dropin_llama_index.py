"""LlamaIndex's agent: our memory, or its own buffer of tokens."""

import asyncio
from typing import Any

from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


llm = OpenAILike(
    model=MODEL,
    api_base=PROVIDER,
    api_key="unused",
    is_chat_model=True,
    is_function_calling_model=True,
    context_window=WINDOW,
    max_retries=0,
)
agent = FunctionAgent(tools=[FunctionTool.from_defaults(read_log)], llm=llm, system_prompt=SYSTEM)


def memory(history: list[Any]) -> Any:
    if OCTAVO:
        from octavo.integrations.llama_index import OctavoMemory

        # A run of ten steps grows by itself: the memory leaves room for it.
        return OctavoMemory(STORE, messages=history, window=WINDOW, model=MODEL, reply=4_200)
    if MODE == "own":
        return ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=WINDOW // 2 - 1_000)
    return ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=1_000_000)


async def run(kept: Any, question: str) -> None:
    await agent.run(question, memory=kept, max_iterations=100)


def ask(history: list[Any], question: str) -> list[Any]:
    kept = memory(history)
    asyncio.run(run(kept, question))
    return list(kept.get_all())


converse(ask, lambda history: "\n".join(message.content or "" for message in history))
