"""Reads messages and tools as programs pass them in: text, values, plain dicts of any wire format, replies of SDKs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias, cast

from octavo.core.message_json import JsonObject
from octavo.core.messages import ROLES, Message, Text
from octavo.core.reply import Reply, Usage
from octavo.core.tools import Tool
from octavo.core.wire import Format, detect, read, read_tools
from octavo.core.wire.usage import read_usage
from octavo.core.wire.wave import read_block
from octavo.errors import BadInput, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A message, and what came with it."""

    message: Message
    usage: Usage | None = None
    model: str = ""


def accept(content: object, role: str = "user") -> Accepted:
    """Read one message in any of these forms; `role` is for plain text."""
    match content:
        case Message():
            return Accepted(message=content)
        case Reply():
            return Accepted(message=content.message, usage=content.usage, model=content.model)
        case str():
            if role not in ROLES:
                raise BadInput("role", f"unknown role {role!r}; one of {', '.join(ROLES)}")
            return Accepted(message=Message(role=role, parts=(Text(text=content),)))
        case Mapping():
            return _from_dict(dict(content))
    dump = getattr(content, "model_dump", None)
    if callable(dump):
        return _from_dict(cast("dict[str, Any]", dump(mode="json", exclude_none=True)))
    raise BadInput(
        "message", f"expected text, a message, a dict or a provider's reply, got {type(content).__name__}"
    )


def _from_dict(data: dict[str, Any]) -> Accepted:
    """Read a message, or the whole response that holds one."""
    report = data.get("usage") or data.get("usageMetadata") or data.get("usage_metadata")
    usage = read_usage(report) if isinstance(report, dict) else None
    model = data.get("model") or data.get("model_version") or data.get("modelVersion") or ""
    if isinstance(data.get("choices"), list) and data["choices"]:
        data = data["choices"][0].get("message") or {}
    elif isinstance(data.get("candidates"), list) and data["candidates"]:
        data = data["candidates"][0].get("content") or {}
    elif data.get("type") == "message":
        data = {"role": data.get("role"), "content": data.get("content")}
    if (block := read_block(cast("JsonObject", data), "message")) is not None:
        return Accepted(message=block.message)
    plain = cast("list[JsonObject]", [data])
    (message,) = read(detect(plain), plain)
    return Accepted(message=message, usage=usage, model=model if isinstance(model, str) else "")


AnyTool: TypeAlias = Tool | Mapping[str, Any]
"""A tool, or its definition as OpenAI, Anthropic or Gemini take it."""


def accept_tools(tools: Sequence[AnyTool]) -> tuple[Tool, ...]:
    """Read tools: values, or plain dicts, whose fields tell their format."""
    if isinstance(tools, Tool | Mapping | str) or not isinstance(tools, Iterable):
        raise BadInput("tools", f"expected a list of tools, got {type(tools).__name__}")
    found: list[Tool] = []
    for at, tool in enumerate(tools):
        if isinstance(tool, Tool):
            found.append(tool)
            continue
        if not isinstance(tool, Mapping):
            raise BadInput(f"tools[{at}]", f"expected a tool or a dict, got {type(tool).__name__}")
        found += _from_definition(dict(tool), f"tools[{at}]")
    return tuple(found)


def _from_definition(data: dict[str, Any], where: str) -> tuple[Tool, ...]:
    # OpenAI's Responses and Agents write the function's fields beside its type; that is the same definition.
    if data.get("type") == "function" and "function" not in data:
        data = {"type": "function", "function": {key: data[key] for key in data if key != "type"}}
    try:
        return read_tools(_tool_format(data), [data])
    except BadInput as error:
        raise BadInput(error.where.replace("tools[0]", where), error.problem) from error


def _tool_format(data: Mapping[str, Any]) -> Format:
    """Tell whose definition it is: only OpenAI's always have a type and never a name beside it."""
    if "input_schema" in data or ("type" in data and "name" in data):
        return "anthropic"
    if "type" in data:
        return "openai"
    if data.get("name") is not None:
        raise BadInput(
            "tools[0]",
            "expected OpenAI's {'type': 'function', 'function': {...}}, Anthropic's 'input_schema', or Gemini's "
            f"'functionDeclarations'; got a dict with {', '.join(map(str, data))}",
        )
    return "gemini"


def check_options(call: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that a call does not have, and name the one that was probably meant."""
    names = sorted(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}"
            raise UsageError(f"{call}() has no option {name!r}: {hint}")
