"""Google ADK: a plugin by which no agent of an app outgrows its window.

It changes the contents of one request. The events of the session stay whole. Contents that are kept are the same
objects, with their thought signatures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from octavo.core.messages import Message, Text, ToolResult
from octavo.core.protocol import GEMINI
from octavo.core.wire import read, write
from octavo.errors import BadInput
from octavo.integrations.tools import count_tools
from octavo.integrations.view import ContextView, HistoryItem, ViewItem, ViewOptions, ViewRequest, log


class OctavoPlugin(BasePlugin):
    """Sends a view of the events that fits; the session stays whole.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process.
    """

    def __init__(self, store: str | Path | None = None, **options: Unpack[ViewOptions]) -> None:
        super().__init__(name="octavo")
        self._view = ContextView.open("OctavoPlugin", store, options)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Replace the contents of a request by a view of them."""
        try:
            history = read_contents(llm_request.contents)
        except BadInput as error:
            log.warning("the contents of a request are sent as they are: %s", error)
            return None
        config = llm_request.config
        tools = [tool for tool in config.tools or () if isinstance(tool, types.Tool)]
        view = await self._view.aview(
            ViewRequest(
                history=history,
                model=(llm_request.model or "").removeprefix("models/"),
                system=_system(config.system_instruction),
                tools=count_tools(tools, _definition),
                reply=config.max_output_tokens,
                format="gemini",
                rules=GEMINI,
            )
        )
        self._view.expect_bill(_name(callback_context), view)
        llm_request.contents = [content for item in view.items for content in _write(item)]
        return None

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Learn from the bill of a request; of an answer that is streamed, only the end has one."""
        usage = llm_response.usage_metadata
        if usage is not None and not llm_response.partial:
            await self._view.billed(_name(callback_context), usage.prompt_token_count)
        return None


def _name(context: CallbackContext) -> str:
    """Name the request that an agent waits for: it makes one at a time."""
    return f"{context.invocation_id} {context.agent_name}"


def read_contents(contents: Sequence[types.Content]) -> list[HistoryItem[types.Content]]:
    """Read contents, one for one."""
    plain: Any = [_plain(content) for content in contents]
    pairs = zip(read("gemini", plain), contents, strict=True)
    return [HistoryItem(_readable(message), (content,)) for message, content in pairs]


def _readable(message: Message) -> Message:
    """Take what a function gave out of the object that ADK puts it into: as JSON, its lines would be one."""
    if not message.results:
        return message
    parts = tuple(_unpacked(part) if isinstance(part, ToolResult) else part for part in message.parts)
    return replace(message, parts=parts)


def _unpacked(result: ToolResult) -> ToolResult:
    try:
        said = json.loads(result.text)
    except ValueError:
        return result
    match said:
        case {"result": str(text), **rest} if not rest:
            return replace(result, content=(Text(text=text),), wire=None)
        case _:
            return result


def _plain(content: Any) -> Any:
    return content.model_dump(mode="json", by_alias=True, exclude_none=True)


def _definition(tool: object) -> Any:
    return _plain(tool)


def _write(item: ViewItem[types.Content]) -> Iterable[types.Content]:
    if item.kept:
        return item.objects
    wired = write("gemini", [item.message])
    return [types.Content.model_validate(content) for content in wired.messages]


def _system(instruction: Any) -> str:
    """Give the text of an instruction, in any of the forms that it may have."""
    match instruction:
        case None:
            return ""
        case str():
            return instruction
        case types.Content():
            return "\n".join(part.text or "" for part in instruction.parts or ())
        case types.Part():
            return instruction.text or ""
        case list() | tuple():
            return "\n".join(map(_system, instruction))
        case _:
            return str(instruction)


__all__ = ["OctavoPlugin"]
