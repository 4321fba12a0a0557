"""Ten thousand malformed bodies: each is answered with what is wrong, none breaks anything."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings
from tests.server.kit import accounts, client_of, conversation

pytestmark = pytest.mark.anyio

BODIES = 10_000
"""For the gateway; the routes of the API, whose bodies a library checks, get a quarter of that."""
PARTS = 4
"""So that the parts can run side by side."""

GATEWAY: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "model": "gpt-4-0613",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "max_tokens": 10,
        "stream": False,
        "octavo": {"focus": "ports", "recall": False},
    },
    "/v1/messages": {
        "model": "claude-3-haiku",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c"},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "ok"}]}
                ],
            },
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    },
    "/v1/messages/count_tokens": {"model": "claude-3-haiku", "messages": [{"role": "user", "content": "Hi"}]},
}
API: dict[str, dict[str, Any]] = {
    "/api/v1/conversations": {"title": "T", "settings": {"soft": 0.8, "system": "S"}},
    "{place}/messages": {"content": [{"type": "text", "text": "Hi"}], "role": "user"},
    "{place}/turns": {"content": "Hi", "tools": [{"name": "f", "schema": {}}], "stream": False},
    "{place}/compressions": {"focus": "ports", "keep": 0.5, "stream": False},
    "{place}/context": {"tools": []},
    "/api/v1/keys": {"name": "k", "scopes": ["read"]},
    "/api/v1/import": {"messages": [{"role": "user", "content": "Hi"}]},
}
WRONG: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    1e308,
    "",
    "\x00",
    "\ud800",
    "x" * 5_000,
    [],
    {},
    [[]],
    {"": {}},
    [None],
    "null",
)


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a body."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from spots(inner, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """What stands in one place."""
    return at(value[path[0]], path[1:]) if path else value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The body with something else in one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def nested(depth: int, *, lists: bool) -> Any:
    """A value that deep."""
    value: Any = 1
    for _ in range(depth):
        value = [value] if lists else {"a": value}
    return value


def malformed(chance: random.Random, sound: dict[str, Any]) -> bytes:
    """Break a body: its types, its nesting, its size, its encoding, its very syntax."""
    way = chance.randrange(10)
    if way < 4:
        body: Any = sound
        for _ in range(chance.randint(1, 3)):
            body = changed(body, chance.choice(list(spots(body))), chance.choice(WRONG))
        return json.dumps(body).encode()
    text = json.dumps(sound).encode()
    if way == 8:
        # Inside of what is looked at, where it meets every reader there is.
        deep = nested(chance.choice((50, 95, 99, 101, 150, 300)), lists=chance.random() < 0.5)
        return json.dumps(changed(sound, chance.choice(list(spots(sound))[1:]), deep)).encode()
    if way == 9:
        lists = [path for path in spots(sound) if path and isinstance(at(sound, path), list)]
        if lists:
            path = chance.choice(lists)
            many = at(sound, path) * chance.choice((0, 2, 100))
            return json.dumps(changed(sound, path, [*many, chance.choice(WRONG)])).encode()
    if way == 4:
        depth = chance.choice((50, 99, 101, 500, 2_000, 100_000))
        opened, closed = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
        return text[:-1] + b',"more":' + opened * depth + b"1" + closed * depth + b"}"
    if way == 5:
        return text[: chance.randrange(len(text))]
    if way == 6:
        return text.decode().encode(chance.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7")))
    noise = bytearray(text)
    for _ in range(chance.randint(1, 20)):
        noise[chance.randrange(len(noise))] = chance.randrange(256)
    return bytes(noise)


def patient(request: httpx2.Request) -> httpx2.Response:
    """A provider that has an answer to everything."""
    choices = [{"message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}]
    body = {"choices": choices, "content": [{"type": "text", "text": "Fine."}], "stop_reason": "end_turn"}
    counted = {"input_tokens": 7}
    answer = json.dumps(counted if request.url.path.endswith("count_tokens") else body).encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield answer

    return httpx2.Response(200, headers={"content-type": "application/json"}, content=pieces())


@pytest.mark.parametrize("part", range(PARTS))
async def test_no_malformed_body_breaks_the_gateway(engine: Engine, part: int) -> None:
    await bombard(engine, GATEWAY, BODIES // PARTS, random.Random(part))


async def test_no_malformed_body_breaks_the_api(engine: Engine) -> None:
    await bombard(engine, API, BODIES // 4, random.Random(PARTS))


async def bombard(
    engine: Engine, sound: dict[str, dict[str, Any]], bodies: int, chance: random.Random
) -> None:
    """Send malformed bodies; each is refused with a message or taken, and the server lives on."""
    seen: Counter[int] = Counter()
    told = ServerSettings(providers=accounts("http://provider"), limits=Limits(rate=1e9, burst=10**9))
    app = create_app(engine, told, transport=httpx2.MockTransport(patient))
    async with client_of(app) as client:
        place = await conversation(client)
        for number in range(bodies):
            path, good = chance.choice(list(sound.items()))
            body = malformed(chance, good)
            headers = {"content-type": chance.choice(["application/json"] * 8 + ["text/plain", "nonsense"])}
            answer = await client.post(path.format(place=place), content=body, headers=headers)
            seen[answer.status_code] += 1
            assert answer.status_code < 500, (number, path, body[:2_000], answer.text)
            if answer.status_code >= 400:
                assert answer.json()["error"]["message"], (number, path, body[:2_000])
                assert "Traceback" not in answer.text
        assert (await client.get("/ready")).status_code == 200
    await app.state.octavo.close()
    assert sum(count for status, count in seen.items() if status >= 400) > bodies // 2
    assert await engine.store.check() == ()
