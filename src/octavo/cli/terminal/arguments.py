"""What follows a command: flags, numbers of messages, numbers of snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from octavo.core.messages import Node
from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput, NotFound, UsageError

if TYPE_CHECKING:
    from octavo.cli.terminal.session import Session


def flags_of(
    text: str, *, valued: Iterable[str] = (), bare: Iterable[str] = ()
) -> tuple[dict[str, str], str]:
    """Take `--flags` out of what was typed; give them and the words that are left.

    Words that look like flags are refused in front, where they can only be a slip, and left alone behind other words.
    """
    known, switches = frozenset(valued), frozenset(bare)
    found: dict[str, str] = {}
    words: list[str] = []
    rest = iter(text.split())
    for word in rest:
        name, has_value, value = word.partition("=")
        if name in switches:
            found[name] = ""
        elif name in known:
            given = value if has_value else next(rest, "")
            if not given:
                raise BadInput(name, "needs a value")
            found[name] = given
        elif word.startswith("--") and not words:
            raise BadInput(word, f"unknown; one of {', '.join(sorted(known | switches)) or 'none'}")
        else:
            words.append(word)
    return found, " ".join(words) if found else text.strip()


def number_of(text: str, what: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise BadInput(what, f"expected a number from 1 on, got {text!r}")
    return int(text)


async def message_at(session: Session, text: str) -> Node:
    """Find a message of the branch by its number."""
    number = number_of(text, "message")
    branch = await session.need_chat().branch()
    found = next((node for node in branch if node.depth == number), None)
    if found is None:
        raise NotFound(f"there is no message {number}; the branch has {len(branch):,}: /history shows them")
    return found


async def snapshot_at(session: Session, text: str) -> Snapshot:
    """Find a snapshot by its number in `/summary versions`; the serving one without a number."""
    chat = session.need_chat()
    if not text:
        serving = await chat.snapshots.serving()
        if serving is None:
            raise UsageError("nothing is compressed on this branch; /compress compresses the older part")
        return serving
    every, number = await chat.snapshots.list(), number_of(text, "snapshot")
    if number > len(every):
        raise NotFound(f"there is no snapshot {number}; /summary versions lists {len(every)}")
    return every[number - 1]
