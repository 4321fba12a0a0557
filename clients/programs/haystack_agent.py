"""Haystack's agent on its chat generator for OpenAI."""

from typing import Annotated, Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from plan import GATEWAY, MODEL, SYSTEM, converse, log


@tool
def read_log(number: Annotated[int, "which log"]) -> str:
    """Read a log."""
    return log(number)


generator = OpenAIChatGenerator(model=MODEL, api_base_url=f"{GATEWAY}/v1", max_retries=0)
agent = Agent(chat_generator=generator, tools=[read_log], system_prompt=SYSTEM)


def ask(history: list[Any], question: str) -> list[Any]:
    messages = agent.run(messages=[*history, ChatMessage.from_user(question)])["messages"]
    return [message for message in messages if not message.is_from("system")]


converse(ask)
