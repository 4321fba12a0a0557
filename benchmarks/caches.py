"""What a prompt cache could serve of an agent's requests, and what they cost: direct, truncated, and through Octavo.

A provider on this machine counts of every request how many tokens at its front are those of the request before. Each
loop is run by the client alone, with truncation (the newest messages that fit, as LangChain's `trim_messages` gives
them) and through the gateway. `OCTAVO_BEFORE` names the sources of an older version that is run beside this one.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.figures import Cell, Goal, Item, Table, Tell
from benchmarks.places import ROOT
from octavo.core import policy
from octavo.core.budget import Budget, ModelCard
from octavo.engine.engine import Engine
from octavo.meters.tokenizers import count_text
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings

Json = dict[str, Any]
MODEL, WRITER = "bench-agent", "bench-writer"
READ, WRITE, OUTPUT = 0.1, 1.25, 5.0
"""Claude's prices in those of an input token: of a cached one, of one that is written to the cache, of an answer's."""
LIFE = 300.0
"""Seconds that Claude's cache lives without being used."""
SYSTEM = (
    "You look after the valves of a plant. Read the logs before you answer, and give figures with their units. "
    * 3
)
REPLY = 500
"""Tokens that the client reserves for an answer."""
ROLE, CALL = 4, 8
"""Tokens of a message, and of a call, beyond the text."""
SAID = 38
"""Tokens of a step besides the log."""
LARGE = 200_000
NO_WINDOW = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What an agent does: questions, each with so many steps, each with a tool's answer of so many tokens."""

    name: str
    window: int
    turns: int
    steps: int
    tokens: int
    pause: float = 0.0
    """Seconds between two turns, on the provider's clock."""
    reply: int = REPLY
    fails: bool = False
    """Whether the summariser's answers fail the checks."""
    mark: int | None = None
    """Tokens at which it is compressed, if that is fixed; None: as the prices want it."""
    least: float | None = None
    """The goal: which share of the tokens was the front of the request before."""


LOOPS = (
    Loop(name="agent, 60 turns, 8k", window=8_192, turns=60, steps=4, tokens=150, least=0.90),
    Loop(name="agent, 60 turns, 16k", window=16_384, turns=60, steps=4, tokens=150, least=0.95),
    Loop(name="agent, 60 turns, 200k", window=LARGE, turns=60, steps=4, tokens=1_200),
    Loop(name="one turn, 100 steps of 350, 8k", window=8_192, turns=1, steps=100, tokens=350, least=0.85),
    Loop(name="one turn, 100 steps of 900, 8k", window=8_192, turns=1, steps=100, tokens=900, least=0.75),
    Loop(name="chat with pauses, 16k", window=16_384, turns=120, steps=0, tokens=0, pause=400.0),
)
FAILING = tuple(replace(loop, name=f"{loop.name}, failing", fails=True, least=None) for loop in LOOPS)
LONG = Loop(name="400 requests at Claude's prices, 200k", window=LARGE, turns=40, steps=9, tokens=1_700)
GRID = (45_000, 55_000, 70_000, 90_000, 120_000)
"""Marks that are fixed, for comparison, in tokens."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What the provider saw."""

    requests: int = 0
    sent: int = 0
    same: int = 0
    """Tokens at the front of a request that were at the front of the one before, in time or not."""
    served: int = 0
    """Those that the cache still had."""
    breaks: int = 0
    """Requests that changed something the one before had."""
    cost: float = 0.0
    """In tokens of input."""
    fullest: int = 0
    over: int = 0
    """Requests larger than the window."""
    calls: int = 0
    """Requests to the summariser."""
    asked: int = 0
    """Tokens of these, with their answers."""

    @property
    def share(self) -> float:
        return self.same / max(1, self.sent)

    @property
    def mean(self) -> float:
        return self.sent / max(1, self.requests)


@cache
def text_tokens(text: str) -> int:
    return count_text("o200k", text)


def shared_front(here: str, there: str) -> str:
    pairs = enumerate(zip(here, there, strict=False))
    return here[: next((at for at, (a, b) in pairs if a != b), min(len(here), len(there)))]


def message_tokens(message: Json) -> int:
    """Count a message, or a tool."""
    if "role" not in message:
        return text_tokens(json.dumps(message))
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    calls = [call["function"] for call in message.get("tool_calls") or []]
    called = sum(CALL + text_tokens(call["arguments"]) for call in calls)
    return ROLE + sum(map(text_tokens, texts)) + called


