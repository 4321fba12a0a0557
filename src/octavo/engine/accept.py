"""Takes messages as programs have them: text, values, plain dicts of any wire format, replies of the official SDKs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from octavo.core.messages import ROLES, Message, Text
from octavo.core.plain import JsonObject
from octavo.core.reply import Reply, Usage
from octavo.core.wire import detect, read
from octavo.errors import BadInput
from octavo.meters.usage import read_usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A message, and what came with it."""

    message: Message
    usage: Usage | None = None
    model: str = ""


def accept(content: object, role: str = "user") -> Accepted:
    """Read whatever stands for one message; `role` is for plain text."""
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
    plain = cast("list[JsonObject]", [data])
    (message,) = read(detect(plain), plain)
    return Accepted(message=message, usage=usage, model=model if isinstance(model, str) else "")
