"""Calls of a model: what fits its window, how long it may answer, and how its answer is taken in.

No more calls than allowed run at a time; a call that is cancelled closes its stream; all usage is added up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from octavo.core.ask.answer import JudgedAnswer, JudgeTask, verdict
from octavo.core.ask.blocks import Measure
from octavo.core.budget import MARGIN
from octavo.core.harden import harden
from octavo.core.messages import Message
from octavo.core.reply import Delta, Reply, Request, Usage
from octavo.core.tools import Tool
from octavo.core.transcript import describe
from octavo.errors import BadBudget, BadReply
from octavo.protocols import Provider

REASONING_ROOM = 4
"""Times the cap that an answer may take: a scratchpad as long as the summary, and hidden thinking twice as long."""
LEAST_OUTPUT = 2_048
"""Tokens an answer is given at least: models that think first need them however short the summary is."""
OUTPUT_SHARE = 3
"""An answer gets at most a third of the window, or nothing would be left to read in a small one."""
LEAST_ROOM = 200
"""Tokens of conversation below which a call is not worth its instructions."""
ENVELOPE = 8
"""Tokens a message costs beyond its text, at most, with any provider."""

Tell = Callable[[str], None]
Judge = Callable[[JudgeTask, Measure], Awaitable[JudgedAnswer]]
"""Judges an answer without holding up the event loop."""


def silent(_: str) -> None:
    """Tell nobody."""


async def in_thread(asked: JudgeTask, measure: Measure) -> JudgedAnswer:
    """Judge in a thread, where there is no better place."""
    return await asyncio.to_thread(verdict, asked, measure)


@dataclass(slots=True, kw_only=True)
class ModelCalls:
    """A model that can be called, and what it has cost so far."""

    provider: Provider
    model: str
    window: int
    max_output: int
    measure: Measure
    gate: asyncio.Semaphore
    judge: Judge = in_thread
    temperature: float | None = None
    options: str = "{}"
    most: int | None = None
    """How many calls there may be; None: any number."""
    made: int = 0
    usage: Usage = field(default_factory=Usage)
    answered_by: str = ""

    def may_ask(self, beside: int = 0) -> bool:
        """Tell whether another call is allowed, and `beside` more after it."""
        return self.most is None or self.made + beside < self.most

    def answer_room(self, cap: int) -> int:
        """Tell how many tokens an answer of `cap` tokens is given."""
        return min(max(LEAST_OUTPUT, REASONING_ROOM * cap), self.max_output, self.window // OUTPUT_SHARE)

    def fits(self, messages: Sequence[Message], cap: int, tools: Sequence[Tool] = ()) -> bool:
        return self._size(messages, tools) <= self._usable(cap)

    def room(self, messages: Sequence[Message], cap: int) -> int:
        """Tell how much text messages can be given on top; refuse if that is next to nothing."""
        instructions = self._size(messages)
        room = self._usable(cap) - instructions
        if room < LEAST_ROOM:
            terms = {"window": self.window, "answer": self.answer_room(cap), "instructions": instructions}
            raise BadBudget(f"The window of {self.model} has no room for a conversation to summarise", terms)
        return room

    def _usable(self, cap: int) -> int:
        return int(self.window * (1 - MARGIN)) - self.answer_room(cap)

    def _size(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> int:
        texts = [describe(piece) for message in messages for piece in message.parts]
        texts += [f"{tool.name} {tool.description} {tool.schema}" for tool in tools]
        return sum(map(self.measure, texts)) + ENVELOPE * (len(messages) + len(tools))

    async def ask(
        self,
        messages: tuple[Message, ...],
        output: int,
        *,
        tools: tuple[Tool, ...] = (),
        stable: int = 0,
        tell: Tell = silent,
    ) -> Reply:
        """Send one request; `stable` messages at its front were sent before."""
        self.made += 1
        hardened = harden(messages, self.provider.rules).messages
        request = Request(
            model=self.model,
            messages=hardened,
            tools=tools,
            max_output=output,
            temperature=self.temperature,
            stable=min(stable, len(hardened) - 1),
            options=self.options,
        )
        async with self.gate:
            reply = await self._stream(request, tell)
        self.usage += reply.usage
        self.answered_by = reply.model or self.answered_by
        return reply

    async def _stream(self, request: Request, tell: Tell) -> Reply:
        stream = self.provider.stream(request)
        try:
            async for chunk in stream:
                match chunk:
                    case Reply():
                        return chunk
                    # An empty piece would say that the text begins anew.
                    case Delta(text, "text") if text:
                        tell(text)
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        raise BadReply(f"{self.provider.name} ended its answer without saying so")


async def side_by_side(jobs: Sequence[Coroutine[None, None, str]]) -> list[str]:
    """Run calls at a time; the first that fails ends the others, and its error is the one that is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
