"""A LangChain chat model through the gateway: one argument is different.

Start `octavo serve` first. `OCTAVO_URL` is its address, `OCTAVO_KEY` a key if it wants one.
"""

from __future__ import annotations

import os
import sys

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

URL = os.environ.get("OCTAVO_URL", "http://127.0.0.1:8765")
MODEL = os.environ.get("MODEL", "gpt-4o")


def main(turns: int) -> None:
    model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=os.environ.get("OCTAVO_KEY", "none"))
    history: list[BaseMessage] = [SystemMessage("You keep a harbour's log. Answer in one line.")]
    for n in range(turns):
        history.append(HumanMessage(f"Ship {n} lies at berth {n % 12}. " * 40))
        answer = model.invoke(history)
        history.append(AIMessage(answer.content))
        print(f"turn {n + 1}: {answer.content[:60]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
