"""Other libraries behind one call each: decide, as before every request, and compress, with a model that is instant.

They are imported by name when they are measured, so that none has to be installed; each is used as its own
documentation shows, on a list in memory, since none of them has a store of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from importlib import import_module
from typing import Any

Neutral = dict[str, Any]
"""A message of no library: id, role, text, calls (id, name, args), call_id, name."""
State = dict[str, Any]

OVER = 0.5
"""The threshold as a share of a history that is to be compressed."""
FAR = 20
"""The threshold in histories where nothing is to be compressed."""
KEEP = 0.2
SUMMARY = "The ledger moves to the new service behind a flag; refunds of March are still open. " * 12
"""What the model says: of the length of a usual summary."""


def size_of(conversation: list[Neutral]) -> int:
    """Count as most of them do: a token is four characters."""
    texts = (m["text"] + "".join(c["name"] + json.dumps(c["args"]) for c in m["calls"]) for m in conversation)
    return sum(len(text) // 4 + 4 for text in texts)


def threshold(conversation: list[Neutral], *, over: bool) -> int:
    return int(size_of(conversation) * (OVER if over else FAR))


_loops: list[asyncio.AbstractEventLoop] = []


def wait(work: Awaitable[Any]) -> Any:
    """Run something asynchronous on a loop that is made once."""
    if not _loops:
        _loops.append(asyncio.new_event_loop())
    return _loops[0].run_until_complete(work)


class Listed:
    """What all that work on a list have in common."""

    usage_aware = False
    store = "none (list in memory)"

    def convert(self, message: Neutral) -> Any:
        raise NotImplementedError

    def append(self, state: State, message: Neutral) -> None:
        state["messages"].append(self.convert(message))


class LangChain(Listed):
    """The middleware that summarises, as it is by default."""

    name = "langchain SummarizationMiddleware"
    module = "langchain.agents.middleware"
    dist = "langchain"
    counting = "characters / 4, all messages at every call"

    def convert(self, message: Neutral) -> Any:
        kinds = import_module("langchain_core.messages")
        text, id = message["text"], message["id"]
        if message["role"] == "user":
            return kinds.HumanMessage(content=text, id=id)
        if message["role"] == "tool":
            return kinds.ToolMessage(
                content=text, tool_call_id=message["call_id"], name=message["name"], id=id
            )
        return kinds.AIMessage(content=text, id=id, tool_calls=[{**call} for call in message["calls"]])

    def setup(self, conv: list[Neutral], over: bool, usage: bool) -> State:
        del usage
        fake = import_module("langchain_core.language_models.fake_chat_models")
        middleware = import_module(self.module).SummarizationMiddleware(
            fake.FakeListChatModel(responses=[SUMMARY]),
            trigger=("tokens", threshold(conv, over=over)),
            keep=("tokens", int(size_of(conv) * KEEP)),
        )
        return {"middleware": middleware, "messages": [self.convert(message) for message in conv]}

    def decide(self, state: State) -> None:
        assert state["middleware"].before_model({"messages": state["messages"]}, None) is None

    def compress(self, state: State) -> dict[str, int]:
        made = state["middleware"].before_model({"messages": state["messages"]}, None)
        # The first message only tells the graph to forget all others.
        return {"messages_after": len(made["messages"]) - 1}


class TrimMessages(LangChain):
    """LangChain's cutting from the front: no model, no summary."""

    name = "trim_messages (langchain-core)"
    module = "langchain_core.messages"
    dist = "langchain-core"
    counting = "characters / 4, the messages that it tries, at every call"

    def setup(self, conv: list[Neutral], over: bool, usage: bool) -> State:
        del usage
        limit = int(size_of(conv) * KEEP) if over else threshold(conv, over=False)
        return {"limit": limit, "messages": [self.convert(message) for message in conv]}

    def _trim(self, state: State) -> list[Any]:
        kept: list[Any] = import_module(self.module).trim_messages(
            state["messages"], max_tokens=state["limit"], token_counter="approximate", start_on="human"
        )
        return kept

    def decide(self, state: State) -> None:
        assert len(self._trim(state)) == len(state["messages"])

    def compress(self, state: State) -> dict[str, int]:
        return {"messages_after": len(self._trim(state))}


