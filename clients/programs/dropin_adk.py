"""Google's ADK: our plugin, or its own compaction of events."""

import asyncio
import copy
from typing import Any

from dropin_plan import MODE, MODEL, OCTAVO, PROVIDER, STORE, SYSTEM, WINDOW, converse, log
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types


def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


def make() -> App:
    agent = LlmAgent(
        name="plant", model=Gemini(model=MODEL, base_url=PROVIDER), instruction=SYSTEM, tools=[read_log]
    )
    if OCTAVO:
        from octavo.integrations.google_adk import OctavoPlugin

        return App(name="plant", root_agent=agent, plugins=[OctavoPlugin(STORE, window=WINDOW)])
    if MODE == "own":
        compaction = EventsCompactionConfig(compaction_interval=1, overlap_size=0)
        return App(name="plant", root_agent=agent, events_compaction_config=compaction)
    return App(name="plant", root_agent=agent)


app = make()


async def run(events: list[Any], question: str) -> list[Any]:
    """Run a turn in a new session that has these events, as somebody does who forks one."""
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="plant", user_id="u")
    for event in events:
        await sessions.append_event(session, copy.deepcopy(event))
    runner = Runner(app=app, session_service=sessions)
    said = types.Content(role="user", parts=[types.Part(text=question)])
    mode = StreamingMode.SSE if len(question) % 2 else StreamingMode.NONE
    async for _ in runner.run_async(
        user_id="u",
        session_id=session.id,
        new_message=said,
        run_config=RunConfig(streaming_mode=mode, max_llm_calls=500),
    ):
        pass
    found = await sessions.get_session(app_name="plant", user_id="u", session_id=session.id)
    assert found is not None
    return list(found.events)


def ask(history: list[Any], question: str) -> list[Any]:
    return asyncio.run(run(history, question))


def restart() -> None:
    global app
    app = make()


def whole(history: list[Any]) -> str:
    parts = [part for event in history if event.content for part in event.content.parts or ()]
    return "\n".join(
        str(part.function_response.response) for part in parts if part.function_response
    ).replace("\\n", "\n")


converse(ask, whole, restart)
