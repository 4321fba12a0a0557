"""What the providers' interfaces have in common: how a request is read and rewritten, and what an answer is.

A request is read only as far as Octavo has to understand it. Everything else stays in the body and goes on as it is.
Each interface is a module beside this one.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, cast

from starlette.datastructures import Headers

from octavo.core.json_values import Json, JsonObject, check_json
from octavo.core.messages import Message
from octavo.core.reply import Usage
from octavo.core.split import lead
from octavo.core.tools import Tool
from octavo.core.wire import Wired, read, read_tools, write_tools
from octavo.core.wire.stream import StreamAssembler
from octavo.errors import BadInput
from octavo.gateway.options import FIELD, GatewayOptions, read_options
from octavo.http.responses import to_json

MOST_TOKENS = 100_000_000
"""More tokens than any answer has: a larger number is a mistake."""
Name = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequest:
    """A request, as far as Octavo understands it."""

    raw: bytes
    body: JsonObject
    model: str
    system: tuple[Message, ...]
    """The system prompt as the client wrote it: the leading messages, or the field beside them."""
    messages: tuple[Message, ...]
    """All other messages as the client wrote them; never empty."""
    tools: tuple[Tool, ...]
    reply: int | None
    """Tokens that the client reserves for the answer."""
    stream: bool
    options: GatewayOptions

    @property
    def prompt(self) -> str:
        """The text of the system prompt."""
        return "\n".join(message.text for message in self.system)

    @property
    def onward(self) -> bytes:
        """The body that is sent if the request fits: the client's bytes, without our own field."""
        if FIELD not in self.body:
            return self.raw
        return to_json({key: value for key, value in self.body.items() if key != FIELD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One of the interfaces that clients speak."""

    name: Name
    limits: tuple[str, ...]
    """Fields that say how long the answer may be; the first that is present counts."""
    ends: tuple[bytes, ...]
    """How the last event of a stream may begin. That event is held back until everything is stored."""
    no_tools: Json
    """The `tool_choice` that forbids all tool calls."""
    read_answer: Callable[..., ProviderAnswer]

    def read(self, raw: bytes, headers: Headers) -> ClientRequest:
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
        # A request of nothing but system messages has no system prompt: its messages are the conversation.
        front = lead(said) if lead(said) < len(said) else 0
        return ClientRequest(
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

    def rewrite(self, request: ClientRequest, wired: Wired, more_tools: tuple[Tool, ...] = ()) -> JsonObject:
        """Write the body of a request with other messages; every other field stays."""
        body: JsonObject = {key: value for key, value in request.body.items() if key != FIELD}
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


@dataclass(slots=True, kw_only=True)
class ProviderAnswer:
    """An answer of a provider, as far as Octavo reads it."""

    messages: list[Message] = field(default_factory=list)
    """One message, or as many as the client asked for."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    complete: bool = False
    """Whether the answer is complete."""


def parse(raw: bytes) -> JsonObject:
    """Read the body of a request: a JSON object that is not nested too deeply."""
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
    raise ValueError(f"{constant} is not a JSON number")


def read_stream(stream: StreamAssembler, raw: bytes) -> ProviderAnswer:
    """Read a whole stream of events."""
    for event in events(raw):
        deque(stream.take(event), maxlen=0)
    try:
        messages = [message for message in stream.messages() if message.parts]
    except BadInput:
        messages = []
    # The last event does not decide about `complete`: the answer is stored while that event is held back.
    return ProviderAnswer(messages=messages, usage=stream.usage, model=stream.model, complete=stream.complete)


def events(raw: bytes) -> Iterator[JsonObject]:
    """Read the data of server-sent events; data that is no JSON object, such as `[DONE]`, is skipped."""
    for block in raw.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
        if lines and (event := read_object(b"\n".join(lines))):
            yield event


def read_object(raw: bytes) -> JsonObject:
    """Read a JSON object; anything else is read as an empty one."""
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return dict(value) if isinstance(value, dict) else {}
