"""The gateway against the provider itself: what it adds, what it carries, how many streams it holds.

Provider, server and client are three processes; each figure of the gateway stands beside the provider's own of the
same run, taken in turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from benchmarks.clock import median, p95
from benchmarks.figures import Absent, Cell, Goal, Item, Table, Tell
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.config import Limits, ServerSettings
from octavo.server.run import serve

ROUNDS = 300
"""Requests of each kind and way: enough for a 95th percentile of fifteen."""
TURNS = 10
"""Turns of a chat: its last request holds 19 messages."""
HISTORY = 20
"""Messages of a chat that is shown to the gateway for the first time."""
ANSWER = "some words " * 20
STREAMS = 500
"""Streams held at a time: the goal."""
BEGUN = 5.0
"""Seconds within which they begin: a hundred a second."""
DRIPS = 12
"""Pieces of such a stream, one a second: all are open together for some seconds."""
FLOOD = 2_000
"""Pieces of a stream that comes as fast as it can."""
FLOODS = 10
"""Such streams, one after the other."""
MODEL = "gpt-4o"
QUICK = 10
"""How many times less is done in a quick run."""
API_TURNS = 50
CHAT = "a chat goes on"
FORKS = 12
"""Requests that continue one unseen history at the same time."""
FORKED_HISTORIES = 10
FORKED = 240
"""Messages of that history."""
GOAL_ADDED = 3.0
"""Milliseconds that the gateway may add to a chat in the median."""
GOAL_FORK = 300.0
"""Milliseconds in which each fork is recognised, sent and answered."""
GOAL_FIRST_BYTE = 100.0
"""Milliseconds added to the first byte at the 95th percentile while all streams are held."""

PIECE = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":"some words "},"finish_reason":null}]}\n\n'
)
LAST = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
WHOLE = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 500, "completion_tokens": 80, "total_tokens": 580},
    }
).encode()


async def provider(scope: Any, receive: Any, send: Any) -> None:
    """Answer at once: whole, in few pieces, in a flood, or drop by drop, as the field `user` says."""
    if scope["type"] != "http":
        return
    raw = b""
    while (message := await receive())["type"] == "http.request":
        raw += message["body"]
        if not message.get("more_body"):
            break
    body = json.loads(raw)
    kind = body.get("user", "few")
    streamed = bool(body.get("stream"))
    headers = [(b"content-type", b"text/event-stream" if streamed else b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if streamed:
        for _ in range({"flood": FLOOD, "drip": DRIPS}.get(kind, 20)):
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            await asyncio.sleep(1.0 if kind == "drip" else 0)
    await send({"type": "http.response.body", "body": LAST if streamed else WHOLE, "more_body": False})


@contextmanager
def process(*arguments: str) -> Iterator[tuple[int, str]]:
    """Run a part of this program as a process; gives its id and its address."""
    command = [sys.executable, "-m", "benchmarks.gateway", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            address = next(
                word for line in running.stderr for word in line.split() if word.startswith("http")
            )
            # What is said later is read and forgotten, lest the process wait for a reader.
            threading.Thread(target=running.stderr.read, daemon=True).start()
            yield running.pid, address
        finally:
            running.kill()


def run_provider() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as listening:
        print(f"provider at http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
        config = uvicorn.Config(provider, log_level="error", lifespan="off")
        uvicorn.Server(config).run(sockets=[listening])


def run_server(db: str, upstream: str) -> None:
    account = ProviderAccount(key=Secret("sk-bench", "BENCH"), base_url=f"{upstream}/v1")
    serve(
        ServerSettings(
            db=db,
            port=0,
            model=MODEL,
            summariser="none",
            providers=ProviderSettings(openai=account),
            limits=Limits(rate=1e6, burst=1_000_000, concurrency=10_000),
        )
    )


def message(number: int, at: int) -> dict[str, str]:
    words = f"Message {at} of chat {number}. " + "Words and more. " * 20
    return {"role": ("user", "assistant")[at % 2], "content": words if at % 2 == 0 else ANSWER}


def request(number: int, length: int = HISTORY - 1, **options: object) -> bytes:
    """A request with a history of its own, as bytes on the wire."""
    body = json.dumps(
        {"model": MODEL, "messages": [message(number, at) for at in range(length)], **options}
    ).encode()
    return post(body)


def post(body: bytes) -> bytes:
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def timed(url: str, request: bytes) -> tuple[float, float]:
    """Ask; give the milliseconds to the first byte of the answer and to its end.

    By bare sockets: the libraries take longer than what is measured.
    """
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    start = time.perf_counter()
    writer.write(request)
    await reader.readuntil(b"\r\n\r\n")
    body = await reader.read(1)
    first = time.perf_counter() - start
    body += await reader.read()
    whole = time.perf_counter() - start
    writer.close()
    assert b"[DONE]" in body or b"choices" in body, body[:500]
    return first * 1_000, whole * 1_000


def plans(rounds: int) -> Iterator[tuple[str, list[bytes]]]:
    """Requests by kind: chats that go on, whole and streamed, and long histories that were never seen before."""
    for name, options in ((CHAT, {}), ("the same, streamed", {"stream": True})):
        chats = range(rounds // TURNS)
        yield (
            name,
            [
                request(number + 1_000 * len(options), length, **options)
                for number in chats
                for length in range(1, 2 * TURNS, 2)
            ],
        )
    yield f"{HISTORY} unknown messages", [request(5_000 + number) for number in range(rounds)]


async def latency(direct: str, gateway: str, pid: int, rounds: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    await timed(gateway, request(9_999))
    for name, requests in plans(rounds):
        times: dict[str, list[tuple[float, float]]] = {direct: [], gateway: []}
        before = cpu(pid)
        for each in requests:
            for url in (direct, gateway):
                times[url].append(await timed(url, each))
        spent = (cpu(pid) - before) / len(requests) * 1_000
        for at, what in enumerate(("first byte", "end")):
            a, b = ([t[at] for t in times[url]] for url in (direct, gateway))
            middle, most = (median(a), median(b)), (p95(a), p95(b))
            added = (middle[1] - middle[0], most[1] - most[0])
            rows.append((name, what, *middle, added[0], *most, added[1], spent))
    return Table(
        name="gateway.latency",
        title=f"Pass-through, {rounds} requests each way, taken in turns, ms",
        columns=(
            "request",
            "until",
            "provider median",
            "gateway median",
            "added",
            "provider p95",
            "gateway p95",
            "added",
            "server's processor",
        ),
        rows=tuple(rows),
        reading="`added` is the gateway less the provider asked directly in the same run.",
    )


def added_goal(table: Table) -> Goal:
    """What a chat that goes on waits longer for its whole answer."""
    (added,) = (row[4] for row in table.rows if row[:2] == (CHAT, "end"))
    assert isinstance(added, float)
    return Goal(what="added to a chat that goes on, median", found=added, limit=GOAL_ADDED, unit=" ms")


def fork(history: int, number: int) -> bytes:
    """A request that continues a history in its own way."""
    messages = [message(history, at) for at in range(FORKED)]
    messages.append({"role": "user", "content": f"Question {number} of fork {number}?"})
    return post(json.dumps({"model": MODEL, "messages": messages}).encode())


async def forks(direct: str, gateway: str, pid: int, rounds: int) -> Iterator[Item]:
    """Fork a history that nobody has seen, many times at once."""
    rows: list[tuple[Cell, ...]] = []
    slowest = 0.0
    for name, url in (("provider", direct), ("gateway", gateway)):
        ends, spent = list[float](), 0.0
        for history in range(rounds):
            asked = [fork(30_000 + history, number) for number in range(FORKS)]
            before = cpu(pid)
            ends += [end for _, end in await asyncio.gather(*(timed(url, one) for one in asked))]
            spent += cpu(pid) - before
        each = spent / (rounds * FORKS) * 1_000
        rows.append((name, len(ends), median(ends), max(ends), each if url == gateway else None))
        slowest = max(ends)
    table = Table(
        name="gateway.forks",
        title=f"{FORKS} requests at once that continue one unseen history of {FORKED} messages, ms",
        columns=("", "requests", "end, median", "end, slowest", "server's processor"),
        rows=tuple(rows),
        reading="All are recognised as branches of one conversation, and stored.",
    )
    return iter((table, Goal(what="the slowest fork", found=slowest, limit=GOAL_FORK, unit=" ms")))


async def flood(url: str, pid: int, floods: int) -> tuple[Cell, ...]:
    """Measure streamed events per second of the server's processor time."""
    await timed(url, request(0, stream=True, user="flood"))
    before, start = cpu(pid), time.perf_counter()
    for number in range(floods):
        await timed(url, request(number, stream=True, user="flood"))
    seconds, wall = cpu(pid) - before, time.perf_counter() - start
    events = floods * FLOOD
    return ("streamed events through the gateway", events / seconds, events / wall, events)


