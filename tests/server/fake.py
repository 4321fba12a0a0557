"""A provider that owes nothing to Octavo: it speaks both interfaces and counts with another tokenizer.

A request larger than its window, or with torn tool calls, is refused in the provider's own words. What it was sent is
kept, byte for byte.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import warnings
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Json = dict[str, Any]


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        # It opens its tables in a way that Python has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # type: ignore[import-untyped]

        return bpe_openai.get_encoding("cl100k_base")


@cache
def tokens(text: str) -> int:
    return len(_encoding().encode(text))


def count(body: Json) -> int:
    """Count a request: four tokens a message, three for the answer to come, and every text in it."""
    total = 3
    system = body.get("system")
    if system:
        total += 4 + _count(system)
    for message in body["messages"]:
        total += 4 + _count(message.get("content"))
        total += sum(_count(call["function"]["arguments"]) + 8 for call in message.get("tool_calls") or [])
    return total + sum(tokens(json.dumps(tool)) for tool in body.get("tools") or [])


def _count(content: Any) -> int:
    if isinstance(content, str):
        return tokens(content)
    if isinstance(content, list):
        return sum(_count(part) for part in content)
    if isinstance(content, dict):
        return sum(_count(content[key]) for key in ("text", "content", "input") if key in content)
    return 0


@dataclass
class Reply:
    """What the provider answers."""

    text: str = ""
    calls: list[tuple[str, str, Json]] = field(default_factory=list)
    """Id, name and arguments of tool calls."""
    thinking: str = ""
    signature: str = "c2lnbmVk"


Say = Callable[[Json], Reply]


@dataclass
class Provider:
    """A fake provider; `app` is its application."""

    say: Say = lambda body: Reply(f"Answer to: {last_text(body)[:40]}")
    window: int = 8_192
    pause: float = 0.0
    """Seconds between two pieces of a stream."""
    counts: bool = True
    """Whether it has `count_tokens`."""
    factor: float = 1.0
    """How many times more tokens it counts than its tokenizer."""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    """What stood behind the question mark of the address."""
    names_window: bool = True
    """Whether an error says how large the window is."""
    refused: int = 0
    """Requests that were too large."""
    torn: list[str] = field(default_factory=list)
    """What was wrong with requests that were no conversation."""
    fail: list[tuple[int, Json]] = field(default_factory=list)
    """Errors to be answered next."""
    hung_up: int = 0
    """Streams that a client left."""

    @property
    def last(self) -> Json:
        body: Json = json.loads(self.bodies[-1])
        return body

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/messages", self.messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self.count_tokens, methods=["POST"]),
            ]
        )

    def _id(self, kind: str) -> str:
        """The id of the newest answer: clients take answers with one id for parts of one answer."""
        return f"{kind}_{hashlib.sha256(self.bodies[-1]).hexdigest()[:16]}"

    async def _note(self, request: Request) -> tuple[Json, Response | None]:
        self.bodies.append(await request.body())
        self.headers.append(dict(request.headers))
        self.queries.append(request.url.query)
        body: Json = json.loads(self.bodies[-1])
        if self.fail:
            status, error = self.fail.pop(0)
            return body, JSONResponse(error, status, {"retry-after": "7", "x-request-id": "req_fake"})
        return body, None

    async def chat(self, request: Request) -> Response:
        body, failed = await self._note(request)
        if failed is not None:
            return failed
        if wrong := torn_openai(body["messages"]):
            self.torn.append(wrong)
            return JSONResponse({"error": {"message": wrong, "type": "invalid_request_error"}}, 400)
        size = int(count(body) * self.factor)
        reserve = body.get("max_completion_tokens") or body.get("max_tokens") or 0
        if size + reserve > self.window:
            self.refused += 1
            message = (
                f"This model's maximum context length is {self.window} tokens. However, your messages resulted in "
                f"{size} tokens. Please reduce the length of the messages."
                if self.names_window
                else "Please reduce the length of the messages."
            )
            error = {
                "message": message,
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
            return JSONResponse({"error": error}, 400)
        reply = self.say(body)
        usage = {
            "prompt_tokens": size,
            "completion_tokens": tokens(reply.text),
            "total_tokens": size + tokens(reply.text),
        }
        if body.get("stream"):
            wants = bool((body.get("stream_options") or {}).get("include_usage"))
            return StreamingResponse(
                self._chat_stream(body, reply, usage if wants else None), media_type="text/event-stream"
            )
        message_: Json = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.calls:
            message_["tool_calls"] = _calls(reply)
        choices = [
            {
                "index": index,
                "message": {**message_, "content": f"{reply.text} ({index})"} if index else message_,
                "finish_reason": "tool_calls" if reply.calls else "stop",
                "logprobs": None,
            }
            for index in range(body.get("n") or 1)
        ]
        whole = {
            "id": self._id("chatcmpl"),
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": choices,
            "usage": usage,
        }
        return JSONResponse(whole, headers={"x-request-id": "req_fake", "openai-version": "2020-10-01"})

    async def _chat_stream(self, body: Json, reply: Reply, usage: Json | None) -> AsyncIterator[bytes]:
        id_ = self._id("chatcmpl")

        def chunk(delta: Json, finish: str | None = None) -> bytes:
            said = {
                "id": id_,
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
            return _data(said)

        try:
            yield chunk({"role": "assistant", "content": ""})
            for piece in _pieces(reply.text):
                yield chunk({"content": piece})
                await asyncio.sleep(self.pause)
            for i, (id, name, arguments) in enumerate(reply.calls):
                opened = {
                    "index": i,
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                }
                yield chunk({"tool_calls": [opened]})
                for piece in _pieces(json.dumps(arguments)):
                    yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
            yield chunk({}, "tool_calls" if reply.calls else "stop")
            if usage is not None:
                yield _data(
                    {
                        "id": "x",
                        "object": "chat.completion.chunk",
                        "created": 1,
                        "model": body["model"],
                        "choices": [],
                        "usage": usage,
                    }
                )
            yield b"data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.hung_up += 1
            raise

    async def messages(self, request: Request) -> Response:
        body, failed = await self._note(request)
        if failed is not None:
            return failed
        if wrong := torn_anthropic(body):
            self.torn.append(wrong)
            error = {"type": "invalid_request_error", "message": wrong}
            return JSONResponse({"type": "error", "error": error}, 400)
        size = int(count(body) * self.factor)
        if size > self.window:
            self.refused += 1
            said = f"prompt is too long: {size} tokens > {self.window} maximum"
            return JSONResponse(
                {"type": "error", "error": {"type": "invalid_request_error", "message": said}}, 400
            )
        reply = self.say(body)
        blocks = _blocks(reply)
        message = {
            "id": self._id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": blocks,
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": size, "output_tokens": tokens(reply.text)},
        }
        if not body.get("stream"):
            return JSONResponse(message, headers={"request-id": "req_fake"})
        return StreamingResponse(self._message_stream(message, blocks), media_type="text/event-stream")

    async def _message_stream(self, message: Json, blocks: list[Json]) -> AsyncIterator[bytes]:
        yield _named({"type": "message_start", "message": {**message, "content": [], "stop_reason": None}})
        yield _named({"type": "ping"})
        for index, block in enumerate(blocks):
            empty: dict[str, Json] = {
                "text": {"text": ""},
                "thinking": {"thinking": "", "signature": ""},
                "tool_use": {"input": {}},
            }
            start = {**block, **empty[block["type"]]}
            yield _named({"type": "content_block_start", "index": index, "content_block": start})
            for delta in _deltas(block):
                yield _named({"type": "content_block_delta", "index": index, "delta": delta})
                await asyncio.sleep(self.pause)
            yield _named({"type": "content_block_stop", "index": index})
        stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        usage = {"output_tokens": message["usage"]["output_tokens"]}
        yield _named({"type": "message_delta", "delta": stop, "usage": usage})
        yield _named({"type": "message_stop"})

    async def count_tokens(self, request: Request) -> Response:
        if not self.counts:
            return JSONResponse({"type": "error", "error": {"type": "not_found_error", "message": "no"}}, 404)
        body, failed = await self._note(request)
        return failed or JSONResponse({"input_tokens": count(body)})


def torn_openai(messages: list[Json]) -> str:
    """Say what OpenAI would refuse: every call is answered by the messages right behind it, and nothing else is."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"messages[{index}]: a result without its call"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"messages[{index}]: these calls have no result: {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls") or []]
    return f"these calls have no result: {waiting}" if waiting else ""


CACHE_MARKERS = 4


def torn_anthropic(body: Json) -> str:
    """Say what Anthropic would refuse: a first word that is not the user's, torn calls, too many cache markers."""
    messages = body["messages"]
    if messages[0]["role"] != "user":
        return "messages[0]: the first message is the user's"
    called: set[str] = set()
    for index, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if results != called:
            return f"messages[{index}]: calls {called} were answered by {results}"
        called = {block["id"] for block in blocks if block["type"] == "tool_use"}
    if called:
        return f"these calls have no result: {called}"
    if json.dumps(body).count('"cache_control"') > CACHE_MARKERS:
        return "too many cache markers"
    return ""


def last_text(body: Json) -> str:
    """The words of the last message of a request."""
    content = body["messages"][-1].get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or part.get("content") or "") for part in content)


def _calls(reply: Reply) -> list[Json]:
    return [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in reply.calls
    ]


def _blocks(reply: Reply) -> list[Json]:
    blocks: list[Json] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": reply.signature})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    blocks += [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in reply.calls]
    return blocks


def _deltas(block: Json) -> list[Json]:
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            thought = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            return [*thought, {"type": "signature_delta", "signature": block["signature"]}]
        case _:
            text = json.dumps(block["input"])
            return [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)]


def _pieces(text: str) -> list[str]:
    return [text[i : i + 12] for i in range(0, len(text), 12)]


def _data(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _named(value: Json) -> bytes:
    return f"event: {value['type']}\n".encode() + _data(value)
