"""LangChain's agent on `ChatOpenAI`: every other turn is streamed."""

import os
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from plan import GATEWAY, MODEL, SYSTEM, converse, log


@tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


KEY: Any = os.environ["OPENAI_API_KEY"]
model = ChatOpenAI(model=MODEL, base_url=f"{GATEWAY}/v1", api_key=KEY, max_retries=0)
agent = create_agent(model, [read_log], system_prompt=SYSTEM)
LIMIT: Any = {"recursion_limit": 200}


def ask(history: list[Any], question: str) -> list[Any]:
    asked: Any = {"messages": [*history, {"role": "user", "content": question}]}
    if len(question) % 2:
        messages: list[Any] = agent.invoke(asked, LIMIT)["messages"]
        return messages
    whole: Any = None
    for mode, value in agent.stream(asked, LIMIT, stream_mode=["messages", "values"]):
        whole = value if mode == "values" else whole
    return list(whole["messages"])


converse(ask)