class Strands(Listed):
    """The conversation manager that summarises, asked before every call of the model."""

    name = "strands SummarizingConversationManager"
    module = "strands"
    dist = "strands-agents"
    counting = "characters / 4, or / 2 of JSON, all messages at every call"

    def convert(self, message: Neutral) -> Any:
        text = {"text": message["text"]}
        if message["role"] == "user":
            return {"role": "user", "content": [text]}
        if message["role"] == "tool":
            result = {"toolUseId": message["call_id"], "status": "success", "content": [text]}
            return {"role": "user", "content": [{"toolResult": result}]}
        calls = [
            {"toolUse": {"toolUseId": call["id"], "name": call["name"], "input": call["args"]}}
            for call in message["calls"]
        ]
        return {"role": "assistant", "content": [text, *calls]}

    def setup(self, conv: list[Neutral], over: bool, usage: bool) -> State:
        del usage
        managers = import_module("strands.agent.conversation_manager")
        manager = managers.SummarizingConversationManager(summary_ratio=1 - KEEP, proactive_compression=True)
        agent = import_module("strands").Agent(
            model=self._model(threshold(conv, over=over)),
            messages=_joined([self.convert(message) for message in conv]),
            conversation_manager=manager,
            callback_handler=None,
        )
        return {"agent": agent, "manager": manager, "messages": agent.messages}

    def _model(self, window: int) -> Any:
        base: Any = import_module("strands.models").Model

        class Instant(base):  # type: ignore[misc]
            def update_config(self, **_: Any) -> None:
                """Nothing can be changed."""

            def get_config(self) -> dict[str, int]:
                return {"context_window_limit": window}

            async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
                yield {}

            async def stream(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
                yield {"messageStart": {"role": "assistant"}}
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": SUMMARY}}}
                yield {"contentBlockStop": {}}
                yield {"messageStop": {"stopReason": "end_turn"}}

        return Instant()

    def decide(self, state: State) -> None:
        loop, events = import_module("strands.event_loop.event_loop"), import_module("strands.hooks.events")
        tokens = wait(loop._estimate_input_tokens(state["agent"]))
        event = events.BeforeModelCallEvent(agent=state["agent"], projected_input_tokens=tokens)
        state["manager"]._on_before_model_call_threshold(event)

    def compress(self, state: State) -> dict[str, int]:
        self.decide(state)
        return {"messages_after": len(state["agent"].messages)}


def _joined(messages: list[Any]) -> list[Any]:
    """Put the results of parallel calls into one message, as Strands wants them."""
    made: list[Any] = []
    for message in messages:
        if made and "toolResult" in message["content"][0] and "toolResult" in made[-1]["content"][0]:
            made[-1]["content"] += message["content"]
        else:
            made.append(message)
    return made


class PydanticAI(Listed):
    """The capability that summarises, asked before every request."""

    name = "pydantic-ai-harness SummarizingCompaction"
    module = "pydantic_ai_harness.compaction"
    dist = "pydantic-ai-harness"
    counting = "characters / 4, all messages at every call"

    def convert(self, message: Neutral) -> Any:
        kinds = import_module("pydantic_ai.messages")
        text = message["text"]
        if message["role"] == "user":
            return kinds.ModelRequest(parts=[kinds.UserPromptPart(content=text)])
        if message["role"] == "tool":
            part = kinds.ToolReturnPart(
                tool_name=message["name"], content=text, tool_call_id=message["call_id"]
            )
            return kinds.ModelRequest(parts=[part])
        calls = [
            kinds.ToolCallPart(tool_name=call["name"], args=call["args"], tool_call_id=call["id"])
            for call in message["calls"]
        ]
        return kinds.ModelResponse(parts=[kinds.TextPart(content=text), *calls], model_name="instant")

    def setup(self, conv: list[Neutral], over: bool, usage: bool) -> State:
        del usage
        kinds, models = import_module("pydantic_ai.messages"), import_module("pydantic_ai.models")
        answer = kinds.ModelResponse(parts=[kinds.TextPart(content=SUMMARY)])
        model = import_module("pydantic_ai.models.function").FunctionModel(lambda *_: answer)
        messages = [self.convert(message) for message in conv]
        context = import_module("pydantic_ai.tools").RunContext(
            deps=None, model=model, usage=import_module("pydantic_ai.usage").RunUsage(), messages=messages
        )
        asked = models.ModelRequestContext(
            model=model,
            messages=messages,
            model_settings=None,
            model_request_parameters=models.ModelRequestParameters(),
        )
        compaction = import_module(self.module).SummarizingCompaction(
            max_tokens=threshold(conv, over=over), keep_tokens=int(size_of(conv) * KEEP)
        )
        return {"compaction": compaction, "context": context, "asked": asked, "messages": messages}

    def decide(self, state: State) -> None:
        wait(state["compaction"].before_model_request(state["context"], state["asked"]))

    def compress(self, state: State) -> dict[str, int]:
        self.decide(state)
        return {"messages_after": len(state["context"].messages)}
