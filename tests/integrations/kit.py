"""What the tests of all drop-ins share: a strict provider on this machine, and a model that works by a script."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from tests.gateway.strict import StrictProvider
from tests.gateway.strict_responses import Output, StrictResponses
from tests.server.fake import Json, Reply

MODEL = "gpt-4-0613"
"""A model whose card has a window of 8,192 tokens, and the tokenizer that the strict provider counts with."""
WINDOW = 8_192
STEPS = 150
CLOSE = {"connection": "close"}
"""For clients that nobody closes: no connection outlives its request."""
SYSTEM = "You check the valves of a plant."


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve an application in a thread; gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def own_loop() -> Iterator[None]:
    """Set an event loop for frameworks that would make one and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def log(number: int) -> str:
    """What the tool of the agents reads: some 120 tokens, with figures of its own."""
    lines = [
        f"Log {number}, line {n}: valve V-{number:03d}{n} reads {(number * 7 + n * 13) % 100} bar"
        for n in range(6)
    ]
    return "\n".join(lines)


@dataclass
class Script:
    """A model that calls `read_log` for each step of a turn, and then answers."""

    steps: int
    made: int = 0

    def __call__(self, _: Json) -> Reply:
        self.made += 1
        if self.made % (self.steps + 1):
            return Reply(
                f"Looking, step {self.made}.",
                [(f"call_{self.made}", "read_log", {"number": self.made})],
            )
        return Reply(f"Part {self.made} is checked: all valves are within their limits.")


@dataclass
class Service:
    """A strict provider that listens, and what it was sent."""

    url: str
    bodies: Callable[[], list[Json]]
    problems: Callable[[], list[str]]
    """Requests that were refused, and why."""


@contextmanager
def chat_service(
    script: Callable[[Json], Reply], window: int = WINDOW, factor: float = 1.0
) -> Iterator[Service]:
    """Serve OpenAI's Chat Completions and Anthropic's Messages; bills are `factor` times what is counted."""
    provider = StrictProvider(say=script, window=window, factor=factor)
    with serving(provider.strict_app) as url:
        yield Service(
            f"{url}/v1",
            lambda: [json.loads(body) for body in provider.bodies],
            lambda: [*provider.wrong, *provider.torn, *["too large"] * provider.refused],
        )


@contextmanager
def responses_service(script: Callable[[Json], Reply], window: int = WINDOW) -> Iterator[Service]:
    """Serve OpenAI's Responses, with thinking."""

    def say(_: list[Json]) -> Output:
        reply = script(provider.last)
        call = next(((name, json.dumps(arguments)) for _, name, arguments in reply.calls), None)
        return Output(reply.text, call, thinks=True)

    provider = StrictResponses(say=say, window=window)
    with serving(provider.app) as url:
        yield Service(
            f"{url}/v1",
            lambda: [json.loads(body) for body in provider.bodies],
            lambda: [*provider.torn, *["too large"] * provider.refused],
        )


def texts(value: Any) -> str:
    """All that a request says, as one text."""
    return json.dumps(value, ensure_ascii=False)


def is_compressed(body: Any) -> bool:
    """Tell whether a request has something in place of its older messages."""
    said = texts(body)
    return "<earlier messages=" in said or "older messages are left out" in said
