"""Shows what happens in a turn, event by event: words while one waits, Markdown as it arrives, outcomes as they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import assert_never

from octavo.cli.lines import Line
from octavo.cli.terminal.markdown_stream import MarkdownStream
from octavo.cli.terminal.screen import Screen
from octavo.cli.terminal.view import answer_lines, changed_lines, outcome_lines, spinner
from octavo.core.reply import Retrying
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    AnswerText,
    CompressionEnded,
    CompressionStarted,
    ContextShrunk,
    Event,
    Failed,
    MessageStored,
    Preparing,
    Recalled,
    Rejected,
    Repaired,
    Sending,
    SummaryText,
    Waiting,
)

PAUSE = 0.08
"""Seconds between two drawings: fast enough to look alive, slow enough for a thin line."""


class TurnView:
    """One turn on the screen."""

    def __init__(
        self, screen: Screen, status: Callable[[], Line], *, complaints: Screen | None = None
    ) -> None:
        """`complaints` is where failures are told; by default on the screen."""
        self._screen = screen
        self._complaints = complaints or screen
        self._status = status
        self._flow = MarkdownStream()
        self._words = ""
        self._written = 0
        self._frame = 0
        self._next = 0.0
        self.failed = False
        """Whether the last thing that ended did so badly: an answer makes up for a compression that failed."""

    def take(self, event: Event) -> None:
        """Show an event."""
        match event:
            case CompressionStarted():
                self._wait(f"Compressing {event.messages:,} messages ({event.tokens:,} tokens)")
            case Waiting():
                self._wait("Waiting for the compression in the background to end")
            case SummaryText():
                self._written += len(event.text)
            case CompressionEnded():
                self._wait("")
                self._end(outcome_lines(event.outcome), failed=isinstance(event.outcome, Failed | Rejected))
            case Repaired() | ContextShrunk() | Recalled() | Retrying():
                self._screen.show(changed_lines(event))
            case Sending():
                self._wait(f"Waiting for {event.usage.model}")
            case AnswerText():
                self._hear(event)
            case Answered() | AnswerFailed():
                self.stop()
                self._end(answer_lines(event), failed=isinstance(event, AnswerFailed))
            case MessageStored() | Preparing():
                pass
            case other:
                assert_never(other)

    def _end(self, lines: Iterable[Line], *, failed: bool) -> None:
        """Say how something ended."""
        self.failed = failed
        (self._complaints if failed else self._screen).show(lines)

    def _wait(self, words: str) -> None:
        """Say what is being waited for; nothing when it is over."""
        self._words, self._written = words, 0

    def _hear(self, event: AnswerText) -> None:
        if event.kind == "reasoning":
            self._words = "Thinking"
            return
        self._wait("")
        if not self._screen.terminal:
            self._screen.pour(event.text)
            return
        for block in self._flow.feed(event.text):
            self._screen.say(block)
        self.draw()

    def stop(self) -> None:
        """Print what has arrived and is not printed yet."""
        self._words = ""
        for block in self._flow.end():
            self._screen.say(block)
        self._screen.clear()
        self._screen.hush()

    def tick(self) -> None:
        """Move the spinner on."""
        self._frame += 1
        if self._words:
            self.draw(at_once=True)

    def draw(self, *, at_once: bool = False) -> None:
        """Draw what is unfinished, and the status line below it; not more often than the eye needs."""
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + PAUSE
        screen = self._screen
        rows = screen.render(self._flow.rest) if self._flow.rest.strip() and screen.terminal else []
        if self._words:
            told = f" · {self._written:,} characters written" if self._written else ""
            rows += screen.paint([spinner(self._frame, f"{self._words} …{told}", screen.columns)])
        screen.draw([*rows, *screen.paint([self._status()])])
