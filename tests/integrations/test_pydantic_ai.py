"""An agent of Pydantic AI with a tool that outgrows its window many times over, against a strict provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent, ModelRequest, ModelResponse, ModelRetry, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RequestUsage, RunUsage, UsageLimits

from octavo.core.messages import user
from octavo.integrations.pydantic_ai import OctavoContext
from octavo.integrations.shared_engine import close_engines
from octavo.integrations.view import HistoryItem, ViewRequest
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
    texts,
)

SMALL = 2_500
STEPS, WINDOW = 60, 4_096
LIMITS = UsageLimits(request_limit=None)
pytestmark = pytest.mark.anyio


def agent(service: Service, *capabilities: Any) -> Agent[None, str]:
    client = AsyncOpenAI(base_url=service.url, api_key="unused", max_retries=0, default_headers=CLOSE)
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    made = Agent(model, instructions=SYSTEM, capabilities=capabilities, retries=5)

    @made.tool_plain
    def read_log(number: int) -> str:
        """Read a log."""
        if number == 7:
            raise ModelRetry("Log 7 is being written. Read another one first.")
        return log(number)

    return made


def small(store: Path | None = None) -> OctavoContext:
    return OctavoContext(store, window=SMALL)


async def test_a_long_loop_never_overflows_and_its_history_stays_whole(tmp_path: Path) -> None:
    """With 150 steps in a window of 8,192 tokens it runs in `make dropins`."""
    with chat_service(Script(STEPS), WINDOW) as service:
        runs = agent(service, OctavoContext(tmp_path / "chats.db", window=WINDOW))
        messages = (await runs.run("Check all valves.", usage_limits=LIMITS)).all_messages()
        assert service.problems() == []
        bodies = service.bodies()
    assert len(bodies) == STEPS + 1
    assert is_compressed(bodies[-1])
    assert all(SYSTEM in texts(body["messages"][0]) for body in bodies)
    assert [type(message) for message in messages] == [ModelRequest, ModelResponse] * (STEPS + 1)
    returns = [p.content for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]
    assert returns[:6] == [log(n) for n in range(1, 7)]
    assert returns[7:] == [log(n) for n in range(8, STEPS + 1)]


async def test_it_goes_on_from_a_stored_history_after_a_restart(tmp_path: Path) -> None:
    stored = b"[]"
    with chat_service(Script(18), SMALL) as service:
        for part in ("first", "second"):
            runs = agent(service, small(tmp_path / "chats.db"))
            history = ModelMessagesTypeAdapter.validate_json(stored)
            ran = await runs.run(f"Check the {part} part.", message_history=history, usage_limits=LIMITS)
            stored = ran.all_messages_json()
            close_engines()
        assert service.problems() == []
        bodies = service.bodies()
    assert is_compressed(bodies[-1])
    assert len(ran.all_messages()) == 2 * 2 * 19


async def test_a_fork_gets_a_snapshot_of_its_own() -> None:
    with chat_service(Script(18), SMALL) as service:
        runs = agent(service, small())
        history: list[Any] = []
        kept: list[list[Any]] = []
        for part in ("first", "second", "third"):
            ran = await runs.run(f"Check the {part} part.", message_history=history, usage_limits=LIMITS)
            history = ran.all_messages()
            kept.append(history)
        await runs.run("Go on otherwise.", message_history=kept[1], usage_limits=LIMITS)
        assert service.problems() == []
        bodies = service.bodies()
    for body in bodies[57:]:
        assert is_compressed(body)
        assert "third part" not in texts(body)
        assert not any(f"V-{number:03d}0" in texts(body) for number in range(39, 57))


async def test_what_is_streamed_is_what_would_be_streamed_without_it() -> None:
    async def streamed(window: int, *capabilities: Any) -> list[str]:
        with chat_service(Script(12), window) as service:
            async with agent(service, *capabilities).run_stream(
                "Check all valves.", usage_limits=LIMITS
            ) as ran:
                said = [text async for text in ran.stream_text(delta=True, debounce_by=None)]
            assert service.problems() == []
        return said

    assert await streamed(SMALL, small()) == await streamed(100_000)


def test_without_an_event_loop_it_is_the_same() -> None:
    with own_loop(), chat_service(Script(20), SMALL) as service:
        ran = agent(service, small()).run_sync("Check.", usage_limits=LIMITS)
        assert service.problems() == []
        assert is_compressed(service.bodies()[-1])
    assert len(ran.all_messages()) == 42


async def test_what_is_kept_are_the_very_same_objects() -> None:
    picture = BinaryContent(b"not really", media_type="image/png")
    history: list[Any] = []
    for number in range(50):
        asked: list[Any] = [f"Question {number}. " + "word " * 60, *([picture] if number == 48 else [])]
        history += [
            ModelRequest(parts=[UserPromptPart(asked)], instructions="old instructions"),
            ModelResponse(parts=[ThinkingPart("Hm."), TextPart(f"Answer {number}. " + "word " * 60)]),
        ]
    calls = [ToolCallPart("a", {"x": 1}, "c1"), ToolCallPart("b", "{}", "c2")]
    returns = [
        ToolReturnPart("a", {"value": 1}, "c1"),
        ToolReturnPart("b", "no", "c2", outcome="retried"),
    ]
    history += [
        ModelResponse(parts=calls),
        ModelRequest(parts=[*returns, UserPromptPart("And now?")]),
    ]
    model = TestModel()
    asked_for = ModelRequestContext(
        model=model,
        messages=list(history),
        model_settings=None,
        model_request_parameters=ModelRequestParameters(),
    )
    context = RunContext(deps=None, model=model, usage=RunUsage())
    view = await OctavoContext(window=30_000, model="gpt-4o").before_model_request(context, asked_for)
    assert view.messages == history
    view = await OctavoContext(window=4_000, model="gpt-4o").before_model_request(context, asked_for)
    snapshot, *kept = view.messages
    assert is_compressed(str(snapshot))
    assert isinstance(snapshot, ModelRequest)
    assert snapshot.instructions is None
    assert 2 < len(kept) < len(history)
    same = [id(message) for message in history[-len(kept) :]]
    assert [id(message) for message in kept[:-1]] == same[:-1]
    assert [type(part) for part in kept[-1].parts] == [type(part) for part in history[-1].parts]
    assert len(asked_for.messages) == len(history)


async def test_bills_teach_the_counts() -> None:
    """Seen failing with: the usage of an answer not looked at."""

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Fine.")], usage=RequestUsage(input_tokens=2_000))

    context = OctavoContext()
    made = Agent(FunctionModel(answer, model_name=MODEL), capabilities=[context])
    said = [HistoryItem(user("Check all valves. " * 50), (None,))]
    before = context._view.view(ViewRequest(history=said, model=MODEL)).tokens
    await made.run("Check all valves. " * 50)
    assert context._view.view(ViewRequest(history=said, model=MODEL)).tokens > 2 * before
    assert not context._view.unbilled
