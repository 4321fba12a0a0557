"""Providers that obey the real interface and do what a test needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request, Usage


@dataclass(slots=True)
class Answering:
    """Answers every request with a function of it; all calls that may run at a time do."""

    answer: Callable[[Request], str]
    rules: Rules = OPENAI
    name: str = "answering"
    requests: list[Request] = field(default_factory=list)
    running: int = 0
    most: int = 0
    """The most calls that ran at a time."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for _ in range(5):
                await asyncio.sleep(0)
            text = self.answer(request)
            yield Delta(text)
            yield Reply(message=assistant(text), usage=Usage(input=10, output=1), model=request.model)
        finally:
            self.running -= 1

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class Hanging:
    """Starts to answer and never ends; knows how many of its calls are open."""

    rules: Rules = OPENAI
    name: str = "hanging"
    open: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    wanted: int = 1
    """How many calls have to be open before `begun` is set."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        self.open += 1
        if self.open == self.wanted:
            self.begun.set()
        try:
            yield Delta(f"{request.model} thinks")
            await asyncio.Event().wait()
        finally:
            self.open -= 1

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class Breaking:
    """Ends its stream without a reply."""

    rules: Rules = OPENAI
    name: str = "breaking"

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        yield Delta(f"{request.model} began")

    async def close(self) -> None:
        """Nothing is held."""
