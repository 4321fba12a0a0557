"""LangChain and LangGraph: a middleware whose agents no longer outgrow their window.

It wraps the call of the model and changes the messages of that one request. State and checkpoints stay whole, so time
travel and forks see every original; the snapshot that is true for a branch is found by its content.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from octavo.core.messages import (
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Wire,
)
from octavo.engine.recall_tool import NAME as RECALL
from octavo.engine.recall_tool import TOOL as RECALL_TOOL
from octavo.integrations.tools import count_tools
from octavo.integrations.view import ContextView, HistoryItem, ViewItem, ViewOptions, ViewRequest

FORMAT = "langchain"
ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk")
"""Blocks of content that repeat what stands in `tool_calls`."""
THOUGHT_BLOCKS = ("thinking", "redacted_thinking", "reasoning")


class OctavoMiddleware(AgentMiddleware[Any, Any, Any]):
    """Sends a view of the history that fits; the state of the agent stays whole.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process. With `recall`, the
    model gets a tool to search what was compressed.
    """

    def __init__(
        self, store: str | Path | None = None, *, recall: bool = False, **options: Unpack[ViewOptions]
    ) -> None:
        super().__init__()
        self._view = ContextView.open("OctavoMiddleware", store, options, more=["recall"])
        self._model = ""
        self.tools: Sequence[BaseTool] = [self._recall_tool()] if recall else []

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with a view of the history."""
        view = self._view.view(self._asked(request))
        response = handler(request.override(messages=_written(view.items)))
        self._view.learn(view, _billed(response))
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with a view of the history."""
        view = await self._view.aview(self._asked(request))
        response = await handler(request.override(messages=_written(view.items)))
        await self._view.alearn(view, _billed(response))
        return response

    def _asked(self, request: ModelRequest[Any]) -> ViewRequest[BaseMessage]:
        self._model = model_name(request.model)
        return ViewRequest(
            history=read_messages(request.messages),
            model=self._model,
            system=request.system_message.text if request.system_message else "",
            tools=count_tools(request.tools, _definition),
            reply=_reply(request),
        )

    def _recall_tool(self) -> BaseTool:
        view = self._view

        def history(runtime: ToolRuntime) -> ViewRequest[BaseMessage]:
            return ViewRequest(history=read_messages(runtime.state["messages"]), model=self._model)

        def recall(runtime: ToolRuntime, query: str = "", message: str = "") -> str:
            return view.recall(history(runtime), query, message)

        async def arecall(runtime: ToolRuntime, query: str = "", message: str = "") -> str:
            return await view.arecall(history(runtime), query, message)

        made: BaseTool = tool(RECALL, description=RECALL_TOOL.description)(recall)
        made.coroutine = arecall  # a tool of two functions: sync and async
        return made


def read_messages(messages: Iterable[BaseMessage]) -> list[HistoryItem[BaseMessage]]:
    """Read the messages of LangChain, one for one."""
    return [HistoryItem(read_message(message), (message,)) for message in messages]


def read_message(message: BaseMessage) -> Message:
    """Read one message."""
    role = ROLES.get(str(getattr(message, "role", message.type)), "user")
    if isinstance(message, ToolMessage):
        content = tuple(
            part if isinstance(part, Text | Image | Opaque) else Text(text="") for part in _content(message)
        )
        result = ToolResult(
            call_id=message.tool_call_id,
            content=content,
            name=message.name or "",
            error=message.status == "error",
        )
        return Message(role="tool", parts=(result,))
    parts = [*_content(message)]
    if isinstance(message, AIMessage):
        parts += [
            ToolCall(id=call["id"] or "", name=call["name"], input=_json(call["args"]))
            for call in message.tool_calls
        ]
        parts += [
            ToolCall(id=wrong["id"] or "", name=wrong["name"] or "", input=wrong["args"] or "")
            for wrong in message.invalid_tool_calls
        ]
    return Message(role=role, parts=tuple(parts), name=message.name or "")


def _content(message: BaseMessage) -> Iterator[Part]:
    if isinstance(message.content, str):
        yield Text(text=message.content)
        return
    for block in message.content:
        if isinstance(block, str):
            yield Text(text=block)
        elif block.get("type") not in CALL_BLOCKS:
            yield _block(block)


def _block(block: dict[str, Any]) -> Part:
    kind = str(block.get("type") or "")
    wire = Wire(FORMAT, _json(block))
    if isinstance(said := block.get("text"), str) and kind in ("text", "output_text", "input_text"):
        return Text(text=said, wire=wire)
    if kind in THOUGHT_BLOCKS:
        said = block.get("thinking") or block.get("reasoning") or ""
        return Reasoning(text=said if isinstance(said, str) else "", wire=wire)
    if kind in ("image_url", "image", "input_image"):
        return Image(source=_address(block), wire=wire)
    return Opaque(kind=kind, wire=wire)


def _address(block: dict[str, Any]) -> str:
    """Find the address of a picture, in the form of any provider."""
    url = block.get("image_url", block.get("url", ""))
    if isinstance(url, dict):
        url = url.get("url", "")
    source = block.get("source") if isinstance(block.get("source"), dict) else {}
    data = block.get("base64") or block.get("data") or (source or {}).get("data")
    if not url and data:
        kind = block.get("mime_type") or (source or {}).get("media_type") or "image/png"
        return f"data:{kind};base64,{data}"
    return str(url or (source or {}).get("url") or block.get("file_id") or "")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _written(items: Iterable[ViewItem[BaseMessage]]) -> list[AnyMessage]:
    """Give the messages of a view: the agent's own objects where nothing was changed."""
    return [message for item in items for message in _write(item)]


