"""Where a session's words come from: a line editor on a terminal, plain lines anywhere else.

What is typed while an answer arrives is not lost: it waits, in order, for the next prompt. A long paste is one
placeholder that no key can break.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TextIO, TypeAlias

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none, run_in_terminal
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style as Colours

from octavo.cli.lines import Line
from octavo.cli.terminal.history import InputHistory
from octavo.cli.terminal.placeholders import InputDraft, mend, outside, paste

PROMPT = "› "
MENU_ROWS = 6
"""Rows kept free below the input for completions."""
COLOURS = Colours.from_dict(
    {
        "bottom-toolbar": "noreverse",
        "prompt": "bold",
        "strong": "bold",
        "faint": "fg:ansibrightblack",
        "good": "fg:ansigreen",
        "near": "fg:ansiyellow",
        "warn": "fg:ansiyellow bold",
        "bad": "fg:ansired bold",
        "accent": "fg:ansicyan",
    }
)

Suggest: TypeAlias = Callable[[str], tuple[int, Iterable[tuple[str, str]]]]
"""From what stands before the cursor to how many characters of it are to be replaced, and by what: text and meaning."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Something was entered."""

    draft: InputDraft


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Ctrl-C on an empty input."""

    cleared: bool = False
    """It was Ctrl-C that had emptied it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """There will be no more."""


Entered: TypeAlias = Typed | Interrupted | Ended


class Keyboard(Protocol):
    """A source of words."""

    async def read(self, default: str = "") -> Entered:
        """Wait for the next entry; `default` is what stands in the input already."""

    def watch(self, stop: Callable[[], object]) -> AbstractContextManager[None]:
        """Listen while something goes on; Ctrl-C calls `stop`."""

    async def aside(self, show: Callable[[], None]) -> None:
        """Print something although an input may be open."""

    @property
    def pending(self) -> str:
        """What stands in the input now, as it would be sent."""


class PlainLines:
    """Lines of a file or a pipe, one entry each."""

    pending = ""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._reader: threading.Thread | None = None

    async def read(self, default: str = "") -> Entered:
        """Give the next line."""
        del default
        if self._reader is None:
            # A thread of its own that nobody waits for: a pipe that stays silent must not keep the program alive.
            self._reader = threading.Thread(
                target=self._pump, args=(asyncio.get_running_loop(),), name="octavo-lines", daemon=True
            )
            self._reader.start()
        line = await self._lines.get()
        return Typed(InputDraft(line.rstrip("\r\n"))) if line else Ended()

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        line = "\n"
        while line and not loop.is_closed():
            line = self._file.readline()
            loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def watch(self, stop: Callable[[], object]) -> AbstractContextManager[None]:
        """Nobody is at a keyboard."""
        del stop
        return nullcontext()

    async def aside(self, show: Callable[[], None]) -> None:
        show()


