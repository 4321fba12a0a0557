"""Walking the tree inside the database: one statement each, never the whole conversation.

A walk is a common table expression of row numbers; `lines` fetches the messages of a walk in the same statement, so
what it returns is one state of the database. Ancestors are found by jump pointers: each node knows one ancestor
further up, at a distance that depends on its depth alone, such that any ancestor is O(log depth) steps away.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from octavo.core.context import UNSENT
from octavo.store.schema import Id, StoredText, large_text, message, message_token, pin, snapshot

Statement = sa.Select[Any] | sa.CompoundSelect[Any]

NODE, SNAPSHOT, LARGE, CARRIED, LEADING = range(5)
"""Kinds of lines."""

_ACTIVE: sa.ColumnElement[str] = sa.literal_column("'active'", sa.Text)
"""Spelled out, not bound: only then do both databases use the partial index of serving snapshots."""

_HERE = (message.c.n, message.c.id, message.c.large)
"""What every walk says about its nodes."""


class _greater(FunctionElement[int]):
    """The greater of two numbers."""

    type = sa.Integer()
    inherit_cache = True


@compiles(_greater, "sqlite")
def _greater_sqlite(element: _greater, compiler: SQLCompiler, **options: Any) -> str:
    return f"max({compiler.process(element.clauses, **options)})"


@compiles(_greater)
def _greater_elsewhere(element: _greater, compiler: SQLCompiler, **options: Any) -> str:
    return f"greatest({compiler.process(element.clauses, **options)})"


def _number(value: int) -> sa.ColumnElement[int]:
    return sa.literal_column(str(value), sa.Integer)


def jump_depth(depth: int) -> int:
    """Tell how deep the jump pointer of a node at `depth` leads; 0: nowhere.

    The depth is written as a sum of numbers 2^k - 1, largest first; the jump leaves out the last of them. So equal
    strides pair up into longer ones the deeper the tree gets.
    """
    rest, stride = depth, 0
    while rest:
        stride = (1 << (rest + 1).bit_length() - 1) - 1
        rest -= stride
    return depth - stride


def lines(walk: sa.CTE) -> sa.Select[Any]:
    """Fetch the messages of a walk, with their counts in the tokenizer bound as `tokenizer`."""
    m, t = message, message_token
    return (
        sa.select(
            walk.c.kind if "kind" in walk.c else _number(NODE).label("kind"),
            m.c.id,
            m.c.parent_id.label("link"),
            sa.cast(sa.null(), Id).label("other"),
            m.c.depth,
            t.c.tokens.label("number"),
            sa.cast(sa.null(), sa.Integer).label("cutoff"),
            m.c.role,
            m.c.status,
            sa.cast(sa.null(), sa.LargeBinary).label("digest"),
            m.c.text,
            m.c.parts,
        )
        .select_from(walk)
        .join(m, m.c.n == walk.c.n)
        .outerjoin(
            t, (t.c.message_id == m.c.id) & (t.c.tokenizer == sa.bindparam("tokenizer", type_=sa.Text))
        )
    )


def large_lines(walk: sa.CTE) -> sa.Select[Any]:
    """Fetch the large texts of a walk's messages."""
    t = large_text
    return (
        sa.select(
            _number(LARGE).label("kind"),
            walk.c.id,
            sa.null().label("link"),
            sa.null().label("other"),
            t.c.piece.label("depth"),
            t.c.chunk.label("number"),
            sa.null().label("cutoff"),
            sa.null().label("role"),
            sa.null().label("status"),
            sa.null().label("digest"),
            t.c.text,
            sa.null().label("parts"),
        )
        .select_from(walk)
        .join(t, t.c.message_id == walk.c.id)
        .where(walk.c.large > _number(0))
    )


def fetch(walk: sa.CTE, *, previews: bool) -> Statement:
    """Fetch the messages of a walk, with their large texts unless previews will do."""
    return lines(walk) if previews else sa.union_all(lines(walk), large_lines(walk))


@cache
def some(*, previews: bool) -> Statement:
    """The messages bound as `ids`."""
    ids = sa.bindparam("ids", expanding=True, type_=Id)
    return fetch(sa.select(*_HERE).where(message.c.id.in_(ids)).cte("some"), previews=previews)


def _path() -> sa.CTE:
    """The path from `tip` up to its root."""
    here = sa.select(*_HERE, message.c.parent_id)
    walk = here.where(message.c.id == sa.bindparam("tip", type_=Id)).cte("walk", recursive=True)
    return walk.union_all(here.join(walk, message.c.id == walk.c.parent_id))


@cache
def path() -> sa.Select[Any]:
    """Row numbers of the path from `tip` to its root."""
    return sa.select(_path().c.n)


