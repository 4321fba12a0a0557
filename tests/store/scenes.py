"""Small things the tests of the store share."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from octavo.core.messages import Branch, Message, Node, digest
from octavo.core.recall.passages import Passage
from octavo.core.snapshot import DroppedLine, Extract, Snapshot
from octavo.store import Conversation, Format, Store, new_id
from octavo.testing import messages


async def talk(store: Store, *lines: str, title: str = "", owner: str = "") -> tuple[Conversation, Branch]:
    """Store a conversation written as lines: `u: hi`, `a: hello`."""
    made = await store.conversations.create(title, owner=owner)
    return made, await store.messages.append_many(made.id, messages(*lines))


async def beside(store: Store, node: Node, message: Message) -> Node:
    """Store another version of a message beside it."""
    (known,) = await store.tree.details([node.id])
    return await store.messages.append(known.conversation, message, parent=node.parent)


async def import_text(
    store: Store, text: str | Iterable[str], format: Format | None = None
) -> tuple[Conversation, ...]:
    """Import a file with this text, or with these lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "import"
        with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
            file.writelines([text] if isinstance(text, str) else text)
        return await store.import_file(path, format=format)


async def long_talk(store: Store, length: int) -> tuple[Conversation, Branch]:
    """Store a conversation of alternating messages."""
    return await talk(store, *(f"{'ua'[i % 2]}: message {i + 1}" for i in range(length)))


def fold(
    branch: Sequence[Node], cut: int, anchor: Node | None = None, *, summary: str = "a summary"
) -> Snapshot:
    """Make a snapshot that covers the first `cut` nodes, anchored at its cutoff or further down."""
    cutoff = branch[cut - 1]
    at = anchor or cutoff
    return Snapshot(
        id=new_id(),
        first=branch[0].id,
        cutoff=cutoff.id,
        cutoff_depth=cutoff.depth,
        anchor=at.id,
        anchor_depth=at.depth,
        summary=summary,
        extracts=(Extract(branch[0].id, "an exact line"),),
        files=("notes.txt",),
        dropped=(DroppedLine("Call me Max.", 3),),
        messages=cut,
        tokens_before=1000,
        tokens_after=100,
        model="test/model",
        prompt="default@1",
        instructions="keep names",
        receipt='{"kept":1}',
        digest=digest(node.message for node in branch[:cut]),
    )


def passage_of(node: Node, start: int = 0, stop: int | None = None) -> Passage:
    """Make a passage: a stretch of a message's text."""
    text = node.message.text
    return Passage(
        source=node.id,
        depth=node.depth,
        channel="user" if node.message.role == "user" else "assistant",
        text=text[start:stop],
        start=start,
        day="2026-01-02",
        opens=start == 0,
        closes=stop is None,
    )


def stamped(snapshot: Snapshot, stored: Snapshot) -> Snapshot:
    """Give a snapshot what only the store knows."""
    return replace(snapshot, version=stored.version, created=stored.created)


def texts(nodes: Sequence[Node]) -> list[str]:
    return [node.message.text for node in nodes]


def digests(said: Sequence[Message]) -> list[bytes]:
    return [digest(said[: i + 1]) for i in range(len(said))]


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["octavo.store", "asyncpg"])
"""New processes are copies of one that has imported everything, and start in a few milliseconds."""


def start(started: list[ForkServerProcess], work: Any, *arguments: Any) -> ForkServerProcess:
    """Start a process and note it among those of the test."""
    process = PROCESSES.Process(target=work, args=arguments, daemon=True)
    process.start()
    started.append(process)
    return process


async def until(true: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is so."""
    for _ in range(3_000):
        if await true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")
