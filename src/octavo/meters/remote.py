"""Providers' own counters, asked over the network: exact, slow, and never on the path of a turn.

They are asked once in the background for a new combination of system prompt and tools, so that the calibration knows
its constant before the first bill, or when a person wants to know. The official SDKs do the talking; each is imported
when it is first needed, and if it is missing the error names the extra to install.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from octavo.core.budget import ModelCard
from octavo.core.fields import Json, JsonObject, parse
from octavo.core.messages import Attachment, Image, Message, Part, Text, ToolCall, ToolResult
from octavo.core.tools import Tool
from octavo.core.wire import write, write_tools
from octavo.core.wire.media import is_link, main_type, read_data, words_for
from octavo.errors import BadReply, ProviderError, ProviderTimeout, RateLimited, UsageError
from octavo.meters.calibration import Calibration
from octavo.meters.meter import Meter

if TYPE_CHECKING:
    from octavo.core.context import Context

Counter: TypeAlias = "Callable[[Context], Awaitable[int]]"

TIMEOUT = 20.0
"""Seconds to wait: a count that takes longer is not worth waiting for."""
TOO_MANY = 429
SERVER_ERRORS = 500


def openai_counter(
    model: str, *, api_key: str | None = None, base_url: str | None = None, client: Any = None
) -> Counter:
    """Count with OpenAI's `responses/input_tokens`, tools and pictures included."""
    sdk = _sdk("openai", "openai")
    client = client or sdk.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=TIMEOUT, max_retries=1)

    async def count(context: Context) -> int:
        items: Any = list(_items(context.messages))
        tools: Any = [_function(tool) for tool in context.tools if tool.schema]
        try:
            answer = await client.responses.input_tokens.count(
                model=model, input=items, tools=tools or sdk.omit
            )
        except sdk.OpenAIError as problem:
            raise _classified("OpenAI", problem, sdk) from problem
        return _whole(answer.input_tokens, "OpenAI")

    return count


def anthropic_counter(
    model: str, *, api_key: str | None = None, base_url: str | None = None, client: Any = None
) -> Counter:
    """Count with Anthropic's `messages/count_tokens`, tools and pictures included."""
    sdk = _sdk("anthropic", "anthropic")
    client = client or sdk.AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=TIMEOUT, max_retries=1)

    async def count(context: Context) -> int:
        wired = write("anthropic", context.messages)
        more: dict[str, Any] = {}
        if wired.system is not None:
            more["system"] = wired.system
        if context.tools:
            more["tools"] = write_tools("anthropic", context.tools)
        try:
            answer = await client.messages.count_tokens(model=model, messages=wired.messages, **more)
        except sdk.AnthropicError as problem:
            raise _classified("Anthropic", problem, sdk) from problem
        return _whole(answer.input_tokens, "Anthropic")

    return count


def google_counter(
    meter: Meter, *, api_key: str | None = None, base_url: str | None = None, client: Any = None
) -> Counter:
    """Count with Google's `countTokens`.

    The developer API takes neither a system instruction nor tools there: the instruction is counted as a content
    of its own, which costs the same, and tools are counted locally.
    """
    sdk = _sdk("google.genai", "google")
    errors = import_module("google.genai.errors")
    if client is None:
        options = {"timeout": int(TIMEOUT * 1_000)} | ({"base_url": base_url} if base_url else {})
        client = sdk.Client(api_key=api_key, http_options=options)

    async def count(context: Context) -> int:
        wired = write("gemini", context.messages)
        contents = [*_instruction(wired.system), *wired.messages]
        try:
            answer = await client.aio.models.count_tokens(model=meter.card.name, contents=contents)
        except errors.APIError as problem:
            raise _by_status("Google", problem, getattr(problem, "code", None)) from problem
        return _whole(answer.total_tokens, "Google") + meter.count_tools(context.tools)

    return count


def remote_counter(card: ModelCard, *, api_key: str | None = None, base_url: str | None = None) -> Counter:
    """Give the counter of a model's provider; raise `UsageError` if it offers none."""
    match card.provider:
        case "openai":
            return openai_counter(card.name, api_key=api_key, base_url=base_url)
        case "anthropic":
            return anthropic_counter(card.name, api_key=api_key, base_url=base_url)
        case "google":
            return google_counter(Meter(card), api_key=api_key, base_url=base_url)
    raise UsageError(
        f"{card.provider or 'the provider of ' + card.name} offers no way to count tokens; "
        "count locally and let its bills calibrate the count"
    )


async def calibrate(meter: Meter, context: Context, counter: Counter) -> Calibration:
    """Ask the provider's counter about a context, unless what it would teach is known already."""
    if meter.knows(context):
        return meter.calibration
    return meter.learn(context, await counter(context))


def _sdk(module: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as problem:
        raise UsageError(
            f"counting with {extra} needs its package: pip install 'octavo[{extra}]' ({problem})"
        ) from problem


def _whole(value: object, who: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadReply(f"{who} answered {value!r} where a number of tokens was expected")
    return value


def _classified(who: str, problem: Exception, sdk: ModuleType) -> ProviderError:
    if isinstance(problem, sdk.APITimeoutError):
        return ProviderTimeout(f"{who} did not count within {TIMEOUT:.0f} seconds")
    if isinstance(problem, sdk.APIConnectionError):
        return ProviderError(f"{who} cannot be reached: {problem}", retryable=True)
    return _by_status(who, problem, getattr(problem, "status_code", None))


def _by_status(who: str, problem: Exception, status: int | None) -> ProviderError:
    message = f"{who} did not count: {problem}"
    if status == TOO_MANY:
        return RateLimited(message)
    return ProviderError(message, status=status, retryable=status is not None and status >= SERVER_ERRORS)


def _instruction(system: Json) -> Iterator[JsonObject]:
    if isinstance(system, dict):
        yield {"role": "user", **{key: value for key, value in system.items() if key != "role"}}
    elif isinstance(system, str):
        yield {"role": "user", "parts": [{"text": system}]}


def _function(tool: Tool) -> JsonObject:
    schema = parse(tool.schema)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
        "strict": False,
    }


def _items(messages: tuple[Message, ...]) -> Iterator[JsonObject]:
    """Write messages as input items of OpenAI's responses: calls and results are items of their own."""
    for message in messages:
        said: list[Json] = []
        apart: list[JsonObject] = []
        for part in message.parts:
            match part:
                case ToolCall():
                    call = {"call_id": part.id, "name": part.name, "arguments": part.input}
                    apart.append({"type": "function_call", **call})
                case ToolResult():
                    output = "\n".join(_words(piece) for piece in part.content)
                    apart.append({"type": "function_call_output", "call_id": part.call_id, "output": output})
                case Text() | Image() | Attachment():
                    said.append(_content(part, message.role))
        if said:
            role = "user" if message.role == "tool" else message.role
            yield {"type": "message", "role": role, "content": said}
        yield from apart


def _content(part: Text | Image | Attachment, role: str) -> JsonObject:
    if role == "assistant":
        return {"type": "output_text", "text": _words(part)}
    match part:
        case Image(source=source) if is_link(source) or read_data(source):
            return {"type": "input_image", "image_url": source, "detail": "auto"}
        case Attachment(source=source) if main_type(part.media_type) == "application/pdf" and read_data(
            source
        ):
            return {"type": "input_file", "filename": part.name or "file.pdf", "file_data": source}
        case _:
            return {"type": "input_text", "text": _words(part)}


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image() | Attachment():
            return words_for(part)
        case _:
            return ""
