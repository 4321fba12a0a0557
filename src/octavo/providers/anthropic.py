"""Anthropic's Messages.

Cache markers are set, unless the caller set some: where the system prompt ends, where the snapshot ends, and where
`request.stable` says that the next request will be the same. Thinking comes back with its signature, in the `wire` of
its part. A temperature that a model refuses is left out from then on.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octavo.core.json_values import Json, JsonObject
from octavo.core.protocol import ANTHROPIC, Rules
from octavo.core.reply import Chunk, Request
from octavo.core.wire import write, write_tools
from octavo.core.wire.anthropic_stream import AnthropicStream
from octavo.providers.error_mapping import (
    counted,
    ended_early,
    sdk_errors,
)
from octavo.providers.retry import Begun, persist
from octavo.providers.sdk import demand, read_options
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, WaitLimits
from octavo.providers.streaming import plain, reply_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream
    from anthropic.types import RawMessageStreamEvent

EXTRA = "anthropic"
ADDRESS = "https://api.anthropic.com"
MAX_OUTPUT = 8_192
"""Anthropic wants a limit in every request; this one every model of the last generations accepts."""
COOL = re.compile(
    r"`?temperature`?\W.{0,200}(deprecated|not supported|unsupported|may only be set to 1)", re.IGNORECASE
)
"""How a model says that it takes no temperature, or none but its own."""
MARKER: JsonObject = {"type": "ephemeral"}
COUNTED = frozenset({"system", "tools", "tool_choice", "thinking", "messages"})
"""What of a request can be counted."""
UNMARKABLE = frozenset({"thinking", "redacted_thinking"})
"""Blocks that may not carry a cache marker."""


@dataclass(slots=True)
class AnthropicMessages:
    """The Messages service."""

    client: AsyncAnthropic = field(repr=False)
    waits: WaitLimits = WaitLimits()
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    name: str = "anthropic"
    rules: Rules = ANTHROPIC
    _without_temperature: set[str] = field(default_factory=set, repr=False)
    """Models that turned a temperature down."""

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer a request; see `Provider`."""
        return persist(lambda begun: self._attempt(request, begun), self.waits)

    async def count_request(self, request: Request) -> int:
        """Count a request; see `Counting`."""
        body = {name: value for name, value in self.body(request).items() if name in COUNTED}
        with self._mapped_errors():
            answer = await self.client.messages.count_tokens(
                model=request.model, messages=[], extra_body=body
            )
            return counted(self.name, answer.input_tokens)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _attempt(self, request: Request, begun: Begun) -> AsyncGenerator[Chunk, None]:
        answer = AnthropicStream(request.model)
        with self._mapped_errors():
            async with await self._open(request) as stream:
                async for event in stream:
                    begun()
                    for delta in answer.take(plain(event)):
                        if delta.text:
                            yield delta
            if not answer.stopped:
                raise ended_early(self.name, heard=answer.heard)
            yield reply_of(answer, self.name)

    async def _open(self, request: Request) -> AsyncStream[RawMessageStreamEvent]:
        while True:
            body = self.body(request)
            try:
                return await self.client.messages.create(
                    model=request.model, messages=[], max_tokens=MAX_OUTPUT, stream=True, extra_body=body
                )
            except demand("anthropic", EXTRA).BadRequestError as error:
                if request.model in self._without_temperature or not COOL.search(str(error.body)):
                    raise
                self._without_temperature.add(request.model)

    def body(self, request: Request) -> JsonObject:
        """Write a request as it goes over the wire."""
        wired = write("anthropic", request.messages)
        ends = [
            write("anthropic", request.messages[:end]).messages for end in (request.snapshot, request.stable)
        ]
        tools: list[Json] = [*write_tools("anthropic", request.tools)]
        body: JsonObject = {"model": request.model, "max_tokens": request.max_output or MAX_OUTPUT}
        if wired.system is not None:
            body["system"] = wired.system
        if tools:
            body["tools"] = tools
        if request.temperature is not None and request.model not in self._without_temperature:
            body["temperature"] = request.temperature
        body["messages"] = [*wired.messages]
        options = read_options(request.options)
        marked = body if _has_marker(body) or _has_marker(options) else _mark(body, wired.messages, ends)
        return marked | options | {"stream": True}

    def _mapped_errors(self) -> AbstractContextManager[None]:
        return sdk_errors(demand("anthropic", EXTRA), demand("httpx2", EXTRA), self.name, self.secrets)


def open_anthropic(account: ProviderAccount, waits: WaitLimits) -> AnthropicMessages:
    """Open the service; its library makes no retries of its own."""
    sdk = demand("anthropic", EXTRA)
    from octavo.providers.client import Client, timeout

    client: AsyncAnthropic = sdk.AsyncAnthropic(
        api_key=account.key.reveal() if account.key else None,
        base_url=account.base_url or ADDRESS,
        http_client=Client(waits),
        timeout=timeout(waits),
        max_retries=0,
        default_headers=dict(account.headers),
    )
    return AnthropicMessages(client=client, waits=waits, secrets=(account.key,) if account.key else ())


def _has_marker(value: Json) -> bool:
    match value:
        case dict():
            return "cache_control" in value or any(_has_marker(inner) for inner in value.values())
        case list():
            return any(_has_marker(inner) for inner in value)
        case _:
            return False


def _mark(
    body: JsonObject, messages: Sequence[JsonObject], ends: Iterable[Sequence[JsonObject]]
) -> JsonObject:
    """Mark the end of what will come again: of the system prompt, and of each of these beginnings of the messages."""
    marked, changed = dict(body), [*messages]
    if "system" in body:
        marked["system"] = _marked(body["system"], last=None)
    for front in ends:
        if front:
            at = len(front) - 1
            # Results of parallel calls share a message, so the last one of a beginning may go on past the mark.
            content = _marked(changed[at]["content"], last=len(_blocks(front[at]["content"])))
            changed[at] = {**changed[at], "content": content}
    if changed != [*messages]:
        marked["messages"] = [*changed]
    return marked


def _marked(content: Json, *, last: int | None) -> Json:
    """Mark the last block of the first `last` that can carry a marker."""
    blocks = _blocks(content)
    for at in reversed(range(len(blocks) if last is None else last)):
        block = blocks[at]
        if isinstance(block, dict) and block.get("type") not in UNMARKABLE and block.get("text") != "":
            return [*blocks[:at], {**block, "cache_control": MARKER}, *blocks[at + 1 :]]
    return content


def _blocks(content: Json) -> list[Json]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}]
