"""CrewAI's agent without a crew, on its model for OpenAI."""

import os
from typing import Any

from crewai import LLM, Agent
from crewai.tools import tool
from plan import GATEWAY, MODEL, SYSTEM, converse, log


@tool("read_log")
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


llm = LLM(model=f"openai/{MODEL}", base_url=f"{GATEWAY}/v1", api_key=os.environ["OPENAI_API_KEY"])


def ask(history: list[Any], question: str) -> list[Any]:
    agent = Agent(
        role="Inspector",
        goal=SYSTEM,
        backstory="You know the plant.",
        llm=llm,
        tools=[read_log],
        cache=False,
        max_iter=100,
        # Else CrewAI shortens the history by itself, as soon as it is longer than the window it knows for the model.
        respect_context_window=False,
    )
    ran: Any = agent.kickoff([*history, {"role": "user", "content": question}])
    said = [message for message in ran.messages if message["role"] != "system"]
    if said[-1]["role"] != "assistant":
        said.append({"role": "assistant", "content": ran.raw})
    return said


converse(ask)
