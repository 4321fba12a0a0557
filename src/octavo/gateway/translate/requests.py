"""Requests, written for a provider that speaks another interface than the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from octavo.core.json_values import JsonObject, compact
from octavo.core.messages import Message, Part, ToolCall
from octavo.core.tools import Tool
from octavo.core.wire import Wired, write_tools
from octavo.gateway.dialects.dialect import ClientRequest
from octavo.gateway.translate.answers import custom_tools
from octavo.gateway.translate.parameters import read_parameters, write_anthropic, write_openai

TEXT_INPUT = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'
"""The schema of a tool that takes plain text, for models whose tools take JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a request is translated for."""

    format: str
    """The interface of the provider: `openai` or `anthropic`."""
    model: str
    official: bool
    """Whether the provider is OpenAI itself."""
    most: int
    """The longest answer of the model."""


def translated_body(
    interface: str, request: ClientRequest, wired: Wired, target: Target, more_tools: Sequence[Tool] = ()
) -> JsonObject:
    """Write the body of a request for another interface; `wired` are its messages in that interface's format.

    Raise `BadInput` naming a field that has no counterpart there.
    """
    parameters = read_parameters(interface, request.body)
    body: JsonObject = {"model": target.model, "messages": [*wired.messages]}
    tools = [*usable_tools(request), *more_tools]
    if target.format == "anthropic":
        body |= write_anthropic(parameters, most=target.most)
        if wired.system is not None:
            body["system"] = wired.system
        written = write_tools("anthropic", tools)
    else:
        body |= write_openai(parameters, official=target.official)
        written = write_tools("openai", tools)
    if written:
        body["tools"] = [*written]
    else:
        body.pop("tool_choice", None)
        body.pop("parallel_tool_calls", None)
    return body


def usable_tools(request: ClientRequest) -> list[Tool]:
    """Give the tools that any model can call: tools of plain text take it as a field."""
    custom = custom_tools(request.body)
    listed = request.body.get("tools")
    described = {
        str(tool.get("name")): str(tool.get("description") or "")
        for tool in (listed if isinstance(listed, list) else [])
        if isinstance(tool, dict)
    }
    plain = [
        Tool(name=tool.name, description=tool.description, schema=tool.schema)
        for tool in request.tools
        if tool.schema and tool.name not in custom
    ]
    return plain + [
        Tool(name=name, description=described[name], schema=TEXT_INPUT) for name in sorted(custom)
    ]


def left_out(request: ClientRequest) -> list[str]:
    """Name the tools that only their own provider can run."""
    custom = custom_tools(request.body)
    return [tool.name for tool in request.tools if not tool.schema and tool.name not in custom]


def for_any_model(messages: Sequence[Message], request: ClientRequest) -> tuple[Message, ...]:
    """Give messages in a form that any model reads: calls of tools of plain text have it as a field."""
    custom = custom_tools(request.body)
    if not custom:
        return tuple(messages)
    return tuple(
        replace(message, parts=tuple(_plain(part, custom) for part in message.parts)) for message in messages
    )


def _plain(part: Part, custom: frozenset[str]) -> Part:
    if isinstance(part, ToolCall) and part.name in custom:
        return replace(part, input=compact({"input": part.input}), wire=None)
    return part
