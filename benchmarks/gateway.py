"""The gateway against the provider itself: what it adds, what it carries, how many streams it holds.

`python -m benchmarks gateway` measures; `python -m benchmarks.gateway load` runs 200 conversations of 30 turns on two
processes and one PostgreSQL, kills one process in the middle, and proves that nothing was lost.
Provider, server and client are three processes; each figure of the gateway stands beside the provider's own of the
same run, taken in turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
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

from octavo.providers.secret import Secret
from octavo.providers.settings import Account
from octavo.providers.settings import Settings as ProviderSettings
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
LOAD = (200, 30)

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
    account = Account(key=Secret("sk-bench", "BENCH"), base_url=f"{upstream}/v1")
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


def plans() -> Iterator[tuple[str, list[bytes]]]:
    """Requests by kind: chats that go on, whole and streamed, and long histories that were never seen before."""
    for name, options in (("a chat goes on", {}), ("the same, streamed", {"stream": True})):
        chats = range(ROUNDS // TURNS)
        yield (
            name,
            [
                request(number + 1_000 * len(options), length, **options)
                for number in chats
                for length in range(1, 2 * TURNS, 2)
            ],
        )
    yield f"{HISTORY} unknown messages", [request(5_000 + number) for number in range(ROUNDS)]


async def latency(direct: str, gateway: str, pid: int) -> None:
    print(
        f"Pass-through, {ROUNDS} requests each way, taken in turns (ms; `processor` is the server's own time):\n"
    )
    print(
        "| request | until | provider median | gateway median | added | provider p95 | gateway p95 | added "
        "| processor |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    await timed(gateway, request(9_999))
    for name, requests in plans():
        times: dict[str, list[tuple[float, float]]] = {direct: [], gateway: []}
        before = cpu(pid)
        for each in requests:
            for url in (direct, gateway):
                times[url].append(await timed(url, each))
        each_cpu = (cpu(pid) - before) / len(requests) * 1_000
        for at, what in enumerate(("first byte", "end")):
            a, b = ([t[at] for t in times[url]] for url in (direct, gateway))
            columns = [
                statistics.median(a),
                statistics.median(b),
                statistics.median(b) - statistics.median(a),
                p95(a),
                p95(b),
                p95(b) - p95(a),
                each_cpu,
            ]
            print(f"| {name} | {what} | " + " | ".join(f"{value:.1f}" for value in columns) + " |")


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


async def flood(url: str, pid: int) -> None:
    """Streamed events per second of the server's processor time."""
    await timed(url, request(0, stream=True, user="flood"))
    before, start = cpu(pid), time.perf_counter()
    for number in range(FLOODS):
        await timed(url, request(number, stream=True, user="flood"))
    seconds, wall = cpu(pid) - before, time.perf_counter() - start
    events = FLOODS * FLOOD
    print(
        f"\nStreamed through the gateway: {events / seconds:,.0f} events per second and core "
        f"({events:,} events in {seconds:.2f} s of processor time, {wall:.2f} s on the clock)."
    )


def cpu(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Megabytes a process holds."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_024


async def hold(direct: str, gateway: str, pid: int) -> None:
    """Many streams at a time, each with a piece a second."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, max(soft, 4 * STREAMS)), most))
    print(f"\n{STREAMS} streams at a time, a piece a second, begun within {BEGUN:.0f} s:\n")
    print("| | first byte median, ms | first byte p95, ms | complete | server MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    found: dict[str, list[float]] = {}
    spent = cpu(pid)
    for name, url in (("provider", direct), ("gateway", gateway)):

        async def one(number: int, url: str = url) -> float:
            await asyncio.sleep(BEGUN * number / STREAMS)
            first, _ = await timed(url, request(20_000 + number, 3, stream=True, user="drip"))
            return first

        results = await asyncio.gather(*(one(n) for n in range(STREAMS)), return_exceptions=True)
        firsts = [first for first in results if isinstance(first, float)]
        found[name] = firsts
        held = f"{memory(pid):.0f}" if name == "gateway" else "–"
        complete = f"{len(firsts)} of {STREAMS}"
        print(f"| {name} | {statistics.median(firsts):.1f} | {p95(firsts):.1f} | {complete} | {held} |")
    added = p95(found["gateway"]) - p95(found["provider"])
    each = (cpu(pid) - spent) / STREAMS * 1_000
    print(
        f"\nAdded to the first byte at the 95th percentile: {added:.1f} ms. Each stream took {each:.1f} ms of the "
        f"server's processor from beginning to end; {os.getloadavg()[0]:.1f} processes wanted the "
        f"{os.cpu_count()} processors of this machine."
    )


async def turns_per_core(url: str, pid: int) -> None:
    """Whole turns of the API, answered by the provider, per second of processor time."""
    async with httpx2.AsyncClient(timeout=60, base_url=url) as client:
        made = (await client.post("/api/v1/conversations", json={})).json()["id"]
        place = f"/api/v1/conversations/{made}/turns"
        await client.post(place, json={"content": "Hello?"})
        before = cpu(pid)
        for number in range(50):
            answer = await client.post(place, json={"content": f"Question {number}?"})
            assert '"status":"done"' in answer.text, answer.text[-500:]
        seconds = cpu(pid) - before
    print(
        f"\nWhole turns of the API: {50 / seconds:.0f} per second and core (stored, metered, streamed, stored)."
    )


async def measure(direct: str, gateway: str, pid: int) -> None:
    await latency(direct, gateway, pid)
    await flood(gateway, pid)
    await turns_per_core(gateway, pid)
    await hold(direct, gateway, pid)


async def load() -> None:
    """The full size of what `tests/server/test_replicas.py` shows."""
    from tests.server.test_replicas import survive
    from tests.store.conftest import start_server

    folder = Path(tempfile.mkdtemp(prefix="octavo-bench-"))
    server = await asyncio.to_thread(start_server, folder)
    start = time.perf_counter()
    messages, snapshots = await survive(server.get_uri(), *LOAD)
    seconds = time.perf_counter() - start
    print(
        f"{LOAD[0]} conversations of {LOAD[1]} turns on two processes, one killed in the middle: {messages:,} "
        f"messages, {snapshots:,} snapshots, nothing lost, nothing double; {seconds:.0f} s, "
        f"{LOAD[0] * LOAD[1] / seconds:.0f} turns/s."
    )


def main(arguments: Sequence[str]) -> None:
    match list(arguments):
        case ["provider"]:
            run_provider()
        case ["server", db, upstream]:
            run_server(db, upstream)
        case ["load"]:
            asyncio.run(load())
        case _:
            with (
                tempfile.TemporaryDirectory() as folder,
                process("provider") as (_, direct),
                process("server", f"sqlite:///{folder}/bench.db", direct) as (pid, gateway),
            ):
                asyncio.run(measure(direct, gateway, pid))


if __name__ == "__main__":
    main(sys.argv[1:])
