"""The lookup of covered messages by their words: of one branch alone, and at a cost that hardly grows with it.

Covered messages are indexed in *lanes*: a lane is a stretch of messages, each the parent of the next. Where covered
parts of two branches part, a new lane begins and notes where it left the other. So a branch is a short chain of lanes,
and what other branches hold is never read. If a message is indexed, so is everything above it.

For each word a lane has, block by block, the places where it stands: four bytes each, the depth and how much the word
counts there. How common a word is follows from the lengths alone. Rare words are read first, and at most `PLACES`.

Only covered messages can be recalled, so only they are indexed, by `fill`, in short transactions, when a snapshot is
new, or the database is older than this index. Texts always come from the messages themselves: a place that is
no longer true finds nothing.
"""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.context import UNSENT
from octavo.core.messages import Message
from octavo.core.recall.pieces import Piece, cut, stamp_of
from octavo.core.recall.question import Question
from octavo.core.recall.rank import BITS, Statistics, best_places, impacts
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.database import Database
from octavo.store.ids import made_at
from octavo.store.locks import lock
from octavo.store.parts import Packed, unpack
from octavo.store.schema import Id, large_text, message, recall_lane, recall_message, recall_word

BLOCK = 4_096
"""Depths of a block: a row of the commonest word has 16 kB, and a rare word few rows in a long conversation."""
STEP = 128
"""Messages that are indexed by one statement: the time is looked at in between."""
PLACES = 3_000
"""Places that a lookup reads: more take longer than a turn should wait, and the rarest words have told the most.

Measured on 250 made-up questions in 100,000 messages, as share of passages found and processor time of lookup and
choice: 96 % in 6 ms; with four times the places 99 % in 7 ms; with 50,000 places and the lists below at 200 and 100,
all of them in 18 ms."""
AHEAD = 48
"""Messages that are looked at first, by the words that stand in them alone."""
BEST = 30
"""Messages that are read and ranked word by word: measured on long chats, more change nothing. Of made-up questions,
100 of them (and 200 ahead) find 2 % more in 10 ms instead of 6."""
LARGE_TEXTS = 2
"""Messages with texts kept apart that are ranked: each may be a hundred times as long as another."""
REMOVED = 1_000
"""Rows of the index that are removed by one statement: the time is looked at in between."""
WIDTH = 4
"""Bytes of a place."""
DAY = 24 * 60 * 60 * 1_000
"""Milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a lookup found: candidates in the order of the conversation, and how common the words are."""

    pieces: tuple[Piece, ...]
    statistics: Statistics
    filled: int
    """Down to this depth the branch is indexed."""


NOTHING = Found(pieces=(), statistics=Statistics(count=0, frequency={}), filled=0)


class _Lane(NamedTuple):
    """What a branch has of a lane: the depths from `start` to `stop`."""

    id: int
    start: int
    stop: int


