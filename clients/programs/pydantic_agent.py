"""Pydantic AI's agent on its chat model."""

from typing import Any

from plan import GATEWAY, MODEL, SYSTEM, converse, log
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

agent = Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{GATEWAY}/v1")), instructions=SYSTEM)


@agent.tool_plain
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


def ask(history: list[Any], question: str) -> list[Any]:
    limits = UsageLimits(request_limit=200)
    return agent.run_sync(question, message_history=history, usage_limits=limits).all_messages()


converse(ask)
