"""What the program of every drop-in does: 150 steps with a tool, a restart, a fork, and questions at last.

MODE says what keeps the requests small: `octavo`, the framework's `own` way, or `none`.
"""

import os
from collections.abc import Callable
from typing import Any

PROVIDER, MODEL, MODE = os.environ["PROVIDER"], os.environ["MODEL"], os.environ["MODE"]
WINDOW, STORE = int(os.environ["WINDOW"]), os.environ["STORE"]
OCTAVO = MODE == "octavo"
SYSTEM = "You check the logs of a plant. Read what is asked for, then answer in a sentence."
TURNS = int(os.environ.get("TURNS", "15"))
FORK, RESTART = TURNS // 2, TURNS // 3
ASKED = [step + step // 10 + 1 for step in range(2, 150, 15)]
"""Logs that are asked for at last. Every eleventh is never read: the model answers in its place."""


def log(number: int) -> str:
    """What the tool answers: some 300 tokens."""
    return "\n".join(
        f"Log {number}, line {line}: valve V-{number:03d}{line} reads {(number * 7 + line * 13) % 100} bar"
        for line in range(14)
    )


def converse(
    ask: Callable[[list[Any], str], list[Any]],
    whole: Callable[[list[Any]], str],
    restart: Callable[[], None] = lambda: None,
) -> None:
    """Have a conversation; `ask` gives the history with all that followed, `whole` all that it says."""
    history: list[Any] = []
    fork: list[Any] = []
    for turn in range(TURNS):
        if turn == FORK:
            fork = list(history)
        if turn == RESTART and OCTAVO:
            from octavo.integrations.shared_engine import close_engines

            close_engines()
            restart()
        said = "old-branch-1" if turn >= FORK else ""
        history = ask(list(history), f"Turn {turn}: check part {turn} of the plant. {said}".strip())
    if OCTAVO:
        text = whole(history)
        missing = [n for n in range(10 * TURNS) if f"Log {n + n // 10 + 1}, line 13:" not in text]
        assert not missing, f"the framework's own history lacks {missing}"
    ask(list(fork), "Turn 99: check another part of the plant. new-branch-1")
    for number in ASKED:
        line = number % 14
        history = ask(list(history), f"Question: what did valve V-{number:03d}{line} read?")
    print(f"done: {len(history)} messages at the end")
