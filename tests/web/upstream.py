"""A provider on this machine that answers what a test tells it to, and holds an answer back until it may go on.

It speaks OpenAI's streaming interface, runs in a thread, and is released by the test, never by a clock.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from octavo.core.title import ASKED
from tests.server.fake import count, last_text, tokens

Json = dict[str, Any]
HOLD = "<hold>"
"""In an answer: nothing more until `release`."""
LOOK_SECONDS = 0.02
"""How often a held answer looks whether it may go on."""
PIECE = 24
"""Characters of a piece of a stream."""


@dataclass
class Upstream:
    """The provider; `say` makes an answer of a request's body."""

    say: Callable[[Json], str] = lambda body: _echo(body)
    url: str = ""
    fail: list[tuple[int, Json]] = field(default_factory=list)
    """Errors to be answered next: status and body."""
    headers: dict[str, str] = field(default_factory=dict)
    """What errors have besides."""
    bodies: list[Json] = field(default_factory=list)
    """What it was asked, but for titles."""
    title: str = ""
    """What it answers when it is asked for a title; nothing, usually: the first words stay."""
    asked_for_titles: int = 0
    finish: str = "stop"
    """Why answers end."""
    _gate: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let all held answers go on."""
        self._gate.set()

    async def _released(self) -> None:
        # The test runs in another thread: its event cannot be awaited, and a thread waiting for it could not end.
        while not self._gate.is_set():  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)

    def reset(self) -> None:
        """Forget what the last test told."""
        self.release()
        self._gate = threading.Event()
        self.say, self.fail, self.bodies, self.finish = _echo, [], [], "stop"
        self.title, self.asked_for_titles, self.headers = "", 0, {}

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self._chat, methods=["POST"])])

    async def _chat(self, request: Request) -> Response:
        body: Json = json.loads(await request.body())
        if last_text(body).endswith(ASKED):
            self.asked_for_titles += 1
            text = self.title
        else:
            self.bodies.append(body)
            if self.fail:
                status, error = self.fail.pop(0)
                return JSONResponse(error, status, self.headers)
            text = self.say(body)
        usage = {"prompt_tokens": count(body), "completion_tokens": tokens(text.replace(HOLD, ""))}
        usage["total_tokens"] = sum(usage.values())
        if body.get("stream"):
            return StreamingResponse(self._stream(body, text, usage), media_type="text/event-stream")
        message = {"role": "assistant", "content": text.replace(HOLD, "")}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse(_named(body, "chat.completion", choices=[choice], usage=usage))

    async def _stream(self, body: Json, text: str, usage: Json) -> AsyncIterator[bytes]:
        def chunk(delta: Json, finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return _data(_named(body, "chat.completion.chunk", choices=[choice]))

        yield chunk({"role": "assistant", "content": ""})
        for index, part in enumerate(text.split(HOLD)):
            if index:
                await self._released()
            for at in range(0, len(part), PIECE):
                yield chunk({"content": part[at : at + PIECE]})
        yield chunk({}, self.finish)
        yield _data(_named(body, "chat.completion.chunk", choices=[], usage=usage))
        yield b"data: [DONE]\n\n"


def _echo(body: Json) -> str:
    return f"You said: {last_text(body)}"


def _named(body: Json, kind: str, **more: Any) -> Json:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body["model"], **more}


def _data(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


@contextmanager
def running(upstream: Upstream) -> Iterator[Upstream]:
    """Run the provider in a thread on a free port."""
    server = uvicorn.Server(
        uvicorn.Config(upstream.app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(LOOK_SECONDS)
        assert thread.is_alive(), "the provider did not start"
    upstream.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield upstream
    finally:
        upstream.release()
        server.should_exit = True
        thread.join()
