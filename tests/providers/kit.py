"""What the tests of all adapters share: requests, patience for the impatient, and collecting a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter

from octavo.core.json_values import JsonObject
from octavo.core.messages import system, user
from octavo.core.reply import Delta, Reply, Request, Retrying
from octavo.core.tools import Tool
from octavo.protocols import Provider
from octavo.providers.secret import Secret
from octavo.providers.settings import WaitLimits
from tests.providers.fake import FakeService, Say, fake_service

P = TypeVar("P", bound=Provider)

KEY = Secret("sk-test-0123456789abcdef", "TEST_API_KEY")
HASTY = WaitLimits(first_wait=0.01, longest_wait=0.02, connect=5, first_byte=5, silence=5)
WEATHER = Tool(
    name="get_weather",
    description="Tells the weather.",
    schema='{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}',
)
TIME = Tool(name="get_time")


def ask(text: str, *, model: str = "gpt-4o", options: str = "{}") -> Request:
    """Make a request of one question."""
    return Request(model=model, messages=(system("Be brief."), user(text)), options=options)


@dataclass(frozen=True)
class Answer:
    """A whole stream."""

    deltas: tuple[Delta, ...]
    reply: Reply

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas if delta.kind == "text")

    @property
    def reasoning(self) -> str:
        return "".join(delta.text for delta in self.deltas if delta.kind == "reasoning")


async def collect(provider: Provider, request: Request) -> Answer:
    """Read a stream to its end; it must be deltas, none empty, then one reply, after as many tries as it took."""
    chunks = [chunk async for chunk in provider.stream(request)]
    *deltas, reply = [chunk for chunk in chunks if not isinstance(chunk, Retrying)]
    assert isinstance(reply, Reply)
    seen = tuple(delta for delta in deltas if isinstance(delta, Delta))
    assert len(seen) == len(deltas)
    assert all(delta.text for delta in seen)
    return Answer(seen, reply)


def check_type(described: Any, body: JsonObject) -> None:
    """Raise unless a body is what a library's type describes, through and through."""
    adapter = TypeAdapter[Any](described)
    _read_all(adapter.validate_python(body))


def _read_all(value: object) -> None:
    """Go through lists that are validated only while they are read."""
    if isinstance(value, dict):
        for inner in value.values():
            _read_all(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for inner in value:
            _read_all(inner)


@asynccontextmanager
async def served(open_at: Callable[[str], P], *script: Say) -> AsyncIterator[tuple[P, FakeService]]:
    """Run a fake service with a provider that speaks to it; both are closed at the end."""
    async with fake_service(*script) as service:
        provider = open_at(service.url)
        try:
            yield provider, service
        finally:
            await provider.close()
