"""The description of the interface is complete and true: schemathesis reads it and tries to catch the server lying."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from octavo.engine.engine import Engine
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings
from octavo.server.http_protocol import TimedHttpProtocol
from tests.gateway.strict_responses import Output, StrictResponses
from tests.server.fake import Provider
from tests.server.kit import accounts, listening

pytestmark = pytest.mark.anyio

CONFIG = Path(__file__).with_name("schemathesis.toml")
HASTY = Limits(stream_seconds=0.05, ping_seconds=0.02, rate=1e6, burst=1_000_000)
"""Streams that never end would keep the test waiting, and a thousand requests a second are its purpose."""


@asynccontextmanager
async def server(engine: Engine) -> AsyncIterator[str]:
    lenient = StrictResponses(say=lambda _: Output("Yes."), strict=False)
    both = Starlette(routes=[*lenient.app.routes, *Provider(window=10**9).app.routes])
    async with listening(both) as upstream:
        told = ServerSettings(providers=accounts(upstream), limits=HASTY)
        async with listening(create_app(engine, told), http=TimedHttpProtocol) as url:
            yield url


async def schemathesis(url: str, config: Path, *options: str) -> None:
    """Run schemathesis; fail with what it says about failures."""
    command = ["--config-file", str(config), "run", f"{url}/openapi.json", "--workers", "1", "--no-color"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from schemathesis.cli import schemathesis; schemathesis()",
        *command,
        *options,
        cwd=config.parent,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()[:20_000]
    assert b"Test cases:" in said


async def test_no_request_that_can_be_made_from_the_description_finds_a_lie(
    engine: Engine, tmp_path: Path
) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.read_text("utf-8"), "utf-8")
    async with server(engine) as url:
        await schemathesis(url, config)


async def test_nor_does_one_that_knows_a_conversation_with_a_snapshot(engine: Engine, tmp_path: Path) -> None:
    async with server(engine) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        conversation = (await client.post("/api/v1/conversations", json={"title": "Seeded"})).json()["id"]
        place = f"/api/v1/conversations/{conversation}"
        for number in range(4):
            await client.post(
                f"{place}/turns", json={"content": f"Question {number}, port {8000 + number}? " * 20}
            )
        turn = (await client.get(f"{place}/turns")).json()["tasks"][-1]["id"]
        await client.post(f"{place}/compressions", json={"keep": 0})
        snapshot = (await client.get(f"{place}/snapshots")).json()["serving"]
        assert snapshot
        message = (await client.get(f"{place}/messages")).json()["messages"][2]["id"]
        await client.post(f"{place}/pins", json={"message": message})
        job = (await client.get(f"{place}/jobs")).json()["jobs"][0]["id"]
        known = {
            "conversation": conversation,
            "snapshot": snapshot,
            "message": message,
            "task": turn,
            "job": job,
            "part": "0",
        }
        config = tmp_path / "schemathesis.toml"
        given = "".join(f'"path.{name}" = "{value}"\n' for name, value in known.items())
        config.write_text(CONFIG.read_text("utf-8") + f"\n[parameters]\n{given}", "utf-8")
        below = [
            "--include-path-regex",
            "^/api/v1/conversations/.conversation./",
            "--exclude-method",
            "DELETE",
        ]
        deep = [*below, "--phases", "fuzzing", "--max-examples", "8"]
        await schemathesis(url, config, *deep)


def test_every_route_is_described(app: FastAPI) -> None:
    described = app.openapi()["paths"]
    assert len(described) >= 50
    for path, operations in described.items():
        for method, operation in operations.items():
            assert operation.get("summary"), (method, path)
            assert operation.get("description"), (method, path)
            assert "default" in operation["responses"], (method, path)
