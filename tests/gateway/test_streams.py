"""Streams, however they are cut, whatever they say and wherever they break off."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from fastapi import FastAPI

from octavo.engine.engine import Engine
from octavo.gateway.dialects.anthropic import ANTHROPIC
from octavo.gateway.dialects.dialect import Dialect
from octavo.gateway.dialects.openai import OPENAI
from octavo.gateway.reply import StreamEnd
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import CLAUDE, MODEL, user
from tests.server.conftest import MakeEngine
from tests.server.kit import KEY, accounts, listening

pytestmark = pytest.mark.anyio

TREACHEROUS = "The stream ends with data: [DONE] or with\nevent: message_stop\n"
"""An answer about streams, as a model might give it."""


def chunk(**delta: Any) -> bytes:
    finish = delta.pop("finish", None)
    said = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({**said, "choices": choices}).encode() + b"\n\n"


def event(type: str, **data: Any) -> bytes:
    return f"event: {type}\ndata: {json.dumps({'type': type, **data})}\n\n".encode()


def openai_stream(text: str) -> bytes:
    return b"".join(
        [chunk(role="assistant", content=""), chunk(content=text), chunk(finish="stop"), b"data: [DONE]\n\n"]
    )


def anthropic_stream(text: str) -> bytes:
    usage = {"input_tokens": 5, "output_tokens": 1}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": CLAUDE,
        "content": [],
        "usage": usage,
    }
    return b"".join(
        [
            event("message_start", message=message),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}),
            event("content_block_stop", index=0),
            event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9}),
            event("message_stop"),
        ]
    )


Answering = Callable[[httpx2.Request], httpx2.Response]


def pieces_of(pieces: list[bytes], fail: Exception | None = None) -> AsyncIterator[bytes]:
    async def run() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if fail is not None:
            raise fail

    return run()


def streaming(pieces: list[bytes], fail: Exception | None = None) -> Answering:
    head = {"content-type": "text/event-stream"}
    return lambda _: httpx2.Response(200, headers=head, content=pieces_of(pieces, fail))


@asynccontextmanager
async def serving(engine: Engine, answer: Answering) -> AsyncIterator[tuple[FastAPI, str]]:
    told = ServerSettings(providers=accounts("http://provider"))
    app = create_app(engine, told, transport=httpx2.MockTransport(answer))
    async with listening(app) as url:
        yield app, url


def cut(data: bytes, chance: random.Random) -> list[bytes]:
    """Cut bytes into pieces of a few each."""
    pieces, at = [], 0
    while at < len(data):
        size = chance.choice((1, 1, 2, 5, 20, 200))
        pieces.append(data[at : at + size])
        at += size
    return pieces


@pytest.mark.parametrize(
    ("dialect", "write"),
    [(OPENAI, openai_stream), (ANTHROPIC, anthropic_stream)],
    ids=["openai", "anthropic"],
)
def test_the_end_of_a_stream_is_found_wherever_it_is_cut(
    dialect: Dialect, write: Callable[[str], bytes]
) -> None:
    """Failed when the mark was looked for anywhere in a line, and when a mark cut in two was not put together."""
    for text in ("Hello.", TREACHEROUS):
        whole = write(text)
        end = whole.rindex(dialect.ends[0])
        for seed in range(200):
            ending, passed = StreamEnd(dialect.ends), b""
            for piece in cut(whole, random.Random(seed)):
                if ending.reached:
                    ending.held += piece
                else:
                    passed += ending.feed(piece)
            assert ending.reached
            assert (passed, ending.held) == (whole[:end], whole[end:])


def test_a_stream_without_its_mark_is_passed_on_to_the_last_byte() -> None:
    for whole in (b"", b"d", b"data: x\n\ndata: [DO", b"\n\n", b"data: {}\n\ndata:"):
        for seed in range(20):
            ending = StreamEnd(OPENAI.ends)
            passed = b"".join(ending.feed(piece) for piece in cut(whole, random.Random(seed)))
            assert passed + ending.held == whole
            assert not ending.reached


@pytest.mark.parametrize("seed", range(3))
async def test_an_answer_about_streams_is_stored_whole(make_engine: MakeEngine, seed: int) -> None:
    engine = await make_engine(provider=None)
    for path, model, whole in (
        ("/v1/chat/completions", MODEL, openai_stream(TREACHEROUS)),
        ("/v1/messages", CLAUDE, anthropic_stream(TREACHEROUS)),
    ):
        question = f"How does a stream of {path} end?"
        body = {"model": model, "messages": [user(question)], "max_tokens": 100, "stream": True}
        async with (
            serving(engine, streaming(cut(whole, random.Random(seed)))) as (_, url),
            httpx2.AsyncClient(base_url=url) as client,
        ):
            answer = await client.post(path, json=body)
            assert answer.content == whole
            reported = await client.post(path, json={**body, "octavo": {"usage": True}})
            inserted = reported.content.replace(b"event: ping\n", b"")
            assert len(reported.content) > len(whole)
            assert all(line.startswith((b"data: ", b"event: ")) for line in inserted.split(b"\n") if line)
            tree = engine.store.tree.whole(answer.headers["x-octavo-conversation"], previews=False)
            stored = [(node.message.text, node.status) async for node in tree]
            assert stored == [(question, "complete"), *[(TREACHEROUS, "complete")] * 2]


async def test_a_stream_that_ends_without_its_mark_is_stored_by_then(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    whole = openai_stream("Fine.").removesuffix(b"data: [DONE]\n\n")
    body = {"model": MODEL, "messages": [user("Well?")], "stream": True}
    async with serving(engine, streaming([whole])) as (_, url), httpx2.AsyncClient(base_url=url) as client:
        for turn in range(5):
            answer = await client.post("/v1/chat/completions", json=body)
            assert answer.content == whole
            (conversation,) = await engine.store.conversations.list()
            assert conversation.messages == 2 + turn


LOST = httpx2.RemoteProtocolError("peer closed connection")


async def test_an_openai_stream_that_breaks_off_is_an_error_and_what_came_is_kept(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(provider=None)
    pieces = [chunk(role="assistant", content="So far"), chunk(content=" so good")]
    async with serving(engine, streaming(pieces, LOST)) as (_, url):
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)
        stream = await client.chat.completions.create(model=MODEL, messages=[user("Well?")], stream=True)
        seen: list[str] = []

        async def listen() -> None:
            async for piece in stream:
                seen.append(piece.choices[0].delta.content or "")

        with pytest.raises(openai.APIError, match="connection failed"):
            await listen()
        await client.close()
        assert seen == ["So far", " so good"]
        (conversation,) = await engine.store.conversations.list()
        tree = [node async for node in engine.store.tree.whole(conversation.id)]
        assert [(node.message.text, node.status) for node in tree] == [
            ("Well?", "complete"),
            ("So far so good", "aborted"),
        ]


async def test_an_anthropic_stream_that_breaks_off_is_an_error_too(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    whole = anthropic_stream("So far so good")
    async with serving(engine, streaming([whole[: whole.index(b"event: message_delta")]], LOST)) as (_, url):
        client = anthropic.AsyncAnthropic(base_url=url, api_key="unused", max_retries=0)
        with pytest.raises(anthropic.APIError, match="connection failed"):
            async with client.messages.stream(
                model=CLAUDE, max_tokens=50, messages=[user("Well?")]
            ) as stream:
                await stream.get_final_message()
        await client.close()
        (conversation,) = await engine.store.conversations.list()
        tree = [node async for node in engine.store.tree.whole(conversation.id)]
        assert [node.status for node in tree] == ["complete", "aborted"]


@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_that_breaks_off_or_cannot_be_unpacked_is_the_providers_fault(
    make_engine: MakeEngine, status: int
) -> None:
    """Not ours: a client is told that the connection failed, and never of an error inside the server."""
    engine = await make_engine(provider=None)
    head = {"content-type": "application/json"}
    packed = {**head, "content-encoding": "gzip"}
    answers = (
        (head, [b'{"choices": ['], LOST),
        (head, [b""], httpx2.ReadTimeout("slow")),
        (packed, [gzip.compress(b"{}")[:10], b"nonsense"], None),
    )
    for headers, pieces, fail in answers:

        def answer(
            _: httpx2.Request,
            headers: dict[str, str] = headers,
            pieces: list[bytes] = pieces,
            fail: Exception | None = fail,
        ) -> httpx2.Response:
            return httpx2.Response(status, headers=headers, content=pieces_of(pieces, fail))

        async with serving(engine, answer) as (_, url), httpx2.AsyncClient(base_url=url) as client:
            for path in ("/v1/chat/completions", "/v1/messages"):
                body = {"model": MODEL if "chat" in path else CLAUDE, "messages": [user("Hi")]}
                broken = await client.post(path, json=body)
                assert broken.status_code in (503, 504), broken.text
                assert broken.json()["error"]["octavo"]["type"] in ("provider_error", "provider_timeout")
                assert KEY.reveal() not in broken.text
            counted = await client.post("/v1/messages/count_tokens", json=body)
            assert counted.json()["input_tokens"] > 0


async def test_a_packed_answer_is_unpacked(make_engine: MakeEngine) -> None:
    """We ask for plain ones, because they are read in passing; not every service listens."""
    engine = await make_engine(provider=None)
    choices = [{"message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}]
    body = json.dumps({"choices": choices}).encode()
    head = {"content-type": "application/json", "content-encoding": "gzip"}
    packed = lambda _: httpx2.Response(200, headers=head, content=pieces_of([gzip.compress(body)]))  # noqa: E731
    async with serving(engine, packed) as (_, url), httpx2.AsyncClient(base_url=url) as client:
        for off in ("0", "1"):
            asked = {"model": MODEL, "messages": [user("Hi")]}
            answer = await client.post("/v1/chat/completions", json=asked, headers={"x-octavo-off": off})
            assert answer.content == body
        (conversation,) = await engine.store.conversations.list()
        assert conversation.messages == 2


async def test_headers_that_are_no_ascii_go_on_as_they_came(make_engine: MakeEngine) -> None:
    seen: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.extend(value for name, value in request.headers.raw if name.lower() == b"user-agent")
        return streaming([openai_stream("Fine.")])(request)

    engine = await make_engine(provider=None)
    async with serving(engine, answer) as (_, url), httpx2.AsyncClient(base_url=url) as client:
        headers = {"user-agent": "caf\xe9".encode("latin-1"), "content-type": b"application/json"}
        body = json.dumps({"model": MODEL, "messages": [user("Hi")]}).encode()
        sent = await client.post("/v1/chat/completions", content=body, headers=headers)  # type: ignore[arg-type]
        assert sent.status_code == 200
    assert seen == [b"caf\xe9"]


# Whatever a provider answers


def nonsense(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON, with the words of the formats in it more often than others."""
    words = (
        "content",
        "text",
        "role",
        "assistant",
        "tool_calls",
        "function",
        "index",
        "type",
        "usage",
        "delta",
    )
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return (None, True, chance.randint(-5, 5), 1e300, "", chance.choice(words))[kind]
    if kind < 7:
        return [nonsense(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return {chance.choice(words): nonsense(chance, depth + 1) for _ in range(chance.randint(0, 4))}


def spoiled(value: Any, chance: random.Random) -> Any:
    """The value with something else in some place."""
    if chance.random() < 0.15:
        return nonsense(chance)
    if isinstance(value, dict):
        return {key: spoiled(inner, chance) for key, inner in value.items()}
    if isinstance(value, list):
        return [spoiled(inner, chance) for inner in value]
    return value


@pytest.mark.parametrize(
    ("dialect", "write"),
    [(OPENAI, openai_stream), (ANTHROPIC, anthropic_stream)],
    ids=["openai", "anthropic"],
)
def test_no_answer_is_so_odd_that_reading_it_fails(dialect: Dialect, write: Callable[[str], bytes]) -> None:
    events = [
        json.loads(line[6:])
        for line in write("Hi").splitlines()
        if line.startswith(b"data: ") and b"[DONE]" not in line
    ]
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    more = {"choices": [{"index": 0, "delta": {"tool_calls": [call], "refusal": "no", "reasoning": "hm"}}]}
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    block = {"type": "content_block_start", "index": 1, "content_block": tool}
    part = {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": "["},
    }
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "Hi", "tool_calls": [call]}}],
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, tool],
        "usage": {"prompt_tokens": 1, "input_tokens": 2, "cache_read_input_tokens": 3},
    }
    read = 0
    for seed in range(600):
        chance = random.Random(seed)
        stream = [spoiled(one, chance) for one in [*events, more, block, part]]
        raw = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in stream)
        read += len(dialect.read_answer(raw, streamed=True).messages)
        read += len(dialect.read_answer(json.dumps(spoiled(whole, chance)).encode(), streamed=False).messages)
        dialect.read_answer(raw[: chance.randrange(len(raw))], streamed=chance.random() < 0.5)
    assert read > 50
