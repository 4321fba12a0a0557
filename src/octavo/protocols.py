"""The seams of Octavo: what a provider must offer, so that real ones and fakes are alike to the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from octavo.core.protocol import Rules
from octavo.core.reply import Chunk, Request


@runtime_checkable
class Provider(Protocol):
    """A service, or a program in this process, that answers requests."""

    @property
    def name(self) -> str:
        """What people call it: `openai`, `anthropic`, ..."""

    @property
    def rules(self) -> Rules:
        """What it demands of the messages it is sent."""

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer with deltas, then the whole reply; raise a `ProviderError` when it cannot.

        Closing the iterator stops the request at once.
        """

    async def close(self) -> None:
        """Give back what it holds: connections, a loaded model."""
