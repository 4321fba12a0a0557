"""The two interfaces the gateway speaks, and all they differ in: how a request is read and written, a reply heard.

A request is read as far as it has to be understood; what is not is left in the body, which goes on as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, cast

from starlette.datastructures import Headers

from octavo.core.fields import Json, JsonObject, check_json
from octavo.core.messages import Message
from octavo.core.split import lead
from octavo.core.tools import Tool
from octavo.core.wire import Wired, read, read_tools, write_tools
from octavo.errors import BadInput
from octavo.http.responses import to_json
from octavo.server.gateway.options import FIELD, Options, read_options
from octavo.server.gateway.replies import Heard, hear_anthropic, hear_openai

MOST_TOKENS = 100_000_000
"""No answer is longer."""
Name = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, as far as it is understood."""

    raw: bytes
    body: JsonObject
    model: str
    system: tuple[Message, ...]
    """The system prompt as the client wrote it: what the messages open with, or what stands beside them."""
    messages: tuple[Message, ...]
    """The rest, as the client wrote them; never empty."""
    tools: tuple[Tool, ...]
    reply: int | None
    """Tokens the client wants to leave for the answer."""
    stream: bool
    options: Options

    @property
    def prompt(self) -> str:
        """The words of the system prompt."""
        return "\n".join(message.text for message in self.system)

    @property
    def onward(self) -> bytes:
        """The request as it goes to the provider when it fits: the very bytes, unless they hold our own field."""
        if FIELD not in self.body:
            return self.raw
        return to_json({key: value for key, value in self.body.items() if key != FIELD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One of the interfaces."""

    name: Name
    limits: tuple[str, ...]
    """Where a request says how long the answer may be, the first that is there."""
    ends: tuple[bytes, ...]
    """How the last event of a stream may begin; it is held back until everything is stored."""
    no_tools: Json
    """The `tool_choice` under which a model calls nothing."""
    hear: Callable[..., Heard]

    def read(self, raw: bytes, headers: Headers) -> Asked:
        """Read a request; raise `BadInput` naming what is wrong."""
        body = parse(raw)
        model = body.get("model")
        if not isinstance(model, str) or not model.strip():
            raise BadInput("model", "expected the name of a model")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadInput("messages", "expected a list of at least one message")
        stream = body.get("stream")
        if stream is not None and not isinstance(stream, bool):
            raise BadInput("stream", "expected true or false")
        said = read(self.name, messages, body.get("system") if self.name == "anthropic" else None)
        # Who sends nothing else speaks through the system prompt.
        front = lead(said) if lead(said) < len(said) else 0
        return Asked(
            raw=raw,
            body=body,
            model=model,
            system=said[:front],
            messages=said[front:],
            tools=self._tools(body),
            reply=self._reply(body),
            stream=bool(stream),
            options=read_options(headers, body),
        )

    def _tools(self, body: JsonObject) -> tuple[Tool, ...]:
        tools, functions = body.get("tools"), body.get("functions")
        found = read_tools(self.name, tools) if tools is not None else ()
        if self.name == "openai" and isinstance(functions, list):
            found += read_tools("openai", [{"type": "function", "function": f} for f in functions])
        return found

    def _reply(self, body: JsonObject) -> int | None:
        found: list[int] = []
        for name in self.limits:
            value = body.get(name)
            if value is None:
                continue
            whole = int(value) if isinstance(value, int | float) and value == value // 1 else 0
            if isinstance(value, bool) or not 0 < whole <= MOST_TOKENS:
                raise BadInput(name, "expected a whole number of tokens above 0")
            found.append(whole)
        return found[0] if found else None

    def rewrite(self, asked: Asked, wired: Wired, more_tools: tuple[Tool, ...] = ()) -> JsonObject:
        """Write a request with other messages, and everything else as it was."""
        body: JsonObject = {key: value for key, value in asked.body.items() if key != FIELD}
        body["messages"] = cast(Json, wired.messages)
        if self.name == "anthropic":
            body.pop("system", None)
            if wired.system is not None:
                body["system"] = wired.system
        if more_tools:
            offered = body.get("tools")
            body["tools"] = [
                *(offered if isinstance(offered, list) else []),
                *write_tools(self.name, more_tools),
            ]
        return body


OPENAI = Dialect(
    name="openai",
    limits=("max_completion_tokens", "max_tokens"),
    ends=(b"data: [DONE]", b"data:[DONE]"),
    no_tools="none",
    hear=hear_openai,
)
ANTHROPIC = Dialect(
    name="anthropic",
    limits=("max_tokens",),
    ends=(b"event: message_stop", b"event:message_stop"),
    no_tools={"type": "none"},
    hear=hear_anthropic,
)


def parse(raw: bytes) -> JsonObject:
    """Read a body strictly: an object of plain JSON, not nested too deep."""
    try:
        body = json.loads(raw, parse_constant=_refuse)
    except RecursionError:
        raise BadInput("body", "nested too deeply") from None
    except ValueError as error:
        raise BadInput("body", f"not JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadInput("body", f"expected an object, got {type(body).__name__}")
    check_json({key: value for key, value in body.items() if key != "messages"}, "body")
    return cast(JsonObject, body)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
