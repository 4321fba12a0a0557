"""The OpenAI Agents SDK on its chat model: our filter, or its own limit of a session."""

from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    SessionSettings,
    function_tool,
    set_tracing_disabled,
)
from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log
from openai import AsyncOpenAI

set_tracing_disabled(True)


@function_tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


client = AsyncOpenAI(base_url=PROVIDER, api_key="unused", max_retries=0)
agent = Agent(
    name="Plant", instructions=SYSTEM, tools=[read_log], model=OpenAIChatCompletionsModel(MODEL, client)
)


def options() -> dict[str, Any]:
    if not OCTAVO:
        return {}
    from octavo.integrations.openai_agents import octavo_filter

    chosen = octavo_filter(STORE, window=WINDOW)
    return {"run_config": RunConfig(call_model_input_filter=chosen), "hooks": chosen.hooks}


chosen = options()


def ask(history: list[Any], question: str) -> list[Any]:
    if MODE == "own":
        # What a session with a limit gives back; a limit by number knows nothing of pairs or tokens.
        history = history[-12:]
        while history and history[0].get("type") == "function_call_output":
            history.pop(0)
    asked = [*history, {"role": "user", "content": question}]
    return Runner.run_sync(agent, asked, max_turns=200, **chosen).to_input_list()


def restart() -> None:
    global chosen
    chosen = options()


assert SessionSettings(limit=12).limit == 12
converse(ask, lambda history: "\n".join(str(item.get("output", "")) for item in history), restart)
