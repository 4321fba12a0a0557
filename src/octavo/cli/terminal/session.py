"""A session: read, obey or send, show; until one leaves.

A conversation is made with its first message. Everything is stored before it is answered; what is stopped stays, and
what fails is said in a sentence and ends nothing but itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo.cli.lines import Line, clean, line, many
from octavo.cli.setup import short
from octavo.cli.terminal.attached import (
    SHOWN,
    as_attachment,
    mentioned,
    message_of,
    read_attachment,
    run_command,
)
from octavo.cli.terminal.commands import is_command, obey
from octavo.cli.terminal.keyboard import Ended, Interrupted, Keyboard, Typed
from octavo.cli.terminal.placeholders import InputDraft
from octavo.cli.terminal.screen import Screen
from octavo.cli.terminal.turn import TurnView
from octavo.cli.terminal.view import message_lines, outcome_lines, status
from octavo.core.json_values import Json
from octavo.core.messages import Attachment
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import CompressionEnded, ContextUsage, Event, Preparing, Sending
from octavo.engine.settings import check_setting
from octavo.engine.turn import is_unfinished
from octavo.errors import NotFound, OctavoError, UsageError

if TYPE_CHECKING:
    from octavo.meters.meter import Meter
    from octavo.store.values import Conversation

TICK = 0.1
"""Seconds between two frames of the spinner."""
TITLE = 60
"""Characters of the first message that become the title."""
REPLAYED = 4
"""Messages shown when a conversation is opened."""
LOOK = 0.5
"""Seconds between two looks at an answer that somebody else writes."""
BROKEN_OFF = " /continue goes on with it, /retry asks again."
COMPLETED = 200
"""Conversations offered for completion."""


@dataclass(slots=True)
class Session:
    """One run of the terminal chat."""

    engine: Engine
    screen: Screen
    keyboard: Keyboard
    complaints: Screen | None = None
    """Where failures are told; by default on the screen."""
    failed: bool = False
    """Whether anything failed."""
    chat: Chat | None = None
    wanted: dict[str, Json] = field(default_factory=dict)
    """Settings for the conversation that is made with the first message."""
    usual: dict[str, Json] = field(default_factory=dict)
    """What was said when the session began: it holds for every conversation that is begun in it."""
    attached: list[Attachment] = field(default_factory=list)
    """What commands printed: it goes with the next message."""
    title: str = ""
    usage: ContextUsage | None = None
    model: str = ""
    meter: Meter | None = None
    known: tuple[Conversation, ...] = ()
    background: str = ""
    leaving: bool = False
    _warned: bool = False
    _asides: set[asyncio.Task[None]] = field(default_factory=set)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no answer is being written: what is said aside never stands in the middle of one."""
    _typed: tuple[str, int] = ("", 0)

    # The path of a session

    async def run(self) -> None:
        """Read and answer until one leaves."""
        self._quiet.set()
        await self.refresh()
        if self.chat is not None:
            await self.open_chat(self.chat.id)
        while not self.leaving:
            match await self.keyboard.read():
                case Ended():
                    self.leaving = True
                case Interrupted(cleared):
                    self._interrupted(warned=self._warned and not cleared)
                case Typed(draft):
                    self._warned = False
                    await self._handle(draft)
        for task in self._asides:
            task.cancel()

    def _interrupted(self, *, warned: bool) -> None:
        self.leaving, self._warned = warned, True
        if not self.leaving:
            self.show([line(("faint", "Ctrl-C again leaves."))])

    async def _handle(self, draft: InputDraft) -> None:
        if not draft.expanded.strip():
            return
        try:
            if is_command(draft.text):
                await obey(self, draft.expanded)
                await self.refresh()
            else:
                await self._say(draft)
        except OctavoError as error:
            self.failed = True
            (self.complaints or self.screen).show([line(("bad", clean(" ".join(str(error).split()))))])

    async def _say(self, draft: InputDraft) -> None:
        text = draft.expanded
        if draft.text.startswith("!") and draft.text[1:].strip():
            await self._run(draft.text[1:].strip())
            return
        if draft.text.lstrip().startswith("//"):
            text = text.lstrip().removeprefix("/")
        files = [read_attachment(path) for path in mentioned(draft.text)]
        for file in files:
            self.show([line(("faint", f"attached {clean(file.name)}, {file.size:,} bytes"))])
        chat = self.chat or await self._create(text)
        attached, self.attached = [*self.attached, *files], []
        await self.follow(chat.turn(message_of(text, attached) if attached else text))

    async def _run(self, command: str) -> None:
        """Run a command, show what it prints, and keep it for the next message."""
        printed, code = await run_command(command)
        lines = printed.splitlines()
        self.show(line(clean(one)) for one in lines[:SHOWN])
        if len(lines) > SHOWN:
            self.show([line(("faint", f"… {len(lines) - SHOWN:,} more lines"))])
        ended = f"ended with {code}; " if code else ""
        if printed:
            self.attached.append(as_attachment(f"$ {command}", printed.encode()))
            ended += f"its output ({many(len(lines), 'line')}) goes with your next message"
        self.show([line(("faint", ended or "printed nothing"))])

    async def _create(self, text: str) -> Chat:
        first = " ".join(clean(text).split())
        title = self.title or (first if len(first) <= TITLE else first[: TITLE - 1].rstrip() + "…")
        made = await self.engine.create(title, provisional=not self.title)
        if self.wanted:
            await made.set(**self.wanted)
        self.chat, self.title, self.wanted = made, title, {}
        return made

    # What commands use

    @property
    def columns(self) -> int:
        return self.screen.columns

    def show(self, lines: Iterable[Line]) -> None:
        self.screen.show(lines)

    def need_chat(self) -> Chat:
        if self.chat is None:
            raise NotFound(
                "the conversation is empty: write a message first, or open one: /conversations NAME"
            )
        return self.chat

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Show what happens until it is over, or Ctrl-C stops it."""
        turn = TurnView(self.screen, self.status, complaints=self.complaints)
        done = await self._watched(self._consume(events, turn), turn)
        turn.stop()
        self.failed = self.failed or turn.failed
        if not done:
            kept = " What was said is kept; /retry asks again, /continue goes on with it."
            self.show([line(("near", "Stopped."), ("faint", kept))])
        await self.refresh()

    async def edit(self, text: str) -> str | None:
        """Let a text be changed in the input; None when that was given up."""
        match await self.keyboard.read(text):
            case Typed(draft) if draft.expanded.strip():
                return draft.expanded
            case _:
                return None

    async def settings(self) -> Mapping[str, Json]:
        return {**await self.engine.settings.of(self.chat.id if self.chat else None), **self.wanted}

    async def configure(self, settings: Mapping[str, Json]) -> None:
        """Change settings of this conversation, also before it is made."""
        if self.chat is not None:
            await self.chat.set(**settings)
        else:
            for name, value in settings.items():
                check_setting(name, value)
            self.wanted |= settings
        await self.refresh()

    async def open_chat(self, id: str) -> None:
        """Go to a conversation, and show where it stands."""
        self.chat = await self.engine.chat(id)
        await self._await_answer(id)
        await self.refresh()
        branch = await self.chat.branch()
        name = clean(self.title) or "(untitled)"
        self.show([line(("strong", name), ("faint", f"  {short(id)} · {many(len(branch), 'message')}"))])
        self.show(message_lines(node, self.columns) for node in branch[-REPLAYED:])
        if branch and is_unfinished(branch[-1]):
            self.show([line(("near", "The last answer was interrupted."), ("faint", BROKEN_OFF))])

    async def _await_answer(self, id: str) -> None:
        """Wait for an answer that is being written: until it is whole, or it is clear that nobody writes it."""
        from octavo.store.answers import LEASE

        answers, looks = self.engine.store.answers, 0
        while await answers.being_written(id) and looks * LOOK < LEASE + LOOK:
            if looks == 0:
                self.show(
                    [line(("faint", "An answer is being written, or was a moment ago; waiting for it …"))]
                )
            await answers.close(id)
            await asyncio.sleep(LOOK)
            looks += 1

    async def leave_chat(self, title: str) -> None:
        """Leave a conversation for one that is not made yet; the model stays."""
        self.wanted = {**self.usual, "model": self.model}
        self.chat, self.title, self.usage = None, title, None
        await self.refresh()

    # The meter

    def status(self) -> Line:
        """Draw the status line as things are now."""
        return status(
            self.usage,
            model=self.model,
            columns=self.columns,
            typed=self._count_typed(),
            background=self.background,
            title=self.title,
        )

    def _count_typed(self) -> int:
        """Count what stands in the input, as it would be sent; once for each text."""
        pending = self.keyboard.pending
        if self.meter is None or not pending.strip() or is_command(pending):
            return 0
        if self._typed[0] != pending:
            self._typed = (pending, self.meter.count_text(pending))
        return self._typed[1]

    async def refresh(self) -> None:
        """Read the meter again."""
        self.known = await self.engine.conversations(limit=COMPLETED)
        self.model = str((await self.settings()).get("model") or "")
        self.meter = await self.engine.models.meter(self.model) if self.model else None
        self.usage = None
        if self.chat is not None:
            self.title = (await self.chat.info()).title
            with suppress(UsageError):  # an empty conversation, or no model: there is nothing to measure
                self.usage = await self.chat.usage()

    # Running something while the keyboard is watched

    async def _consume(self, events: AsyncIterator[Event], turn: TurnView) -> None:
        # Nothing is awaited between two events, so a cancellation always meets the engine, which keeps what was said.
        async for event in events:
            if isinstance(event, Sending):
                self.usage = event.usage
            turn.take(event)

    async def _watched(self, work: Coroutine[Any, Any, None], turn: TurnView) -> bool:
        """Run something; False when Ctrl-C stopped it. A second Ctrl-C leaves."""
        self._quiet.clear()
        task = asyncio.create_task(work)
        presses = 0

        def stop() -> None:
            nonlocal presses
            presses += 1
            self.leaving = self.leaving or presses > 1
            task.cancel()

        with self.keyboard.watch(stop):
            ticking = asyncio.create_task(_tick(turn))
            try:
                await asyncio.wait([task])
            finally:
                ticking.cancel()
                task.cancel()
                await asyncio.wait([ticking, task])
                turn.stop()
                self._quiet.set()
        self._warned = task.cancelled()
        if not task.cancelled():
            task.result()
        return not task.cancelled()

    # What happens in the background

    def overhear(self, conversation: str, event: Event) -> None:
        """Take what the engine tells of compressions that nobody waits for."""
        if self.chat is None or conversation != self.chat.id:
            return
        match event:
            case Preparing():
                self.background = "compressing in the background"
            case CompressionEnded(outcome):
                self.background = ""
                self._later(self._notify(outcome_lines(outcome)))

    def murmur(self, words: str) -> None:
        """Take a warning that some part of the program wrote to its log."""
        self._later(self._workers([line(("faint", clean(words)))]))

    async def _notify(self, lines: list[Line]) -> None:
        """Tell of a compression, unless that was switched off."""
        await self.refresh()
        if (await self.settings()).get("notifications") is not False:
            await self._workers(lines)

    async def _workers(self, lines: list[Line]) -> None:
        """Say something while the input may be open."""
        await self._quiet.wait()
        await self.keyboard.aside(lambda: self.show(lines))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)


class _Murmurs(logging.Handler):
    """Hands warnings on; a log line in the middle of a drawing would tear it."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record.getMessage())


@contextmanager
def overheard(hear: Callable[[str], None]) -> Iterator[None]:
    """Have the warnings of this program told to somebody instead of written to the terminal."""
    log, handler = logging.getLogger("octavo"), _Murmurs(hear)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


async def _tick(turn: TurnView) -> None:
    while True:
        turn.tick()
        await asyncio.sleep(TICK)
