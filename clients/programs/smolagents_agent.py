"""smolagents' agent that calls tools; it keeps steps, and sends calls and results as plain text."""

import os
from typing import Any

from plan import GATEWAY, MODEL, converse, log
from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def read_log(number: int) -> str:
    """Read a log.

    Args:
        number: Which log.
    """
    return log(number)


KEY = os.environ["OPENAI_API_KEY"]
model = OpenAIServerModel(
    model_id=MODEL, api_base=f"{GATEWAY}/v1", api_key=KEY, client_kwargs={"max_retries": 0}
)
agent = ToolCallingAgent(tools=[read_log], model=model, verbosity_level=0)


def ask(history: list[Any], question: str) -> list[Any]:
    agent.memory.steps = list(history)
    agent.run(question, reset=False)
    return list(agent.memory.steps)


converse(ask)
