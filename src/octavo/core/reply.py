"""What a model is asked and what it answers: the request, the message, why it stopped, and what was billed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octavo.core.messages import Message
from octavo.core.tools import Tool

Finish = Literal["stop", "length", "tool_calls", "refusal", "cancelled"]
MOST_TOKENS = 2**31 - 1
"""More than any request holds, and the largest number that every database keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a provider is asked: messages that obey its rules, as they are sent."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    max_output: int | None = None
    temperature: float | None = None
    stable: int = 0
    """How many messages at the front will be the same next time: where a cache marker belongs."""
    snapshot: int = 0
    """How many messages at the front end with the snapshot; 0: there is none. A second cache marker belongs there."""
    cache_key: str = ""
    """What requests with the same beginning have in common, so that a provider sends them to the same cache."""
    options: str = "{}"
    """Further parameters of the provider's own, as a JSON object in text; they win over ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider reported them; a number that cannot be is 0, since a report is no reason to fail."""

    input: int = 0
    """The whole prompt, cached or not."""
    output: int = 0
    cached: int = 0
    """The part of `input` that came from the provider's cache."""
    reasoning: int = 0
    """The part of `output` that was hidden thinking and is not sent back."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached", "reasoning"):
            if not 0 <= getattr(self, name) <= MOST_TOKENS:
                object.__setattr__(self, name, 0)
        for part, whole in (("cached", self.input), ("reasoning", self.output)):
            if getattr(self, part) > whole:
                object.__setattr__(self, part, whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A finished answer."""

    message: Message
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it streams."""

    text: str
    kind: Literal["text", "reasoning"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """The service failed before it had said anything, and is asked again."""

    attempt: int
    """The number of the try that follows: 2 is the second."""
    attempts: int
    """How many there are at most."""
    wait: float
    """Seconds until then."""
    reason: str
    """What went wrong."""
    limited: bool = False
    """The service was asked too often, or for too much at once."""


Chunk = Delta | Reply | Retrying
"""A stream is any number of deltas, then the whole reply; before the first delta it may say that it tries again."""
