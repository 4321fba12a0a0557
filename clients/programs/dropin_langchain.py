"""LangChain's agent: our middleware, or its own summarisation."""

import asyncio
import os
from typing import Any

from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


KEY: Any = "unused"
LIMIT: Any = {"recursion_limit": 500}
model = ChatOpenAI(model=MODEL, base_url=PROVIDER, api_key=KEY, max_retries=0)


def make() -> Any:
    middleware: list[Any] = []
    if OCTAVO:
        from octavo.integrations.langchain import OctavoMiddleware

        middleware = [OctavoMiddleware(STORE, window=WINDOW)]
    elif MODE == "own":
        from langchain.agents.middleware import SummarizationMiddleware

        middleware = [SummarizationMiddleware(model, trigger=("tokens", WINDOW // 2), keep=("messages", 6))]
    if os.environ.get("DEEP"):
        from deepagents import create_deep_agent

        return create_deep_agent(model, [read_log], system_prompt=SYSTEM, middleware=middleware)
    return create_agent(model, [read_log], system_prompt=SYSTEM, middleware=middleware)


agent = make()


def ask(history: list[Any], question: str) -> list[Any]:
    asked: Any = {"messages": [*history, {"role": "user", "content": question}]}
    if len(question) % 3 == 0:
        return list(asyncio.run(agent.ainvoke(asked, LIMIT))["messages"])
    if len(question) % 3 == 1:
        return list(agent.invoke(asked, LIMIT)["messages"])
    whole: Any = None
    for mode, value in agent.stream(asked, LIMIT, stream_mode=["messages", "values"]):
        whole = value if mode == "values" else whole
    return list(whole["messages"])


def restart() -> None:
    global agent
    agent = make()


converse(ask, lambda history: "\n".join(str(message.content) for message in history), restart)