@dataclass(slots=True)
class CachingProvider:
    """A provider that counts what its cache could have served."""

    window: int
    fails: bool
    clock: Callable[[], float]
    tally: Tally = field(default_factory=Tally)
    reply: Json = field(default_factory=dict)
    """What it answers next."""
    _before: list[Json] = field(default_factory=list)
    _at: float = -math.inf

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.chat, methods=["POST"])])

    async def chat(self, request: Request) -> Response:
        body = json.loads(await request.body())
        if body["model"] != MODEL:
            return self._summary(body)
        sent = [*(body.get("tools") or []), *body["messages"]]
        size, same = self.take(sent)
        if size + (body.get("max_tokens") or 0) > self.window:
            self.tally.over += 1
        return answer(body["model"], self.reply, size, same)

    def take(self, sent: list[Json]) -> tuple[int, int]:
        """Count a request; gives its tokens, and those that the cache had."""
        tally, before = self.tally, self._before
        equal = 0
        while equal < min(len(sent), len(before)) and sent[equal] == before[equal]:
            equal += 1
        size = sum(map(message_tokens, sent))
        same = sum(map(message_tokens, sent[:equal]))
        if equal < min(len(sent), len(before)):
            here, there = (json.dumps(each[equal], ensure_ascii=False) for each in (sent, before))
            same += text_tokens(shared_front(here, there))
            tally.breaks += 1
        warm = self.clock() - self._at < LIFE
        served = same if warm else 0
        tally.requests += 1
        tally.sent += size
        tally.same += same
        tally.served += served
        tally.cost += READ * served + WRITE * (size - served)
        tally.fullest = max(tally.fullest, size)
        self._before, self._at = sent, self.clock()
        return size, served

    def _summary(self, body: Json) -> Response:
        size = sum(map(message_tokens, body["messages"]))
        said = "Nothing of note." if self.fails else summary_of(body)
        self.tally.calls += 1
        self.tally.asked += size + text_tokens(said)
        self.tally.cost += size + OUTPUT * text_tokens(said)
        message = {"role": "assistant", "content": said}
        return (
            streamed(body["model"], message, size) if body.get("stream") else answer(WRITER, message, size, 0)
        )


def usage_of(message: Json, size: int, cached: int) -> Json:
    said = message_tokens(message)
    return {
        "prompt_tokens": size,
        "completion_tokens": said,
        "total_tokens": size + said,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def streamed(model: str, message: Json, size: int) -> Response:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
    pieces = [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**head, "choices": [], "usage": usage_of(message, size, 0)},
    ]
    lines = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)
    return Response(f"{lines}data: [DONE]\n\n", media_type="text/event-stream")


def answer(model: str, message: Json, size: int, cached: int) -> Response:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": model}
    return JSONResponse({**whole, "choices": [choice], "usage": usage_of(message, size, cached)})


def summary_of(body: Json) -> str:
    """Write a summary that passes the checks: some lines of what is to be summarised, under the headings."""
    text = "\n".join(str(message.get("content")) for message in body["messages"])
    lines = [line.strip() for line in text.splitlines() if "valve V-" in line and len(line) < 200][-8:]
    listed = "\n".join(f"- {line.lstrip('- ')}" for line in lines) or "- The valves were read."
    parts = ("Context", "Key Points", "Technical Details", "Decisions and Outcomes", "Unresolved Questions")
    bodies = ("The valves of a plant are looked after.", listed, "None.", "None.", "None.")
    return "\n\n".join(f"## {name}\n{text}" for name, text in zip(parts, bodies, strict=True))


def log_lines(number: int, tokens: int) -> str:
    """Write a log of at most so many tokens, with figures of its own."""
    states = ("within its limits", "to be looked at again", "replaced last week", "closed for repair")
    lines, left = list[str](), tokens
    while True:
        line = len(lines)
        valve, bar = f"V-{number:03d}{line:02d}", (number * 7 + line * 13) % 100
        said = f"Log {number}, line {line}: valve {valve} reads {bar} bar, {states[(number + line) % len(states)]}"
        left -= text_tokens(said) + 1
        if left < 0:
            return "\n".join(lines)
        lines.append(said)


TOOL = {
    "type": "function",
    "function": {
        "name": "read_log",
        "description": "Read one of the logs of the plant.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
    },
}


def script(loop: Loop) -> Iterator[tuple[list[Json], Json, bool]]:
    """Give, request by request: the new messages of the client, the model's answer, and whether a turn begins."""
    number = 0
    for turn in range(loop.turns):
        pasted = log_lines(turn, 200) if loop.steps == 0 else ""
        asked = f"Question {turn}: how are the valves of section {turn}, and which were replaced?\n{pasted}"
        new: list[Json] = [{"role": "user", "content": asked}]
        for step in range(loop.steps):
            number += 1
            call = {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": "read_log", "arguments": json.dumps({"number": number})},
            }
            yield (
                new,
                {"role": "assistant", "content": f"Looking, step {number}.", "tool_calls": [call]},
                step == 0,
            )
            new = [
                {"role": "tool", "tool_call_id": call["id"], "content": log_lines(number, loop.tokens - SAID)}
            ]
        said = f"Section {turn} is checked: {turn * 3 % 17} valves were replaced, all others are within their limits."
        yield new, {"role": "assistant", "content": said}, loop.steps == 0


