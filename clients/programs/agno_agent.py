"""Agno's agent on its chat model for OpenAI."""

import os
from typing import Any

from agno.agent import Agent
from agno.models.message import Message
from agno.models.openai import OpenAIChat
from plan import GATEWAY, MODEL, SYSTEM, converse, log


def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


KEY = os.environ["OPENAI_API_KEY"]
model = OpenAIChat(id=MODEL, base_url=f"{GATEWAY}/v1", api_key=KEY, max_retries=0)
agent = Agent(model=model, tools=[read_log], system_message=SYSTEM, telemetry=False)


def ask(history: list[Any], question: str) -> list[Any]:
    ran = agent.run([*history, Message(role="user", content=question)])
    return [message for message in ran.messages or () if message.role != "system"]


converse(ask)
