"""Google's Gemini, through `google-genai`.

The library is given an HTTP client of ours, for two reasons: its own setting for time limits is also sent to the
server as a limit for the whole answer, and closing one of its streams leaves the response to the garbage collector.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo.core.json_values import Json, JsonObject, compact, parse
from octavo.core.protocol import GEMINI, Rules
from octavo.core.reply import Chunk, Request
from octavo.core.wire import write, write_tools
from octavo.core.wire.gemini_stream import SIGNATURE, GeminiStream
from octavo.core.wire.stream import object_at, objects_at
from octavo.errors import BadInput, BadReply, OctavoError
from octavo.providers.error_mapping import (
    MALFORMED,
    Fault,
    classify,
    counted,
    malformed,
    silent,
    unreachable,
    unreadable,
)
from octavo.providers.retry import RESPONSES, Begun, persist
from octavo.providers.sdk import demand, read_options
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, WaitLimits
from octavo.providers.streaming import new_call_id, plain, reply_of

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.types import Content, GenerateContentConfig, GenerateContentResponse

EXTRA = "google"
SDK = "google.genai"
ADDRESS = "https://generativelanguage.googleapis.com/"
VERSION = "v1beta"
"""The version of the interface whose count takes a whole request."""
APART = ("tools", "systemInstruction", "system_instruction")
"""Settings that are unions of many types, given as the type they are instead of being guessed from JSON."""
_STANDARD = str.maketrans("-_", "+/")
"""The library writes base64 in the alphabet for addresses; data URLs want the other one, and Gemini takes both."""


@dataclass(slots=True)
class GenerateContent:
    """The Gemini service."""

    client: Client = field(repr=False)
    http: httpx2.AsyncClient = field(repr=False)
    waits: WaitLimits = WaitLimits()
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    name: str = "google"
    rules: Rules = GEMINI
    models: str = ""
    """Where its models are, for what the library does not ask of them."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer a request; see `Provider`."""
        return persist(lambda begun: self._attempt(request, begun), self.waits)

    async def count_request(self, request: Request) -> int:
        """Count a request; see `Counting`. The library's own count takes neither a system prompt nor tools."""
        wired = write("gemini", request.messages)
        whole: JsonObject = {"model": f"models/{request.model}", "contents": [*wired.messages]}
        if wired.system is not None:
            whole["systemInstruction"] = wired.system
        if request.tools:
            whole["tools"] = [*write_tools("gemini", request.tools)]
        with self._mapped_errors():
            answer = await self.http.post(
                f"{self.models}/{request.model}:countTokens",
                headers=dict(self.headers),
                json={"generateContentRequest": whole},
            )
            if not answer.is_success:
                raise classify(self._refusal(answer))
            return counted(self.name, answer.json().get("totalTokens"))

    async def close(self) -> None:
        """Close the connections."""
        self.client.close()
        await self.http.aclose()

    async def _attempt(self, request: Request, begun: Begun) -> AsyncGenerator[Chunk, None]:
        answer = GeminiStream(request.model, new_call_id)
        contents, config = self.body(request)
        with self._mapped_errors():
            async with self._opened(request.model, contents, config) as stream:
                async for response in stream:
                    begun()
                    for delta in answer.take(_plain(response)):
                        if delta.text:
                            yield delta
            if answer.broken:
                raise BadReply(f"{self.name}: the model gave up: {answer.reason}", retryable=True)
            yield reply_of(answer, self.name)

    @asynccontextmanager
    async def _opened(
        self, model: str, contents: list[Content], config: GenerateContentConfig
    ) -> AsyncIterator[AsyncIterator[GenerateContentResponse]]:
        try:
            yield await self.client.aio.models.generate_content_stream(
                model=model, contents=[*contents], config=config
            )
        finally:
            for response in RESPONSES.get([]):
                await response.aclose()

    def body(self, request: Request) -> tuple[list[Content], GenerateContentConfig]:
        """Write a request in the library's types: the contents, and everything else."""
        types = demand(f"{SDK}.types", EXTRA)
        wired = write("gemini", request.messages)
        contents = [types.Content.model_validate_json(compact(content)) for content in wired.messages]
        options = read_options(request.options)
        ours: JsonObject = {
            "temperature": request.temperature,
            "maxOutputTokens": request.max_output,
            "automaticFunctionCalling": {"disable": True},
        }
        plain = {name: value for name, value in (ours | options).items() if name not in APART}
        config = self._config(plain)
        config.tools = _tools(options.get("tools") or [*write_tools("gemini", request.tools)])
        given = options.get("systemInstruction") or options.get("system_instruction")
        config.system_instruction = _instruction(given or wired.system)
        return contents, config

    def _config(self, values: JsonObject) -> GenerateContentConfig:
        types, pydantic = demand(f"{SDK}.types", EXTRA), demand("pydantic", EXTRA)
        try:
            config: GenerateContentConfig = types.GenerateContentConfig.model_validate_json(compact(values))
        except pydantic.ValidationError as error:
            wrong = ", ".join(".".join(map(str, flaw["loc"])) for flaw in error.errors())
            raise BadInput("options", f"not accepted by google-genai: {wrong}") from None
        return config

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        errors, httpx2 = demand(f"{SDK}.errors", EXTRA), demand("httpx2", EXTRA)
        pydantic = demand("pydantic", EXTRA)
        try:
            yield
        except OctavoError:
            raise
        except httpx2.TimeoutException as error:
            raise silent(self.name, error) from None
        except httpx2.RequestError as error:
            raise unreachable(self.name, error, self.secrets) from None
        except errors.APIError as error:
            raise classify(self._fault(error)) from None
        except (errors.UnknownApiResponseError, pydantic.ValidationError) as error:
            raise unreadable(self.name, str(error), self.secrets) from None
        except MALFORMED as error:
            raise malformed(self.name, error) from error

    def _refusal(self, answer: httpx2.Response) -> Fault:
        try:
            body: Json = parse(answer.text)
        except ValueError:
            body = answer.text
        return Fault(
            provider=self.name,
            status=answer.status_code,
            body=body,
            headers=answer.headers,
            secrets=self.secrets,
        )

    def _fault(self, error: APIError) -> Fault:
        return Fault(
            provider=self.name,
            status=error.code,
            body=error.details,
            headers=getattr(error.response, "headers", {}),
            secrets=self.secrets,
        )


