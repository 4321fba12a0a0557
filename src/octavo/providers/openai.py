"""OpenAI's Chat Completions, and everything that speaks the same: Ollama, llama.cpp, vLLM, LM Studio, gateways.

The adapter sends what `core.wire` writes and reads the answer back through `core.wire`, so a reply is a message like
any other. A parameter of ours that a model refuses (a temperature, the name of the output limit) is left out from
then on; what the caller put into `options` is never touched.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from octavo.core.json_values import JsonObject
from octavo.core.protocol import COMPATIBLE, OPENAI, Rules
from octavo.core.reply import Chunk, Request
from octavo.core.wire import write, write_tools
from octavo.core.wire.openai_stream import OpenAIStream
from octavo.providers.error_mapping import (
    counted,
    sdk_errors,
)
from octavo.providers.responses import function_of, items_of
from octavo.providers.retry import Begun, persist
from octavo.providers.sdk import demand, read_options
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, WaitLimits
from octavo.providers.streaming import new_call_id, plain, reply_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, BadRequestError
    from openai.types.chat import ChatCompletionChunk

EXTRA = "openai"
ADDRESS = "https://api.openai.com/v1"
OFFICIAL_HOSTS = ("openai.com", "openai.azure.com")
LIMITS = ("max_completion_tokens", "max_tokens")
"""What the output's limit is called: by OpenAI today, and by everybody else (and OpenAI before)."""
ADAPTABLE = frozenset({*LIMITS, "temperature", "stream_options", "prompt_cache_key"})
"""Parameters of ours that some models refuse and an answer can do without."""
REFUSALS = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
NO_KEY = "none"
"""The library insists on a key; servers that need none ignore it."""


@dataclass(slots=True)
class ChatCompletions:
    """A service that speaks Chat Completions."""

    name: str
    rules: Rules
    client: AsyncOpenAI = field(repr=False)
    official: bool
    waits: WaitLimits = WaitLimits()
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    _refused: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """By model: which parameters it turned down."""

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Answer a request; see `Provider`."""
        return persist(lambda begun: self._attempt(request, begun), self.waits)

    async def count_request(self, request: Request) -> int | None:
        """Count a request; see `Counting`. Only OpenAI itself does, by its Responses."""
        if not (self.official and self.name == "openai"):
            return None
        body: JsonObject = {"model": request.model, "input": [*items_of(request.messages)]}
        if request.tools:
            body["tools"] = [function_of(tool) for tool in request.tools]
        with self._mapped_errors():
            answer = await self.client.responses.input_tokens.count(extra_body=body)
            return counted(self.name, answer.input_tokens)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _attempt(self, request: Request, begun: Begun) -> AsyncGenerator[Chunk, None]:
        answer = OpenAIStream(request.model, new_call_id)
        with self._mapped_errors():
            async with await self._open(request) as stream:
                async for chunk in stream:
                    begun()
                    for delta in answer.take(plain(chunk)):
                        if delta.text:
                            yield delta
            yield reply_of(answer, self.name)

    async def _open(self, request: Request) -> AsyncStream[ChatCompletionChunk]:
        refused = self._refused.setdefault(request.model, set())
        while True:
            body = self.body(request)
            try:
                return await self.client.chat.completions.create(
                    model=request.model, messages=[], stream=True, extra_body=body
                )
            except demand("openai", EXTRA).BadRequestError as error:
                name = _turned_down(error)
                if name not in ADAPTABLE or name in refused:
                    raise
                refused.add(name)

    def body(self, request: Request) -> JsonObject:
        """Write a request as it goes over the wire."""
        refused = self._refused.get(request.model, set())
        ours: JsonObject = {
            "model": request.model,
            "messages": [*write("openai", request.messages).messages],
            "stream_options": {"include_usage": True},
        }
        if request.cache_key and self.official:
            ours["prompt_cache_key"] = request.cache_key
        if request.tools:
            ours["tools"] = [*write_tools("openai", request.tools)]
        if request.temperature is not None:
            ours["temperature"] = request.temperature
        limits = [limit for limit in (LIMITS if self.official else LIMITS[::-1]) if limit not in refused]
        if request.max_output is not None and limits:
            ours[limits[0]] = request.max_output
        kept = {name: value for name, value in ours.items() if name not in refused}
        return kept | read_options(request.options) | {"stream": True}

    def _mapped_errors(self) -> AbstractContextManager[None]:
        return sdk_errors(demand("openai", EXTRA), demand("httpx2", EXTRA), self.name, self.secrets)


def _turned_down(error: BadRequestError) -> str:
    """Name the parameter that a model refused; empty if it was something else."""
    return error.param or "" if error.code in REFUSALS else ""


def open_openai(account: ProviderAccount, waits: WaitLimits, *, name: str = "openai") -> ChatCompletions:
    """Open OpenAI itself, or whatever answers at `account.base_url`."""
    address = account.base_url or ADDRESS
    host = urlsplit(address).hostname or ""
    official = any(host == known or host.endswith("." + known) for known in OFFICIAL_HOSTS)

    def connect(**common: Any) -> AsyncOpenAI:
        sdk = demand("openai", EXTRA)
        client: AsyncOpenAI = sdk.AsyncOpenAI(base_url=address, **common)
        return client

    # A proxy would look for this machine's servers on its own machine.
    proxied = not is_loopback(host)
    return open_chat(connect, account, waits, name=name, official=official, proxied=proxied)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this very machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_chat(
    connect: Callable[..., AsyncOpenAI],
    account: ProviderAccount,
    waits: WaitLimits,
    *,
    name: str,
    official: bool,
    proxied: bool = True,
) -> ChatCompletions:
    """Wrap a client of OpenAI's library that makes no retries of its own."""
    demand("openai", EXTRA)
    from octavo.providers.client import Client, timeout

    client = connect(
        api_key=account.key.reveal() if account.key else NO_KEY,
        http_client=Client(waits, trust_env=proxied),
        timeout=timeout(waits),
        max_retries=0,
        default_headers=dict(account.headers),
    )
    return ChatCompletions(
        name=name,
        rules=OPENAI if official else COMPATIBLE,
        client=client,
        official=official,
        waits=waits,
        secrets=(account.key,) if account.key else (),
    )
