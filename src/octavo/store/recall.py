"""The lookup of covered messages by their words: of one branch alone, and at a cost that hardly grows with it.

Covered messages are indexed in *lanes*: a lane is a stretch of messages, each the parent of the next. Where covered
parts of two branches part, a new lane begins and notes where it left the other. So a branch is a short chain of lanes,
and what other branches hold is never read. If a message is indexed, so is everything above it.

A lane keeps the places where its words stand, those of its newest messages apart; `recall_places.py` says how. Of each
word, one statement reads the newest places and how many there are, a second one the messages that matter most by them.

Only covered messages can be recalled, so only they are indexed, by `fill`, in short transactions, when a snapshot is
new, or the database is older than this index. Texts always come from the messages themselves: a place that is
no longer true finds nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
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
from octavo.store.recall_places import (
    RECENT,
    TOGETHER,
    WIDTH,
    Page,
    Together,
    find_together,
    key_of,
    pack,
    pack_together,
    pages,
    part,
    unpack_together,
)
from octavo.store.recall_places import unpack as unpack_places
from octavo.store.schema import Id, large_text, message, recall_lane, recall_message, recall_word

STEP = 128
"""Messages that are indexed by one statement: the time is looked at in between."""
PAGES = 12
"""Pages of a word that a lookup reads, the newest ones: all there are, unless the word is common."""
PLACES = 3_000
"""Places that a lookup goes through: more take longer than a turn should wait, and the rarest words have told the most.

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


class _Survey(NamedTuple):
    """What the index knows of a question's words on a branch."""

    lanes: Sequence[_Lane]
    """From the root on."""
    frequency: Mapping[str, int]
    places: Mapping[str, Sequence[Sequence[int]]]
    """Where the words stand, page by page: the newest places, if there are very many."""


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
    lanes, frequency, places = await _survey(connection, cutoff, question)
    if not lanes:
        return NOTHING
    filled = lanes[-1].stop
    statistics = Statistics(count=filled, frequency=frequency)
    rarest = _rarest(places, frequency)
    best = best_places(rarest, statistics.worths(question), most=BEST, ahead=AHEAD)
    pieces = await _candidates(connection, lanes, best)
    return Found(pieces=tuple(pieces), statistics=statistics, filled=filled)


async def _survey(connection: Connection, cutoff: str, question: Question) -> _Survey:
    words = {key_of(word): word for word in question.weights}
    bound = {"tip": cutoff, "words": [RECENT, *words]}
    found = [tuple(row) for row in await connection.execute(_newest_pages(connection.dialect.name), bound)]
    # Of a lane, the places that are kept together come last: they are newer than all in pages.
    found.sort(key=lambda row: (row[1], row[3] == RECENT, row[4]))
    lanes: dict[int, _Lane] = {}
    counted: dict[tuple[int, int], int] = {}
    places: defaultdict[str, list[Sequence[int]]] = defaultdict(list)
    for id, start, stop, word, _, before, packed in found:
        lanes[id] = _Lane(id, start, stop)
        if packed is None:
            continue
        if word == RECENT:
            for key, here in find_together(packed, words):
                within = here[: bisect_right(here, (stop + 1) << BITS)]
                counted[id, key] = counted.get((id, key), 0) + len(within)
                places[words[key]].append(within)
        else:
            page = unpack_places(packed)
            end = bisect_right(page, (stop + 1) << BITS)
            counted[id, word] = before + end
            places[words[word]].append(page[:end])
    frequency = dict.fromkeys(question.weights, 0)
    for (_, word), times in counted.items():
        frequency[words[word]] += times
    return _Survey([*lanes.values()], frequency, places)


def _rarest(
    places: Mapping[str, Sequence[Sequence[int]]], frequency: Mapping[str, int]
) -> Mapping[str, Sequence[int]]:
    """Take the rarest words, as long as they do not stand at too many places; at least one."""
    chosen: dict[str, Sequence[int]] = {}
    total = 0
    for word in sorted(places, key=frequency.__getitem__):
        total += frequency[word]
        if chosen and total > PLACES:
            break
        chosen[word] = [*chain.from_iterable(places[word])][-PLACES:]
    return chosen


async def _candidates(connection: Connection, lanes: Sequence[_Lane], best: Sequence[int]) -> list[Piece]:
    """Read the best messages of a branch, given by their depths."""
    if not best:
        return []
    order = {depth: number for number, depth in enumerate(best)}
    bound = {"places": [lane.id << _DEPTH | depth for depth in best for lane in _lane_at(lanes, depth)]}
    said = await connection.execute(_messages(connection.dialect.name), bound)
    found = [row for row in said if row.n is not None]
    large = sorted((row for row in found if row.large), key=lambda row: order[row.depth])[:LARGE_TEXTS]
    texts = await _large_texts(connection, [row.id for row in large])
    read = (row for row in found if not row.large or row.id in texts)
    return [
        piece for row in sorted(read, key=lambda row: row.depth) for piece in _pieces(row, texts, row.stamp)
    ]