class LineEditor:
    """A prompt with history, completion, many lines, and placeholders for long pastes."""

    def __init__(self, *, history: InputHistory, suggest: Suggest, status: Callable[[], Line]) -> None:
        self._history = history
        self._suggest = suggest
        self._shelves: dict[int, dict[int, str]] = {}
        self._place = _Place()
        self._entered: InputDraft | None = None
        self._open = self._cleared = False
        self._session: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            multiline=True,
            prompt_continuation=lambda width, number, soft: " " * width,  # noqa: ARG005 - given by position
            history=history,
            key_bindings=self._bindings(),
            completer=_Suggestions(suggest),
            complete_while_typing=True,
            bottom_toolbar=lambda: _fragments(status()),
            reserve_space_for_menu=MENU_ROWS,
            style=COLOURS,
        )
        self._session.default_buffer.on_text_changed += self._changed
        self._session.default_buffer.on_cursor_position_changed += self._moved

    async def read(self, default: str = "") -> Entered:
        """Prompt for an entry."""
        self._shelves, self._entered = {}, None
        self._place = _Place(text=default, cursor=len(default))
        self._open, self._cleared = True, False
        try:
            text = await self._session.prompt_async(default=default)
        except KeyboardInterrupt:
            return Interrupted(self._cleared)
        except EOFError:
            return Ended()
        finally:
            self._open = False
        draft = self._entered or InputDraft(text)
        self._history.remember(draft)
        return Typed(draft)

    @property
    def pending(self) -> str:
        """The text of the input with its pastes in full."""
        return self._draft(self._session.default_buffer).expanded if self._open else ""

    @contextmanager
    def watch(self, stop: Callable[[], object]) -> Iterator[None]:
        """Take keys while something goes on: Ctrl-C stops it, all others wait for the next prompt."""
        session = get_app_session()
        keys: list[KeyPress] = []

        def arrived() -> None:
            for key in session.input.read_keys():
                if key.key == Keys.ControlC:
                    stop()
                else:
                    keys.append(key)

        session.output.enable_bracketed_paste()
        session.output.flush()
        try:
            with session.input.raw_mode(), session.input.attach(arrived):
                yield
        finally:
            store_typeahead(session.input, [*keys, *session.input.flush_keys()])
            session.output.disable_bracketed_paste()
            session.output.flush()

    async def aside(self, show: Callable[[], None]) -> None:
        """Print above the prompt."""
        if get_app_or_none() is None:
            show()
        else:
            await run_in_terminal(show)

    # Placeholders

    def _distance(self, buffer: Buffer) -> int:
        """How far back in the history the input stands: 0 is the new entry.

        Counted from the end, because the history is loaded in the background and grows at the front.
        """
        return len(buffer._working_lines) - 1 - buffer.working_index

    def _shelf(self, distance: int) -> dict[int, str]:
        """Give the pastes of an entry: each one in the history has its own, so equal labels do not clash."""
        if distance not in self._shelves:
            self._shelves[distance] = self._history.pastes(distance)
        return self._shelves[distance]

    def _draft(self, buffer: Buffer) -> InputDraft:
        return InputDraft(buffer.text, MappingProxyType(dict(self._shelf(self._distance(buffer)))))

    def _changed(self, buffer: Buffer) -> None:
        distance = self._distance(buffer)
        if distance == self._place.distance and self._shelf(distance):
            before = InputDraft(self._place.text, self._shelf(distance))
            draft, cursor = mend(before, buffer.text, buffer.cursor_position)
            if draft.text != buffer.text:
                self._place = _Place(draft.text, cursor, distance)
                buffer.document = Document(draft.text, cursor)
                return
        self._place = _Place(buffer.text, buffer.cursor_position, distance)

    def _moved(self, buffer: Buffer) -> None:
        at = outside(self._draft(buffer), buffer.cursor_position, self._place.cursor)
        self._place.cursor = at
        if at != buffer.cursor_position:
            buffer.cursor_position = at

    def _paste(self, event: KeyPressEvent) -> None:
        """Terminals send line ends as carriage returns; otherwise a paste comes as it is."""
        buffer = event.current_buffer
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        buffer.save_to_undo_stack()
        draft, cursor = paste(self._draft(buffer), buffer.cursor_position, text)
        self._shelf(self._distance(buffer)).update(draft.pastes)
        self._place = _Place(draft.text, cursor, self._distance(buffer))
        buffer.document = Document(draft.text, cursor)

    # Keys

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()
        keys.add(Keys.BracketedPaste)(self._paste)
        keys.add("enter")(self._enter)
        for new_line in (("escape", "enter"), ("c-j",)):
            keys.add(*new_line)(lambda event: event.current_buffer.insert_text("\n"))
        keys.add("c-c")(self._interrupt)
        keys.add("tab")(self._complete)
        return keys

    def _complete(self, event: KeyPressEvent) -> None:
        """Complete at once what can only be one thing; the usual way drops a Tab that is typed fast."""
        buffer, state = event.current_buffer, event.current_buffer.complete_state
        if state is not None and (state.current_completion or len(state.completions) > 1):
            buffer.complete_next()
            return
        length, fitting = self._suggest(buffer.document.text_before_cursor)
        found = [text for text, _ in fitting]
        if len(found) == 1:
            buffer.apply_completion(Completion(found[0], start_position=-length))
        elif found:
            buffer.start_completion(insert_common_part=True)

    def _enter(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state.current_completion if buffer.complete_state else None
        if chosen is not None:
            buffer.apply_completion(chosen)
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            self._entered = self._draft(buffer)
            buffer.validate_and_handle()

    def _interrupt(self, event: KeyPressEvent) -> None:
        """Empty the input; on an empty one, ask to leave."""
        buffer = event.current_buffer
        if buffer.text:
            buffer.reset()
            self._place, self._cleared = _Place(), True
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")


@dataclass(slots=True)
class _Place:
    """The input as it was before the last key."""

    text: str = ""
    cursor: int = 0
    distance: int = 0


class _Suggestions(Completer):
    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Offer what fits what stands before the cursor."""
        del complete_event
        length, found = self._suggest(document.text_before_cursor)
        for text, meaning in found:
            yield Completion(text, start_position=-length, display_meta=meaning)


def _fragments(made: Line) -> StyleAndTextTuples:
    return [(f"class:{style}" if style else "", text) for style, text in made]