Trim = Callable[[list[Json]], list[Json]]


def truncated(loop: Loop) -> Trim:
    """Keep the system prompt and the newest messages that fit, as `trim_messages(strategy="last")` does."""
    room = loop.window - loop.reply - message_tokens(TOOL)

    def trim(messages: list[Json]) -> list[Json]:
        left, kept = room - message_tokens(messages[0]), list[Json]()
        for message in reversed(messages[1:]):
            left -= message_tokens(message)
            if left < 0:
                break
            kept.insert(0, message)
        while kept and kept[0]["role"] == "tool":
            kept.pop(0)
        return [messages[0], *kept]

    return trim


class Clock:
    """The provider's clock, which the loop moves on."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def alone(loop: Loop, trim: Trim) -> Tally:
    """Run a loop without Octavo."""
    clock = Clock()
    provider = CachingProvider(NO_WINDOW, loop.fails, clock)
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    for new, said, begins in script(loop):
        clock.now += loop.pause if begins else 1.0
        messages += new
        provider.take([TOOL, *trim(messages)])
        messages.append(said)
    return provider.tally


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """Run an application on a free port, in this event loop."""
    config = uvicorn.Config(app, port=0, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())  # without the handlers of signals that `serve` sets
    while not server.started:
        if task.done():
            await task
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


def card(loop: Loop) -> Json:
    """Describe the model, in as far as this version knows such things."""
    described = {
        "provider": "openai",
        "window": loop.window,
        "max_output": 4_096,
        "tokenizer": "o200k",
        "price": [1.0, OUTPUT, READ],
        "cache_write": WRITE,
        "cache_seconds": int(LIFE),
    }
    known = {each.name for each in fields(ModelCard)}
    return {name: value for name, value in described.items() if name in known}


def fix(mark: int) -> None:
    """Have this process compress at a mark, whatever the prices are."""

    def fixed(budget: Budget, _prices: object, _habits: object, retained: int | float) -> Budget:
        kept = int((mark - budget.overhead.total) * retained)
        return replace(budget, soft=mark, prepare=None, retained=kept, priced=True)

    vars(policy)["by_price"] = fixed


async def through_gateway(loop: Loop) -> Tally:
    """Run a loop through the gateway of this process."""
    clock = Clock()
    provider = CachingProvider(loop.window, loop.fails, clock)
    async with listening(provider.app) as upstream:
        os.environ |= {"OPENAI_BASE_URL": f"{upstream}/v1", "OPENAI_API_KEY": "sk-bench"}
        account = ProviderAccount(key=Secret("sk-bench", "BENCH"), base_url=f"{upstream}/v1")
        limits = Limits(rate=1e6, burst=1_000_000)
        engine = await Engine.open("sqlite://", model=MODEL, summariser=WRITER, clock=clock)
        await engine.models.define(MODEL, card(loop))
        await engine.models.define(WRITER, {**card(loop), "window": LARGE})
        if loop.mark is not None:
            fix(loop.mark)
        settings = ServerSettings(providers=ProviderSettings(openai=account), limits=limits)
        app = create_app(engine, settings)
        async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=120) as client:
            await _run(loop, provider, clock, client, engine)
        await engine.close()
    return provider.tally


async def _run(
    loop: Loop, provider: CachingProvider, clock: Clock, client: httpx2.AsyncClient, engine: Engine
) -> None:
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    conversation = ""
    for new, said, begins in script(loop):
        clock.now += loop.pause if begins else 1.0
        if begins and loop.pause and conversation and hasattr(engine, "compress_idle"):
            await engine.compress_idle()
            await engine.wait_until_idle(conversation)
        messages += new
        provider.reply = said
        body = {"model": MODEL, "messages": messages, "tools": [TOOL], "max_tokens": loop.reply}
        answered = await client.post("/v1/chat/completions", json=body)
        if answered.status_code != 200:
            raise RuntimeError(f"{loop.name}: {answered.status_code} {answered.text[:500]}")
        conversation = answered.headers["x-octavo-conversation"]
        # A real model takes seconds for its next answer; a snapshot that is being made is there by then.
        await engine.wait_until_idle(conversation)
        messages.append(said)


def child(loop: Loop, before: str = "") -> Tally:
    """Run a loop through the gateway of a process of its own, of this version or an older one."""
    command = [sys.executable, "-m", "benchmarks.caches", json.dumps(asdict(loop))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [before, str(ROOT)]))}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    return Tally(**json.loads(done.stdout.splitlines()[-1]))


def row(loop: Loop, way: str, tally: Tally) -> tuple[Cell, ...]:
    fill = 100 * tally.mean / (loop.window - loop.reply) if way != "direct" else None
    spent = 100 * tally.asked / max(1, tally.sent)
    return (
        loop.name,
        way,
        tally.requests,
        round(tally.share, 3),
        tally.breaks,
        fill,
        tally.over if way != "direct" else None,
        tally.calls,
        spent,
        tally.cost / 1_000,
    )


COLUMNS = (
    "loop",
    "way",
    "requests",
    "unchanged front",
    "breaks",
    "mean fill, %",
    "over",
    "summary calls",
    "summary tokens, %",
    "cost, 1,000 input tokens",
)


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    before = os.environ.get("OCTAVO_BEFORE", "")
    rows: list[tuple[Cell, ...]] = []
    goals: list[Goal] = []
    spent = 0.0
    for loop in (*LOOPS, *FAILING):
        if quick:
            loop = replace(loop, turns=min(loop.turns, 12), steps=min(loop.steps, 30))
        tell(loop.name)
        if not loop.fails:
            rows.append(row(loop, "direct", alone(loop, lambda messages: messages)))
            rows.append(row(loop, "truncated", alone(loop, truncated(loop))))
        if before:
            rows.append(row(loop, "before", child(loop, before)))
        now = child(loop)
        rows.append(row(loop, "Octavo", now))
        spent = max(spent, 100 * now.asked / now.sent)
        if loop.least is not None:
            what = f"unchanged front: {loop.name}"
            goals.append(Goal(what=what, found=now.share, limit=loop.least, at_least=True))
        if loop.window < 10_000 and loop.turns > 1 and not loop.fails:
            fill = 100 * now.mean / (loop.window - loop.reply)
            goals.append(
                Goal(what=f"mean fill: {loop.name}", found=fill, limit=55.0, unit=" %", at_least=True)
            )
    yield Table(
        name="caches.loops",
        title="What a prompt cache could serve",
        columns=COLUMNS,
        rows=tuple(rows),
        reading="`unchanged front`: tokens that were at the front of the request before, as a share of all that were "
        "sent. `cost`: a cached token costs a tenth, one that is written 1.25, one of a summary 5; answers are left "
        "out. `mean fill`: of the window beside the room for an answer. `failing`: the summariser's answers fail "
        "the checks.",
    )
    yield from goals
    yield Goal(what="summariser's tokens, at most", found=spent, limit=10.0, unit=" % of the agent's")
    yield from _long(quick=quick, tell=tell)


def _long(*, quick: bool, tell: Tell) -> Iterator[Item]:
    """Compare the cost of a long run with that of fixed marks."""
    loop = replace(LONG, turns=6) if quick else LONG
    tell(loop.name)
    before = os.environ.get("OCTAVO_BEFORE", "")
    cut = alone(loop, truncated(loop))
    rows = [row(loop, "direct", alone(loop, lambda messages: messages)), row(loop, "truncated", cut)]
    if before:
        rows.append(row(loop, "before", child(loop, before)))
    now = child(loop)
    rows.append(row(loop, "Octavo", now))
    best = math.inf
    for mark in GRID[:1] if quick else GRID:
        tell(f"{loop.name}: compressed at {mark:,}")
        fixed = child(replace(loop, mark=mark))
        rows.append(row(loop, f"compressed at {mark:,}", fixed))
        best = min(best, fixed.cost)
    yield Table(
        name="caches.long",
        title=f"{loop.turns * (loop.steps + 1)} requests at Claude's prices",
        columns=COLUMNS,
        rows=tuple(rows),
        reading="`compressed at`: the same, with a mark that is fixed, whatever the prices are.",
    )
    yield Goal(
        what="cost over that of the best fixed mark", found=100 * now.cost / best, limit=110.0, unit=" %"
    )
    yield Goal(what="cost over that of truncation", found=100 * now.cost / cut.cost, limit=100.0, unit=" %")


def main(arguments: Sequence[str]) -> None:
    """Run one loop through the gateway, and print what the provider saw."""
    tally = asyncio.run(through_gateway(Loop(**json.loads(arguments[0]))))
    print(json.dumps(asdict(tally)))


if __name__ == "__main__":
    main(sys.argv[1:])
