"""A provider of Responses that owes nothing to Octavo, and refuses what OpenAI refuses.

It keeps its answers under their ids. Every request is checked as a whole, the past that it names included: calls and
outputs pair, a thought is followed by what it led to, an item that keeps its id has its thought before it, a thought
comes back byte for byte, and the window holds everything and the reserve for the answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.server.fake import tokens

Json = dict[str, Any]
OUTPUTS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "shell_call_output": "shell_call",
}
CONTENT = {
    "assistant": {"output_text", "refusal"},
    "user": {"input_text", "input_image", "input_file"},
    "system": {"input_text"},
    "developer": {"input_text"},
}
THOUGHT_TOKENS = 60
"""Tokens of a thought of the current turn; earlier ones are not shown to the model."""


@dataclass
class Output:
    """What the provider answers."""

    text: str = ""
    call: tuple[str, str] | None = None
    """Name and arguments of a function call."""
    custom: tuple[str, str] | None = None
    thinks: bool = True
    items: list[Json] = field(default_factory=list)
    """Items that come first, as they are."""


Say = Callable[[list[Json]], Output]


class Refused(Exception):
    def __init__(self, message: str, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.body = {
            "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        }
        self.status = status


def is_message(item: Json) -> bool:
    return item.get("type") in (None, "message")


def last_user(items: list[Json]) -> int:
    return max((i for i, item in enumerate(items) if item.get("role") == "user"), default=0)


def text_of(item: Json) -> str:
    content = item.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def echo(items: list[Json]) -> Output:
    return Output(f"Answer to: {text_of(items[last_user(items)])[:40]}")


@dataclass
class StrictResponses:
    """The provider; `app` is its application."""

    say: Say = echo
    strict: bool = True
    """False for a provider that takes anything."""
    window: int = 4_096
    counts: bool = True
    pause: float = 0.0
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    """What was wrong with requests, except that they were too long."""
    refused: int = 0
    """Requests that were too large."""
    sizes: list[int] = field(default_factory=list)
    chains: dict[str, list[Json]] = field(default_factory=dict)
    """Everything up to the end of an answer, by the answer's id."""
    responses: dict[str, Json] = field(default_factory=dict)
    thoughts: dict[str, Json] = field(default_factory=dict)
    needs: dict[str, str] = field(default_factory=dict)
    """The thought that has to stand before an item, by the item's id."""
    numbers: Any = field(default_factory=lambda: count(1))
    hung_up: int = 0
    chained: int = 0
    """Requests that named an answer before."""
    cut: int | None = None
    """After how many events a stream breaks off."""

    @property
    def last(self) -> Json:
        body: Json = json.loads(self.bodies[-1])
        return body

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/responses", self.create, methods=["POST"]),
                Route("/v1/responses/input_tokens", self.count_tokens, methods=["POST"]),
                Route("/v1/responses/compact", self.compact, methods=["POST"]),
                Route("/v1/responses/{id}", self.one, methods=["GET", "DELETE"]),
                Route("/v1/responses/{id}/{what}", self.part, methods=["GET", "POST"]),
            ]
        )

    async def _read(self, request: Request) -> Json:
        self.bodies.append(await request.body())
        self.paths.append(request.url.path)
        body: Json = json.loads(self.bodies[-1])
        return body

    def whole(self, body: Json) -> list[Json]:
        """Everything that the model would see."""
        items = body.get("input") or []
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        items = [self._referred(item) if item.get("type") == "item_reference" else item for item in items]
        previous = body.get("previous_response_id")
        if previous is None:
            return items
        self.chained += 1
        if previous not in self.chains:
            raise Refused(f"Previous response with id '{previous}' not found.", "previous_response_not_found")
        return [*self.chains[previous], *items]

    def _referred(self, reference: Json) -> Json:
        kept: Iterator[Json] = (item for response in self.responses.values() for item in response["output"])
        for item in kept:
            if item["id"] == reference["id"]:
                return item
        raise Refused(f"Item with id '{reference['id']}' not found.", status=404)

    def check(self, items: list[Json]) -> None:
        """Refuse what OpenAI refuses. A field without a value, as Codex sends them, is one that is not there."""
        items = [{name: value for name, value in item.items() if value is not None} for item in items]
        if not items:
            raise Refused("Missing required parameter: 'input'.")
        for at, item in enumerate(items):
            following = items[at + 1] if at + 1 < len(items) else {}
            if is_message(item):
                self._check_message(item, at)
            if item.get("type") == "reasoning":
                self._check_thought(item, following)
            need = self.needs.get(item.get("id") or "")
            if need is not None and (not at or items[at - 1].get("id") != need):
                raise Refused(
                    f"Item '{item['id']}' was provided without its required 'reasoning' item: '{need}'."
                )
        self._check_pairs(items)

    def _check_thought(self, item: Json, following: Json) -> None:
        theirs = following.get("role", "assistant") != "assistant" or following.get("type") in OUTPUTS
        if not following or theirs:
            raise Refused(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
            )
        if item != self.thoughts.get(item.get("id", "")):
            raise Refused(f"The encrypted content of item {item.get('id')} could not be verified.")

    def _check_pairs(self, items: list[Json]) -> None:
        waiting: dict[str, str] = {}
        for item in items:
            kind = item.get("type") or "message"
            if kind in OUTPUTS.values():
                waiting[item["call_id"]] = kind
            if kind in OUTPUTS and waiting.pop(item["call_id"], None) != OUTPUTS[kind]:
                raise Refused(f"No tool call found for {kind} with call_id {item['call_id']}.")
            if waiting and item.get("role") == "user":
                break
        if waiting:
            raise Refused(f"No tool output found for function call {next(iter(waiting))}.")

    def _check_message(self, item: Json, at: int) -> None:
        if item.get("role") not in CONTENT:
            raise Refused(f"Invalid value: {item.get('role')!r} (input[{at}].role)")
        if isinstance(item["content"], str):
            return
        for part in item["content"]:
            if part["type"] not in CONTENT[item["role"]]:
                raise Refused(f"Invalid value: '{part['type']}' for a message of role {item['role']}")

    def size(self, body: Json, items: list[Json]) -> int:
        total = 3 + tokens(body.get("instructions") or "")
        turn = last_user(items)
        for i, item in enumerate(items):
            if item.get("type") == "reasoning":
                total += THOUGHT_TOKENS if i > turn else 0
                continue
            said = [text_of(item), item.get("arguments"), item.get("input"), item.get("name")]
            output = item.get("output")
            if isinstance(output, list):
                output = " ".join(part.get("text", part.get("stdout", "")) for part in output)
            total += 4 + sum(tokens(text) for text in (*said, output) if text)
        return total + sum(tokens(json.dumps(tool)) for tool in body.get("tools") or [])

    async def create(self, request: Request) -> Response:
        body = await self._read(request)
        if not self.strict:
            return JSONResponse(self._answer({"model": body["model"]}, [], 1))
        try:
            items = self.whole(body)
            self.check(items)
        except Refused as error:
            self.torn.append(str(error))
            return JSONResponse(error.body, error.status)
        size = self.size(body, items)
        if size + (body.get("max_output_tokens") or 0) > self.window:
            self.refused += 1
            said = (
                f"Your input exceeds the context window of this model. This model's maximum context length is "
                f"{self.window} tokens. However, your messages resulted in {size} tokens."
            )
            return JSONResponse(Refused(said, "context_length_exceeded").body, 400)
        self.sizes.append(size)
        response = self._answer(body, items, size)
        if not body.get("stream"):
            return JSONResponse(response, headers={"x-request-id": "req_fake"})
        return StreamingResponse(self._stream(response), media_type="text/event-stream")

    def _answer(self, body: Json, items: list[Json], size: int) -> Json:
        said, n = self.say(items), next(self.numbers)
        output: list[Json] = [*said.items]
        if said.text:
            part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
            output.append(
                {
                    "id": f"msg_{n}",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            )
        for i, call in enumerate((said.call, said.custom)):
            if call:
                named = {"name": call[0], ("arguments" if i == 0 else "input"): call[1]}
                kind = ("function_call", "custom_tool_call")[i]
                output.append(
                    {"id": f"fc_{n}", "type": kind, "call_id": f"call_{n}", **named, "status": "completed"}
                )
        if said.thinks:
            secret = hashlib.sha512(str(n).encode()).hexdigest() * 3
            thought: Json = {"id": f"rs_{n}", "type": "reasoning", "summary": []}
            if "reasoning.encrypted_content" in (body.get("include") or []):
                thought["encrypted_content"] = f"gAAAA{secret}"
            self.thoughts[thought["id"]] = thought
            self.needs[output[len(said.items)]["id"]] = thought["id"]
            output.insert(len(said.items), thought)
        answered = tokens(said.text)
        response = {
            "id": f"resp_{n:05d}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "usage": {
                "input_tokens": size,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": answered,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": size + answered,
            },
        }
        if body.get("store", True):
            self.chains[response["id"]] = [*items, *output]
            self.responses[response["id"]] = response
        return response

    async def _stream(self, response: Json) -> AsyncIterator[bytes]:
        numbers, empty = count(), {**response, "status": "in_progress", "output": [], "usage": None}

        def event(kind: str, **fields: Any) -> bytes:
            data = {"type": kind, "sequence_number": next(numbers), **fields}
            return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()

        sent = 0
        try:
            for piece in self._events(event, response, empty):
                if self.cut is not None and sent >= self.cut:
                    raise ConnectionError("cut off")
                sent += 1
                # In pieces that end anywhere.
                middle = len(piece) // 2
                yield piece[:middle]
                await asyncio.sleep(self.pause)
                yield piece[middle:]
        except (asyncio.CancelledError, GeneratorExit):
            self.hung_up += 1
            raise

    def _events(self, event: Callable[..., bytes], response: Json, empty: Json) -> Any:
        yield event("response.created", response=empty)
        yield event("response.in_progress", response=empty)
        for place, item in enumerate(response["output"]):
            begun = {**item, "status": "in_progress"} | ({"content": []} if item["type"] == "message" else {})
            yield event("response.output_item.added", output_index=place, item=begun)
            if item["type"] == "message":
                where = {"item_id": item["id"], "output_index": place, "content_index": 0}
                text = item["content"][0]["text"]
                yield event("response.content_part.added", **where, part={**item["content"][0], "text": ""})
                for i in range(0, len(text), 12):
                    yield event("response.output_text.delta", **where, delta=text[i : i + 12], logprobs=[])
                yield event("response.output_text.done", **where, text=text, logprobs=[])
                yield event("response.content_part.done", **where, part=item["content"][0])
            if item["type"] == "function_call":
                where = {"item_id": item["id"], "output_index": place}
                yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
                yield event(
                    "response.function_call_arguments.done",
                    **where,
                    name=item["name"],
                    arguments=item["arguments"],
                )
            yield event("response.output_item.done", output_index=place, item=item)
        yield event("response.completed", response=response)

    async def count_tokens(self, request: Request) -> Response:
        body = await self._read(request)
        if not self.counts or not self.strict:
            return JSONResponse({"error": {"message": "no such route"}}, 404)
        size = self.size(body, self.whole(body))
        return JSONResponse({"object": "response.input_tokens", "input_tokens": size})

    async def compact(self, request: Request) -> Response:
        body = await self._read(request)
        users = [item for item in self.whole(body) if item.get("role") == "user"]
        item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAcompaction"}
        return JSONResponse(
            {
                "id": "resp_c",
                "object": "response.compaction",
                "created_at": 1,
                "output": [*users, item],
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
            }
        )

    async def one(self, request: Request) -> Response:
        self.paths.append(f"{request.method} {request.url.path}")
        id = request.path_params["id"]
        if id not in self.responses:
            return JSONResponse(Refused(f"Response with id '{id}' not found.").body, 404)
        if request.method == "DELETE":
            del self.responses[id], self.chains[id]
            return JSONResponse({"id": id, "object": "response", "deleted": True})
        return JSONResponse(self.responses[id])

    async def part(self, request: Request) -> Response:
        self.paths.append(f"{request.method} {request.url.path}?{request.url.query}")
        id, what = request.path_params["id"], request.path_params["what"]
        if id not in self.responses or what not in ("input_items", "cancel"):
            return JSONResponse(Refused(f"Response with id '{id}' not found.").body, 404)
        if what == "cancel":
            return JSONResponse({**self.responses[id], "status": "cancelled"})
        return JSONResponse(
            {"object": "list", "data": [], "has_more": False, "first_id": None, "last_id": None}
        )