class RecallIndex:
    """The index of what can be recalled."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look_up(self, cutoff: str, question: Question) -> Found:
        """Find what belongs to a question among the messages from the root down to `cutoff`."""
        return await self._database.read(lambda c: look_up(c, cutoff, question))

    async def fill(self, cutoff: str) -> None:
        """Index the branch of `cutoff` as far as it is not, in short transactions; others get their turn between."""
        await self._database.in_turns(lambda c: fill_some(c, cutoff))


async def look_up(connection: Connection, cutoff: str, question: Question) -> Found:
    """Find candidates for a question on the branch of `cutoff`, as far as it is indexed."""
    if not question.weights:
        return NOTHING
    words = {key_of(word): word for word in question.weights}
    lanes: dict[int, _Lane] = {}
    frequency = dict.fromkeys(question.weights, 0)
    for row in await connection.execute(
        _survey(connection.dialect.name), {"tip": cutoff, "words": [*words], "block": BLOCK}
    ):
        lanes[row.id] = _Lane(row.id, row.start, row.stop)
        if row.word is not None:
            # A lane that another branch shares in part counts as a whole.
            frequency[words[row.word]] += row.size // WIDTH
    if not lanes:
        return NOTHING
    deepest = max(lanes.values(), key=lambda lane: lane.stop)
    statistics = Statistics(count=deepest.stop, frequency=frequency)
    places = await _places(connection, lanes, deepest, words, frequency)
    best = best_places(places, statistics.worths(question), most=BEST, ahead=AHEAD)
    pieces = await _candidates(connection, deepest, best)
    return Found(pieces=tuple(pieces), statistics=statistics, filled=deepest.stop)


async def _places(
    connection: Connection,
    lanes: Mapping[int, _Lane],
    deepest: _Lane,
    words: Mapping[int, str],
    frequency: Mapping[str, int],
) -> Mapping[str, Sequence[int]]:
    """Read where words stand and what they count there: the rarest, as long as there are not too many places."""
    chosen, total = list[int](), 0
    for key in sorted(words, key=lambda key: frequency[words[key]]):
        total += frequency[words[key]]
        if chosen and total > PLACES:
            break
        if total:
            chosen.append(key)
    if not chosen:
        return {}
    # If even the rarest word stands at too many places, what was said last is looked at.
    share = min(1.0, PLACES / frequency[words[chosen[0]]])
    last = deepest.stop // BLOCK
    bound = {
        "lane": deepest.id,
        "stop": deepest.stop,
        "first": last + 1 - max(1, int(share * (last + 1))),
        "words": chosen,
        "block": BLOCK,
    }
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in await connection.execute(_word_places(connection.dialect.name), bound):
        lane = lanes[row.lane_id]
        read = _unpack(row.places)
        if lane.start <= row.block * BLOCK <= (row.block + 1) * BLOCK - 1 <= lane.stop:
            found[words[row.word]] += read
        else:
            found[words[row.word]] += [place for place in read if lane.start <= place >> BITS <= lane.stop]
    for places in found.values():
        places.sort()
    return found


async def _candidates(connection: Connection, deepest: _Lane, best: Sequence[int]) -> list[Piece]:
    """Read the best messages of a branch, given by their depths."""
    if not best:
        return []
    bound = {"lane": deepest.id, "stop": deepest.stop, "depths": best}
    found = (await connection.execute(_messages(connection.dialect.name), bound)).all()
    order = {depth: number for number, depth in enumerate(best)}
    large = sorted((row for row in found if row.large), key=lambda row: order[row.depth])[:LARGE_TEXTS]
    texts = await _large_texts(connection, [row.id for row in large])
    read = (row for row in found if not row.large or row.id in texts)
    return [
        piece for row in sorted(read, key=lambda row: row.depth) for piece in _pieces(row, texts, row.stamp)
    ]


async def _large_texts(connection: Connection, ids: Sequence[str]) -> rows.Texts:
    texts: rows.Texts = {}
    if ids:
        for row in await connection.execute(_chunks(), {"ids": list(ids)}):
            texts.setdefault(row.message_id, {}).setdefault(row.piece, {})[row.chunk] = row.text
    return texts


def _pieces(row: rows.Row, texts: rows.Texts, stamp: str | None) -> Iterable[Piece]:
    """Cut a message into pieces; what is not sent to a model is not recalled either."""
    if row.status in UNSENT:
        return ()
    return cut(row.id, row.depth, _said(row, texts), day=stamp or _day(_stored_on(row)))


def _said(row: rows.Row, texts: rows.Texts) -> Message:
    return unpack(row.role, Packed(row.text, row.parts, rows.large(texts, row.id)))


def _stored_on(row: rows.Row) -> int:
    created = row.created if row.created is not None else made_at(row.id)
    return int(created // DAY)


@lru_cache
def _day(number: int) -> str:
    return rows.time_text(number * DAY)[: len("2026-11-16")]


async def fill_some(connection: Connection, cutoff: str) -> bool:
    """Index some messages of a branch, those next to the root first; false when nothing was left to do."""
    where = await connection.scalar(sa.select(message.c.conversation_id).where(message.c.id == cutoff))
    if where is None:
        return False
    # Two replicas that index the same messages would count them twice.
    await lock(connection, where)
    top = (await connection.execute(_deepest_indexed(), {"tip": cutoff})).one_or_none()
    depth = top.depth if top else 0
    found = (await connection.execute(_next(), {"tip": cutoff, "above": depth, "stop": depth + STEP})).all()
    if not found:
        return False
    lane = await _lane(connection, where, top)
    texts = await _large_texts(connection, [row.id for row in found if row.large])
    places: defaultdict[tuple[int, int], array[int]] = defaultdict(lambda: array("I"))
    indexed: list[dict[str, Any]] = []
    stamp, stored_on = (top.stamp, _stored_on(top)) if top else (None, 0)
    for row in sorted(found, key=lambda row: row.depth):
        # A talk that goes on another day is dated by when it is stored, whatever day it once quoted.
        stamp = stamp_of(_said(row, texts)) or (stamp if _stored_on(row) == stored_on else None)
        stored_on = _stored_on(row)
        indexed.append({"n": row.n, "lane_id": lane, "depth": row.depth, "stamp": stamp})
        for word, impact in impacts(_pieces(row, texts, stamp)).items():
            places[key_of(word), row.depth // BLOCK].append(row.depth << BITS | impact)
    await connection.execute(sa.insert(recall_message), indexed)
    if places:
        await connection.execute(_grow(connection.dialect.name), _rows(lane, places))
    last = max(row.depth for row in found)
    await connection.execute(sa.update(recall_lane).where(recall_lane.c.id == lane).values(stop=last))
    return True


def _rows(lane: int, places: Mapping[tuple[int, int], array[int]]) -> list[dict[str, Any]]:
    return [
        {"lane_id": lane, "word": word, "block": block, "places": _pack(found)}
        for (word, block), found in sorted(places.items())
    ]


async def _lane(connection: Connection, conversation_id: str, top: rows.Row | None) -> int:
    """Give the lane that goes on below an indexed message: its own if it is the last one there, else a new one."""
    if top is not None and top.depth == top.stop:
        lane: int = top.lane_id
        return lane
    fork = top.depth if top else 0
    made = sa.insert(recall_lane).values(
        conversation_id=conversation_id, parent_id=top.lane_id if top else None, fork=fork, stop=fork
    )
    return int(await connection.scalar(made.returning(recall_lane.c.id)))


async def forget_words(connection: Connection, id: str) -> None:
    """Take the words of a message that is about to be emptied out of the index."""
    row = (await connection.execute(_indexed_message(), {"id": id})).one_or_none()
    if row is None:
        return
    texts = await _large_texts(connection, [row.id] if row.large else [])
    if stamp_of(_said(row, texts)):
        # What follows has its day from it.
        await forget_below(connection, id)
        return
    at = {"lane_id": row.lane_id, "block": row.depth // BLOCK}
    w = recall_word.c
    here = sa.and_(w.lane_id == at["lane_id"], w.block == at["block"])
    for word in impacts(_pieces(row, texts, row.stamp)):
        key = key_of(word)
        places = await connection.scalar(sa.select(w.places).where(here, w.word == key))
        left = array("I", (place for place in _unpack(places or b"") if place >> BITS != row.depth))
        if left:
            await connection.execute(
                sa.update(recall_word).where(here, w.word == key).values(places=_pack(left))
            )
        else:
            await connection.execute(sa.delete(recall_word).where(here, w.word == key))


async def forget_below(connection: Connection, id: str) -> None:
    """Take a message that is about to be removed, and all below it, out of the index.

    Whole blocks go: what of them is still there is indexed again when it is next asked for.
    """
    row = (await connection.execute(_indexed_message(), {"id": id})).one_or_none()
    if row is None:
        return
    lane, block = row.lane_id, row.depth // BLOCK
    first = block * BLOCK
    r, w, k = recall_lane.c, recall_word.c, recall_message.c
    gone = sa.delete(recall_lane)
    await connection.execute(gone.where(r.parent_id == lane, r.fork >= first))
    await connection.execute(gone.where(r.id == lane, r.fork + 1 >= first))
    await connection.execute(sa.delete(recall_word).where(w.lane_id == lane, w.block >= block))
    await connection.execute(sa.delete(recall_message).where(k.lane_id == lane, k.depth >= first))
    await connection.execute(sa.update(recall_lane).where(r.id == lane).values(stop=first - 1))


async def remove_some(connection: Connection, conversation_id: str) -> bool:
    """Remove a part of a conversation's index; false when nothing is left."""
    r, w = recall_lane.c, recall_word.c
    lane = await connection.scalar(
        sa.select(w.lane_id)
        .join(recall_lane, r.id == w.lane_id)
        .where(r.conversation_id == conversation_id)
        .limit(1)
    )
    if lane is None:
        return False
    words = sa.select(w.word).where(w.lane_id == lane).order_by(w.word).limit(REMOVED)
    last = await connection.scalar(sa.select(sa.func.max(words.subquery().c.word)))
    await connection.execute(sa.delete(recall_word).where(w.lane_id == lane, w.word <= last))
    return True