async def api_turns(url: str, pid: int) -> tuple[Cell, ...]:
    """Measure whole turns of the API, answered by the provider."""
    async with httpx2.AsyncClient(timeout=60, base_url=url) as client:
        made = (await client.post("/api/v1/conversations", json={})).json()["id"]
        place = f"/api/v1/conversations/{made}/turns"
        await client.post(place, json={"content": "Hello?"})
        before, start = cpu(pid), time.perf_counter()
        for number in range(API_TURNS):
            answer = await client.post(place, json={"content": f"Question {number}?"})
            assert '"status":"done"' in answer.text, answer.text[-500:]
        seconds, wall = cpu(pid) - before, time.perf_counter() - start
    return ("whole turns of the API", API_TURNS / seconds, API_TURNS / wall, API_TURNS)


def cpu(pid: int) -> float:
    """Give the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Give the megabytes a process holds."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_024


async def hold(direct: str, gateway: str, pid: int, streams: int) -> Iterator[Item]:
    """Hold many streams at a time, each with a piece a second."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, max(soft, 4 * streams)), most))
    rows: list[tuple[Cell, ...]] = []
    found: dict[str, list[float]] = {}
    before, spent = memory(pid), cpu(pid)
    for name, url in (("provider", direct), ("gateway", gateway)):

        async def one(number: int, url: str = url) -> float:
            await asyncio.sleep(BEGUN * number / streams)
            first, _ = await timed(url, request(20_000 + number, 3, stream=True, user="drip"))
            return first

        results = await asyncio.gather(*(one(n) for n in range(streams)), return_exceptions=True)
        firsts = found[name] = [first for first in results if isinstance(first, float)]
        held = memory(pid) if name == "gateway" else None
        rows.append((name, streams, len(firsts), median(firsts), p95(firsts), held))
    each = (cpu(pid) - spent) / streams * 1_000
    table = Table(
        name="gateway.streams",
        title="Streams held at a time by one process, a piece a second",
        columns=("", "streams", "complete", "first byte median, ms", "first byte p95, ms", "server MB"),
        rows=tuple(rows),
        reading=f"Begun within {BEGUN:.0f} s; each took {each:.1f} ms of the server's processor from beginning to end. "
        f"The server held {before:.0f} MB before.",
    )
    added = p95(found["gateway"]) - p95(found["provider"])
    what = f"added to the first byte of {streams} streams, p95"
    whole = 100 * len(found["gateway"]) / streams
    return iter(
        (
            table,
            Goal(what=what, found=added, limit=GOAL_FIRST_BYTE, unit=" ms"),
            Goal(what=f"of {streams} streams complete", found=whole, limit=100.0, unit=" %", at_least=True),
        )
    )


