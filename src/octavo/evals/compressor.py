"""What every compressor is given and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from octavo.core.messages import Message
from octavo.errors import OctavoError

Tell = Callable[[str, int, int], None]
"""Says what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """What a compressor made."""

    messages: tuple[Message, ...] = ()
    wrong: tuple[str, ...] = ()
    """Why there is nothing, or nothing that can be read."""
    price: float = 0.0
    """US dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionJob:
    """What a compressor is given."""

    messages: tuple[Message, ...]
    budget: int
    """Tokens of the whole result, system prompt included."""
    pins: tuple[str, ...] = ()
    """Texts that must come through; a compressor that cannot pin may ignore them."""
    thread: str = ""
    """Jobs of one thread are about one conversation, for compressors that remember it."""
    asked: bool = False
    """Whether the last message is a question about the others; a compressor that remembers them compressed them before
    it."""


class Compressor(Protocol):
    """Makes messages fit."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def remembers(self) -> bool:
        """Whether it keeps the originals itself: each round is then given all of them."""

    async def compress(self, job: CompressionJob) -> CompressionResult:
        """Give messages within the budget that stand for those of the job."""


async def attempt(compressor: Compressor, job: CompressionJob) -> CompressionResult:
    """Run a compressor; if it fails, the result is empty and says why."""
    try:
        return await compressor.compress(job)
    except OctavoError as error:
        return CompressionResult(wrong=(f"it failed: {error}",))
