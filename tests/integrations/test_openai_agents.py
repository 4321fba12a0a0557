"""Agents of the OpenAI Agents SDK with a tool, on both of its models, against strict providers."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.memory import Session, SQLiteSession
from openai import AsyncOpenAI

from octavo.integrations.openai_agents import OctavoSession, octavo_filter, read_items
from octavo.integrations.shared_engine import close_engines
from octavo.integrations.view import ViewRequest
from tests.integrations.kit import (
    CLOSE,
    MODEL,
    SYSTEM,
    Script,
    Service,
    chat_service,
    is_compressed,
    log,
    own_loop,
    responses_service,
    texts,
)

SMALL = 2_500
STEPS, WINDOW = 50, 4_096
pytestmark = pytest.mark.anyio
set_tracing_disabled(True)


@function_tool
def read_log(number: int) -> str:
    """Read a log."""
    return log(number)


def agent(service: Service, *, chat: bool) -> Agent[Any]:
    client = AsyncOpenAI(base_url=service.url, api_key="unused", max_retries=0, default_headers=CLOSE)
    model: Any = OpenAIChatCompletionsModel(MODEL, client) if chat else OpenAIResponsesModel(MODEL, client)
    return Agent(
        name="Plant",
        instructions=SYSTEM,
        tools=[read_log],
        model=model,
        model_settings=ModelSettings(store=False, response_include=["reasoning.encrypted_content"]),
    )


def with_filter(store: Path | None = None, window: int = WINDOW) -> RunConfig:
    return RunConfig(call_model_input_filter=octavo_filter(store, window=window))


Serving = Callable[[Any, int], AbstractContextManager[Service]]


async def test_a_long_loop_never_overflows_and_its_history_stays_whole(tmp_path: Path) -> None:
    """With 150 steps in a window of 8,192 tokens it runs in `make dropins`."""
    store = tmp_path / "chats.db"
    with responses_service(Script(STEPS), WINDOW) as service:
        ran = await Runner.run(
            agent(service, chat=False),
            "Check all valves.",
            max_turns=200,
            run_config=with_filter(store),
            session=OctavoSession("s1", store),
        )
        assert service.problems() == []
        bodies = service.bodies()
    assert len(bodies) == STEPS + 1
    assert is_compressed(bodies[-1])
    items: list[Any] = ran.to_input_list()
    assert [i["output"] for i in items if i.get("type") == "function_call_output"] == [
        log(n) for n in range(1, STEPS + 1)
    ]
    assert await OctavoSession("s1", store).get_items() == items


@pytest.mark.parametrize("serve", [chat_service, responses_service])
async def test_sessions_go_on_after_a_restart_and_find_their_snapshot(serve: Serving, tmp_path: Path) -> None:
    store, chat = tmp_path / "chats.db", serve is chat_service
    with serve(Script(15), SMALL) as service:
        for part in ("first", "second"):
            await Runner.run(
                agent(service, chat=chat),
                f"Check the {part} part.",
                max_turns=50,
                run_config=with_filter(store, SMALL),
                session=OctavoSession("s1", store),
            )
            close_engines()
        assert service.problems() == []
        bodies = service.bodies()
    field = "messages" if chat else "input"
    before, after = ([texts(m) for m in body[field] if is_compressed(m)] for body in bodies[15:17])
    assert before == after != []


async def test_a_fork_gets_a_snapshot_of_its_own() -> None:
    with responses_service(Script(15), SMALL) as service:
        runs, options = agent(service, chat=False), with_filter(window=SMALL)
        history: list[Any] = []
        kept: list[list[Any]] = []
        for part in ("first", "second", "third"):
            asked: Any = {"role": "user", "content": f"Check the {part} part."}
            ran = await Runner.run(runs, [*history, asked], max_turns=50, run_config=options)
            history = ran.to_input_list()
            kept.append(history)
        other: Any = {"role": "user", "content": "Go on otherwise."}
        await Runner.run(runs, [*kept[1], other], max_turns=50, run_config=options)
        assert service.problems() == []
        bodies = service.bodies()
    for body in bodies[48:]:
        assert is_compressed(body)
        assert "third part" not in texts(body)
        assert not any(f"V-{number:03d}0" in texts(body) for number in range(33, 48))


async def test_what_is_streamed_is_what_would_be_streamed_without_it() -> None:
    async def streamed(options: RunConfig | None, window: int) -> list[str]:
        with responses_service(Script(10), window) as service:
            ran = Runner.run_streamed(
                agent(service, chat=False), "Check all valves.", max_turns=50, run_config=options
            )
            kinds: list[str] = [event.type async for event in ran.stream_events()]
            assert service.problems() == []
        return kinds

    assert await streamed(with_filter(window=2_000), 2_000) == await streamed(None, 100_000)


def test_without_an_event_loop_it_is_the_same() -> None:
    with own_loop(), chat_service(Script(20), SMALL) as service:
        ran = Runner.run_sync(
            agent(service, chat=True), "Check.", max_turns=50, run_config=with_filter(window=SMALL)
        )
        assert service.problems() == []
        assert is_compressed(service.bodies()[-1])
    assert len(ran.to_input_list()) > 60


async def test_the_session_keeps_the_protocol() -> None:
    assert isinstance(OctavoSession("s"), Session)


def item(number: int) -> Any:
    kinds: list[Any] = [
        {"role": "user", "content": f"Question {number}"},
        {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "x"},
        {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": f"Answer {number % 3}", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"c{number}",
            "name": "read_log",
            "arguments": '{"number":  1}',
        },
        {"type": "function_call_output", "call_id": f"c{number}", "output": "fine"},
        {"type": "custom_tool_call", "call_id": f"d{number}", "name": "sh", "input": "ls -l"},
        {"type": "custom_tool_call_output", "call_id": f"d{number}", "output": "a\nb"},
    ]
    return kinds[number % len(kinds)]


@pytest.mark.parametrize("seed", range(6))
async def test_a_session_gives_back_what_the_sdks_own_would(seed: int) -> None:
    """Seen failing with: arguments stored without their spaces; an answer found under another session's ids."""
    chance = random.Random(seed)
    ours, theirs = OctavoSession("s1"), SQLiteSession("s1")
    other = OctavoSession("s2")
    for _ in range(40):
        match chance.randrange(10):
            case 0 | 1:
                assert await ours.pop_item() == await theirs.pop_item()
            case 2 if chance.random() < 0.2:
                await ours.clear_session()
                await theirs.clear_session()
            case _:
                added = [item(chance.randrange(30)) for _ in range(chance.randrange(4))]
                await ours.add_items(added)
                await theirs.add_items(added)
                await other.add_items(added)
        limit = chance.choice([None, 0, 1, 5, 100])
        assert await ours.get_items(limit) == await theirs.get_items(limit)
    theirs.close()