async def rates(gateway: str, pid: int, floods: int) -> Table:
    return Table(
        name="gateway.rates",
        title="What one process carries, a second",
        columns=("", "per second and core", "per second on the clock", "measured"),
        rows=(await flood(gateway, pid, floods), await api_turns(gateway, pid)),
        reading="`per core` divides by the server's processor time. A turn is stored, metered, streamed and stored.",
    )


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    if not Path("/proc/self/stat").exists():
        raise Absent("the server's processor time is read from /proc, which this system does not have")
    less = QUICK if quick else 1
    with (
        tempfile.TemporaryDirectory() as folder,
        process("provider") as (_, direct),
        process("server", f"sqlite:///{folder}/bench.db", direct) as (pid, gateway),
    ):
        tell("latency")
        table = asyncio.run(latency(direct, gateway, pid, ROUNDS // less))
        yield from (table, added_goal(table))
        tell("forks of an unseen history")
        yield from asyncio.run(forks(direct, gateway, pid, FORKED_HISTORIES // less or 1))
        tell("events and turns per second")
        yield asyncio.run(rates(gateway, pid, FLOODS // less))
        tell(f"{STREAMS // less} streams")
        yield from asyncio.run(hold(direct, gateway, pid, STREAMS // less))


def main(arguments: Sequence[str]) -> None:
    """Be one of the processes."""
    match list(arguments):
        case ["provider"]:
            run_provider()
        case ["server", db, upstream]:
            run_server(db, upstream)
        case _:
            sys.exit("`python -m benchmarks gateway` runs this")


if __name__ == "__main__":
    main(sys.argv[1:])