def _lane_at(lanes: Sequence[_Lane], depth: int) -> Sequence[_Lane]:
    """Give the lane that a depth of a branch lies in; none for what lies beside the branch."""
    at = bisect_right(lanes, depth, key=lambda lane: lane.start)
    return [lane for lane in lanes[max(0, at - 1) : at] if depth <= lane.stop]


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
    places: defaultdict[int, list[int]] = defaultdict(list)
    indexed: list[dict[str, Any]] = []
    stamp, stored_on = (top.stamp, _stored_on(top)) if top else (None, 0)
    for row in sorted(found, key=lambda row: row.depth):
        # A talk that goes on another day is dated by when it is stored, whatever day it once quoted.
        stamp = stamp_of(_said(row, texts)) or (stamp if _stored_on(row) == stored_on else None)
        stored_on = _stored_on(row)
        indexed.append({"n": row.n, "lane_id": lane, "depth": row.depth, "stamp": stamp})
        for word, impact in impacts(_pieces(row, texts, stamp)).items():
            places[key_of(word)].append(row.depth << BITS | impact)
    await connection.execute(sa.insert(recall_message), indexed)
    await _add(connection, lane, places)
    last = max(row.depth for row in found)
    await connection.execute(sa.update(recall_lane).where(recall_lane.c.id == lane).values(stop=last))
    return True


async def _add(connection: Connection, lane: int, places: Mapping[int, Sequence[int]]) -> None:
    """Add places to those that a lane keeps together; if those become many, put the commonest words' into pages."""
    together = await _together(connection, lane) or {}
    for word, found in places.items():
        together.setdefault(word, array("I")).extend(found)
    apart = part(together, TOGETHER)
    last = await _pages_at(connection, lane, apart, max(map(max, apart.values())) >> BITS) if apart else {}
    further = [page for word in sorted(apart) for page in pages(word, last.get(word), apart[word])]
    await _write(connection, lane, [_page_of(together), *further])


async def _together(connection: Connection, lane: int) -> Together | None:
    """Read the places that a lane keeps together; None if there are none yet."""
    w = recall_word.c
    packed = await connection.scalar(sa.select(w.places).where(w.lane_id == lane, w.word == RECENT))
    return None if packed is None else unpack_together(packed)


def _page_of(together: Together) -> Page:
    return Page(RECENT, 0, 0, pack_together(together))


async def _pages_at(connection: Connection, lane: int, words: Iterable[int], depth: int) -> dict[int, Page]:
    """Read of each word the page that a depth lies in, or would."""
    bound = {"lane": lane, "words": [*words], "depth": depth}
    found = await connection.execute(_pages(connection.dialect.name), bound)
    return {row.word: Page(*tuple(row)) for row in found if row.word is not None}


async def _write(connection: Connection, lane: int, written: Sequence[Page]) -> None:
    """Write pages of a lane, in place of those that are there."""
    if written:
        await connection.execute(
            _put(connection.dialect.name), [{"lane_id": lane, **page._asdict()} for page in written]
        )


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
    words = {key_of(word) for word in impacts(_pieces(row, texts, row.stamp))}
    left: list[Page] = []
    together = await _together(connection, row.lane_id)
    if together:
        left.append(_those(together, lambda depth: depth != row.depth))
    for page in (await _pages_at(connection, row.lane_id, words, row.depth)).values():
        left.append(_page_without(page, lambda depth: depth != row.depth))
    await _rewrite(connection, row.lane_id, left)


async def forget_below(connection: Connection, id: str) -> None:
    """Take a message that is about to be removed, and all below it, out of the index."""
    row = (await connection.execute(_indexed_message(), {"id": id})).one_or_none()
    if row is None:
        return
    lane, depth = row.lane_id, row.depth
    r, w, k = recall_lane.c, recall_word.c, recall_message.c
    gone = sa.delete(recall_lane)
    await connection.execute(gone.where(r.parent_id == lane, r.fork >= depth))
    await connection.execute(gone.where(r.id == lane, r.fork + 1 >= depth))
    await connection.execute(sa.delete(recall_word).where(w.lane_id == lane, w.first >= depth))
    await connection.execute(sa.delete(recall_message).where(k.lane_id == lane, k.depth >= depth))
    together = await _together(connection, lane)
    left = [_those(together, lambda at: at < depth)] if together else []
    bound = {"lane": lane, "place": pack([depth << BITS])}
    for page in await connection.execute(_reaching(), bound):
        left.append(_page_without(Page(*tuple(page)), lambda at: at < depth))
    await _rewrite(connection, lane, left)
    await connection.execute(sa.update(recall_lane).where(r.id == lane).values(stop=depth - 1))


def _page_without(page: Page, stays: Callable[[int], bool]) -> Page:
    return page._replace(places=pack(place for place in unpack_places(page.places) if stays(place >> BITS)))


def _those(together: Together, stays: Callable[[int], bool]) -> Page:
    left = {
        word: array("I", (place for place in places if stays(place >> BITS)))
        for word, places in together.items()
    }
    return _page_of({word: places for word, places in left.items() if places})