@cache
def branch(*, previews: bool) -> Statement:
    """The messages on the path from `tip` up to its root."""
    return fetch(_path(), previews=previews)


@cache
def newest(*, previews: bool) -> Statement:
    """The path from `tip` upwards, `limit` messages of it."""
    start = sa.select(*_HERE, message.c.parent_id, _number(1).label("length"))
    walk = start.where(message.c.id == sa.bindparam("tip", type_=Id)).cte("walk", recursive=True)
    up = (
        sa.select(*_HERE, message.c.parent_id, walk.c.length + _number(1))
        .join(walk, message.c.id == walk.c.parent_id)
        .where(walk.c.length < sa.bindparam("limit"))
    )
    return fetch(walk.union_all(up), previews=previews)


@cache
def stretch(*, previews: bool) -> Statement:
    """The messages of the branch of `tip` below the depth `above`, down to the depth `stop`.

    The last of them is reached by jump pointers: the way there costs next to nothing however far it is.
    """
    m, jump = message, message.alias("jump")
    above, stop = sa.bindparam("above", type_=sa.Integer), sa.bindparam("stop", type_=sa.Integer)
    here = (*_HERE, m.c.depth, m.c.parent_id, m.c.jump_id, jump.c.depth.label("landing"))
    start = (
        sa.select(*here)
        .select_from(m)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(m.c.id == sa.bindparam("tip", type_=Id), m.c.depth > above)
        .cte("climb", recursive=True)
    )
    step = sa.case((start.c.landing >= stop, start.c.jump_id), else_=start.c.parent_id)
    up = (
        sa.select(*here)
        .select_from(start)
        .join(m, m.c.id == step)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(m.c.depth > above)
    )
    climb = start.union_all(up)
    c = climb.c
    return fetch(sa.select(c.n, c.id, c.large).where(c.depth <= stop).cte("some"), previews=previews)


@cache
def sizes() -> sa.Select[Any]:
    """What the path from `tip` up to below the depth `above` holds: tokens in `tokenizer`, and messages not counted."""
    m, t = message, message_token
    here = sa.select(m.c.id, m.c.parent_id, m.c.depth, m.c.status)
    walk = here.where(m.c.id == sa.bindparam("tip", type_=Id)).cte("walk", recursive=True)
    up = here.join(walk, m.c.id == walk.c.parent_id).where(
        m.c.depth > sa.bindparam("above", type_=sa.Integer)
    )
    walk = walk.union_all(up)
    sent = walk.c.status.not_in([sa.literal_column(f"'{status}'", sa.Text) for status in UNSENT])
    return (
        sa.select(
            sa.func.coalesce(sa.func.sum(sa.case((sent, t.c.tokens), else_=_number(0))), _number(0)).label(
                "tokens"
            ),
            sa.func.count().filter(sent & t.c.tokens.is_(None)).label("uncounted"),
        )
        .select_from(walk)
        .outerjoin(
            t, (t.c.message_id == walk.c.id) & (t.c.tokenizer == sa.bindparam("tokenizer", type_=sa.Text))
        )
    )


@cache
def part_of_tree(*, previews: bool) -> Statement:
    """The messages of `conversation` in the order they were stored, `limit` of them from the row number `after` on."""
    m = message
    some = (
        sa.select(*_HERE)
        .where(m.c.conversation_id == sa.bindparam("conversation", type_=Id), m.c.n > sa.bindparam("after"))
        .order_by(m.c.n)
        .limit(sa.bindparam("limit"))
        .cte("some")
    )
    return fetch(some, previews=previews)


