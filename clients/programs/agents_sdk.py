"""The OpenAI Agents SDK on its chat-completions model, or on its default (`DIALECT=responses`)."""

import os
from typing import Any

from agents import Agent, Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from plan import GATEWAY, MODEL, SYSTEM, converse, log


@function_tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


client = AsyncOpenAI(base_url=f"{GATEWAY}/v1", max_retries=0)
model: Model = (
    OpenAIResponsesModel(MODEL, client)
    if os.environ["DIALECT"] == "responses"
    else OpenAIChatCompletionsModel(MODEL, client)
)
agent = Agent(name="Plant", instructions=SYSTEM, tools=[read_log], model=model)


def ask(history: list[Any], question: str) -> list[Any]:
    asked = [*history, {"role": "user", "content": question}]
    return Runner.run_sync(agent, asked, max_turns=200).to_input_list()


converse(ask)
