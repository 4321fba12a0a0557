"""What the providers' interfaces have in common: how a request is read and rewritten, and what an answer is.

A request is read only as far as Octavo has to understand it. Everything else stays in the body and goes on as it is.
Each interface is a module beside this one.
"""

from __future__ import annotations

import json
import re
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
Name = Literal["openai", "anthropic", "responses", "gemini"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """The stored message that a request continues by name, not by content."""

    conversation: str
    node: str
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRequest:
    """A request, as far as Octavo understands it."""

    raw: bytes
    body: JsonObject
    model: str
    system: tuple[Message, ...]
    """The system prompt as the client wrote it: the leading messages, or the field beside them."""
    messages: tuple[Message, ...]
    """All other messages as the client wrote them; empty only if the request is not tracked."""
    tools: tuple[Tool, ...]
    reply: int | None
    """Tokens that the client reserves for the answer."""
    stream: bool
    options: GatewayOptions
    tracked: bool = True
    """False for a request whose past only the provider has: it is passed on, and nothing is stored."""
    continued: Continued | None = None
    expanded: bool = False
    """Whether there are more messages than the body spells out."""
    whole: bool = False
    """Whether the messages have to be written out even if they fit: the body names some that only Octavo has."""

    @property
    def asked(self) -> str:
        """The name of the model in the body; `model` is the one that answers for it."""
        said = self.body.get("model")
        return said if isinstance(said, str) else self.model

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


@dataclass(frozen=True, slots=True)
class Parts:
    """What the messages of a request are: its system prompt, and the conversation."""

    system: tuple[Message, ...]
    messages: tuple[Message, ...]
    tracked: bool = True


def split_front(_: JsonObject, said: tuple[Message, ...]) -> Parts:
    """Part the system messages at the front from the conversation."""
    # A request of nothing but system messages has no system prompt: its messages are the conversation.
    front = lead(said) if lead(said) < len(said) else 0
    return Parts(said[:front], said[front:])


def read_items(items: Json, instructions: Json = None) -> tuple[Message, ...]:
    """Read the items of a Responses request, or the text that stands for one; name what is wrong as the client does."""
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    try:
        return read("responses", [] if items is None else items, instructions)
    except BadInput as error:
        raise in_clients_words(error, "input", "instructions") from None


def in_clients_words(error: BadInput, list_field: str, system_field: str) -> BadInput:
    """Name the place of an error by the fields of the client; without a `system_field` that place stays."""
    where = error.where
    for ours, theirs in (("messages", list_field), ("system", system_field)):
        where = theirs + where.removeprefix(ours) if theirs and where.startswith(ours) else where
    return BadInput(where, error.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One of the interfaces that clients speak."""

    name: Name
    limits: tuple[str, ...]
    """Fields that say how long the answer may be; the first that is present counts."""
    limits_in: str = ""
    """The object that holds these fields; empty: the body itself."""
    ends: tuple[bytes, ...]
    """How the last event of a stream may begin. That event is held back until everything is stored."""
    no_tools: Json
    """The choice that forbids all tool calls."""
    read_answer: Callable[..., ProviderAnswer]
    tool_choice_field: str = "tool_choice"
    list_field: str = "messages"
    system_field: str = ""
    """The field of the system prompt; empty if it stands in the list."""
    count_path: str = ""
    """What follows the address of the interface where tokens are counted."""
    last_event: re.Pattern[bytes] | None = None
    """What the last event of a stream has in it, where no word of its own begins it."""
    ends_whole: bool = False
    """Whether an answer is read from the last event of its stream, so that all of that event is waited for."""
    split: Callable[[JsonObject, tuple[Message, ...]], Parts] = split_front
    normalise: Callable[[JsonObject], JsonObject] = lambda body: body
    """Spells the fields of a body in one way."""
    settle: Callable[[JsonObject], None] = lambda _: None
    """Removes from a body that is written anew the fields that were meant for the client's own list."""

    def read(self, raw: bytes, headers: Headers, *, model: Json = None, stream: Json = None) -> ClientRequest:
        """Read a request; raise `BadInput` naming what is wrong.

        `model` and `stream` are given where they stand in the address, not in the body.
        """
        body = self.normalise(parse(raw))
        model = body.get("model") if model is None else model
        if not isinstance(model, str) or not model.strip():
            raise BadInput("model", "expected the name of a model")
        stream = body.get("stream") if stream is None else stream
        if stream is not None and not isinstance(stream, bool):
            raise BadInput("stream", "expected true or false")
        parts = self.split(body, self._messages(body))
        return ClientRequest(
            raw=raw,
            body=body,
            model=model,
            system=parts.system,
            messages=parts.messages,
            tracked=parts.tracked,
            tools=self._tools(body),
            reply=self._reply(body),
            stream=bool(stream),
            options=read_options(headers, body),
        )

    def _messages(self, body: JsonObject) -> tuple[Message, ...]:
        messages = body.get(self.list_field)
        system = body.get(self.system_field) if self.system_field else None
        if self.name == "responses":
            return read_items(messages, system)
        if not isinstance(messages, list) or not messages:
            raise BadInput(self.list_field, "expected a list of at least one message")
        try:
            return read(self.name, messages, system)
        except BadInput as error:
            raise in_clients_words(error, self.list_field, self.system_field) from None

    def _tools(self, body: JsonObject) -> tuple[Tool, ...]:
        tools, functions = body.get("tools"), body.get("functions")
        found = read_tools(self.name, tools) if tools is not None else ()
        if self.name == "openai" and isinstance(functions, list):
            found += read_tools("openai", [{"type": "function", "function": f} for f in functions])
        return found

    def _reply(self, body: JsonObject) -> int | None:
        found: list[int] = []
        holder = body.get(self.limits_in) if self.limits_in else body
        if holder is not None and not isinstance(holder, dict):
            raise BadInput(self.limits_in, "expected an object")
        for name in self.limits:
            value = holder.get(name) if isinstance(holder, dict) else None
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
        body[self.list_field] = cast(Json, wired.messages)
        if self.system_field:
            body.pop(self.system_field, None)
            if wired.system is not None:
                body[self.system_field] = wired.system
        self.settle(body)
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
    earlier: list[Message] = field(default_factory=list)
    """What one answer said before its last message, where a provider runs tools within an answer."""
    id: str = ""
    """The id by which a later request may name the answer."""
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
    check_json(
        {key: value for key, value in body.items() if key not in ("messages", "input", "contents")}, "body"
    )
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


_EVENT_END = re.compile(rb"\r?\n\r?\n")


class EventSplitter:
    """Cuts a stream that arrives in arbitrary pieces into whole events, byte for byte."""

    def __init__(self) -> None:
        self.left = b""
        """The beginning of an event whose end has not arrived."""

    def feed(self, piece: bytes) -> list[bytes]:
        """Take a piece, and give the events that are complete now, each with the empty line that ends it."""
        data, start, found = self.left + piece, 0, list[bytes]()
        for end in _EVENT_END.finditer(data):
            found.append(data[start : end.end()])
            start = end.end()
        self.left = data[start:]
        return found


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