def _deepest_cutoff(anchor: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    s = snapshot
    deepest = sa.select(sa.func.max(s.c.cutoff_depth)).where(s.c.anchor_id == anchor, s.c.state == _ACTIVE)
    return sa.func.coalesce(deepest.scalar_subquery(), _number(0))


def _newest_version(walk: sa.CTE, column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Of the snapshots anchored at a node of the walk: look up a column of the newest for the deepest cutoff.

    A subquery for each node, not a join: a database may turn a join around and read every snapshot there is.
    """
    s = snapshot
    return (
        sa.select(column)
        .where(s.c.anchor_id == walk.c.id, s.c.state == _ACTIVE, s.c.cutoff_depth == walk.c.anchored)
        .order_by(s.c.version.desc())
        .limit(_number(1))
        .scalar_subquery()
    )


def _serving_walk() -> tuple[sa.CTE, sa.CTE]:
    """Walk up from `tip` to the cutoff of the snapshot that serves it; then that snapshot.

    Each step keeps the deepest cutoff among the snapshots anchored on the way. An anchor is never above its cutoff,
    so once the walk stands on the deepest cutoff met, no snapshot further up can have a deeper one. The cutoff node
    itself is visited because a newer version for the same cutoff may be anchored right there. Versions are counted
    for each cutoff, and all that are left have the same one, so the version alone decides.
    """
    m, s = message, snapshot
    here = (*_HERE, m.c.parent_id, m.c.depth, _deepest_cutoff(m.c.id).label("anchored"))
    walk = (
        sa.select(*here, _number(0).label("below"))
        .where(m.c.id == sa.bindparam("tip", type_=Id))
        .cte("walk", recursive=True)
    )
    so_far = _greater(walk.c.below, walk.c.anchored)
    up = sa.select(*here, so_far).join(walk, m.c.id == walk.c.parent_id).where(m.c.depth >= so_far)
    walk = walk.union_all(up)
    found = (
        sa.select(
            _newest_version(walk, s.c.id).label("id"), _newest_version(walk, s.c.version).label("version")
        )
        .where(walk.c.anchored > _number(0), walk.c.anchored == _cutoff(walk))
        .subquery("found")
    )
    newest = sa.select(found.c.id).order_by(found.c.version.desc()).limit(_number(1))
    return walk, sa.select(s).where(s.c.id == newest.scalar_subquery()).cte("serving")


def _cutoff(walk: sa.CTE) -> sa.ColumnElement[int]:
    return sa.select(sa.func.max(walk.c.anchored)).scalar_subquery()


def _snapshot_lines(serving: sa.CTE) -> sa.Select[Any]:
    c = serving.c
    return sa.select(
        _number(SNAPSHOT).label("kind"),
        c.id,
        c.anchor_id.label("link"),
        c.cutoff_id.label("other"),
        c.anchor_depth.label("depth"),
        c.version.label("number"),
        c.cutoff_depth.label("cutoff"),
        c.state.label("role"),
        sa.null().label("status"),
        c.digest,
        sa.type_coerce(c.content, StoredText).label("text"),
        sa.null().label("parts"),
    )


def _leading_walk(serving: sa.CTE) -> sa.CTE:
    """The nodes above the first covered one: system messages, which no snapshot covers."""
    m = message
    first = sa.select(m.c.parent_id).join(serving, serving.c.first_id == m.c.id)
    up = first.cte("above", recursive=True)
    above = up.union_all(sa.select(m.c.parent_id).join(up, m.c.id == up.c.parent_id))
    return sa.select(*_HERE).join(above, above.c.parent_id == m.c.id).cte("leading")


@cache
def context() -> Statement:
    """The snapshot that serves `tip`, the messages after its cutoff, those it never covers, and the carried one.

    Of the messages after the cutoff, the newest `most` are given.
    """
    walk, serving = _serving_walk()
    leading = _leading_walk(serving)
    deepest = sa.select(sa.func.max(walk.c.depth)).scalar_subquery()
    first = _greater(_cutoff(walk), deepest - sa.bindparam("most", type_=sa.Integer))
    chosen = sa.union_all(
        sa.select(walk.c.n, walk.c.id, walk.c.large, _number(NODE).label("kind")).where(walk.c.depth > first),
        sa.select(leading.c.n, leading.c.id, leading.c.large, _number(LEADING)),
        sa.select(*_HERE, _number(CARRIED)).join(serving, serving.c.carried_id == message.c.id),
    ).cte("chosen")
    return sa.union_all(lines(chosen), _snapshot_lines(serving), large_lines(chosen))


@cache
def serving_id() -> sa.Select[Any]:
    """The id of the snapshot that serves `tip`."""
    _, serving = _serving_walk()
    return sa.select(serving.c.id)


@cache
def below() -> sa.CTE:
    """The node bound as `root` with everything below it."""
    m = message
    start = (
        sa.select(m.c.n, m.c.id).where(m.c.id == sa.bindparam("root", type_=Id)).cte("below", recursive=True)
    )
    return start.union_all(sa.select(m.c.n, m.c.id).join(start, m.c.parent_id == start.c.id))


@cache
def newest_below() -> sa.Select[Any]:
    """Down from `root`, always to the newest child: the tip a person expects behind a sibling."""
    m, child = message, message.alias("child")
    start = (
        sa.select(m.c.id, m.c.depth)
        .where(m.c.id == sa.bindparam("root", type_=Id))
        .cte("down", recursive=True)
    )
    # An answer that is being written is no tip yet.
    newer = sa.exists().where(
        child.c.parent_id == m.c.parent_id, child.c.n > m.c.n, child.c.status != "streaming"
    )
    down = start.union_all(
        sa.select(m.c.id, m.c.depth)
        .join(start, m.c.parent_id == start.c.id)
        .where(~newer, m.c.status != "streaming")
    )
    return sa.select(down.c.id).order_by(down.c.depth.desc()).limit(1)


@cache
def details() -> sa.Select[Any]:
    """What is known about the messages bound as `ids` beyond their words."""
    m = message.c
    columns = (m.n, m.id, m.conversation_id, m.model, m.input_tokens, m.output_tokens, m.created)
    ids = sa.bindparam("ids", expanding=True, type_=Id)
    return sa.select(*columns).where(m.id.in_(ids)).order_by(m.depth, m.n)


@cache
def places() -> sa.Select[Any]:
    """The places of the messages with the row numbers `numbers` among their siblings, and how many those are.

    Whole families are numbered at once: if each message counted its siblings, thousands would take for ever.
    """
    m, asked = message, message.alias("asked")
    numbers = sa.bindparam("numbers", expanding=True, type_=sa.BigInteger)
    wanted = sa.select(asked.c.parent_id, asked.c.conversation_id).where(asked.c.n.in_(numbers))
    parents = wanted.with_only_columns(asked.c.parent_id).where(asked.c.parent_id.is_not(None))
    roots = wanted.with_only_columns(asked.c.conversation_id).where(asked.c.parent_id.is_(None))
    families = sa.union_all(
        _numbered(m.c.parent_id).where(m.c.parent_id.in_(parents)),
        _numbered(m.c.conversation_id).where(m.c.parent_id.is_(None), m.c.conversation_id.in_(roots)),
    ).subquery("families")
    return sa.select(families).where(families.c.n.in_(numbers))


def _numbered(family: sa.Column[str]) -> sa.Select[Any]:
    place = sa.func.row_number().over(partition_by=family, order_by=message.c.n)
    size = sa.func.count().over(partition_by=family)
    return sa.select(message.c.n, place.label("sibling"), size.label("siblings"))


@cache
def spine() -> sa.Select[Any]:
    """`parent` and what its jumps lead to: all a new node's jump pointer can point at."""
    m = message
    columns = (m.c.id, m.c.depth, m.c.jump_id, m.c.digest, m.c.status, m.c.conversation_id)
    start = sa.select(*columns).where(m.c.id == sa.bindparam("parent", type_=Id)).cte("spine", recursive=True)
    return sa.select(start.union_all(sa.select(*columns).join(start, m.c.id == start.c.jump_id)))


def climb(targets: sa.Select[Any]) -> sa.Select[Any]:
    """Of the `targets` (columns `id`, `depth`), select those that lie on the branch of `tip`: O(log depth) each."""
    m, jump, goal = message, message.alias("jump"), targets.subquery("goal")
    here = (
        m.c.id.label("id"),
        m.c.depth.label("depth"),
        m.c.parent_id,
        m.c.jump_id,
        jump.c.depth.label("landing"),
    )
    start = (
        sa.select(goal.c.id.label("goal_id"), goal.c.depth.label("goal_depth"), *here)
        .select_from(goal)
        .join(m, m.c.id == sa.bindparam("tip", type_=Id))
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(goal.c.depth <= m.c.depth)
        .cte("climb", recursive=True)
    )
    step = sa.case((start.c.landing >= start.c.goal_depth, start.c.jump_id), else_=start.c.parent_id)
    up = (
        sa.select(start.c.goal_id, start.c.goal_depth, *here)
        .select_from(start)
        .join(m, m.c.id == step)
        .outerjoin(jump, jump.c.id == m.c.jump_id)
        .where(start.c.depth > start.c.goal_depth)
    )
    reached = start.union_all(up)
    return sa.select(reached.c.goal_id, reached.c.goal_depth, reached.c.id).where(
        reached.c.depth == reached.c.goal_depth
    )


@cache
def on_branch() -> sa.Select[Any]:
    """Which of `ids` lie on the branch of `tip`."""
    goals = sa.select(message.c.id, message.c.depth).where(
        message.c.id.in_(sa.bindparam("ids", expanding=True, type_=Id))
    )
    reached = climb(goals)
    return reached.where(reached.selected_columns.goal_id == reached.selected_columns.id)


@cache
def pins_on_branch() -> sa.Select[Any]:
    """The pinned nodes on the branch of `tip`."""
    tip = message.alias("at")
    goals = (
        sa.select(message.c.id, message.c.depth)
        .join(pin, pin.c.message_id == message.c.id)
        .join(tip, tip.c.conversation_id == pin.c.conversation_id)
        .where(tip.c.id == sa.bindparam("tip", type_=Id))
        .distinct()
    )
    reached = climb(goals)
    return reached.where(reached.selected_columns.goal_id == reached.selected_columns.id)
