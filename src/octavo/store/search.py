"""Searches the words of all messages, newest first: by the beginnings of words, or else by substring.

A query is a list of terms, each of which must occur; a term in double quotes may hold spaces. No query can be
malformed: operators, quotes and wildcards are just characters. Scripts written without spaces, and queries that
match no word, are searched as substrings. Summaries are not chat text and are never found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.schema import JOINTS, SPACES, conversation, large_text, message
from octavo.store.section import Section, reads
from octavo.store.values import Hit
from octavo.store.visibility import LISTED

MAX_QUERY = 500
"""Characters of a query that are used; SQLite refuses patterns of more than 50,000 bytes."""
SHOWN = 50
"""Hits given at a time unless more are asked for."""
MAX_TERMS = 16
"""Terms of a query that are used: more do not help a person."""
AROUND = 60
"""Characters of context on each side of the first match."""
SNIPPET = 240
"""Characters of a snippet at the most."""

_TERMS = re.compile(r'"([^"]*)"|(\S+)')
_SPACE = re.compile(r"\s+")
_WORDS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, and Korean, whose words take endings without a space."""
_UNQUOTED = str.maketrans(dict.fromkeys(JOINTS + "'\\", " "))


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for."""

    terms: tuple[str, ...]

    @property
    def by_words(self) -> bool:
        """Whether every term has words that an index knows."""
        return all(_WORDS.search(term) and not _UNSPACED.search(term) for term in self.terms)


def parse(text: str) -> Query:
    """Read a query; anything is one."""
    clean = re.sub("[\x00-\x1f\ud800-\udfff]", " ", text)[:MAX_QUERY]
    terms = (quoted.strip() or plain for quoted, plain in _TERMS.findall(clean))
    return Query(tuple(dict.fromkeys(term for term in terms if term))[:MAX_TERMS])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Within:
    """Where is searched."""

    conversation: str | None = None
    owner: str | None = None
    before: str | None = None
    """A message; only older ones are wanted."""
    limit: int


class MessageSearch(Section):
    """The search in a store."""

    @reads
    async def find(
        self,
        connection: Connection,
        text: str,
        *,
        conversation: str | None = None,
        owner: str | None = None,
        before: str | None = None,
        limit: int = SHOWN,
    ) -> tuple[Hit, ...]:
        """Find messages, the newest first; `before` is the node of the last hit of the previous page."""
        within = _Within(conversation=conversation, owner=owner, before=before, limit=limit)
        query = parse(text)
        if not query.terms:
            return ()
        postgresql = connection.dialect.name == "postgresql"
        by_words, by_substring = (_tsvector, _ilike) if postgresql else (_fts5, _like)
        for way in (by_words, by_substring) if query.by_words else (by_substring,):
            found: dict[int, tuple[sa.Table, int]] = {}
            for table in (large_text, message):
                hits = await connection.execute(_newest(way(table, query), within))
                found |= {row.n: (table, row.place) for row in hits}
            if found:
                newest = sorted(found, reverse=True)[: within.limit]
                return await _show(connection, {n: found[n] for n in newest}, query)
        return ()


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows that match: a source with the columns `n`, `conversation_id` and that of the message, and conditions."""

    source: sa.FromClause
    conditions: tuple[sa.ColumnElement[bool], ...] = ()


def _newest(found: _Found, within: _Within) -> sa.Select[Any]:
    """Row numbers of messages, and of the row their text is in: their own, or the first of several chunks.

    No joins, only look-ups for each hit: a database may turn a join around and go through a whole conversation.
    """
    hit = found.source.c
    n: sa.ColumnElement[int]
    if "message_id" in hit:
        n = sa.select(message.c.n).where(message.c.id == hit.message_id).scalar_subquery()
        query = sa.select(n.label("n"), sa.func.min(hit.n).label("place")).group_by(hit.message_id)
    else:
        n = hit.n
        query = sa.select(n, n.label("place"))
    query = query.where(*found.conditions)
    if within.conversation is not None:
        query = query.where(hit.conversation_id == within.conversation)
    c = conversation.c
    owner = sa.select(c.owner).where(c.id == hit.conversation_id, LISTED).scalar_subquery()
    query = query.where(owner.is_not(None) if within.owner is None else owner == within.owner)
    if within.before is not None:
        other = message.alias("other")
        query = query.where(n < sa.select(other.c.n).where(other.c.id == within.before).scalar_subquery())
    return query.order_by(sa.desc("n")).limit(within.limit)


