"""Requests, written for a provider that speaks another interface than the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from octavo.core.budget import ModelCard
from octavo.core.harden import harden
from octavo.core.json_values import JsonObject, compact
from octavo.core.messages import Message, Part, ToolCall
from octavo.core.tools import Tool
from octavo.core.wire import Wired, write, write_tools
from octavo.errors import BadInput
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.forward import Destination, with_model_name
from octavo.gateway.translate.answers import custom_tools
from octavo.gateway.translate.parameters import read_parameters, write_anthropic, write_openai
from octavo.http.responses import to_json

USUAL_ANSWER = 8_192
"""The limit of a request that has none, for a provider that demands one."""
TEXT_INPUT = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'
"""The schema of a tool that takes plain text, for models whose tools take JSON."""


def plain_body(dialect: Dialect, request: ClientRequest, destination: Destination, card: ModelCard) -> bytes:
    """Give the body that is sent if a request fits: the client's own, or its translation."""
    if destination.format == dialect.name:
        return with_model_name(request.onward, request.asked, destination)
    rules = replace(destination.rules, vision=destination.rules.vision and card.vision)
    said = harden(
        (*request.system, *for_any_model(request.messages, request, destination.format)), rules
    ).messages
    wired = write(destination.format, said)
    if not wired.messages:
        raise BadInput(dialect.list_field, "expected a message that says something")
    return to_json(translated_body(dialect.name, request, wired, destination, card))


def translated_body(
    interface: str,
    request: ClientRequest,
    wired: Wired,
    destination: Destination,
    card: ModelCard,
    more_tools: Sequence[Tool] = (),
) -> JsonObject:
    """Write the body of a request for another interface; `wired` are its messages in that interface's format.

    Raise `BadInput` naming a field that has no counterpart there.
    """
    parameters = read_parameters(interface, request.body)
    body: JsonObject = {"model": destination.model, "messages": [*wired.messages]}
    tools = [*usable_tools(request), *more_tools]
    if destination.format == "anthropic":
        body |= write_anthropic(parameters, most=min(card.max_output, USUAL_ANSWER))
        if wired.system is not None:
            body["system"] = wired.system
        written = write_tools("anthropic", tools)
    else:
        body |= write_openai(parameters, official=destination.official)
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


def for_any_model(messages: Sequence[Message], request: ClientRequest, format: str) -> tuple[Message, ...]:
    """Give messages in a form that any model reads: calls of tools of plain text have it as a field.

    Only Responses, and Chat Completions of OpenAI itself, have such tools.
    """
    custom = custom_tools(request.body)
    if not custom or format == "responses" or "input" not in request.body:
        return tuple(messages)
    return tuple(
        replace(message, parts=tuple(_plain(part, custom) for part in message.parts)) for message in messages
    )


def _plain(part: Part, custom: frozenset[str]) -> Part:
    if isinstance(part, ToolCall) and part.name in custom:
        return replace(part, input=compact({"input": part.input}), wire=None)
    return part
