"""Writes down what goes through a place: every request that asks a model, and how it was answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.server.fake import Json

ASKING = (
    "/chat/completions",
    "/messages",
    "/responses",
    ":generateContent",
    ":streamGenerateContent",
    "/embeddings",
)
"""How the addresses end that ask a model for something."""
HEAD = ("instructions", "system", "systemInstruction", "tools")
TURNS = ("messages", "input", "contents")
"""Where the dialects have what does not change, and the conversation."""
SHOWN = 300
"""How many bytes of an error are kept."""


@dataclass
class Exchange:
    """One request, and how it was answered."""

    path: str
    body: bytes
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    error: bytes = b""

    @property
    def asked(self) -> Json:
        value: Json = json.loads(self.body)
        return value


@dataclass
class Watch:
    """An application that writes down what goes to another."""

    app: ASGIApp
    seen: list[Exchange] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Addresses that do not exist there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        exchange = Exchange(scope["path"], b"")
        if scope["method"] == "POST" and scope["path"].endswith(ASKING):
            self.seen.append(exchange)

        async def reading() -> Message:
            message = await receive()
            exchange.body += message.get("body", b"")
            return message

        async def writing(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                exchange.headers = {
                    name.decode().lower(): value.decode() for name, value in message["headers"]
                }
                if exchange.status == 404:
                    self.missing.append(f"{scope['method']} {scope['path']}")
            elif exchange.status >= 400:
                exchange.error = (exchange.error + message.get("body", b""))[:SHOWN]
            await send(message)

        return await self.app(scope, reading, writing)


def pieces(body: Json) -> list[str]:
    """A request as the pieces that a prompt cache compares, from the front; cache markers are none of them."""
    turns: Any = next((body[name] for name in TURNS if name in body), [])
    found = [body[name] for name in HEAD if name in body]
    found += turns if isinstance(turns, list) else [turns]
    return [json.dumps(_unmarked(piece), sort_keys=True) for piece in found]


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(one) for name, one in value.items() if name != "cache_control"}
    return [_unmarked(one) for one in value] if isinstance(value, list) else value


def unchanged(requests: Iterable[Json]) -> float:
    """The share of all that was sent which repeats the beginning of an earlier request: what a cache could serve."""
    known: set[bytes] = set()
    total = repeated = 0
    for body in requests:
        chain, still = hashlib.sha256(), True
        for piece in pieces(body):
            chain.update(piece.encode() + b"\0")
            digest = chain.copy().digest()
            still = still and digest in known
            total += len(piece)
            repeated += len(piece) if still else 0
            known.add(digest)
    return repeated / total if total else 0.0
