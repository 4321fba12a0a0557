"""Pydantic AI's agent: our capability, or a history processor that keeps the newest messages."""

from typing import Any

from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


def newest(messages: list[Any]) -> list[Any]:
    """Keep the newest messages, as the documentation shows it."""
    kept = messages[-12:]
    while kept and not (
        isinstance(kept[0], ModelRequest) and not any(isinstance(p, ToolReturnPart) for p in kept[0].parts)
    ):
        kept = kept[1:]
    return kept or messages[-1:]


def make() -> Agent[None, str]:
    capabilities: list[Any] = []
    if OCTAVO:
        from octavo.integrations.pydantic_ai import OctavoContext

        capabilities = [OctavoContext(STORE, window=WINDOW)]
    elif MODE == "own":
        capabilities = [ProcessHistory(newest)]
    client = AsyncOpenAI(base_url=PROVIDER, api_key="unused", max_retries=0)
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    made = Agent(model, instructions=SYSTEM, capabilities=capabilities)

    @made.tool_plain
    def read_log(number: int) -> str:
        """Read a log."""
        return log(number)

    return made


agent = make()


def ask(history: list[Any], question: str) -> list[Any]:
    limits = UsageLimits(request_limit=None)
    return agent.run_sync(question, message_history=history, usage_limits=limits).all_messages()


def restart() -> None:
    global agent
    agent = make()


converse(ask, lambda history: "\n".join(str(message) for message in history).replace("\\n", "\n"), restart)