def _fenced(table: sa.Table, condition: sa.ColumnElement[bool]) -> _Found:
    """Find by an index first, whatever else is asked for: PostgreSQL would rather cut every text into words anew."""
    columns = [table.c[name] for name in ("n", "conversation_id", "message_id") if name in table.c]
    hits = sa.select(*columns).where(condition).cte("hits")
    return _Found(hits.prefix_with("MATERIALIZED", dialect="postgresql"))


def _fts5(table: sa.Table, query: Query) -> _Found:
    name = f"{table.name}_fts"
    index = sa.table(name, sa.column("rowid", sa.Integer))
    terms = " ".join('"' + term.replace('"', '""') + '"*' for term in query.terms)
    # The column of the table's own name stands for the whole row of the index.
    matching = sa.literal_column(name).op("MATCH")(terms)
    return _fenced(table, table.c.n.in_(sa.select(index.c.rowid).where(matching)))


def _tsvector(table: sa.Table, query: Query) -> _Found:
    plain = sa.func.translate(table.c.text, _literal(JOINTS), _literal(SPACES))
    words = sa.func.to_tsvector(_literal("simple"), plain)
    wanted = sa.func.to_tsquery(_literal("simple"), " & ".join(_phrase(term) for term in query.terms))
    return _fenced(table, words.op("@@")(wanted))


def _literal(text: str) -> sa.ColumnElement[str]:
    """Spell a text out: an index is used only for the very expression it was made with."""
    quoted = text.replace("'", "''")
    return sa.literal_column(f"'{quoted}'", sa.Text)


def _phrase(term: str) -> str:
    """Quote a term; the server cuts it into words just as it cut the texts."""
    return "'" + term.translate(_UNQUOTED) + "':*"


def _like(table: sa.Table, query: Query) -> _Found:
    terms = ([table.c.text.like(one, escape="!") for one in _patterns(term)] for term in query.terms)
    return _Found(table, tuple(sa.or_(*spellings) for spellings in terms))


def _ilike(table: sa.Table, query: Query) -> _Found:
    terms = ([table.c.text.ilike(one, escape="!") for one in _patterns(term)] for term in query.terms)
    return _Found(table, tuple(sa.or_(*spellings) for spellings in terms))


def _patterns(term: str) -> list[str]:
    """Patterns for a substring. Databases ignore the case of ASCII letters only, or by locale."""
    spellings = (
        [term] if term.isascii() else dict.fromkeys([term, term.lower(), term.upper(), term.capitalize()])
    )
    return ["%" + re.sub("([%_!])", r"!\1", spelling) + "%" for spelling in spellings]


async def _show(
    connection: Connection, found: dict[int, tuple[sa.Table, int]], query: Query
) -> tuple[Hit, ...]:
    m, c = message, conversation
    texts: dict[tuple[sa.Table, int], str] = {}
    for table in (message, large_text):
        places = [place for at, place in found.values() if at is table]
        if places:
            for row in await connection.execute(
                sa.select(table.c.n, table.c.text).where(table.c.n.in_(places))
            ):
                texts[table, row.n] = row.text
    shown = await connection.execute(
        sa.select(m.c.n, m.c.id, m.c.conversation_id, m.c.depth, m.c.role, c.c.title)
        .join(c, c.c.id == m.c.conversation_id)
        .where(m.c.n.in_(list(found)))
        .order_by(m.c.n.desc())
    )
    return tuple(_hit(row, texts.get(found[row.n], ""), query) for row in shown)


def _hit(row: rows.Row, text: str, query: Query) -> Hit:
    pattern = re.compile("|".join(_sought(term) for term in query.terms), re.IGNORECASE)
    snippet = _snippet(text, pattern.search(text))
    return Hit(
        conversation=row.conversation_id,
        title=row.title,
        node=row.id,
        depth=row.depth,
        role=row.role,
        snippet=snippet,
        marks=tuple(match.span() for match in pattern.finditer(snippet)),
    )


def _snippet(text: str, first: re.Match[str] | None) -> str:
    """Cut out what is around the first match, from the beginning of a word to the end of one, if there are words."""
    found, after = first.span() if first else (0, 0)
    start = max(0, found - AROUND)
    if start and (space := _SPACE.search(text, start - 1, found)):
        start = space.end()
    stop = start + SNIPPET
    if stop < len(text) and (end := text.rfind(" ", after, stop + 1)) > 0:
        stop = end
    return text[start:stop]


def _sought(term: str) -> str:
    words = _WORDS.findall(term)
    return r"[\W_]+".join(map(re.escape, words)) if words else re.escape(term)