def open_google(account: ProviderAccount, waits: WaitLimits) -> GenerateContent:
    """Open the service; its library makes no retries of its own unless told to."""
    genai = demand(SDK, EXTRA)
    from octavo.providers.client import Client, timeout

    async def limit(request: httpx2.Request) -> None:
        request.extensions["timeout"] = timeout(waits).as_dict()

    http = Client(waits, event_hooks={"request": [limit]})
    options: dict[str, Any] = {
        "httpx_async_client": http,
        "headers": dict(account.headers),
        "base_url": account.base_url or ADDRESS,
    }
    options |= {"api_version": account.api_version} if account.api_version else {}
    client = genai.Client(
        api_key=account.key.reveal() if account.key else None, vertexai=False, http_options=options
    )
    key = {"x-goog-api-key": account.key.reveal()} if account.key else {}
    address = (account.base_url or ADDRESS).rstrip("/")
    return GenerateContent(
        client=client,
        http=http,
        waits=waits,
        secrets=(account.key,) if account.key else (),
        models=f"{address}/{account.api_version or VERSION}/models",
        headers={**account.headers, **key},
    )


def _plain(response: GenerateContentResponse) -> JsonObject:
    """Give a response as it came over the wire, with base64 in the alphabet that data URLs want."""
    wire = plain(response)
    for candidate in objects_at(wire, "candidates"):
        for part in objects_at(object_at(candidate, "content"), "parts"):
            for holder, name in ((part, SIGNATURE), (object_at(part, "inlineData"), "data")):
                if isinstance(data := holder.get(name), str):
                    holder[name] = data.translate(_STANDARD)
    return wire


def _tools(tools: Json) -> Any:
    types = demand(f"{SDK}.types", EXTRA)
    if not isinstance(tools, list):
        raise BadInput("options.tools", f"expected a list, got {type(tools).__name__}")
    return [types.Tool.model_validate_json(compact(tool)) for tool in tools] or None


def _instruction(system: Json) -> Any:
    types = demand(f"{SDK}.types", EXTRA)
    match system:
        case None | str():
            return system
        case list():
            return types.Content.model_validate_json(compact({"parts": system}))
        case _:
            return types.Content.model_validate_json(compact(system))