def key_of(word: str) -> int:
    """Give the number that stands for a word in the index."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _pack(places: array[int]) -> bytes:
    return _ordered(places).tobytes()


def _unpack(places: bytes) -> array[int]:
    return _ordered(array("I", places))


def _ordered(places: array[int]) -> array[int]:
    """Bring numbers into the order of bytes that the database has on every machine, or back."""
    if sys.byteorder == "big":
        places.byteswap()
    return places


def _tip() -> sa.BindParameter[str]:
    return sa.bindparam("tip", type_=Id)


@cache
def _deepest_indexed() -> sa.Select[Any]:
    """The deepest indexed message on the branch of `tip`, itself included: O(log depth) steps by jump pointers."""
    m, k, jump = message, recall_message, message.alias("jump")
    here = (m.c.id, m.c.n, m.c.parent_id, m.c.jump_id, m.c.created)
    start = sa.select(*here).where(m.c.id == _tip()).cte("up", recursive=True)
    reached = sa.exists().where(k.c.n == start.c.n)
    # Everything above an indexed message is indexed, so a jump that ends on none that is leaves none out.
    indexed_jump = sa.select(sa.literal(1)).where(jump.c.id == start.c.jump_id, k.c.n == jump.c.n).exists()
    step = sa.case((indexed_jump | start.c.jump_id.is_(None), start.c.parent_id), else_=start.c.jump_id)
    up = start.union_all(sa.select(*here).select_from(start).join(m, m.c.id == step).where(~reached))
    return (
        sa.select(k.c.n, k.c.lane_id, k.c.depth, k.c.stamp, recall_lane.c.stop, up.c.id, up.c.created)
        .select_from(up)
        .join(k, k.c.n == up.c.n)
        .join(recall_lane, recall_lane.c.id == k.c.lane_id)
    )


def _lanes(start: sa.Select[Any]) -> sa.CTE:
    """The lanes of a branch, from the one that `start` gives up: its id, its parent, and what the branch has of it."""
    r = recall_lane
    chain = start.cte("lanes", recursive=True)
    above = sa.select(r.c.id, r.c.parent_id, (r.c.fork + 1).label("start"), (chain.c.start - 1).label("stop"))
    return chain.union_all(above.join(chain, r.c.id == chain.c.parent_id))


def _known_lanes() -> sa.CTE:
    """The lanes of a branch whose deepest one is bound as `lane`, and its depth as `stop`."""
    r = recall_lane.c
    stop = sa.bindparam("stop", type_=sa.Integer)
    return _lanes(
        sa.select(r.id, r.parent_id, (r.fork + 1).label("start"), stop.label("stop")).where(
            r.id == sa.bindparam("lane")
        )
    )


def _one_of(column: sa.Column[Any], name: str, dialect: str) -> sa.ColumnElement[bool]:
    """Say that a column has one of the values bound as a list: one value, so that a statement is prepared once."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam(name, type_=postgresql.ARRAY(column.type)))
    values = sa.func.json_each(sa.bindparam(name, type_=sa.JSON)).table_valued("value")
    return column.in_(sa.select(values.c.value))