def _write(item: ViewItem[BaseMessage]) -> Iterator[AnyMessage]:
    message, original = item.message, next(iter(item.objects), None)
    if item.kept and original is not None:
        yield original  # type: ignore[misc]  # what the agent had is what the model may get
        return
    content = _blocks(part for part in message.parts if not isinstance(part, ToolCall | ToolResult))
    if message.role == "tool":
        for result in message.results:
            yield _tool_message(result, original)
    elif original is not None and ROLES.get(original.type) == message.role:
        yield original.model_copy(update={"content": content} | _calls(message, original))  # type: ignore[misc]
    elif message.role == "assistant":
        yield AIMessage(content=content, tool_calls=_tool_calls(message))
    elif message.role == "system":
        yield SystemMessage(content=content)
    else:
        yield HumanMessage(content=content)


def _tool_message(result: ToolResult, original: BaseMessage | None) -> ToolMessage:
    content = _blocks(result.content)
    if isinstance(original, ToolMessage) and original.tool_call_id == result.call_id:
        return original.model_copy(update={"content": content})
    status: Any = "error" if result.error else "success"
    return ToolMessage(content=content, tool_call_id=result.call_id, name=result.name or None, status=status)


def _calls(message: Message, original: BaseMessage) -> dict[str, Any]:
    return {"tool_calls": _tool_calls(message)} if isinstance(original, AIMessage) else {}


def _tool_calls(message: Message) -> list[Any]:
    return [
        {"name": call.name, "args": _arguments(call), "id": call.id, "type": "tool_call"}
        for call in message.calls
    ]


def _arguments(call: ToolCall) -> Any:
    try:
        return json.loads(call.input or "{}")
    except ValueError:
        return {"input": call.input}


def _blocks(parts: Iterable[Part]) -> Any:
    """Write content: one text as a string, everything else as blocks, as they were where they came from LangChain."""
    found = list(parts)
    if all(isinstance(part, Text) and part.wire is None for part in found) and len(found) <= 1:
        return "".join(part.text for part in found if isinstance(part, Text))
    return [block for part in found for block in _write_block(part)]


def _write_block(part: Part) -> Iterator[dict[str, Any]]:
    wire = part.wire
    match part:
        case Text(text=text):
            noted = (
                json.loads(wire.fields) if wire is not None and wire.format == FORMAT else {"type": "text"}
            )
            yield {**noted, "text": text}
        case Image(source=source) if wire is None or wire.format != FORMAT:
            yield {"type": "image_url", "image_url": {"url": source}}
        case _ if wire is not None and wire.format == FORMAT:
            yield json.loads(wire.fields)


def model_name(model: object) -> str:
    """Give the name of a chat model, as its provider knows it."""
    for field in ("model_name", "model", "model_id", "deployment_name"):
        if isinstance(name := getattr(model, field, None), str) and name:
            return name.removeprefix("models/")
    return ""


def _billed(response: ModelResponse[Any]) -> int | None:
    """Give the tokens of a request, by what its provider says."""
    usages = (getattr(message, "usage_metadata", None) for message in getattr(response, "result", ()))
    return next((usage.get("input_tokens") for usage in usages if usage), None)


def _reply(request: ModelRequest[Any]) -> int | None:
    """Give the room that is reserved for the answer, if somebody says."""
    named = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    said = [request.model_settings.get(name) for name in named]
    said += [getattr(request.model, name, None) for name in named]
    return next((value for value in said if isinstance(value, int) and value > 0), None)


def _definition(definition: object) -> dict[str, Any]:
    return definition if isinstance(definition, dict) else convert_to_openai_tool(definition)  # type: ignore[arg-type]


__all__ = ["OctavoMiddleware"]
