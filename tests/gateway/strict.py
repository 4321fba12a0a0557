"""A provider as strict as the real ones: it checks what they check, and answers with header names in title case.

What it adds to the fake provider: no content is empty, calls are well formed and their ids are unique, results stand
first in their message, parts are of the kinds that a role may have, the room reserved for the answer counts, and a
thinking block is bound to everything before it, as newer Claude models bind theirs. Two messages of one role in a row
are no mistake: both providers take them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.server.fake import Json, Provider, count

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CHAT_PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
"""The kinds of parts that each role may have in Chat Completions."""
BINDING_BETA = "thinking-binding-controls-2026-08-01"


@dataclass
class StrictProvider(Provider):
    """A fake provider that refuses what the real ones refuse."""

    counts_reserve: bool = True
    """Whether the room for the answer counts against the window."""
    binds: bool = True
    """Whether thinking is bound; older services do not know the switch for it."""
    wrong: list[str] = field(default_factory=list)
    """Every refusal that is not about size."""
    dropped: int = 0
    """Thinking blocks that were left out because they were bound to something else."""
    markers: list[int] = field(default_factory=list)
    """Cache markers of each request."""

    @property
    def strict_app(self) -> ASGIApp:
        return TitleCase(self.app)

    async def messages(self, request: Request) -> Response:
        body: Json = json.loads(await request.body())
        self.markers.append(json.dumps(body).count('"cache_control"'))
        if wrong := wrong_with_anthropic(body, self.window if self.counts_reserve else 0):
            self.wrong.append(wrong)
            return _refused(wrong)
        if not self.binds and "block_binding" in (body.get("thinking") or {}):
            self.wrong.append("block_binding")
            return _refused("thinking.block_binding: Extra inputs are not permitted")
        bound = [] if not self.binds else [index for index, ok in enumerate(_bindings(body)) if not ok]
        if bound:
            thinking = body.get("thinking") or {}
            chosen = (thinking.get("block_binding") or {}).get("prefix_mismatch_behavior")
            if chosen != "drop_block" or BINDING_BETA not in request.headers.get("anthropic-beta", ""):
                said = "Invalid signature in thinking block. The block is bound to a different conversation"
                self.wrong.append(said)
                return _refused(f"messages.{bound[0]}.content.0: {said}")
            self.dropped += len(bound)
        before, say = dict(body), self.say

        def signed(asked: Json) -> Any:
            reply = say(asked)
            reply.signature = sign(before)
            return reply

        self.say = signed
        try:
            return await super().messages(request)
        finally:
            self.say = say

    async def chat(self, request: Request) -> Response:
        body: Json = json.loads(await request.body())
        if wrong := wrong_with_openai(body):
            self.wrong.append(wrong)
            return JSONResponse({"error": {"message": wrong, "type": "invalid_request_error"}}, 400)
        return await super().chat(request)


def _refused(message: str) -> JSONResponse:
    return JSONResponse(
        {"type": "error", "error": {"type": "invalid_request_error", "message": message}}, 400
    )


class TitleCase:
    """Writes the names of headers as `Content-Type`, the way many servers do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def titled(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name.title(), value) for name, value in message["headers"]]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, titled)


def wrong_with_anthropic(body: Json, window: int) -> str:
    """Say what Anthropic would refuse besides torn calls; `window` counts the room for the answer, 0: it does not."""
    if wrong := _wrong_with_messages(body):
        return wrong
    markers = json.dumps(body).count('"cache_control"')
    if markers > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {markers}."
    if window and count(body) + body["max_tokens"] > window:
        return f"input length and `max_tokens` exceed context limit: {count(body)} + {body['max_tokens']} > {window}"
    if thinks(body) and (loop := _open_step(body["messages"])) and loop[0]["type"] == "tool_use":
        return "Expected `thinking` before `tool_use` in the last assistant message"
    return ""


def _wrong_with_messages(body: Json) -> str:
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    for index, message in enumerate(body["messages"]):
        if message["role"] not in ("user", "assistant"):
            return f'messages.{index}: Unexpected role "{message["role"]}"'
        blocks = _blocks(message["content"])
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return f"messages.{index}: text content blocks must be non-empty"
        results = [block["type"] == "tool_result" for block in blocks]
        if results != sorted(results, reverse=True):
            return f"messages.{index}: tool_result blocks must come first"
    called = [b["id"] for m in body["messages"] for b in _blocks(m["content"]) if b["type"] == "tool_use"]
    if len(called) > len({*called}):
        return "messages: `tool_use` ids must be unique"
    last = body["messages"][-1]
    if last["role"] == "assistant" and _blocks(last["content"])[-1].get("text", "").endswith((" ", "\n")):
        return "messages: final assistant content cannot end with trailing whitespace"
    return ""


def thinks(body: Json) -> bool:
    return (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def _open_step(messages: list[Json]) -> list[Json]:
    """The blocks of the assistant's newest step, if its calls have just been answered."""
    if len(messages) < 2 or not any(b["type"] == "tool_result" for b in _blocks(messages[-1]["content"])):
        return []
    return _blocks(messages[-2]["content"])


def wrong_with_openai(body: Json) -> str:
    """Say what OpenAI would refuse besides torn calls and what is too long."""
    for index, message in enumerate(body["messages"]):
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls")
        if role not in CHAT_PARTS:
            return f"Invalid value: '{role}' (messages[{index}].role)"
        if not content and not (role == "assistant" and calls):
            return f"messages[{index}]: content must not be empty"
        parts = {part["type"] for part in content} if isinstance(content, list) else set()
        if parts - CHAT_PARTS[role]:
            return f"Invalid value: {sorted(parts - CHAT_PARTS[role])} (messages[{index}].content)"
        if calls is not None and (wrong := _wrong_with_calls(calls)):
            return f"messages[{index}].tool_calls: {wrong}"
    return ""


def _wrong_with_calls(calls: list[Json]) -> str:
    if not calls:
        return "[] is too short"
    if len({call["id"] for call in calls}) < len(calls):
        return "duplicate ids"
    for call in calls:
        if not TOOL_NAME.fullmatch(call["function"]["name"]):
            return f"{call['function']['name']!r} does not match the pattern of names"
        if not isinstance(call["function"]["arguments"], str):
            return "arguments: expected a string"
    return ""


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _plain(block: Json) -> Json:
    """A block as far as it is part of what thinking is bound to: cache markers are not."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def sign(body: Json) -> str:
    """Sign the beginning of a conversation: system, tools, and all messages without their thinking."""
    said = [
        [m["role"], [_plain(b) for b in _blocks(m["content"]) if b["type"] != "thinking"]]
        for m in body["messages"]
    ]
    system = [_plain(block) for block in _blocks(body.get("system") or "")]
    tools = [_plain(tool) for tool in body.get("tools") or []]
    return hashlib.sha256(json.dumps([system, tools, said], sort_keys=True).encode()).hexdigest()


def _bindings(body: Json) -> list[bool]:
    """Tell of each thinking block whether it is bound to what stands before it; after a wrong one, all are wrong."""
    found: list[bool] = []
    for index, message in enumerate(body["messages"]):
        for block in _blocks(message["content"]):
            if block["type"] == "thinking":
                right = block["signature"] == sign({**body, "messages": body["messages"][:index]})
                found.append(right and all(found))
    return found