def _of_words(lanes: sa.CTE, dialect: str) -> sa.ColumnElement[bool]:
    """The rows of the words bound as `words` in the blocks, each of `block` depths, that a branch has of its lanes."""
    w, size = recall_word.c, sa.bindparam("block", type_=sa.Integer)
    return sa.and_(
        w.lane_id == lanes.c.id,
        _one_of(w.word, "words", dialect),
        w.block.between(lanes.c.start // size, lanes.c.stop // size),
    )


@cache
def _survey(dialect: str) -> sa.Select[Any]:
    """The lanes of the branch of `tip` as far as it is indexed, and how often the words stand in each."""
    r, top = recall_lane.c, _deepest_indexed().subquery("top")
    lanes = _lanes(
        sa.select(r.id, r.parent_id, (r.fork + 1).label("start"), top.c.depth.label("stop")).join_from(
            top, recall_lane, r.id == top.c.lane_id
        )
    )
    size = sa.func.sum(sa.func.length(recall_word.c.places)).label("size")
    here = (lanes.c.id, lanes.c.start, lanes.c.stop, recall_word.c.word)
    return (
        sa.select(*here, size).outerjoin_from(lanes, recall_word, _of_words(lanes, dialect)).group_by(*here)
    )


@cache
def _word_places(dialect: str) -> sa.Select[Any]:
    """The places of words on a branch, from the block `first` on."""
    w, lanes = recall_word.c, _known_lanes()
    columns = sa.select(w.lane_id, w.word, w.block, w.places)
    first = sa.bindparam("first", type_=sa.Integer)
    return columns.join_from(lanes, recall_word, _of_words(lanes, dialect)).where(w.block >= first)


_SHOWN = (
    message.c.n,
    message.c.id,
    message.c.depth,
    message.c.role,
    message.c.status,
    message.c.created,
    message.c.large,
    message.c.text,
    message.c.parts,
)


@cache
def _messages(dialect: str) -> sa.Select[Any]:
    """The messages of a branch at `depths`."""
    k, lanes = recall_message.c, _known_lanes()
    # The depths are what an index is asked for, not the range: `+ 0` hides that from SQLite.
    within = (k.depth + 0).between(lanes.c.start, lanes.c.stop)
    return (
        sa.select(*_SHOWN, k.stamp)
        .join_from(lanes, recall_message, k.lane_id == lanes.c.id)
        .join(message, message.c.n == k.n)
        .where(_one_of(k.depth, "depths", dialect), within)
    )


@cache
def _indexed_message() -> sa.Select[Any]:
    k = recall_message.c
    return (
        sa.select(*_SHOWN, k.lane_id, k.stamp)
        .join(recall_message, k.n == message.c.n)
        .where(message.c.id == sa.bindparam("id", type_=Id))
    )


@cache
def _chunks() -> sa.Select[Any]:
    t = large_text.c
    ids = sa.bindparam("ids", expanding=True, type_=Id)
    return sa.select(t.message_id, t.piece, t.chunk, t.text).where(t.message_id.in_(ids))


@cache
def _next() -> sa.Select[Any]:
    """The messages of the branch of `tip` below the depth `above`, down to the depth `stop`.

    The first of them is reached by jump pointers: the way there costs next to nothing however far it is.
    """
    m, jump = message, message.alias("jump")
    above, stop = sa.bindparam("above", type_=sa.Integer), sa.bindparam("stop", type_=sa.Integer)
    here = (m.c.id, m.c.depth, m.c.parent_id, m.c.jump_id, jump.c.depth.label("landing"))
    start = (
        sa.select(*here)
        .select_from(m)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(m.c.id == _tip(), m.c.depth > above)
        .cte("climb", recursive=True)
    )
    step = sa.case((start.c.landing >= stop, start.c.jump_id), else_=start.c.parent_id)
    more = (
        sa.select(*here)
        .select_from(start)
        .join(m, m.c.id == step)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(m.c.depth > above)
    )
    climb = start.union_all(more)
    return sa.select(*_SHOWN).join(climb, climb.c.id == m.c.id).where(climb.c.depth <= stop)


@cache
def _grow(dialect: str) -> sa.Insert:
    """Add places to those that a word has already."""
    insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert(recall_word)
    # SQLite joins bytes as they are, and calls the result a text.
    joined = sa.cast(recall_word.c.places.op("||")(insert.excluded.places), sa.LargeBinary)
    grown: sa.Insert = insert.on_conflict_do_update(
        index_elements=["lane_id", "word", "block"], set_={"places": joined}
    )
    return grown
