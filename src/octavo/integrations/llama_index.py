"""LlamaIndex: a memory that gives a view of the conversation, and keeps all of it.

An agent of LlamaIndex asks its memory when a run begins and puts the messages of the run in when it ends. A single run
that outgrows the window by its own tool calls is not seen here: for such runs there is the gateway.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemory

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
from octavo.core.protocol import OPENAI
from octavo.integrations.view import ContextView, HistoryItem, MadeView, ViewItem, ViewRequest

FORMAT = "llama-index"
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "tool": "tool",
    "function": "tool",
}


class OctavoMemory(BaseMemory):
    """A memory: `get` gives a view that fits, `get_all` every message.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process.
    """

    messages: list[ChatMessage] = Field(default_factory=list)
    """The whole conversation."""
    store: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    _view: ContextView = PrivateAttr()

    def __init__(
        self,
        store: str | Path | None = None,
        *,
        messages: Iterable[ChatMessage] = (),
        options: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        told: Any = {**(options or {}), **more}
        view = ContextView.open("OctavoMemory", store, told)
        super().__init__(
            messages=list(messages), store=str(store) if store is not None else None, options=told
        )
        self._view = view

    @classmethod
    def class_name(cls) -> str:
        """Name the class in serialised memories."""
        return "OctavoMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> OctavoMemory:
        """Make a memory; `chat_history` are the messages it begins with."""
        return cls(messages=kwargs.pop("chat_history", None) or (), **kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Give the messages that are sent."""
        del input, kwargs  # what is asked is in the messages
        return _written(self._view.view(self._asked()))

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Give the messages that are sent."""
        del input, kwargs
        return _written(await self._view.aview(self._asked()))

    def get_all(self) -> list[ChatMessage]:
        """Give every message."""
        return list(self.messages)

    def put(self, message: ChatMessage) -> None:
        """Add a message."""
        self.messages.append(message)

    def set(self, messages: list[ChatMessage]) -> None:
        """Begin with other messages."""
        self.messages = list(messages)

    def reset(self) -> None:
        """Begin anew; what was said stays stored."""
        self.messages = []

    def _asked(self) -> ViewRequest[ChatMessage]:
        history = [HistoryItem(read_message(message), (message,)) for message in self.messages]
        return ViewRequest(history=history, rules=OPENAI)


def read_message(message: ChatMessage) -> Message:
    """Read one message."""
    role = ROLES.get(message.role.value, "user")
    parts = [part for block in message.blocks for part in _block(block)]
    told = message.additional_kwargs
    if role == "tool":
        call = told.get("tool_call_id") or told.get("call_id") or ""
        content = tuple(part for part in parts if isinstance(part, Text | Image | Opaque))
        return Message(role="tool", parts=(ToolResult(call_id=str(call), content=content),))
    if not any(isinstance(part, ToolCall) for part in parts):
        parts += [_call(call) for call in told.get("tool_calls") or ()]
    return Message(role=role, parts=tuple(parts))


def _block(block: Any) -> Iterator[Part]:
    match block:
        case TextBlock():
            yield Text(text=block.text)
        case ThinkingBlock():
            yield Reasoning(text=block.content or "")
        case ToolCallBlock():
            told = block.tool_kwargs
            arguments = told if isinstance(told, str) else json.dumps(told, separators=(",", ":"))
            yield ToolCall(id=block.tool_call_id or "", name=block.tool_name, input=arguments)
        case ImageBlock():
            yield Image(source=str(block.url or ""), wire=_wire(block))
        case _:
            yield Opaque(kind=block.block_type, wire=_wire(block))


def _wire(block: Any) -> Wire:
    return Wire(FORMAT, block.model_dump_json())


def _call(call: Any) -> ToolCall:
    """Read a call in the form of OpenAI's library."""
    plain = call if isinstance(call, dict) else call.model_dump()
    function = plain.get("function") or {}
    return ToolCall(
        id=str(plain.get("id") or ""),
        name=str(function.get("name") or ""),
        input=str(function.get("arguments") or "{}"),
    )


def _written(view: MadeView[ChatMessage]) -> list[ChatMessage]:
    return [message for item in view.items for message in _write(item)]


def _write(item: ViewItem[ChatMessage]) -> Iterator[ChatMessage]:
    original = next(iter(item.objects), None)
    if item.kept and original is not None:
        yield original
        return
    message = item.message
    said = "\n\n".join(filter(None, [message.text, *(result.text for result in message.results)]))
    if original is not None:
        others = [block for block in original.blocks if not isinstance(block, TextBlock)]
        yield original.model_copy(update={"blocks": [TextBlock(text=said), *others]})
    else:
        yield ChatMessage(role=MessageRole(message.role), content=said)


__all__ = ["OctavoMemory"]