async def test_an_item_that_is_taken_back_stays_stored() -> None:
    session = OctavoSession("s1")
    await session.add_items([{"role": "user", "content": "Keep the blue valve shut."}])
    await session.pop_item()
    assert await session.get_items() == []
    found = await session._engine.arun(lambda engine: engine.store.search.find("blue valve"))
    assert len(found) == 1


@pytest.mark.parametrize("streams", [False, True])
async def test_bills_teach_the_counts(streams: bool) -> None:
    """Seen failing with: the usage of an answer not looked at."""
    chosen = octavo_filter()
    asked = "Check all valves. " * 50
    history: ViewRequest[Any] = ViewRequest(
        history=read_items([{"role": "user", "content": asked}]), model=MODEL
    )
    before = (await chosen._view.aview(history)).tokens
    options: Any = {
        "run_config": RunConfig(call_model_input_filter=chosen),
        "hooks": chosen.hooks,
    }
    with chat_service(Script(0), factor=3.0) as service:
        runs = agent(service, chat=True)
        runs.model_settings.include_usage = True  # else a stream of Chat Completions has none
        if streams:
            async for _ in Runner.run_streamed(runs, asked, **options).stream_events():
                pass
        else:
            await Runner.run(runs, asked, **options)
        assert service.problems() == []
    assert (await chosen._view.aview(history)).tokens > 2 * before
