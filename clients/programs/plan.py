"""What every library's program does: many turns with tools, two edits and two answers made again.

Uses the standard library only: it runs in the environment of the client.
"""

import os
from collections.abc import Callable
from typing import Any

TURNS = int(os.environ.get("TURNS", "28"))
EDITS = (9, 18)
"""Turns after which an earlier question is edited: what followed it is gone then."""
BACK = 2
"""How many turns before that the edited question is."""
AGAIN = (5, 23)
"""Turns whose answer is made again."""
GATEWAY, MODEL = os.environ["GATEWAY"], os.environ["MODEL"]
SYSTEM = "You check the logs of a plant. Read what is asked for, then answer in a sentence."


def log(number: int) -> str:
    """What the tool answers: some 300 tokens."""
    return "\n".join(
        f"Log {number}, line {line}: valve V-{number:02d}{line} reads {(number * 7 + line * 13) % 100} bar"
        for line in range(14)
    )


def question(turn: int, edited: list[int]) -> str:
    """The question of a turn; it names the edits that were made, and what will be edited."""
    told = [f"new-branch-{edit}" for edit in edited]
    told += [f"old-branch-{edit}" for edit in EDITS if turn == edit - BACK and edit not in edited]
    return (
        f"Turn {turn}: check part {turn} of the plant. Order {turn * 37 % 1000:03d}. {' '.join(told)}".strip()
    )


def converse(ask: Callable[[list[Any], str], list[Any]]) -> None:
    """Have a conversation; `ask` takes the history and a question, and gives the history with all that followed."""
    history: list[Any] = []
    starts: dict[int, list[Any]] = {}
    edited: list[int] = []
    turn = 0
    while turn < TURNS:
        starts[turn] = list(history)
        history = ask(list(history), question(turn, edited))
        if turn in AGAIN:
            history = ask(list(starts[turn]), question(turn, edited))
        if turn in EDITS and turn not in edited:
            edited.append(turn)
            turn -= BACK
            history = starts[turn]
            continue
        turn += 1
    print(f"done: {len(history)} messages at the end")
