"""The unit that counts are stored in: a vocabulary, a frame and a rule for media, and what a message costs in it.

A count is a function of the message and the unit alone. Models that share a unit share the stored counts; another
unit has another name, and so has a unit whose vocabulary had to be replaced by a guess.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from octavo.core.tools import Tool
from octavo.core.transcript import describe
from octavo.core.wire.media import as_picture, file_text, main_type, type_by_ending, words_for
from octavo.errors import BadInput
from octavo.meters.estimate import CAUTION, estimate
from octavo.meters.frames import Frame, count_arguments, count_definitions
from octavo.meters.images import MEDIA, count_file, count_image
from octavo.meters.tokenizers import FAILURES, Tokenizer

log = logging.getLogger(__name__)

BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{512,}")
"""Encoded content inside a part nobody here understands: a provider does not read it as text."""
RESULT_KEY = 1
"""The word under which Gemini is given a tool's answer."""
FRAME = "frame"
"""The kind of what a message costs beyond its parts."""


@dataclass(frozen=True, slots=True)
class TokenTally:
    """What messages hold in local measure; tallies add up."""

    tokens: int = 0
    messages: int = 0
    calls: int = 0
    guessed: int = 0
    """How many of the tokens were guessed rather than counted."""

    def __add__(self, other: TokenTally) -> TokenTally:
        return TokenTally(
            self.tokens + other.tokens,
            self.messages + other.messages,
            self.calls + other.calls,
            self.guessed + other.guessed,
        )

    def __sub__(self, other: TokenTally) -> TokenTally:
        return TokenTally(
            self.tokens - other.tokens,
            self.messages - other.messages,
            self.calls - other.calls,
            self.guessed - other.guessed,
        )


def total(tallies: Iterable[TokenTally]) -> TokenTally:
    """Add tallies up."""
    tokens = messages = calls = guessed = 0
    for tally in tallies:
        tokens += tally.tokens
        messages += tally.messages
        calls += tally.calls
        guessed += tally.guessed
    return TokenTally(tokens, messages, calls, guessed)


class _Guard:
    """Counts texts for one message; when the counter fails it guesses, with caution, and remembers how much."""

    __slots__ = ("_count", "guessed")

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._count = tokenizer.count
        self.guessed = 0

    def __call__(self, text: str) -> int:
        try:
            return self._count(text)
        except FAILURES as problem:
            if not isinstance(text, str):
                raise BadInput("text", f"expected text, got {type(text).__name__}") from problem
            log.warning("counting failed, estimating instead: %r", problem)
            guess = math.ceil(estimate(text) * CAUTION)
            self.guessed += guess
            return guess


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUnit:
    """How one family of models counts."""

    tokenizer: Tokenizer
    frame: Frame
    media: str = ""
    """The name of the rule for pictures, pages and sound."""
    vision: bool = True
    name: str = field(init=False)
    """What counts are stored under."""

    def __post_init__(self) -> None:
        name = "/".join((self.tokenizer.name, self.frame.name, self.media if self.vision else "blind"))
        object.__setattr__(self, "name", name)

    def text(self, text: str) -> int:
        """Count a text by itself."""
        return _Guard(self.tokenizer)(text)

    def tally(self, message: Message) -> TokenTally:
        """Measure a message."""
        if not isinstance(message, Message):
            raise BadInput("message", f"expected a message, got {type(message).__name__}")
        count = _Guard(self.tokenizer)
        tokens = self._frame(message, count)
        for part in message.parts:
            tokens += count(part.text) if type(part) is Text else self._part(part, count)
        guessed = count.guessed if self.tokenizer.exact else tokens
        messages, calls = self.shape(message)
        return TokenTally(tokens, messages, calls, guessed)

    def shape(self, message: Message) -> tuple[int, int]:
        """Count the messages a provider sees in this one, and the tool calls."""
        if message.role == "system" and self.frame.system is not None:
            return 0, 0
        if message.role == "user":
            return 1, 0
        calls = results = 0
        for part in message.parts:
            calls += type(part) is ToolCall
            results += type(part) is ToolResult
        if not self.frame.results_apart or not results:
            return 1, calls
        return results + (results < len(message.parts)), calls

    def by_part(self, message: Message) -> Iterator[tuple[str, int]]:
        """Give the cost of each part by its kind, and that of the frame; they add up to the message's."""
        count = _Guard(self.tokenizer)
        yield FRAME, self._frame(message, count)
        for part in message.parts:
            yield _kind(part), self._part(part, count)

    def tools(self, tools: Iterable[Tool]) -> TokenTally:
        """Measure tool definitions."""
        count = _Guard(self.tokenizer)
        tokens = count_definitions(tuple(tools), self.frame, count)
        return TokenTally(tokens, guessed=count.guessed if self.tokenizer.exact else tokens)

    def _frame(self, message: Message, count: _Guard) -> int:
        if message.role == "system" and self.frame.system is not None:
            return self.frame.system
        speaker = self.frame.speaker
        named = speaker + count(message.name) if message.name and speaker is not None else 0
        return named + self.frame.message * self.shape(message)[0]

    def _part(self, part: Part, count: _Guard) -> int:
        match part:
            case Text():
                return count(part.text)
            case ToolCall():
                inputs = count_arguments(part.input, self.frame, count)
                return self.frame.call + count(part.name) + inputs
            case ToolResult():
                return self._result(part, count)
            case Image():
                return self._image(part, count)
            case Attachment():
                return self._file(part, count)
            case Reasoning():
                return count(part.text) if self.frame.thinks and self._knows(part) else 0
            case Opaque():
                return count(BLOB.sub("", part.wire.fields)) if self._knows(part) else 0
        raise BadInput("message.parts", f"expected a part, got {type(part).__name__}")

    def _knows(self, part: Reasoning | Opaque) -> bool:
        """Only the format that wrote such a part sends it back."""
        if part.wire is None:
            return False
        # OpenAI's models have two formats, and one way of counting.
        return part.wire.format == self.frame.format or (part.wire.format, self.frame.format) == (
            "responses",
            "openai",
        )

    def _result(self, result: ToolResult, count: _Guard) -> int:
        named = count(result.name) + RESULT_KEY if self.frame.arguments == "strings" else 0
        return named + sum(self._part(piece, count) for piece in result.content)

    def _image(self, image: Image, count: _Guard) -> int:
        return count_image(self.media, image) if self.vision else count(describe(image))

    def _file(self, file: Attachment, count: _Guard) -> int:
        """Count a file as what the model is given of it: its content, or one line that names it."""
        if file.source and (picture := as_picture(file)) is not None:
            return self._image(picture, count)
        if self._is_read(file) and file_text(file) is None:
            media_type = main_type(file.media_type) or type_by_ending(file.source)
            cost = count_file(self.media, file, media_type)
            if cost is not None:
                return cost
        return count(words_for(file))

    def _is_read(self, file: Attachment) -> bool:
        return file.source.startswith("data:") or (MEDIA[self.media].fetches and "://" in file.source)


def _kind(part: Part) -> str:
    match part:
        case Text():
            return "text"
        case Reasoning():
            return "reasoning"
        case ToolCall():
            return "tool call"
        case ToolResult():
            return "tool result"
        case Image():
            return "image"
        case Attachment():
            return "attachment"
        case Opaque():
            return "other"
