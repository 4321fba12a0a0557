"""One real session on a real terminal: typing, paste, compression, undo, resize, Ctrl-C; and the screen compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.scripted import MODEL

ROOT = Path(__file__).parents[3]
PATIENCE = 60
"""Seconds until something must have happened, on a machine that has other things to do."""
PASTE = "0123456789" * 30

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux is not installed: NO real terminal was tested"
)


class Tmux:
    """A terminal of our own: another server than the user's, on a socket of its own."""

    def __init__(self, folder: Path, command: str) -> None:
        self._socket = str(folder / "tmux")
        self.command = command

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        return subprocess.run(
            ["tmux", "-S", self._socket, "-f", os.devnull, *arguments],
            capture_output=True,
            text=True,
            input=stdin,
            check=True,
            timeout=PATIENCE,
        ).stdout

    def type(self, text: str) -> None:
        self("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self("send-keys", *keys)

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        self("load-buffer", "-", stdin=text)
        self("paste-buffer", "-p")

    def screen(self, *, whole: bool = False) -> list[str]:
        """Give what is shown, with lines the terminal wrapped joined again; whole: with the scrollback."""
        scrollback = ("-S", "-") if whole else ()
        return [row.rstrip() for row in self("capture-pane", "-p", "-J", *scrollback).rstrip().split("\n")]

    def wait(self, seen: str | Callable[[str], bool]) -> list[str]:
        """Wait until something is on the screen."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            shown = self.screen(whole=True)
            text = "\n".join(shown)
            if seen in text if isinstance(seen, str) else seen(text):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{seen!r} did not appear:\n{text}")

    def done(self, said: str) -> list[str]:
        """Wait until something was said and the next prompt stands below it."""
        return self.wait(lambda text: said in text and "\n›" in text.rpartition(said)[2])


@pytest.fixture
def tmux(tmp_path: Path, environment: dict[str, str]) -> Iterator[Tmux]:
    given = " ".join(f"{name}={value}" for name, value in environment.items())
    command = f"env NO_COLOR=1 {given} {sys.executable} -m tests.cli.scripted chat --model {MODEL}"
    terminal = Tmux(tmp_path, command)
    terminal(
        "new-session",
        "-d",
        "-x",
        "90",
        "-y",
        "30",
        "-c",
        str(ROOT),
        f"{command}; echo left with $?; sleep {PATIENCE}",
    )
    try:
        yield terminal
    finally:
        terminal("kill-server")


def without_status(shown: list[str]) -> list[str]:
    """Leave out the status line, and the empty rows between it and the input."""
    rows = [row for row in shown if "compresses " not in row and not row.startswith(" 0 tokens")]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def test_a_session_on_a_real_terminal(tmux: Tmux) -> None:
    shown = tmux.wait(" 0 tokens · parrot")
    assert shown[0] == "Octavo · parrot · /help lists the commands"

    tmux.enter("hello")
    tmux.done("You said 5 characters: hello")
    tmux.type("look ")
    tmux.paste(PASTE)
    shown = tmux.wait("› look [LongText#1]")
    assert re.search(r"tokens \+1\d\d typed", shown[-1])
    tmux.press("Enter")
    tmux.done("You said 305 characters")
    tmux.enter("markdown")
    tmux.done("That is all.")
    for number in (1, 2):
        tmux.enter(f"at length {number}")
        tmux.done(f"The port of service{number} is")

    assert without_status(tmux.screen(whole=True))[:16] == [
        "Octavo · parrot · /help lists the commands",
        "› hello",
        "You said 5 characters: hello",
        "› look [LongText#1]",
        "You said 305 characters: look 0123456789012345678901234567890123456789012345678901234",
        "› markdown",
        "Plan",
        "",
        "First measure, then cut:",
        "",
        " 1 count",
        " 2 fold",
        "",
        ' print("fold")',
        "",
        "That is all.",
    ]

    tmux.enter("/compress the ports")
    tmux.done("Chat history compressed from")
    tmux.enter("/undo")
    tmux.done("Undone: 8 messages are sent as they were again; /redo brings the compression back.")
    after = without_status(tmux.screen())
    at = after.index("› /compress the ports")
    assert re.fullmatch(r"Chat history compressed from [\d,]+ to [\d,]+ tokens", after[at + 2])
    assert (
        after[at + 3]
        == "8 messages compressed (exact lines only); /summary shows it, /undo brings them back."
    )
    assert after[-2] == "Undone: 8 messages are sent as they were again; /redo brings the compression back."
    assert after[-1] == "›"

    tmux.enter("slowly")
    tmux.wait("word20 ")
    tmux("resize-window", "-x", "60", "-y", "24")
    tmux.wait("word40 ")
    tmux("resize-window", "-x", "100", "-y", "30")
    tmux.wait("word60 ")
    tmux.type("typed too early")
    tmux.press("C-c")
    tmux.done("Stopped. What was said is kept; /retry asks again, /continue goes on with it.")
    tmux.wait("› typed too early")
    rows = without_status(tmux.screen(whole=True))
    answer = " ".join(
        rows[
            rows.index("› slowly") + 1 : rows.index(
                "Stopped. What was said is kept; /retry asks again, /continue goes on with it."
            )
        ]
    )
    words = answer.split()
    assert words == [f"word{number}" for number in range(1, len(words) + 1)], "resizing left something behind"

    tmux.press("C-c")
    tmux.wait(lambda text: "› typed too early" not in text)
    tmux.press("C-c")
    tmux.wait("Ctrl-C again leaves.")
    tmux.press("C-c")
    tmux.wait("left with 0")


def test_one_of_the_last_conversations_is_chosen_and_gone_on_with(tmux: Tmux) -> None:
    tmux.wait(" 0 tokens · parrot")
    tmux.enter("hello")
    tmux.done("You said 5 characters: hello")
    tmux.enter("/rename First")
    tmux.wait("Renamed First")
    tmux.enter("/new Second")
    tmux.enter("good morning")
    tmux.done("You said 12 characters: good morning")
    tmux.enter("/quit")
    tmux.wait("left with 0")
    tmux("respawn-pane", "-k", f"{tmux.command} --resume; sleep {PATIENCE}")
    shown = tmux.wait("Which one? 1 is the first in the list, 2 the last [1]:")
    titles = [row.split()[1] for row in shown if re.match(r"[0-9a-f]{8} ", row)]
    assert titles == ["Second", "First"]
    tmux.enter("2")
    # Its title stands in the list as well: what is typed before the prompt is there may be lost.
    tmux.done("2 Assistant You said 5 characters: hello")
    tmux.enter("what now")
    tmux.done("You said 8 characters: what now")
    status = tmux.screen()
    # The meter line is the last one of the screen: while an answer comes, and after it.
    assert "tokens" in status[-1]
    tmux.enter("slowly")
    assert any("tokens" in row for row in tmux.wait("word3")[-3:])
    tmux.press("C-c")
    tmux.enter("/conversatoins")
    tmux.wait("/conversations")
