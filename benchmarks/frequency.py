"""How often a conversation is compressed, with recall and without it, in small windows and larger ones.

Passages stay with the question that they were found for, so they fill the room that a compression has freed, too. The
turns of a chat are said again one after the other, as they were recorded; no model is asked.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from benchmarks.extracts import chat
from benchmarks.figures import Cell, Item, Table, Tell
from benchmarks.places import DATA
from octavo.core.messages import Message, assistant
from octavo.core.reply import Reply, Usage
from octavo.core.wire import read
from octavo.engine.engine import Engine
from octavo.engine.outcome import Recalled
from octavo.testing import ScriptedProvider

REAL = {"two friends": "locomo10", "an assistant": "longmemeval_merged"}
MODEL = "gpt-4o"
"""The model that is described as having each of the windows."""
WINDOWS, QUICK_WINDOWS = (4_096, 8_192, 16_384, 128_000), (2_048,)
TURNS = {4_096: 80, 8_192: 160, 16_384: 320, 128_000: 320}
"""As many as fill the room up to the mark a few times; of the largest window, prices set the mark."""
QUICK_TURNS = 40
MADE_UP = 40_000
"""Tokens of the made-up chat, which stands in where no recorded ones lie beside the project."""

Turns = Sequence[tuple[str, str]]
"""What a user says, and the answer."""


def recorded(name: str) -> Turns | None:
    """Give the turns of a recorded chat; None if it is not here."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        return turns(read("openai", json.loads(next(lines))["messages"]))


def turns(said: Sequence[Message]) -> Turns:
    """Put each user's message together with its answer."""
    return [
        (one.text, other.text)
        for one, other in pairwise(said)
        if (one.role, other.role) == ("user", "assistant")
    ]


def chats() -> Mapping[str, Turns]:
    found = {title: known for title, name in REAL.items() if (known := recorded(name))}
    return found or {"made up": turns([node.message for node in chat(MADE_UP)])}


async def talk(said: Turns, window: int, recall: str) -> tuple[int, list[int]]:
    """Say all turns; give how often that was compressed, and the tokens of what was recalled each time."""
    answers = iter([answer for _, answer in said])
    provider = ScriptedProvider(
        lambda request: Reply(message=assistant(next(answers)), usage=Usage(), model=request.model)
    )
    recalled: list[int] = []
    async with await Engine.open(model=MODEL, provider=provider, summariser="none") as engine:
        await engine.models.learn_window(MODEL, window)
        meter = await engine.models.meter(MODEL)
        talking = await engine.create(recall=recall)
        for question, _ in said:
            async for event in talking.turn(question):
                if isinstance(event, Recalled):
                    recalled.append(sum(meter.count_text(passage.text) for passage in event.passages))
            await talking.wait_until_idle()
        made = await engine.store.snapshots.of_conversation(talking.id)
    return len(made), recalled


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    rows: list[tuple[Cell, ...]] = []
    for name, said in chats().items():
        for window in QUICK_WINDOWS if quick else WINDOWS:
            tell(f"{name}, a window of {window:,} tokens")
            some = said[: QUICK_TURNS if quick else TURNS[window]]
            without, _ = asyncio.run(talk(some, window, "off"))
            beside, recalled = asyncio.run(talk(some, window, "auto"))
            each = sum(recalled) / len(recalled) if recalled else None
            rows.append((name, window, len(some), without, beside, len(recalled), each))
    yield Table(
        name="frequency",
        title="How often a conversation is compressed",
        columns=(
            "chat",
            "window",
            "turns",
            "without recall",
            "with recall",
            "turns that recalled",
            "tokens each",
        ),
        rows=tuple(rows),
        reading="Passages stay with their question, so with them the next compression comes sooner. The last "
        "column has the tokens of what was recalled each time.",
    )
