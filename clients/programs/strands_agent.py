"""Strands' agent on its model for OpenAI; its own ways of keeping a conversation small are off."""

import os
from typing import Any

from plan import GATEWAY, MODEL, SYSTEM, converse, log
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.openai import OpenAIModel


@tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


ACCOUNT = {"base_url": f"{GATEWAY}/v1", "api_key": os.environ["OPENAI_API_KEY"], "max_retries": 0}
model = OpenAIModel(client_args=ACCOUNT, model_id=MODEL)


def ask(history: list[Any], question: str) -> list[Any]:
    agent = Agent(
        model=model,
        tools=[read_log],
        messages=history,
        system_prompt=SYSTEM,
        callback_handler=None,
        conversation_manager=NullConversationManager(),
    )
    agent(question)
    return list(agent.messages)


converse(ask)