async def _rewrite(connection: Connection, lane: int, left: Sequence[Page]) -> None:
    """Write what is left of pages; one that has nothing left goes."""
    await _write(connection, lane, [page for page in left if page.places])
    w = recall_word.c
    for page in left:
        if not page.places:
            await connection.execute(
                sa.delete(recall_word).where(w.lane_id == lane, w.word == page.word, w.first == page.first)
            )


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


def _each(name: str, type: sa.types.TypeEngine[Any], dialect: str) -> sa.TableValuedAlias:
    """The values bound as a list: one parameter, however many they are, so that a statement is prepared once."""
    value = sa.column("value", type)
    if dialect == "postgresql":
        bound: sa.BindParameter[Any] = sa.bindparam(name, type_=postgresql.ARRAY(type))
        return sa.func.unnest(bound).table_valued(value, name=name).render_derived()
    return sa.func.json_each(sa.bindparam(name, type_=sa.JSON)).table_valued(value, name=name)


@cache
def _newest_pages(dialect: str) -> sa.Select[Any]:
    """The lanes of the branch of `tip` as far as it is indexed, each with the newest pages that it has of `words`.

    Each lane is there, with nothing if it has no places.
    """
    r, w, top = recall_lane.c, recall_word.c, _deepest_indexed().subquery("top")
    lanes = _lanes(
        sa.select(r.id, r.parent_id, (r.fork + 1).label("start"), top.c.depth.label("stop")).join_from(
            top, recall_lane, r.id == top.c.lane_id
        )
    )
    word = _each("words", w.word.type, dialect)
    both = lanes.join(word, sa.true())
    newer = recall_word.alias("newer").c
    newest = (
        sa.select(newer.first, newer.before, newer.places)
        .where(newer.lane_id == lanes.c.id, newer.word == word.c.value, newer.first <= lanes.c.stop)
        .order_by(newer.first.desc())
        .correlate(lanes, word)
    )
    page: Any = w
    if dialect == "postgresql":
        # As a condition, it would be tried for every page of the word, those of all conversations included.
        found = newest.limit(PAGES).lateral("page")
        page, both = found.c, both.outerjoin(found, sa.true())
    else:
        # SQLite has no lateral join.
        oldest = newest.with_only_columns(newer.first).limit(1).offset(PAGES - 1).scalar_subquery()
        within = w.first.between(sa.func.coalesce(oldest, 0), lanes.c.stop)
        here = sa.and_(w.lane_id == lanes.c.id, w.word == word.c.value, within)
        both = both.outerjoin(recall_word, here)
    return (
        sa.select(lanes.c.id, lanes.c.start, lanes.c.stop, word.c.value, page.first, page.before, page.places)
        .select_from(both)
        .where(page.first.is_not(None) | (word.c.value == RECENT))
    )


_PAGE = (recall_word.c.word, recall_word.c.first, recall_word.c.before, recall_word.c.places)


@cache
def _pages(dialect: str) -> sa.Select[Any]:
    """Of each of `words`, the page of a lane that a depth lies in, or would."""
    w, lane = recall_word.c, sa.bindparam("lane", type_=sa.BigInteger)
    word, nearer = _each("words", w.word.type, dialect), recall_word.alias("nearer")
    first = (
        sa.select(sa.func.max(nearer.c.first))
        .where(
            nearer.c.lane_id == lane,
            nearer.c.word == word.c.value,
            nearer.c.first <= sa.bindparam("depth", type_=sa.Integer),
        )
        .correlate(word)
        .scalar_subquery()
    )
    here = sa.and_(w.lane_id == lane, w.word == word.c.value, w.first == first)
    # An outer join, because it says which comes first: SQLite would go through all pages of the lane for each word.
    return sa.select(*_PAGE).select_from(word.outerjoin(recall_word, here))


@cache
def _reaching() -> sa.Select[Any]:
    """The pages of a lane that reach a place: bytes compare as places do."""
    w = recall_word.c
    last = sa.func.substr(w.places, sa.func.length(w.places) - (WIDTH - 1))
    place = sa.bindparam("place", type_=sa.LargeBinary)
    return sa.select(*_PAGE).where(w.lane_id == sa.bindparam("lane"), w.word != RECENT, last >= place)


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


_DEPTH = 32
"""Bits of a depth, where a number says both a lane and a depth in it."""


@cache
def _messages(dialect: str) -> sa.Select[Any]:
    """The messages at `places`: a lane and a depth each."""
    k, place = recall_message.c, _each("places", sa.BigInteger(), dialect)
    lane = place.c.value.bitwise_rshift(sa.literal_column(str(_DEPTH)))
    depth = place.c.value.bitwise_and(sa.literal_column(str((1 << _DEPTH) - 1)))
    return (
        sa.select(*_SHOWN, k.stamp)
        .select_from(place.outerjoin(recall_message, sa.and_(k.lane_id == lane, k.depth == depth)))
        .outerjoin(message, message.c.n == k.n)
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
def _put(dialect: str) -> sa.Insert:
    """Write pages, in place of those that are there."""
    insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert(recall_word)
    put: sa.Insert = insert.on_conflict_do_update(
        index_elements=["lane_id", "word", "first"], set_={"places": insert.excluded.places}
    )
    return put
