"""The line editor, keys sent through a pipe: pastes, deletions, history, completion, keys typed too early."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from octavo.cli.terminal.history import InputHistory
from octavo.cli.terminal.keyboard import Ended, Entered, Interrupted, LineEditor, PlainLines, Typed
from octavo.cli.terminal.placeholders import InputDraft

ENTER, ALT_ENTER, CTRL_C, CTRL_D, CTRL_J = "\r", "\x1b\r", "\x03", "\x04", "\n"
BACKSPACE, DELETE, LEFT, RIGHT, UP, HOME, END = (
    "\x7f",
    "\x1b[3~",
    "\x1b[D",
    "\x1b[C",
    "\x1b[A",
    "\x1b[H",
    "\x1b[F",
)
CTRL_W, CTRL_U, CTRL_K, UNDO, ALT_BACKSPACE = "\x17", "\x15", "\x0b", "\x1f", "\x1b\x7f"
LONG, OTHER = "a" * 201, "line one\nline two $& \\1 {x} [LongText#1]\n" * 20


def bracketed(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def editor(history: Path | None = None) -> LineEditor:
    words = [("/compress", "fold"), ("/context", "look")]
    return LineEditor(
        history=InputHistory(history),
        suggest=lambda text: (len(text), [pair for pair in words if text and pair[0].startswith(text)]),
        status=lambda: (("good", "status"),),
    )


def typed(*entries: str, history: Path | None = None) -> list[Entered]:
    """Send keys, an entry at a time, and give what was read."""

    async def read(pipe: PipeInput) -> list[Entered]:
        keyboard = editor(history)
        found: list[Entered] = []
        for keys in entries:
            pipe.send_text(keys)
            found.append(await asyncio.wait_for(keyboard.read(), 20))
        return found

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        return asyncio.run(read(pipe))


def text_of(keys: str, history: Path | None = None) -> str:
    (entered,) = typed(keys + ENTER, history=history)
    assert isinstance(entered, Typed)
    return entered.draft.text


def test_enter_sends_and_other_keys_start_a_new_line() -> None:
    assert text_of("one" + ALT_ENTER + "two" + CTRL_J + "three") == "one\ntwo\nthree"
    assert text_of("one\\" + ENTER + "two") == "one\ntwo"


def test_200_characters_stay_and_201_become_a_placeholder() -> None:
    """Case 86."""
    assert text_of(bracketed("b" * 200)) == "b" * 200
    (entered,) = typed("see " + bracketed(LONG) + " and " + bracketed(OTHER) + ENTER)
    assert isinstance(entered, Typed)
    assert entered.draft.text == "see [LongText#1] and [LongText#2]"
    assert entered.draft.expanded == f"see {LONG} and {OTHER}"


def test_line_ends_of_a_paste_are_line_ends() -> None:
    assert text_of(bracketed("one\r\ntwo\rthree")) == "one\ntwo\nthree"


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (BACKSPACE, "see "),
        (LEFT + DELETE, "see "),
        (CTRL_W, "see "),
        (ALT_BACKSPACE, "see "),
        (CTRL_U, ""),
        (" x" + BACKSPACE * 3, "see "),
        (LEFT + CTRL_K, "see "),
        (LEFT + LEFT + DELETE, "see[LongText#1]"),
        (LEFT + "x", "see x[LongText#1]"),
        (LEFT + RIGHT + "x", "see [LongText#1]x"),
        (BACKSPACE + UNDO, "see [LongText#1]"),
    ],
    ids=repr,
)
def test_a_placeholder_goes_and_stays_as_a_unit(keys: str, left: str) -> None:
    """Case 90: no key leaves a part of one behind, and undo brings all of it back."""
    (entered,) = typed("see " + bracketed(LONG) + keys + ENTER)
    assert isinstance(entered, Typed)
    assert entered.draft.text == left
    assert entered.draft.expanded == left.replace("[LongText#1]", LONG)


def test_pastes_are_recalled_from_the_history_of_an_earlier_run(tmp_path: Path) -> None:
    """Case 89: equal labels of different entries do not clash, nor does a new paste with a recalled one."""
    path = tmp_path / "history.jsonl"
    typed(bracketed(LONG) + ENTER, bracketed(OTHER) + ENTER, history=path)
    (newest,) = typed(UP + ENTER, history=path)
    assert newest == Typed(InputDraft("[LongText#1]", {1: OTHER}))
    (older,) = typed(UP + UP + ENTER, history=path)
    assert older == Typed(InputDraft("[LongText#1]", {1: LONG}))
    (both,) = typed(UP + END + bracketed("c" * 300) + ENTER, history=path)
    assert isinstance(both, Typed)
    assert both.draft.text == "[LongText#1][LongText#2]"
    assert both.draft.expanded == LONG + "c" * 300


def test_a_label_typed_by_hand_is_text() -> None:
    """Case 88."""
    (entered,) = typed("[LongText#1] and " + bracketed(LONG) + ENTER)
    assert isinstance(entered, Typed)
    assert entered.draft.text == "[LongText#1] and [LongText#2]"
    assert entered.draft.expanded == f"[LongText#1] and {LONG}"


def test_ctrl_c_empties_the_input_first_and_then_asks_to_leave() -> None:
    assert typed("words" + CTRL_C + "more" + ENTER) == [Typed(InputDraft("more"))]
    assert typed(CTRL_C) == [Interrupted()]
    assert typed("words" + CTRL_C + CTRL_C) == [Interrupted(cleared=True)]
    assert typed(CTRL_D) == [Ended()]


def test_tab_completes_commands_however_fast_it_is_typed() -> None:
    assert text_of("/comp\t") == "/compress"
    assert text_of("/comp\t the port\t") == "/compress the port"
    assert text_of("/x\t") == "/x"


def test_a_text_can_be_handed_in_to_be_edited() -> None:
    async def read(pipe: PipeInput) -> Entered:
        keyboard = editor()
        pipe.send_text(BACKSPACE + "!" + ENTER)
        return await asyncio.wait_for(keyboard.read("old text."), 20)

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        assert asyncio.run(read(pipe)) == Typed(InputDraft("old text!"))


def test_what_is_typed_while_something_goes_on_waits_for_the_next_prompt() -> None:
    """Case 110 at the keyboard: nothing is lost, and the order stays."""

    async def session(pipe: PipeInput) -> list[Entered]:
        keyboard, stopped = editor(), asyncio.Event()
        with keyboard.watch(stopped.set):
            pipe.send_text("first" + ENTER + "sec" + CTRL_C + "ond " + bracketed(LONG) + ENTER)
            await asyncio.wait_for(stopped.wait(), 20)
        assert keyboard.pending == ""
        return [await asyncio.wait_for(keyboard.read(), 20) for _ in range(2)]

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        entries = asyncio.run(session(pipe))
    assert entries == [Typed(InputDraft("first")), Typed(InputDraft("second [LongText#1]", {1: LONG}))]


def test_lines_of_a_pipe_are_entries() -> None:
    async def read() -> list[Entered]:
        keyboard = PlainLines(io.StringIO("one\r\ntwo\n"))
        return [await keyboard.read() for _ in range(3)]

    assert asyncio.run(read()) == [Typed(InputDraft("one")), Typed(InputDraft("two")), Ended()]
