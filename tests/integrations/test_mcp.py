"""The MCP server, asked by the official client library: over stdio, over HTTP, and with wrong arguments and keys."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from octavo.engine.engine import Engine
from octavo.integrations.memory import MOST, USUAL, Memory
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.integrations.kit import log
from tests.server.fake import tokens
from tests.server.kit import listening

pytestmark = pytest.mark.anyio
TOOLS = ["recall", "expand", "budget", "receipt", "pin", "unpin", "compress"]


async def talk(engine: Engine, owner: str = "", turns: int = 40) -> str:
    """A conversation that is compressed once; gives its id."""
    chat = await engine.create("The plant", owner=owner, model="gpt-4-0613", summariser="none")
    for number in range(turns):
        await chat.add(f"Check part {number}.")
        await chat.add(f"{log(number)}\nPart {number} is fine.", role="assistant")
    await chat.compress()
    assert await chat.snapshots.serving() is not None
    return chat.id


def said(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@asynccontextmanager
async def over_stdio(db: Path) -> AsyncIterator[Client]:
    command = [sys.executable, "-m", "octavo", "mcp", "--db", str(db)]
    started = StdioServerParameters(command=command[0], args=command[1:], env={"PATH": os.environ["PATH"]})
    async with Client(stdio_client(started)) as client:
        yield client


async def test_an_agent_finds_over_stdio_what_was_compressed(tmp_path: Path) -> None:
    db = tmp_path / "chats.db"
    async with await Engine.open(db) as engine:
        id = await talk(engine)
    async with over_stdio(db) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        reads = [tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint]
        assert reads == TOOLS[:4]
        found = said(await client.call_tool("recall", {"query": "valve V-0031"}))
        assert "V-0031" in found
        (first, *_) = [line for line in found.splitlines() if "V-0031" in line or line.startswith("[")]
        message = first.removeprefix("[").partition("]")[0]
        whole = said(await client.call_tool("expand", {"id": message, "around": 1}))
        assert "Check part" in whole
        meter = (await client.call_tool("budget", {})).structured_content
        assert meter is not None
        assert (meter["conversation"], meter["window"], meter["compressions"]) == (id, 8_192, 1)
        paper = (await client.call_tool("receipt", {"conversation": id})).structured_content
        assert paper is not None
        assert paper["compressed"] is True
        assert paper["tokens_after"] < paper["tokens_before"]
        assert "word for word" in said(await client.call_tool("pin", {"message": message}))
        assert said(await client.call_tool("unpin", {"message": message})) == "Unpinned."
        assert "ompressed" in said(await client.call_tool("compress", {"focus": "valves"}))
        resource = await client.read_resource(f"octavo://message/{message}")
        assert message in str(resource.contents[0])
        newest = await client.read_resource(f"octavo://conversation/{id}")
        assert "Part 39 is fine." in str(newest.contents[0])
        lines = await client.read_resource(f"octavo://snapshot/{paper['snapshot']}")
        assert "valve" in str(lines.contents[0])


@asynccontextmanager
async def over_http(url: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def test_over_http_each_key_sees_its_own_and_a_reader_changes_nothing(tmp_path: Path) -> None:
    async with await Engine.open(tmp_path / "chats.db") as engine:
        keys = {
            name: (await engine.store.keys.create(name, owner=owner, scopes=[scope]))[1]
            for name, owner, scope in (
                ("ann", "ann", "write"),
                ("reader", "ann", "read"),
                ("bob", "bob", "write"),
            )
        }
        id = await talk(engine, "ann")
        node = (await engine.store.conversations.get(id)).tip
        async with listening(create_app(engine, ServerSettings(require_key=True))) as url:
            async with over_http(url, keys["ann"]) as client:
                assert "V-0031" in said(await client.call_tool("recall", {"query": "V-0031"}))
                assert "ompressed" in said(await client.call_tool("compress", {}))
            async with over_http(url, keys["reader"]) as client:
                assert "V-0031" in said(await client.call_tool("recall", {"query": "V-0031"}))
                refused = await client.call_tool("pin", {"message": node})
                assert refused.is_error
                assert "may not write" in said(refused)
            async with over_http(url, keys["bob"]) as client:
                assert said(await client.call_tool("recall", {"query": "V-0031"})) == "Nothing was found."
                for tool, arguments in (
                    ("expand", {"id": node}),
                    ("budget", {"conversation": id}),
                    ("receipt", {"conversation": id}),
                    ("pin", {"message": node}),
                    ("unpin", {"message": node}),
                    ("compress", {"conversation": id}),
                    ("recall", {"query": "valve", "conversation": id}),
                ):
                    refused = await client.call_tool(tool, arguments)
                    assert refused.is_error, tool
                    assert "there is no" in said(refused)
            async with httpx2.AsyncClient() as http:
                for headers in ({}, {"authorization": "Bearer octavo_wrong"}):
                    answer = await http.post(f"{url}/mcp", json={}, headers=headers)
                    assert answer.status_code == 401


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("recall", {}),
    ("recall", {"query": ""}),
    ("recall", {"query": "x" * 10_000}),
    ("recall", {"query": "a", "limit": -1}),
    ("recall", {"query": "a", "max_tokens": 10**9}),
    ("recall", {"query": {"$ne": 1}}),
    ("expand", {"id": "../../etc/passwd"}),
    ("expand", {"id": "0" * 32}),
    ("expand", {"id": "'; DROP TABLE message; --"}),
    ("budget", {"conversation": "last"}),
    ("pin", {"message": "0" * 32, "text": "\x00"}),
    ("compress", {"conversation": "0" * 32}),
    ("nothing", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), HOSTILE)
async def test_wrong_arguments_are_refused_in_a_sentence(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    from octavo.integrations.mcp import make_server

    async with await Engine.open(tmp_path / "chats.db") as engine:

        async def memory_of(_ctx: Any, _scope: str) -> Memory:
            return Memory(engine)

        async with Client(make_server(memory_of)) as client:
            try:
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                told = said(result)
            except Exception as error:  # noqa: BLE001  the protocol has errors of its own
                told = str(error)
        assert "Traceback" not in told
        assert 5 < len(told) < 1_000


async def test_no_answer_is_longer_than_asked_for(tmp_path: Path) -> None:
    async with await Engine.open(tmp_path / "chats.db") as engine:
        chat = await engine.create("Long", model="gpt-4o")
        node = await chat.add("The valve reads 7 bar at noon. " * 3_000)
        memory = Memory(engine)
        shown = await memory.expand(node.id)
        assert USUAL - 200 < tokens(shown) < USUAL + 50
        parts, start = [], 0
        while True:
            part = await memory.expand(node.id, start=start, max_tokens=MOST)
            body, _, more = part.rpartition("\n[characters ")
            parts.append(body or part)
            if not body:
                break
            start = int(more.rpartition("start=")[2].rstrip("]"))
        assert "".join(parts).endswith("The valve reads 7 bar at noon. " * 3_000)
        assert tokens(await memory.recall("valve noon", max_tokens=200)) < 250
        assert len(json.dumps(await memory.receipt(chat.id))) < 8 * USUAL
