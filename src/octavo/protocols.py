"""The seams of Octavo: what a provider and a summariser must offer, so that real ones and fakes are alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol, runtime_checkable

from octavo.core.protocol import Rules
from octavo.core.reply import Chunk, Request
from octavo.core.summary import Narrative, SummaryJob


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


@runtime_checkable
class Counting(Protocol):
    """A provider that can be asked what a request would cost, without answering it."""

    async def count_request(self, request: Request) -> int | None:
        """Give the tokens it would bill, tools and all; None where it offers no such count.

        Raises a `ProviderError` when it could not be asked. It is not tried again: nobody waits for it.
        """


@runtime_checkable
class Summariser(Protocol):
    """Writes the narrative of a snapshot."""

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        """Write a narrative; `tell` is given its text as it streams; an empty piece says that it begins anew.

        Bad output is tried again more tersely, then given up: the narrative is empty and names the problems. A
        `ProviderError` means the service failed; cancelling the task stops every call at once.
        """


@runtime_checkable
class Continuing(Protocol):
    """A summariser that may be asked at the end of the live request, so that a provider's prompt cache is hit."""

    def continues(self, model: str) -> bool:
        """Tell whether it asks this model, the one that chats."""
